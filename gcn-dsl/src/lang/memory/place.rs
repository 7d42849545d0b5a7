//! The meaning of `a[i]` as the left part of an assignment `a[i][k] = x`: a place in memory, not a value.

use std::marker::PhantomData;

use super::access::{LoadAt, StoreAt};
use super::bounds::check;
use super::layout::{Bytes, Index, Stored, load, store};
use super::slice::Slice;
use crate::lang::values::constant::within;
use crate::lang::{Choice, LanePtr, Ptr, S, V, Writable};

/// Types of an `a` for which `a[i][k] = x` can assign a part of `a[i]`: the place `a[i]` is a row of LDS, an array that
/// is an element of a slice, or one of several slices.
#[diagnostic::on_unimplemented(
    message = "cannot assign to a part of an element of `{Self}`",
    label = "no part of an element can be written here",
    note = "the elements of a `&mut [[T; N]]` have parts; a `&[[T; N]]` is read-only, and the elements of a `&mut [T]` are numbers"
)]
pub trait PlaceAt<I> {
    /// The type of the place.
    type Place;
    /// The place `a[i]`.
    fn place_at(&self, i: I) -> Self::Place;
}

/// The expansion of `a[i]` in `a[i][k] = x`.
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

/// The place in a list of memories, of which a host index selects one.
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

/// The address of an element of memory, or of a part of one.
#[derive(Debug, Clone, Copy)]
pub struct ElementPlace<X> {
    memory: Bytes,
    /// The byte offset of the element, as a value plus a constant.
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

/// Returns `i`. If the build checks indices, emits the check.
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
