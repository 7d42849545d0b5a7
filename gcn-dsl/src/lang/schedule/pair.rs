//! Double buffers in LDS.

use std::marker::PhantomData;
use std::panic::Location;

use super::carried::Carry;
use super::lds::{ReadPhase, Readable, StorePhase, Turn, WritePhase, Written};
use super::memory::AsyncMemory;
use super::pending::{LdsAccesses, Pending, begin};
use crate::ir::{Bin, Inst, LdsId, Memory, Type, Value, Variable};
use crate::lang::memory::slice::{Backing, Elements, load_elements, store_elements};
use crate::lang::{Index, IntoDevice, LoadAt, StoreAt, V, Vector, Writable, with};
use crate::scalar::{Elem, Number};

/// Two buffers of `N` elements in LDS: the front buffer is read while the back buffer is written, and a barrier swaps
/// the two.
///
/// `F` is the phase of the front buffer ([`Writable`] before the first swap, then [`Readable`]), `B` that of the back
/// buffer ([`Writable`] or [`Written`]). `barrier(pair)` requires a written back buffer; afterwards the front buffer is
/// readable and the back buffer writable. One barrier in each iteration is enough, because no wave writes the buffer
/// that another wave still reads.
///
/// ```
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     /// Sums of the mirrored blocks of 64 elements, the next one being stored while one is read.
///     #[workgroup(64)]
///     fn mirrored(blocks: u32, x: &[f32], y: &mut [f32]) {
///         let i = local_id().x;
///         let pair = LdsPair::<f32, 64>::new().store(i, x[i]);
///         #[carried]
///         let mut pair = barrier(pair);
///         let mut sum: V<f32> = 0.0;
///         for block in 1..blocks + 1 {
///             let next = pair.store(i, x[block * 64 + i]);
///             sum += next[63 - i];
///             pair = barrier(next);
///         }
///         y[i] = sum;
///     }
/// }
/// # mirrored.build(Target::GFX942).unwrap();
/// ```
#[derive(Debug)]
pub struct LdsPair<T, const N: usize, F = Writable, B = Writable> {
    id: LdsId,
    /// The index of the front buffer's first element: 0 or `N`.
    front: Variable,
    types: PhantomData<(T, F, B)>,
}

impl<T: Number, const N: usize> LdsPair<T, N, Writable, Writable> {
    /// Declares the two buffers.
    #[allow(clippy::new_without_default, reason = "it allocates: every call is another pair")]
    #[track_caller]
    pub fn new() -> Self {
        let bytes = N.saturating_mul(T::ELEM.bytes() as usize);
        let (loc, dword) = (Location::caller(), Type::uniform(Elem::U32));
        with(|c| {
            if !bytes.is_multiple_of(16) {
                c.fail(
                    loc,
                    format!("the buffers of an `LdsPair` are multiples of 16 bytes, not {bytes} bytes"),
                );
            }
            let id = c.builder.lds(2, u32::try_from(bytes).unwrap_or(u32::MAX));
            let front = c.builder.declare(dword);
            let zero = c.builder.constant(0, dword);
            c.builder.write(front, zero, None);
            LdsPair { id, front, types: PhantomData }
        })
    }
}

impl<T: Number, const N: usize, F, B> LdsPair<T, N, F, B> {
    fn turned<G, C>(self) -> LdsPair<T, N, G, C> {
        LdsPair { id: self.id, front: self.front, types: PhantomData }
    }

    fn side(&self, front: bool) -> Side<N> {
        Side { id: self.id, base: self.front, front }
    }

    /// Begins a series of stores `pair[i] = v` to the back buffer.
    pub fn write(self) -> LdsPair<T, N, F, Written>
    where
        B: StorePhase,
    {
        self.turned()
    }

    /// Stores element `i` of the back buffer.
    #[track_caller]
    pub fn store(self, i: impl Index, v: impl IntoDevice<V<T>>) -> LdsPair<T, N, F, Written>
    where
        B: StorePhase,
    {
        let loc = Location::caller();
        let back = self.side(false);
        store_elements::<T>(&back, back.index(i, loc), v.into_device().value, loc);
        self.turned()
    }

    /// Stores `K` consecutive elements of the back buffer, which must be in the phase that [`LdsPair::write`] begins.
    #[track_caller]
    pub fn store_vector<const K: usize>(&self, i: impl Index, v: Vector<T, K>)
    where
        B: WritePhase,
    {
        let back = self.side(false);
        v.store(&back, back.index(i, Location::caller()));
    }

    /// Starts to store `K` consecutive elements of the back buffer in a manual schedule.
    #[track_caller]
    pub fn store_vector_async<const K: usize>(
        &self,
        i: impl Index,
        v: Vector<T, K>,
    ) -> Pending<(), LdsAccesses>
    where
        B: WritePhase,
    {
        let back = self.side(false);
        let i = back.index(i, Location::caller());
        let begun = begin();
        v.store(&back, i);
        begun.end(())
    }

    /// Loads `K` consecutive elements of the front buffer.
    #[track_caller]
    pub fn load_vector<const K: usize>(&self, i: impl Index) -> Vector<T, K>
    where
        F: ReadPhase,
    {
        Vector::load(self, i)
    }

    /// Starts to load element `i` of the front buffer in a manual schedule.
    #[track_caller]
    pub fn load_async(&self, i: impl Index) -> Pending<V<T>, LdsAccesses>
    where
        F: ReadPhase,
    {
        super::memory::load(self, i)
    }

    /// Starts to load `K` consecutive elements of the front buffer in a manual schedule.
    #[track_caller]
    pub fn load_vector_async<const K: usize>(&self, i: impl Index) -> Pending<Vector<T, K>, LdsAccesses>
    where
        F: ReadPhase,
    {
        let i = i.index();
        let begun = begin();
        let value = Vector::load(self, i);
        begun.end(value)
    }
}

/// One of the two buffers, as memory.
struct Side<const N: usize> {
    id: LdsId,
    base: Variable,
    front: bool,
}

impl<const N: usize> Side<N> {
    /// The index of element `i` of this buffer in the pair's array.
    fn index(&self, i: impl Index, loc: &'static Location<'static>) -> V<u32> {
        let (i, uniform, varying) = (i.index().value, Type::uniform(Elem::U32), Type::varying(Elem::U32));
        with(|c| {
            let mut base = c.builder.read(self.base, None);
            if !self.front {
                let both = c.builder.constant(N as u64, uniform);
                base = c.value(Inst::Bin(Bin::Xor, base, both), uniform, loc);
            }
            let base = c.value(Inst::Splat(base), varying, loc);
            let add = |c: &mut crate::lang::context::Context, a: Value, b: Value| {
                c.value(Inst::Bin(Bin::Add, a, b), varying, loc)
            };
            // Add the constant part of the index last, so that it becomes the instruction's offset.
            let split = match c.builder.kernel().def(i).inst {
                Inst::Bin(Bin::Add, inner, constant) if c.builder.as_const(constant).is_some() => {
                    Some((inner, constant))
                }
                _ => None,
            };
            V::from_value(match split {
                Some((inner, constant)) => {
                    let inner = add(c, inner, base);
                    add(c, inner, constant)
                }
                None => add(c, i, base),
            })
        })
    }
}

impl<T, const N: usize> Backing<T> for Side<N> {
    fn memory(&self) -> Memory {
        Memory::Lds(self.id)
    }
}
impl<T, const N: usize> Elements<T> for Side<N> {}

impl<T: Number, const N: usize, F: ReadPhase, B> Backing<T> for LdsPair<T, N, F, B> {
    fn memory(&self) -> Memory {
        Memory::Lds(self.id)
    }
    fn rebase(&self, i: V<u32>, loc: &'static Location<'static>) -> V<u32> {
        self.side(true).index(i, loc)
    }
}
/// The front buffer is memory from which fragments and vectors can be loaded.
impl<T: Number, const N: usize, F: ReadPhase, B> Elements<T> for LdsPair<T, N, F, B> {}
impl<T: Number, const N: usize, F: ReadPhase, B> AsyncMemory<T> for LdsPair<T, N, F, B> {
    type Counter = LdsAccesses;
}

impl<T: Number, const N: usize, F: ReadPhase, B, I: Index> LoadAt<I> for LdsPair<T, N, F, B> {
    type Output = V<T>;
    #[track_caller]
    fn load_at(&self, i: I) -> V<T> {
        V::from_value(load_elements(self, i.index(), 1, Location::caller()))
    }
}

impl<T: Number, const N: usize, F, B: WritePhase, I: Index> StoreAt<I> for LdsPair<T, N, F, B> {
    type Element = V<T>;
    #[track_caller]
    fn store_at(&self, i: I, value: V<T>) {
        let (back, loc) = (self.side(false), Location::caller());
        store_elements::<T>(&back, back.index(i, loc), value.value, loc);
    }
}

impl<T, const N: usize, F, B> Carry for LdsPair<T, N, F, B> {
    fn arrays(&self, out: &mut Vec<LdsId>) {
        out.push(self.id);
    }
}

/// The phase in which the back buffer of a pair must be at a barrier.
#[diagnostic::on_unimplemented(
    message = "a barrier swaps the buffers of an `LdsPair` once its back buffer is written; it is `{Self}`",
    label = "nothing was stored to the back buffer",
    note = "store to it before the barrier: `let pair = pair.store(i, v);`, or `let pair = pair.write();` and `pair[i] = v`"
)]
pub trait SwapPhase {}
impl SwapPhase for Written {}

impl<T: Number, const N: usize, F, B: SwapPhase> Turn for LdsPair<T, N, F, B> {
    type Output = LdsPair<T, N, Readable, Writable>;
    fn turn(self) -> Self::Output {
        let dword = Type::uniform(Elem::U32);
        with(|c| {
            let base = c.builder.read(self.front, None);
            let both = c.builder.constant(N as u64, dword);
            let other = c.builder.value(Inst::Bin(Bin::Xor, base, both), dword, None);
            c.builder.write(self.front, other, None);
        });
        self.turned()
    }
}
