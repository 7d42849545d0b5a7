//! Slices of LDS, and LDS arrays whose length is not part of their type.

use std::marker::PhantomData;
use std::panic::Location;

use super::bounds::check;
use super::layout::{Bytes, HoldsParts, Stored, load};
use super::slice::{Backing, Elements};
use crate::ir::{Bin, Inst, LdsId, Memory, Value};
use crate::lang::values::value::AsIs;
use crate::lang::{Index, IntoDevice, S, V, Vector, Writable, select, with};
use crate::scalar::Number;

/// Elements in the workgroup's LDS: a part of an array, an array whose length is known when the kernel is built, or the
/// dynamic LDS whose size the launch chooses.
///
/// Indices are not checked, as for [`Lds`](crate::lang::Lds); [`get`](LdsSlice::get) checks its index. Two slices may
/// refer to the same bytes, even with different element types: loads and stores through them happen in program order.
///
/// ```
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     /// Reverses blocks of `n` elements; the launch says how much LDS that takes.
///     #[workgroup(64)]
///     fn reverse(n: u32, x: &mut [f32]) {
///         let block = LdsSlice::<f32>::dynamic(n);
///         let first = workgroup_id().x * n;
///         for i in (local_id().x..n).step_by(64) {
///             block[i] = x[first + i];
///         }
///         barrier();
///         for i in (local_id().x..n).step_by(64) {
///             x[first + i] = block[n - 1 - i];
///         }
///     }
/// }
/// let mut x: Vec<f32> = (0..200).map(|i| i as f32).collect();
/// let grid = Grid::x(2).with_dynamic_lds(100 * 4);
/// reverse.launch(&Device::simulator(Target::GFX90A), grid, (100, &mut x))?;
/// assert_eq!((x[0], x[99], x[100], x[199]), (99.0, 0.0, 199.0, 100.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LdsSlice<T> {
    id: LdsId,
    /// The byte offset of the slice in the array, a uniform value; `None` if it is 0.
    start: Option<Value>,
    len: S<u32>,
    element: PhantomData<T>,
}

/// Types of the length of an LDS array that the kernel declares.
#[diagnostic::on_unimplemented(
    message = "the length of this LDS array is a `usize`, known when the kernel is built, not a `{Self}`",
    label = "not a number of the host",
    note = "a length that only the launch knows: `LdsSlice::<T>::dynamic(n)`, launched with `Grid::x(…).with_dynamic_lds(bytes)`"
)]
pub trait LdsLen {
    /// The length in elements.
    fn number(self) -> usize;
}
impl LdsLen for usize {
    fn number(self) -> usize {
        self
    }
}

impl<T> Clone for LdsSlice<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for LdsSlice<T> {}

impl<T: Stored> LdsSlice<T> {
    /// Declares an array of `len` elements; `len` is a host number.
    pub fn new(len: impl LdsLen) -> Self {
        let len = len.number();
        let id = with(|c| c.builder.lds(len, T::BYTES));
        Self::whole(id, len as u32)
    }

    /// The dynamic LDS as `len` elements. A launch places it after the kernel's arrays
    /// ([`Grid::with_dynamic_lds`](crate::Grid::with_dynamic_lds)). Every call returns the same memory, as every
    /// `extern __shared__` array of HIP is the same memory.
    #[track_caller]
    pub fn dynamic(len: impl IntoDevice<S<u32>>) -> Self {
        let id = with(|c| c.builder.dynamic_lds());
        LdsSlice { id, start: None, len: len.into_device(), element: PhantomData }
    }

    pub(in crate::lang) fn whole(id: LdsId, len: u32) -> Self {
        LdsSlice { id, start: None, len: len.into_device(), element: PhantomData }
    }

    /// The number of elements.
    pub fn len(&self) -> S<u32> {
        self.len
    }

    /// True if there are no elements.
    #[track_caller]
    pub fn is_empty(&self) -> S<bool> {
        crate::lang::eq(self.len, 0)
    }

    /// The `len` elements from element `start` on. The bounds are not checked.
    #[track_caller]
    pub fn slice(&self, start: impl IntoDevice<S<u32>>, len: impl IntoDevice<S<u32>>) -> Self {
        let loc = Location::caller();
        let (start, ty) = (start.into_device(), S::<u32>::TYPE);
        let start = with(|c| {
            let size = c.builder.constant(u64::from(T::BYTES), ty);
            let bytes = c.value(Inst::Bin(Bin::Mul, start.value, size), ty, loc);
            match self.start {
                Some(before) => c.value(Inst::Bin(Bin::Add, before, bytes), ty, loc),
                None => bytes,
            }
        });
        LdsSlice { start: Some(start), len: len.into_device(), ..*self }
    }

    /// The same bytes as elements of another type; trailing bytes that do not fill an element are omitted. The slice
    /// must start at a multiple of the size of `U`, as every array does, and every slice of larger elements.
    #[track_caller]
    pub fn cast<U: Stored>(&self) -> LdsSlice<U> {
        let len = self.len * T::BYTES / U::BYTES;
        LdsSlice { id: self.id, start: self.start, len, element: PhantomData }
    }

    fn bytes(&self) -> Bytes {
        Bytes::from(Memory::Lds(self.id), self.start)
    }
}

impl<T: Number> LdsSlice<T> {
    /// Element `i`; 0 if it does not exist.
    #[track_caller]
    pub fn get(&self, i: impl Index) -> V<T> {
        let i = i.index();
        let inside = crate::lang::lt(i, self.len);
        let zero = V::from_value(with(|c| c.builder.constant(0, V::<T>::TYPE)));
        let at = select::<u32>(inside, i, 0);
        // An empty slice does not contain the element 0 that a clamped index selects, so make the result 0 by a select.
        select::<T>(inside, load::<T>(self.bytes(), at * T::BYTES, 0), zero)
    }

    /// Loads `K` consecutive elements from index `i` on with one instruction of up to 16 bytes. The address must be a
    /// multiple of the number of bytes loaded.
    #[track_caller]
    pub fn load_vector<const K: usize>(&self, i: impl Index) -> Vector<T, K> {
        Vector::load(self, i)
    }

    /// Stores `K` consecutive elements from index `i` on with one instruction of up to 16 bytes. The address must be a
    /// multiple of the number of bytes stored.
    #[track_caller]
    pub fn store_vector<const K: usize>(&self, i: impl Index, v: Vector<T, K>) {
        v.store(self, i);
    }
}

impl<T> Backing<T> for LdsSlice<T> {
    fn memory(&self) -> Memory {
        Memory::Lds(self.id)
    }
    fn start(&self) -> Option<Value> {
        self.start
    }
    #[track_caller]
    fn check(&self, i: V<u32>, count: usize) {
        check(i + (count as u32 - 1), self.len, "an LDS slice");
    }
}
impl<T> Elements<T> for LdsSlice<T> {}

impl<T: Stored> HoldsParts for LdsSlice<T> {
    type Element = T;
    type Access = Writable;
    #[track_caller]
    fn element(&self, i: V<u32>) -> (Bytes, V<u32>) {
        check(i, self.len, "an LDS slice");
        (self.bytes(), i * T::BYTES)
    }
}

impl<T> AsIs for LdsSlice<T> {}
