//! Loads and stores with cache hints.

use std::panic::Location;

use super::slice::{Backing, byte_offset};
pub use crate::ir::Cache;
use crate::ir::{Inst, Manner, Place, Type, Value};
use crate::lang::{Index, IntoDevice, LanePtr, Ptr, Slice, V, Vector, Writable, with};
use crate::scalar::Number;

fn load<T: Number>(
    from: &impl Backing<T>,
    i: V<u32>,
    count: usize,
    cache: Cache,
    loc: &'static Location<'static>,
) -> Value {
    let (memory, offset) = (from.memory(), byte_offset::<T>(from, i, loc));
    let ty = Type { place: Place::Varying, elem: T::ELEM, count: count as u8 };
    with(|c| c.value(Inst::Load { memory, offset, manner: Manner::Cached(cache) }, ty, loc))
}

fn store<T: Number>(
    to: &impl Backing<T>,
    i: V<u32>,
    value: Value,
    cache: Cache,
    loc: &'static Location<'static>,
) {
    let (memory, offset) = (to.memory(), byte_offset::<T>(to, i, loc));
    with(|c| c.effect(Inst::Store { memory, offset, value, manner: Manner::Cached(cache) }, loc));
}

for_each_type!(Memory<T, A> in [Slice, Ptr] {
    impl<T: Number, A> Memory<T, A> {
        /// Element `i`, loaded with a cache hint. Such loads are not merged with others.
        #[track_caller]
        pub fn load_with(&self, i: impl Index, cache: Cache) -> V<T> {
            self.check(i.index(), 1);
            V::from_value(load(self, i.index(), 1, cache, Location::caller()))
        }

        /// `N` consecutive elements from index `i` on, loaded with a cache hint by one instruction of up to 16 bytes.
        #[track_caller]
        pub fn load_vector_with<const N: usize>(&self, i: impl Index, cache: Cache) -> Vector<T, N> {
            self.check(i.index(), N);
            Vector::loaded(|loc| load(self, i.index(), N, cache, loc))
        }
    }

    impl<T: Number> Memory<T, Writable> {
        /// Stores element `i` with a cache hint. Such stores are not merged with others.
        #[track_caller]
        pub fn store_with(&self, i: impl Index, value: impl IntoDevice<V<T>>, cache: Cache) {
            self.check(i.index(), 1);
            store(self, i.index(), value.into_device().value, cache, Location::caller());
        }

        /// Stores `N` consecutive elements from index `i` on with a cache hint by one instruction of up to 16 bytes.
        #[track_caller]
        pub fn store_vector_with<const N: usize>(&self, i: impl Index, v: Vector<T, N>, cache: Cache) {
            self.check(i.index(), N);
            store(self, i.index(), v.value, cache, Location::caller());
        }
    }
});

impl<T: Number, A> LanePtr<T, A> {
    /// The target of the pointer, loaded with a cache hint.
    #[track_caller]
    pub fn load_with(&self, cache: Cache) -> V<T> {
        V::from_value(load(self, 0.into_device(), 1, cache, Location::caller()))
    }
}

impl<T: Number> LanePtr<T, Writable> {
    /// Stores where the pointer points to, with a cache hint.
    #[track_caller]
    pub fn store_with(&self, value: impl IntoDevice<V<T>>, cache: Cache) {
        store(self, 0.into_device(), value.into_device().value, cache, Location::caller());
    }
}
