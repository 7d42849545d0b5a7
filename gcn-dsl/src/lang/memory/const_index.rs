//! Indices that are known when the kernel is built, such as the `k` of `#[unroll] for k in …`. The same `k` may index
//! arrays of values, which take a `usize`, and device memory, which takes a `u32`.

use std::panic::Location;

use super::dynamic_index::TableRow;
use crate::lang::memory::access::{LoadAt, StoreAt};
use crate::lang::memory::layout::{Run, Stored};
use crate::lang::memory::place::{ElementPlace, PlaceAt};
use crate::lang::values::element_assign::HasElements;
use crate::lang::{LanePtr, Lds, LdsPlane, LdsRow, LdsSlice, Private, Ptr, Slice, Writable, with};

/// An index that is computed from host numbers only.
#[derive(Debug, Clone, Copy)]
pub struct Counted<N>(N);

/// Wraps such an index; the macro emits this call.
pub fn counted<N: HostCount>(n: N) -> Counted<N> {
    Counted(n)
}

/// Integer types of the host.
#[diagnostic::on_unimplemented(
    message = "an index of the host is an integer, not `{Self}`",
    label = "not an integer of the host",
    note = "convert with `as usize`; of a reference take the value, `*k`"
)]
pub trait HostCount: Copy {
    /// The number as `u64`; `None` if it is negative.
    fn count(self) -> Option<u64>;
}

for_each_type!(N in [u8, i8, u16, i16, u32, i32, u64, i64, usize, isize] {
    impl HostCount for N {
        fn count(self) -> Option<u64> {
            u64::try_from(self).ok()
        }
    }
});

/// The types of indices: `usize` for arrays of values, `u32` for device memory.
pub trait FromCount {
    /// Converts `count`; `None` if the type cannot represent it.
    fn of(count: u64) -> Option<Self>
    where
        Self: Sized;
    /// The index that is used after an error.
    const NONE: Self;
}
impl FromCount for usize {
    fn of(count: u64) -> Option<usize> {
        usize::try_from(count).ok()
    }
    const NONE: usize = 0;
}
impl FromCount for u32 {
    fn of(count: u64) -> Option<u32> {
        u32::try_from(count).ok()
    }
    const NONE: u32 = 0;
}

/// Converts an index to the type that is needed. If it is out of that type's range, an error is recorded.
#[track_caller]
pub(in crate::lang) fn number<I: FromCount, N: HostCount>(n: Counted<N>) -> I {
    let count = n.0.count().and_then(I::of);
    count.unwrap_or_else(|| {
        negative(Location::caller());
        I::NONE
    })
}

fn negative(loc: &'static Location<'static>) {
    with(|c| c.fail_if_run(loc, || "an index is not negative and less than 2^32".to_owned()));
}

/// There is one impl for each type that is indexed by a `$number`. If there were a single blanket impl for read-only
/// types, rustc would select it for writes, too.
macro_rules! loads {
    ($([$($generics:tt)*] $t:ty => $number:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*, Host: HostCount> LoadAt<Counted<Host>> for $t
        where
            $t: LoadAt<$number>,
        {
            type Output = <$t as LoadAt<$number>>::Output;
            #[track_caller]
            fn load_at(&self, i: Counted<Host>) -> Self::Output {
                self.load_at(number::<$number, Host>(i))
            }
        }
    )*};
}
loads! {
    [X, const N: usize] [X; N] => usize;
    [X] [X] => usize;
    [X] Vec<X> => usize;
    [X, I, const N: usize] Run<X, I, N> => usize;
    [X, I, const M: usize] TableRow<X, I, M> => usize;
    [X] ElementPlace<X> => usize;
    [T, A] Slice<T, A> => u32;
    [T, A] Ptr<T, A> => u32;
    [T, A] LanePtr<T, A> => u32;
    [T, const N: usize] Lds<T, N> => u32;
    [T] LdsRow<T> => u32;
    [T, const M: usize, const L: usize] LdsPlane<T, M, L> => u32;
    [T] LdsSlice<T> => u32;
    [T, const N: usize] Private<T, N> => u32;
}

macro_rules! stores {
    ($([$($generics:tt)*] $t:ty => $number:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*, Host: HostCount> StoreAt<Counted<Host>> for $t
        where
            $t: StoreAt<$number>,
        {
            type Element = <$t as StoreAt<$number>>::Element;
            #[track_caller]
            fn store_at(&self, i: Counted<Host>, value: Self::Element) {
                self.store_at(number::<$number, Host>(i), value);
            }
        }
    )*};
}
stores! {
    [X: Stored, const N: usize] ElementPlace<[X; N]> => usize;
    [T] Slice<T, Writable> => u32;
    [T] Ptr<T, Writable> => u32;
    [T] LanePtr<T, Writable> => u32;
    [T, const N: usize] Lds<T, N> => u32;
    [T] LdsRow<T> => u32;
    [T] LdsSlice<T> => u32;
    [T, const N: usize] Private<T, N> => u32;
}

macro_rules! places {
    ($([$($generics:tt)*] $t:ty => $number:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*, Host: HostCount> PlaceAt<Counted<Host>> for $t
        where
            $t: PlaceAt<$number>,
        {
            type Place = <$t as PlaceAt<$number>>::Place;
            #[track_caller]
            fn place_at(&self, i: Counted<Host>) -> Self::Place {
                self.place_at(number::<$number, Host>(i))
            }
        }
    )*};
}
places! {
    [X, const N: usize] [X; N] => usize;
    [X] [X] => usize;
    [X] Vec<X> => usize;
    [X: Stored, const N: usize] ElementPlace<[X; N]> => usize;
    [X: Stored, const N: usize] Slice<[X; N], Writable> => u32;
    [T, const N: usize] Lds<T, N> => u32;
    [T, const M: usize, const L: usize] LdsPlane<T, M, L> => u32;
}

macro_rules! elements {
    ($([$($generics:tt)*] $t:ty => $number:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*, Host: HostCount> HasElements<Counted<Host>> for $t
        where
            $t: HasElements<$number>,
        {
            type Element = <$t as HasElements<$number>>::Element;
            #[track_caller]
            fn change_at(&mut self, i: Counted<Host>, f: impl Fn(&mut Self::Element)) {
                self.change_at(number::<$number, Host>(i), f);
            }
        }
    )*};
}
elements! {
    [X, const N: usize] [X; N] => usize;
    [T, const N: usize] Lds<T, N> => u32;
    [T, const N: usize] Private<T, N> => u32;
}
