//! Places in memory: what the `a[i]` of an assignment `a[i][k] = x` is.

use std::marker::PhantomData;

use super::access::{LoadAt, StoreAt};
use super::bounds::check;
use super::layout::{Bytes, Index, Stored, load, store};
use super::slice::Slice;
use crate::lang::values::constant::within;
use crate::lang::{Choice, LanePtr, Ptr, S, V, Writable};

/// What `a[i]` is in an assignment to a part of it, `a[i][k] = x`: rows of LDS, elements of slices that are arrays, and slices of which
/// `i` chooses one.
#[diagnostic::on_unimplemented(
    message = "cannot assign to a part of an element of `{Self}`",
    label = "no part of an element can be written here",
    note = "the elements of a `&mut [[T; N]]` have parts; a `&[[T; N]]` is read-only, and the elements of a `&mut [T]` are numbers"
)]
pub trait PlaceAt<I> {
    /// The place.
    type Place;
    /// It.
    fn place_at(&self, i: I) -> Self::Place;
}

/// The expansion of the `a[i]` of `a[i][k] = x`.
#[track_caller]
pub fn place_at<A: PlaceAt<I, Place = P> + ?Sized, I, P>(a: &A, i: I) -> P {
    a.place_at(i)
}

impl<A: PlaceAt<I> + ?Sized, I> PlaceAt<I> for &A {
    type Place = A::Place;
    #[track_caller]
    fn place_at(&self, i: I) -> A::Place {
        (**self).place_at(i)
    }
}

/// One of several parts of memory.
macro_rules! chosen {
    ($([$($generics:tt)*] $list:ty;)*) => {$(
        impl<X: Copy, $($generics)*> PlaceAt<usize> for $list {
            type Place = X;
            #[track_caller]
            fn place_at(&self, i: usize) -> X {
                self.load_at(i)
            }
        }
    )*};
}
chosen! { [const N: usize] [X; N]; [] [X]; [] Vec<X>; }

macro_rules! chosen_by_device {
    ($($i:ty => $how:ident $at:ident;)*) => {$(
        impl<X: Choice, const N: usize> PlaceAt<$i> for [X; N] {
            type Place = X::$how;
            #[track_caller]
            fn place_at(&self, i: $i) -> X::$how {
                X::$at(self, i)
            }
        }
    )*};
}
chosen_by_device! { S<u32> => Uniform at_uniform; V<u32> => Varying at_varying; }

macro_rules! rows_at_pointers {
    ($($pointer:ident $at:expr;)*) => {$(
        impl<X: Stored, I: Index, const N: usize> PlaceAt<I> for $pointer<[X; N], Writable> {
            type Place = LanePtr<X, Writable>;
            #[track_caller]
            fn place_at(&self, i: I) -> LanePtr<X, Writable> {
                $at(*self).add(i).cast()
            }
        }
    )*};
}
rows_at_pointers! { Ptr Ptr::for_each_lane; LanePtr std::convert::identity; }

/// An element of memory, or a part of one: where it is.
#[derive(Debug, Clone, Copy)]
pub struct ElementPlace<X> {
    memory: Bytes,
    /// Its first byte, and bytes after that.
    at: V<u32>,
    offset: u32,
    element: PhantomData<X>,
}

impl<X: Stored, I: Index, const N: usize> PlaceAt<I> for Slice<[X; N], Writable> {
    type Place = ElementPlace<[X; N]>;
    #[track_caller]
    fn place_at(&self, i: I) -> Self::Place {
        self.check_index(i.index());
        let at = i.index() * <[X; N]>::BYTES;
        ElementPlace { memory: self.bytes(), at, offset: 0, element: PhantomData }
    }
}

impl<X: Stored> ElementPlace<X> {
    #[track_caller]
    fn read(&self) -> X::Value {
        load::<X>(self.memory, self.at, self.offset)
    }

    #[track_caller]
    fn write(&self, value: &X::Value) {
        store::<X>(self.memory, self.at, self.offset, value);
    }
}

/// `i`, checked if the build asks for it.
#[track_caller]
fn checked(i: V<u32>, len: usize) -> V<u32> {
    check(i, len as u32, "an array");
    i
}

macro_rules! parts {
    ($([$k:ty] |$place:ident, $i:ident| $at:expr, $offset:expr;)*) => {$(
        impl<X: Stored, const N: usize> PlaceAt<$k> for ElementPlace<[X; N]> {
            type Place = ElementPlace<X>;
            #[track_caller]
            fn place_at(&self, $i: $k) -> ElementPlace<X> {
                let $place = self;
                ElementPlace { memory: self.memory, at: $at, offset: $offset, element: PhantomData }
            }
        }
        impl<X: Stored, const N: usize> LoadAt<$k> for ElementPlace<[X; N]> {
            type Output = X::Value;
            #[track_caller]
            fn load_at(&self, i: $k) -> X::Value {
                self.place_at(i).read()
            }
        }
        impl<X: Stored, const N: usize> StoreAt<$k> for ElementPlace<[X; N]> {
            type Element = X::Value;
            #[track_caller]
            fn store_at(&self, i: $k, value: X::Value) {
                self.place_at(i).write(&value);
            }
        }
    )*};
}
parts! {
    [usize] |place, i| place.at, place.offset + within(i, N, "element", || format!("an array of {N}")) as u32 * X::BYTES;
    [S<u32>] |place, i| place.at + checked(i.index(), N) * X::BYTES, place.offset;
    [V<u32>] |place, i| place.at + checked(i, N) * X::BYTES, place.offset;
}
