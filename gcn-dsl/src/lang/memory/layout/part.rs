//! Assignments to parts of an element: `x[i].field = value`, `x[i].array[k].field += value`.

use std::marker::PhantomData;

use super::{Bytes, Leaf, Stored, leaves_of, load_leaf, store_leaf};
use crate::ir::Value;
use crate::lang::memory::bounds::check;
use crate::lang::values::constant::within;
use crate::lang::values::data::Flatten;
use crate::lang::{Index, IntoDevice, S, V, with};

/// The mark of slices to whose elements' fields a kernel may assign. This is a separate bound so that rustc infers the
/// element type of any slice, and a read-only slice gives this trait's error message and no other.
#[diagnostic::on_unimplemented(
    message = "cannot assign to a field of an element of read-only memory",
    label = "not writable",
    note = "a `&[T]` or `*const T` argument is read-only: declare it as `&mut [T]` or `*mut T`"
)]
pub trait Assignable {}

/// A part of an element of a slice, such as `x[i].field` or `x[i].array[k].field`: the memory, and the positions of the
/// scalars of which the part consists. The part's type is `X`.
#[derive(Debug, Clone)]
pub struct InElement<X> {
    memory: Bytes,
    /// The byte offset of the element, plus the offsets of array elements that device indices select.
    at: V<u32>,
    leaves: Vec<Leaf>,
    part: PhantomData<X>,
}

/// Memory with elements whose parts a kernel can assign: slices, pointers and arrays.
pub trait HoldsParts {
    /// The element type.
    type Element: Stored;
    /// [`ReadOnly`](crate::lang::ReadOnly) or [`Writable`](crate::lang::Writable).
    type Access;
    /// The memory, and the byte offset of element `i` in it.
    fn element(&self, i: V<u32>) -> (Bytes, V<u32>);
}
impl<M: HoldsParts> HoldsParts for &M {
    type Element = M::Element;
    type Access = M::Access;
    #[track_caller]
    fn element(&self, i: V<u32>) -> (Bytes, V<u32>) {
        (**self).element(i)
    }
}

/// The expansion of `x[i]` if a part of the element is assigned.
#[track_caller]
pub fn in_element<M: HoldsParts<Access: Assignable>, I: Index>(
    x: &M,
    i: I,
) -> InElement<<M::Element as Stored>::Value> {
    let (memory, at) = x.element(i.index());
    InElement { memory, at, leaves: leaves_of::<M::Element>(0), part: PhantomData }
}

impl<X: Flatten> InElement<X> {
    /// A field of the part, or an array element selected by a host number.
    pub fn part<P: Flatten>(self, part: impl FnOnce(&mut X) -> &mut P) -> InElement<P> {
        // To find the field, run the accessor on a struct whose scalars are numbered: the numbers in the result are the
        // positions of the field's scalars among all leaves.
        let mut whole = X::unflatten(&mut (0..).map(Value));
        let mut numbers = Vec::new();
        part(&mut whole).flatten(&mut numbers);
        let leaves = numbers.iter().map(|n| self.leaves[n.0 as usize]).collect();
        InElement { memory: self.memory, at: self.at, leaves, part: PhantomData }
    }

    /// Loads the part.
    #[track_caller]
    pub fn read(&self) -> X {
        let mut values = Vec::new();
        for leaf in &self.leaves {
            values.push(load_leaf(self.memory, self.at, *leaf));
        }
        X::unflatten(&mut values.into_iter())
    }

    /// Stores the part and leaves the rest of the element unchanged.
    #[track_caller]
    pub fn write<E: IntoDevice<X>>(&self, e: E) {
        let mut values = Vec::new();
        e.into_device().flatten(&mut values);
        for (leaf, value) in self.leaves.iter().zip(values) {
            store_leaf(self.memory, self.at, *leaf, value);
        }
    }
}

impl<X: Flatten, const N: usize> InElement<[X; N]> {
    /// Element `k` of an array.
    #[track_caller]
    pub fn at(self, k: impl ArrayIndex) -> InElement<X> {
        let k = k.of_lanes();
        if let Some(known) = with(|c| c.builder.as_const(k.value)) {
            within(known as usize, N, "element", || format!("an array of {N}"));
        }
        check(k, N as u32, "an array");
        let of_one = self.leaves.len() / N.max(1);
        let stride = match (self.leaves.first(), self.leaves.get(of_one)) {
            (Some(first), Some(second)) => second.offset - first.offset,
            _ => 0,
        };
        let leaves = self.leaves.into_iter().take(of_one).collect();
        let (memory, at) = self.memory.reached(self.at + k * stride);
        InElement { memory, at, leaves, part: PhantomData }
    }
}

/// An index of an array inside an element of memory: an integer of the host, or a `u32` of the device.
#[diagnostic::on_unimplemented(
    message = "an element of an array is chosen by a `usize`, `u32`, `S<u32>` or `V<u32>`, not by `{Self}`",
    label = "not an index",
    note = "convert with `as u32`"
)]
pub trait ArrayIndex {
    /// The index as a varying value.
    fn of_lanes(self) -> V<u32>;
}
for_each_type!(N in [usize, i32, u32] {
    impl ArrayIndex for N {
        #[track_caller]
        fn of_lanes(self) -> V<u32> {
            // An index that does not fit into a `u32` is out of bounds, as `u32::MAX` is.
            u32::try_from(self).unwrap_or(u32::MAX).into_device()
        }
    }
});
impl ArrayIndex for S<u32> {
    #[track_caller]
    fn of_lanes(self) -> V<u32> {
        self.into_device()
    }
}
impl ArrayIndex for V<u32> {
    fn of_lanes(self) -> V<u32> {
        self
    }
}
