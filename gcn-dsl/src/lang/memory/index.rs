//! The impls of `a[i]` and `a[i] = x` for all kinds of memory.

use super::layout::{HoldsParts, Stored, load, store};
use crate::lang::{Index, LanePtr, LdsSlice, LoadAt, Private, Ptr, Slice, StoreAt, Writable};

/// Implements reads for the first type of memory and writes for the second. The brackets contain the generic parameters
/// other than `T`.
macro_rules! elements {
    ($([$($generic:tt)*] $from:ty, [$($writable:tt)*] $to:ty;)*) => {$(
        impl<T: Stored, $($generic)* I: Index> LoadAt<I> for $from {
            type Output = T::Value;
            #[track_caller]
            fn load_at(&self, i: I) -> T::Value {
                let (from, at) = self.element(i.index());
                load::<T>(from, at, 0)
            }
        }
        impl<T: Stored, $($writable)* I: Index> StoreAt<I> for $to {
            type Element = T::Value;
            #[track_caller]
            fn store_at(&self, i: I, value: T::Value) {
                let (to, at) = self.element(i.index());
                store::<T>(to, at, 0, &value);
            }
        }
    )*};
}
elements! {
    [] Slice<T, Writable>, [] Slice<T, Writable>;
    [A,] Ptr<T, A>, [] Ptr<T, Writable>;
    [A,] LanePtr<T, A>, [] LanePtr<T, Writable>;
    [] LdsSlice<T>, [] LdsSlice<T>;
    [const N: usize,] Private<T, N>, [const N: usize,] Private<T, N>;
}
