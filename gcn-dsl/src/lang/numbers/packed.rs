//! Arithmetic on short vectors, with one instruction for two elements where the target has it.
//!
//! `v_pk_*` instructions compute both 16-bit halves of a register; gfx90a and later also have `v_pk_*_f32` for two f32
//! in a register pair. If the target has no packed instruction for an operation, it is done element by element, so
//! every target runs the same kernels.

use std::ops::{Add, Div, Mul, Neg, Sub};
use std::panic::Location;

use half::{bf16, f16};

use super::arithmetic::{Arithmetic, Float};
use crate::ir::packed::{self, Packed, instruction};
use crate::ir::{Bin, Call, Inst, Place, Type, Value};
use crate::lang::values::constant::within;
use crate::lang::values::literal::{Literal, TakesLiteral};
use crate::lang::{CastTo, IntoDevice, S, V, Vector, with};
use crate::scalar::{Elem, Number};

/// Two `f16` in a register, with packed arithmetic.
#[allow(non_camel_case_types, reason = "named like the scalar types")]
pub type f16x2 = Vector<f16, 2>;
/// Two `bf16` in a register. Arithmetic is done in f32, element by element.
#[allow(non_camel_case_types, reason = "named like the scalar types")]
pub type bf16x2 = Vector<bf16, 2>;
/// Two `i16` in a register, with packed arithmetic.
#[allow(non_camel_case_types, reason = "named like the scalar types")]
pub type i16x2 = Vector<i16, 2>;
/// Two `u16` in a register, with packed arithmetic.
#[allow(non_camel_case_types, reason = "named like the scalar types")]
pub type u16x2 = Vector<u16, 2>;
/// Two `f32` in a register pair, with packed arithmetic from gfx90a on.
#[allow(non_camel_case_types, reason = "named like the scalar types")]
pub type f32x2 = Vector<f32, 2>;

fn exists(mnemonic: &str) -> bool {
    with(|c| packed::exists(mnemonic, c.target))
}

impl<T: Number, const N: usize> Vector<T, N> {
    /// A vector whose `N` elements are all `x`.
    #[track_caller]
    pub fn splat(x: impl IntoDevice<V<T>>) -> Self {
        Self::from([x.into_device(); N])
    }

    /// The vector with the elements `f(0)`, `f(1)` and so on. `f` runs when the kernel is built; loads of neighbouring
    /// elements are merged into wide ones.
    #[track_caller]
    pub fn from_fn(mut f: impl FnMut(u32) -> V<T>) -> Self {
        Self::from(std::array::from_fn(|k| f(k as u32)))
    }

    /// The elements as separate values.
    #[track_caller]
    pub fn elements(self) -> [V<T>; N] {
        std::array::from_fn(|k| self.get(k))
    }

    /// The vector with element `k` replaced by `x`. `k` is known when the kernel is built; the build fails if it is not
    /// below `N`.
    #[track_caller]
    pub fn with(self, k: usize, x: impl IntoDevice<V<T>>) -> Self {
        let k = within(k, N, "element", || format!("a vector of {N}"));
        let mut elements = self.elements();
        elements[k] = x.into_device();
        Self::from(elements)
    }

    /// Applies `f` to each element. `f` runs when the kernel is built.
    ///
    /// ```
    /// use gcn_dsl::prelude::*;
    /// gcn_kernel! {
    ///     /// Four elements to a lane.
    ///     #[workgroup(64)]
    ///     fn softplus(x: &mut [f32]) {
    ///         let i = global_id().x * 4;
    ///         let v = x.load_vector::<4>(i);
    ///         x.store_vector(i, v.map(|e| (e.exp() + 1.0).ln()));
    ///     }
    /// }
    /// # softplus.build(Target::GFX942).unwrap();
    /// ```
    #[track_caller]
    pub fn map<U: Number>(self, f: impl FnMut(V<T>) -> V<U>) -> Vector<U, N> {
        Vector::from(self.elements().map(f))
    }

    /// Applies `f` to each pair of elements of the two vectors. `f` runs when the kernel is built.
    #[track_caller]
    pub fn zip<U: Number, R: Number>(
        self,
        other: Vector<U, N>,
        mut f: impl FnMut(V<T>, V<U>) -> V<R>,
    ) -> Vector<R, N> {
        let (a, b) = (self.elements(), other.elements());
        Vector::from(std::array::from_fn(|k| f(a[k], b[k])))
    }

    /// For each element, that of `a` if its condition is true, otherwise that of `b`.
    #[track_caller]
    pub fn select(conditions: [V<bool>; N], a: Self, b: Self) -> Self {
        let (a, b) = (a.elements(), b.elements());
        Self::from(std::array::from_fn(|k| crate::lang::select(conditions[k], a[k], b[k])))
    }

    /// `self < other`, element by element.
    #[track_caller]
    pub fn lt(self, other: Self) -> [V<bool>; N] {
        let (a, b) = (self.elements(), other.elements());
        std::array::from_fn(|k| crate::lang::lt(a[k], b[k]))
    }

    /// `self == other`, element by element.
    #[track_caller]
    pub fn eq(self, other: Self) -> [V<bool>; N] {
        let (a, b) = (self.elements(), other.elements());
        std::array::from_fn(|k| crate::lang::eq(a[k], b[k]))
    }
}

/// The elements `k` and `k + 1` as one value.
#[track_caller]
fn pair<T: Number, const N: usize>(v: Vector<T, N>, k: usize) -> Value {
    let ty = Type { place: Place::Varying, elem: T::ELEM, count: 2 };
    if N == 2 {
        return v.value;
    }
    let dword = (k * T::ELEM.bytes() as usize / 4) as u8;
    with(|c| c.value(Inst::Extract { from: v.value, dword }, ty, Location::caller()))
}

/// Computes the operation on pairs of elements; `None` if the target has no packed instruction for it.
#[track_caller]
fn packed<T: Number, const N: usize>(op: Packed, sources: &[Vector<T, N>]) -> Option<Vector<T, N>> {
    let (mnemonic, negated) = instruction(op, T::ELEM)?;
    if !N.is_multiple_of(2) || !exists(mnemonic) {
        return None;
    }
    let loc = Location::caller();
    let ty = Type { place: Place::Varying, elem: T::ELEM, count: 2 };
    let pairs: Vec<Value> = (0..N)
        .step_by(2)
        .map(|k| {
            let mut call = Call::plain(mnemonic, sources.iter().map(|v| pair(*v, k)), ty);
            if negated {
                call.given.negate([0b10; 2]);
            }
            with(|c| c.value(Inst::Machine(Box::new(call)), ty, loc))
        })
        .collect();
    let whole = Type { count: N as u8, ..ty };
    Some(Vector::of(match pairs[..] {
        [one] => one,
        _ => with(|c| c.value(Inst::Concat(pairs.into_iter().collect()), whole, loc)),
    }))
}

#[track_caller]
fn bin<T: Arithmetic, const N: usize>(op: Bin, a: Vector<T, N>, b: Vector<T, N>) -> Vector<T, N> {
    let loc = Location::caller();
    packed(Packed::Bin(op), &[a, b])
        .unwrap_or_else(|| a.zip(b, |x, y| V::emit(Inst::Bin(op, x.value, y.value), loc)))
}

macro_rules! operators {
    ($($tr:ident $method:ident $op:ident;)*) => {$(
        impl<T: Arithmetic, const N: usize> $tr for Vector<T, N> {
            type Output = Self;
            #[track_caller]
            fn $method(self, rhs: Self) -> Self {
                bin(Bin::$op, self, rhs)
            }
        }
        impl<T: Arithmetic, const N: usize> $tr<V<T>> for Vector<T, N> {
            type Output = Self;
            #[track_caller]
            fn $method(self, rhs: V<T>) -> Self {
                bin(Bin::$op, self, Self::splat(rhs))
            }
        }
        impl<T: Arithmetic, const N: usize> $tr<S<T>> for Vector<T, N> {
            type Output = Self;
            #[track_caller]
            fn $method(self, rhs: S<T>) -> Self {
                bin(Bin::$op, self, Self::splat(rhs))
            }
        }
        impl<T: Arithmetic, const N: usize> $tr<T> for Vector<T, N> {
            type Output = Self;
            #[track_caller]
            fn $method(self, rhs: T) -> Self {
                bin(Bin::$op, self, Self::splat(rhs))
            }
        }
        #[diagnostic::do_not_recommend]
        impl<T: Arithmetic + TakesLiteral<U>, U, const N: usize> $tr<Literal<U>> for Vector<T, N> {
            type Output = Self;
            #[track_caller]
            fn $method(self, rhs: Literal<U>) -> Self {
                bin(Bin::$op, self, Self::splat(T::of(rhs.0)))
            }
        }
    )*};
}
operators! { Add add Add; Sub sub Sub; Mul mul Mul; }

impl<T: Float, const N: usize> Div for Vector<T, N> {
    type Output = Self;
    #[track_caller]
    fn div(self, rhs: Self) -> Self {
        self.zip(rhs, |x, y| x / y)
    }
}

impl<T: Arithmetic, const N: usize> Neg for Vector<T, N> {
    type Output = Self;
    #[track_caller]
    fn neg(self) -> Self {
        self.map(|x| -x)
    }
}

impl<T: Arithmetic, const N: usize> Vector<T, N> {
    /// The smaller of the two, element by element. For floats: if one of them is a NaN, the other one.
    #[track_caller]
    pub fn min(self, other: Self) -> Self {
        bin(Bin::Min, self, other)
    }

    /// The larger of the two, element by element. For floats: if one of them is a NaN, the other one.
    #[track_caller]
    pub fn max(self, other: Self) -> Self {
        bin(Bin::Max, self, other)
    }

    /// The sum of all elements, first to last.
    #[track_caller]
    pub fn sum(self) -> V<T> {
        let elements = self.elements();
        elements[1..].iter().fold(elements[0], |sum, x| sum + *x)
    }
}

impl<T: Float, const N: usize> Vector<T, N> {
    /// `self * a + b` with one rounding, element by element.
    #[track_caller]
    pub fn mul_add(self, a: Self, b: Self) -> Self {
        packed(Packed::Fma, &[self, a, b]).unwrap_or_else(|| {
            let (x, y, z) = (self.elements(), a.elements(), b.elements());
            Self::from(std::array::from_fn(|k| x[k].mul_add(y[k], z[k])))
        })
    }
}

/// `v as f32x2` converts element by element.
impl<T: Number, U: Number, const N: usize> CastTo<Vector<U, N>> for Vector<T, N> {
    type Output = Vector<U, N>;
    #[track_caller]
    fn cast_to(self) -> Vector<U, N> {
        let loc = Location::caller();
        if (T::ELEM, U::ELEM) == (Elem::F32, Elem::Bf16) && N.is_multiple_of(2) && exists("v_cvt_pk_bf16_f32")
        {
            return round_pairs(self, "v_cvt_pk_bf16_f32", loc);
        }
        self.map(|x| V::emit(Inst::Cast(x.value), loc))
    }
}

/// 16-bit float types, to which two f32 can be converted at once.
pub trait HalfFloat: Float {
    #[doc(hidden)]
    fn approx_pair(pair: Vector<f32, 2>) -> Vector<Self, 2>;
}

impl HalfFloat for f16 {
    #[track_caller]
    fn approx_pair(pair: Vector<f32, 2>) -> Vector<f16, 2> {
        let nearest = "v_cvt_pk_f16_f32";
        let mnemonic = if exists(nearest) { nearest } else { "v_cvt_pkrtz_f16_f32" };
        round_pairs(pair, mnemonic, Location::caller())
    }
}

impl HalfFloat for bf16 {
    #[track_caller]
    fn approx_pair(pair: Vector<f32, 2>) -> Vector<bf16, 2> {
        let loc = Location::caller();
        if exists("v_cvt_pk_bf16_f32") {
            return round_pairs(pair, "v_cvt_pk_bf16_f32", loc);
        }
        let [low, high] = pair.elements().map(|x| (x.to_bits() + 0x8000u32).value);
        let ty = Type { place: Place::Varying, elem: Elem::Bf16, count: 2 };
        // Take the upper half of each word, which the addition above has rounded.
        let halves = with(|c| c.v_u32(0x0706_0302));
        let call = Call::plain("v_perm_b32", [high, low, halves], ty);
        Vector::of(with(|c| c.value(Inst::Machine(Box::new(call)), ty, loc)))
    }
}

impl Vector<f32, 2> {
    /// Converts both elements to 16-bit floats in the fewest instructions that the target offers, with an error below
    /// one ulp. gfx950 rounds to the nearest even; other targets round f16 towards zero, and bf16 to the nearest with
    /// ties away from zero. `pair as Vector<f16, 2>` rounds to the nearest even everywhere.
    #[track_caller]
    pub fn approx_as<U: HalfFloat>(self) -> Vector<U, 2> {
        U::approx_pair(self)
    }
}

/// Converts pairs of f32 to registers of two 16-bit floats, with one instruction for each pair.
fn round_pairs<T: Number, U: Number, const N: usize>(
    v: Vector<T, N>,
    mnemonic: &'static str,
    loc: &'static Location<'static>,
) -> Vector<U, N> {
    let ty = Type { place: Place::Varying, elem: U::ELEM, count: 2 };
    let elements = v.elements();
    let pairs = elements.chunks(2).map(|two| {
        let call = Call::plain(mnemonic, two.iter().map(|x| x.value), ty);
        with(|c| c.value(Inst::Machine(Box::new(call)), ty, loc))
    });
    let pairs: Vec<Value> = pairs.collect();
    let whole = Type { count: N as u8, ..ty };
    Vector::of(match pairs[..] {
        [one] => one,
        _ => with(|c| c.value(Inst::Concat(pairs.into_iter().collect()), whole, loc)),
    })
}
