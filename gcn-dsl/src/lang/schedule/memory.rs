//! Asynchronous loads and stores.

use super::pending::{LdsAccesses, Loads, Pending, ScalarLoads, Stores, WaitCounter, begin};
use crate::lang::matrix::MatrixElement;
use crate::lang::memory::slice::{Backing, Elements, load_elements, store_elements};
use crate::lang::{FragA, FragB, Index, IntoDevice, Lds, Ptr, ReadOnly, S, Slice, V, Vector, Writable};
use crate::scalar::Number;
use std::panic::Location;

/// Memory for whose loads there is one counter.
pub trait AsyncMemory<T>: Elements<T> {
    /// The counter of the loads.
    type Counter: WaitCounter;
}

impl<T, A> AsyncMemory<T> for Slice<T, A> {
    type Counter = Loads;
}
impl<T, A> AsyncMemory<T> for Ptr<T, A> {
    type Counter = Loads;
}
impl<T, const N: usize> AsyncMemory<T> for Lds<T, N> {
    type Counter = LdsAccesses;
}

#[track_caller]
pub(super) fn load<T: Number, C: WaitCounter>(from: &impl Backing<T>, i: impl Index) -> Pending<V<T>, C> {
    let (i, loc) = (i.index(), Location::caller());
    let begun = begin();
    let value = V::from_value(load_elements(from, i, 1, loc));
    begun.end(value)
}

#[track_caller]
pub(super) fn store<T: Number, C: WaitCounter>(
    to: &impl Backing<T>,
    i: impl Index,
    v: V<T>,
) -> Pending<(), C> {
    let (i, loc) = (i.index(), Location::caller());
    let begun = begin();
    store_elements(to, i, v.value, loc);
    begun.end(())
}

macro_rules! loads {
    ($([$($generics:tt)*] $memory:ty, $counter:ty;)*) => {$(
        impl<T: Number, $($generics)*> $memory {
            /// Starts to load element `i`; the result is available after [`wait`](super::wait).
            #[track_caller]
            pub fn load_async(&self, i: impl Index) -> Pending<V<T>, $counter> {
                load(self, i)
            }

            /// Starts to load `K` consecutive elements from index `i` on with one instruction of up to 16 bytes.
            #[track_caller]
            pub fn load_vector_async<const K: usize>(&self, i: impl Index) -> Pending<Vector<T, K>, $counter> {
                let i = i.index();
                let begun = begin();
    let value = Vector::load(self, i);
    begun.end(value)
            }
        }
    )*};
}
loads! {
    [A] Slice<T, A>, Loads;
    [A] Ptr<T, A>, Loads;
    [const N: usize] Lds<T, N>, LdsAccesses;
}

macro_rules! stores {
    ($([$($generics:tt)*] $memory:ty, $counter:ty;)*) => {$(
        impl<T: Number, $($generics)*> $memory {
            /// Starts to store element `i`; the store is complete after [`wait`](super::wait).
            #[track_caller]
            pub fn store_async(&self, i: impl Index, v: impl IntoDevice<V<T>>) -> Pending<(), $counter> {
                store(self, i, v.into_device())
            }

            /// Starts to store `K` consecutive elements from index `i` on with one instruction of up to 16 bytes.
            #[track_caller]
            pub fn store_vector_async<const K: usize>(&self, i: impl Index, v: Vector<T, K>) -> Pending<(), $counter> {
                let i = i.index();
                let begun = begin();
    v.store(self, i);
    begun.end(())
            }
        }
    )*};
}
stores! {
    [] Slice<T, Writable>, Stores;
    [] Ptr<T, Writable>, Stores;
    [const N: usize] Lds<T, N>, LdsAccesses;
}

impl<T: Number> Slice<T, ReadOnly> {
    /// Starts a scalar load of element `i`; see [`Slice::uniform`].
    #[track_caller]
    pub fn uniform_async(&self, i: impl IntoDevice<S<u32>>) -> Pending<S<T>, ScalarLoads> {
        let i = i.into_device();
        let begun = begin();
        let value = self.uniform(i);
        begun.end(value)
    }
}

macro_rules! fragments {
    ($($name:ident<$a:ident, $b:ident>),*) => {$(
        impl<T: MatrixElement, const $a: usize, const $b: usize, const BLOCKS: usize> $name<T, $a, $b, BLOCKS> {
            /// Starts to load the lane's elements, which are the same as those of `load`.
            #[track_caller]
            pub fn load_async<M: AsyncMemory<T::Memory>>(from: &M, i: impl Index) -> Pending<Self, M::Counter> {
                let i = i.index();
                let begun = begin();
    let value = Self::load(from, i);
    begun.end(value)
            }
        }
    )*};
}
fragments!(FragA<ROWS, K>, FragB<K, COLS>);
