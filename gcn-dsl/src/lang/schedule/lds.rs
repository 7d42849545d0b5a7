//! LDS buffers whose type contains their phase, which determines the allowed operations.

use std::marker::PhantomData;
use std::panic::Location;

use super::carried::Carry;
use super::memory::{AsyncMemory, load};
use super::pending::{LdsAccesses, Pending, begin};
use crate::ir::{Inst, LdsId, Memory};
use crate::lang::memory::slice::{Backing, Elements, load_elements, store_elements};
use crate::lang::values::flow::Convergent;
use crate::lang::{Index, IntoDevice, Lds, LoadAt, StoreAt, V, Vector, Writable, with};
use crate::scalar::Number;

/// Phase of an LDS buffer: this wave has stored to it; other waves' stores may not have happened yet.
#[derive(Debug, Clone, Copy)]
pub struct Written;
/// Phase of an LDS buffer: the stores of all waves are visible.
#[derive(Debug, Clone, Copy)]
pub struct Readable;

/// Phases in which a buffer can be read.
#[diagnostic::on_unimplemented(
    message = "an LDS buffer in phase `{Self}` cannot be read",
    label = "not readable here",
    note = "what was stored can be read after a barrier: `let buffer = barrier(buffer);` makes `Readable` of `Written`"
)]
pub trait ReadPhase {}
impl ReadPhase for Readable {}

/// Phases in which elements can be assigned.
#[diagnostic::on_unimplemented(
    message = "an LDS buffer in phase `{Self}` cannot be assigned to",
    label = "not open for stores here",
    note = "`let buffer = buffer.write();` opens a `Writable` buffer for stores; a `Readable` one becomes `Writable` by `barrier(buffer)`, after which every wave has read it"
)]
pub trait WritePhase {}
impl WritePhase for Written {}

/// Phases in which a buffer can be stored to.
#[diagnostic::on_unimplemented(
    message = "an LDS buffer in phase `{Self}` cannot be stored to",
    label = "other waves may still read it",
    note = "a `Readable` buffer becomes `Writable` by `let buffer = barrier(buffer);`, after which every wave has read it"
)]
pub trait StorePhase {}
impl StorePhase for Writable {}
impl StorePhase for Written {}

/// Phases that a barrier changes.
#[diagnostic::on_unimplemented(
    message = "a barrier does nothing to an LDS buffer in phase `{Self}`",
    label = "neither written nor read since the last barrier",
    note = "a barrier makes `Readable` of `Written` and `Writable` of `Readable`; leave this buffer out of the call"
)]
pub trait TurnPhase {
    /// The phase after the barrier.
    type Next;
}
impl TurnPhase for Written {
    type Next = Readable;
}
impl TurnPhase for Readable {
    type Next = Writable;
}

/// `N` elements in the workgroup's LDS, in phase `P`: [`Writable`], [`Written`] or [`Readable`].
///
/// The phase is part of the type, and an operation that changes the phase takes the buffer and returns it. A store to a
/// buffer that another wave may still read, and a load without a barrier after the stores, therefore do not compile.
///
/// ```
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     /// Reverses each block of 256 elements.
///     #[workgroup(256)]
///     fn reverse(x: &mut [u32]) {
///         let i = local_id().x;
///         let block = LdsBuf::<u32, 256>::new();            // Writable
///         let block = block.store(i, x[global_id().x]);     // Written
///         let block = barrier(block);                       // Readable
///         x[global_id().x] = block[255 - i];
///     }
/// }
/// # reverse.build(Target::GFX90A).unwrap();
/// ```
#[derive(Debug)]
pub struct LdsBuf<T, const N: usize, P = Writable> {
    array: Lds<T, N>,
    phase: PhantomData<P>,
}

impl<T: Number, const N: usize> LdsBuf<T, N, Writable> {
    /// Declares a buffer. Buffers are laid out in order of declaration, each aligned to 16 bytes.
    #[allow(clippy::new_without_default, reason = "it allocates: every call is another buffer")]
    pub fn new() -> Self {
        LdsBuf { array: Lds::new(), phase: PhantomData }
    }
}

impl<T: Number, const N: usize, P> LdsBuf<T, N, P> {
    fn turned<Q>(self) -> LdsBuf<T, N, Q> {
        LdsBuf { array: self.array, phase: PhantomData }
    }

    /// Begins a series of stores `buffer[i] = v`.
    pub fn write(self) -> LdsBuf<T, N, Written>
    where
        P: StorePhase,
    {
        self.turned()
    }

    /// Stores element `i`.
    #[track_caller]
    pub fn store(self, i: impl Index, v: impl IntoDevice<V<T>>) -> LdsBuf<T, N, Written>
    where
        P: StorePhase,
    {
        store_elements(&self.array, i.index(), v.into_device().value, Location::caller());
        self.turned()
    }

    /// Stores `K` consecutive elements from index `i` on with one instruction of up to 16 bytes. The address must be a
    /// multiple of the number of bytes stored. The buffer must be in the phase that [`LdsBuf::write`] begins.
    #[track_caller]
    pub fn store_vector<const K: usize>(&self, i: impl Index, v: Vector<T, K>)
    where
        P: WritePhase,
    {
        v.store(&self.array, i);
    }

    /// Starts to store element `i` in a manual schedule.
    #[track_caller]
    pub fn store_async(&self, i: impl Index, v: impl IntoDevice<V<T>>) -> Pending<(), LdsAccesses>
    where
        P: WritePhase,
    {
        super::memory::store(&self.array, i, v.into_device())
    }

    /// Starts to store `K` consecutive elements in a manual schedule.
    #[track_caller]
    pub fn store_vector_async<const K: usize>(
        &self,
        i: impl Index,
        v: Vector<T, K>,
    ) -> Pending<(), LdsAccesses>
    where
        P: WritePhase,
    {
        let i = i.index();
        let begun = begin();
        v.store(&self.array, i);
        begun.end(())
    }

    /// Loads `K` consecutive elements from index `i` on with one instruction of up to 16 bytes. The address must be a
    /// multiple of the number of bytes loaded.
    #[track_caller]
    pub fn load_vector<const K: usize>(&self, i: impl Index) -> Vector<T, K>
    where
        P: ReadPhase,
    {
        Vector::load(&self.array, i)
    }

    /// Starts to load element `i` in a manual schedule.
    #[track_caller]
    pub fn load_async(&self, i: impl Index) -> Pending<V<T>, LdsAccesses>
    where
        P: ReadPhase,
    {
        load(&self.array, i)
    }

    /// Starts to load `K` consecutive elements in a manual schedule.
    #[track_caller]
    pub fn load_vector_async<const K: usize>(&self, i: impl Index) -> Pending<Vector<T, K>, LdsAccesses>
    where
        P: ReadPhase,
    {
        let i = i.index();
        let begun = begin();
        let value = Vector::load(&self.array, i);
        begun.end(value)
    }
}

impl<T: Number, const N: usize, P: ReadPhase> Backing<T> for LdsBuf<T, N, P> {
    fn memory(&self) -> Memory {
        self.array.memory()
    }
}
/// A buffer in a readable phase is memory from which fragments and vectors can be loaded.
impl<T: Number, const N: usize, P: ReadPhase> Elements<T> for LdsBuf<T, N, P> {}
impl<T: Number, const N: usize, P: ReadPhase> AsyncMemory<T> for LdsBuf<T, N, P> {
    type Counter = LdsAccesses;
}

impl<T: Number, const N: usize, P: ReadPhase, I: Index> LoadAt<I> for LdsBuf<T, N, P> {
    type Output = V<T>;
    #[track_caller]
    fn load_at(&self, i: I) -> V<T> {
        V::from_value(load_elements(&self.array, i.index(), 1, Location::caller()))
    }
}

impl<T: Number, const N: usize, P: WritePhase, I: Index> StoreAt<I> for LdsBuf<T, N, P> {
    type Element = V<T>;
    #[track_caller]
    fn store_at(&self, i: I, value: V<T>) {
        store_elements(&self.array, i.index(), value.value, Location::caller());
    }
}

impl<T, const N: usize, P> Carry for LdsBuf<T, N, P> {
    fn arrays(&self, out: &mut Vec<LdsId>) {
        if let Memory::Lds(id) = Backing::<T>::memory(&self.array) {
            out.push(id);
        }
    }
}

/// Types whose phase a barrier changes: [`LdsBuf`], [`LdsPair`](super::LdsPair), and tuples and arrays of these.
#[diagnostic::on_unimplemented(
    message = "a barrier has no phase of `{Self}` to turn",
    label = "not an LDS buffer with a phase",
    note = "`barrier(…)` takes `LdsBuf` and `LdsPair`, or a tuple of them; `Lds` arrays and slices have no phase: write `barrier()`"
)]
pub trait Turn {
    /// The type after the barrier.
    type Output;
    /// Changes the phase. The caller has emitted the barrier.
    fn turn(self) -> Self::Output;
}

impl<T: Number, const N: usize, P: TurnPhase> Turn for LdsBuf<T, N, P> {
    type Output = LdsBuf<T, N, P::Next>;
    fn turn(self) -> Self::Output {
        self.turned()
    }
}

impl<B: Turn, const N: usize> Turn for [B; N] {
    type Output = [B::Output; N];
    fn turn(self) -> Self::Output {
        self.map(B::turn)
    }
}

tuples!(Turn: results of turn);

/// The expansion of `barrier(buffers)`: emits a barrier and returns the buffers in their next phase.
#[track_caller]
pub fn barrier_turn<F: Convergent, B: Turn>(_flow: &F, buffers: B) -> B::Output {
    with(|c| c.effect(Inst::Barrier, Location::caller()));
    buffers.turn()
}
