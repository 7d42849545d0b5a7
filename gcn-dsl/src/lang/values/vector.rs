//! Short vectors: the operands of wide loads and stores.

use std::marker::PhantomData;
use std::panic::Location;

use super::data::next_value;
use super::value::AsIs;
use crate::ir::{Bin, Inst, Place, Type, Value};
use crate::lang::values::constant::within;
use crate::lang::{Declare, Flatten, IntoDevice, V, with};
use crate::scalar::{Elem, Number};

/// `N` elements per lane, packed into `N * size_of::<T>()` bytes, which must be 4, 8, 12 or 16.
#[derive(Debug)]
pub struct Vector<T, const N: usize> {
    pub(crate) value: Value,
    element: PhantomData<T>,
}

impl<T, const N: usize> Clone for Vector<T, N> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, const N: usize> Copy for Vector<T, N> {}

impl<T: Number, const N: usize> Vector<T, N> {
    pub(in crate::lang) fn of(value: Value) -> Self {
        Vector { value, element: PhantomData }
    }

    /// Element `k`. `k` is known when the kernel is built; the build fails if it is not below `N`.
    #[track_caller]
    pub fn get(self, k: usize) -> V<T> {
        let k = within(k, N, "element", || format!("a vector of {N}"));
        V::from_value(element::<T>(self.value, k, N, Location::caller()))
    }
}

/// Extracts element `k` of a packed varying value with `count` elements.
pub(in crate::lang) fn element<T: Number>(
    from: Value,
    k: usize,
    count: usize,
    loc: &'static Location<'static>,
) -> Value {
    let ty = Type::varying(T::ELEM);
    with(|c| {
        if count == 1 {
            return from;
        }
        let byte = k * T::ELEM.bytes() as usize;
        let dword = (byte / 4) as u8;
        if T::ELEM.bytes() >= 4 {
            return c.value(Inst::Extract { from, dword }, ty, loc);
        }
        let word_ty = Type::varying(if T::ELEM.is_signed() { Elem::I32 } else { Elem::U32 });
        let word = c.value(Inst::Extract { from, dword }, word_ty, loc);
        let bits = 8 * T::ELEM.bytes();
        let low = 8 * (byte as u32 % 4);
        let up = c.v_u32(32 - bits - low);
        let down = c.v_u32(32 - bits);
        let high = c.value(Inst::Bin(Bin::Shl, word, up), word_ty, loc);
        let value = c.value(Inst::Bin(Bin::Shr, high, down), word_ty, loc);
        c.value(Inst::Bitcast(value), ty, loc)
    })
}

/// Packs elements into one varying value.
pub(in crate::lang) fn pack<T: Number>(parts: &[V<T>], loc: &'static Location<'static>) -> Value {
    let ty = Type { place: Place::Varying, elem: T::ELEM, count: parts.len() as u8 };
    with(|c| {
        if parts.len() == 1 {
            return parts[0].value;
        }
        if T::ELEM.bytes() >= 4 {
            return c.value(Inst::Concat(parts.iter().map(|p| p.value).collect()), ty, loc);
        }
        let per_dword = 4 / T::ELEM.bytes() as usize;
        let word_ty = Type::varying(Elem::U32);
        let words = parts
            .chunks(per_dword)
            .map(|chunk| {
                let bits = 8 * T::ELEM.bytes();
                let mask = c.v_u32((1 << bits) - 1);
                let mut word = None;
                for (i, part) in chunk.iter().enumerate() {
                    let raw = c.value(Inst::Bitcast(part.value), word_ty, loc);
                    let raw = c.value(Inst::Bin(Bin::And, raw, mask), word_ty, loc);
                    let shift = c.v_u32(bits * i as u32);
                    let placed = c.value(Inst::Bin(Bin::Shl, raw, shift), word_ty, loc);
                    word = Some(match word {
                        None => placed,
                        Some(w) => c.value(Inst::Bin(Bin::Or, w, placed), word_ty, loc),
                    });
                }
                word.unwrap_or_else(|| unreachable!("chunks are not empty"))
            })
            .collect();
        c.value(Inst::Concat(words), ty, loc)
    })
}

impl<T: Number, X: IntoDevice<V<T>>, const N: usize> From<[X; N]> for Vector<T, N> {
    #[track_caller]
    fn from(parts: [X; N]) -> Self {
        let parts: [V<T>; N] = parts.into_device();
        Self::of(pack(&parts, Location::caller()))
    }
}

impl<T: Number, const N: usize> Flatten for Vector<T, N> {
    fn flatten(&self, out: &mut Vec<Value>) {
        out.push(self.value);
    }
    fn unflatten(values: &mut dyn Iterator<Item = Value>) -> Self {
        Self::of(next_value(values))
    }
}

impl<T: Number, const N: usize> Declare for Vector<T, N> {
    type Value = Self;
    fn declare(self) -> Self {
        self
    }
}

impl<T, F, G, const N: usize> crate::lang::AssignIn<F, G> for Vector<T, N> {}

impl<T, const N: usize> AsIs for Vector<T, N> {}
