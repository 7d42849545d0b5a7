//! Subslices: `&x[a..b]`.

use std::panic::Location;

use super::access::{LoadAt, StoreAt};
use super::layout::Stored;
use super::slice::{Slice, raw_buffer};
use crate::lang::context::source;
use crate::lang::{IntoDevice, ReadOnly, S, Writable, with};

impl<T: Stored, A> Slice<T, A> {
    /// The elements `first` to `end - 1`, as far as they exist. The hardware checks the bounds of the subslice itself.
    #[track_caller]
    fn part(&self, first: S<u32>, end: S<u32>) -> Slice<T, A> {
        let loc = Location::caller();
        let end = end.min(self.len());
        let len = end.saturating_sub(first);
        let size = T::BYTES;
        // If the range's start is after its end, `start` exceeds the bound `bytes`, so every access is out of bounds.
        let (mut start, mut bytes) = (first * size, end * size);
        if let Some(before) = self.start {
            let before = S::<u32>::from_value(before);
            (start, bytes) = (start + before, bytes + before);
        }
        let resource = with(|c| {
            let resource = raw_buffer(c, self.pointer, bytes.value, Some(source(loc)));
            match self.constant {
                true => c.builder.read_only(resource),
                // For alias analysis, the subslice and the whole slice are the same memory.
                false => c.builder.part_of(resource, self.resource),
            }
            resource
        });
        Slice { resource, start: Some(start.value), len: len.value, ..*self }
    }
}

/// Types of the bounds `a` and `b` of a subslice `&x[a..b]`; they are uniform.
#[diagnostic::on_unimplemented(
    message = "a part of a slice begins and ends at one place for all lanes, a `u32` or `S<u32>`, not at a `{Self}`",
    label = "not one number for all lanes",
    note = "index the whole slice by the sum instead: `x[start + i]`"
)]
pub trait End {
    /// The bound as a uniform value.
    fn end(self) -> S<u32>;
}
impl End for u32 {
    fn end(self) -> S<u32> {
        self.into_device()
    }
}
impl End for S<u32> {
    fn end(self) -> S<u32> {
        self
    }
}

for_each_type!(Access in [ReadOnly, Writable] {
    impl<T: Stored, A: End, B: End> LoadAt<PartOf<A, B>> for Slice<T, Access> {
        type Output = Self;
        #[track_caller]
        fn load_at(&self, i: PartOf<A, B>) -> Self {
            self.part(i.0.end(), i.1.end())
        }
    }
});

/// `a..b` as an index; the two bounds may have different types.
#[derive(Debug, Clone, Copy)]
pub struct PartOf<A, B>(A, B);

/// The expansion of `a..b` as an index.
pub fn part<A: End, B: End>(a: A, b: B) -> PartOf<A, B> {
    PartOf(a, b)
}

/// The expansion of `a..` as an index. `..b` expands to `part`, and `..` to this function, with a first index of 0.
pub fn to_last<A: End>(a: A) -> PartOf<A, u32> {
    PartOf(a, u32::MAX)
}

/// A reference to a subslice, as in `let row = &x[a..b];`, can be used like the slice.
#[diagnostic::do_not_recommend]
impl<T, A> IntoDevice<Slice<T, A>> for &Slice<T, A> {
    fn into_device(self) -> Slice<T, A> {
        *self
    }
}

impl<A: StoreAt<I> + ?Sized, I> StoreAt<I> for &A {
    type Element = A::Element;
    #[track_caller]
    fn store_at(&self, i: I, value: A::Element) {
        (**self).store_at(i, value);
    }
}
