//! Private arrays: each lane has its own.

use std::marker::PhantomData;
use std::panic::Location;

use super::bounds::check;
use super::layout::{Bytes, HoldsParts, Stored};
use super::slice::{Backing, Elements};
use crate::ir::{Memory, PrivateId};
use crate::lang::values::constant::refuse_outside;
use crate::lang::values::value::AsIs;
use crate::lang::{IntoDevice, StoreAt, V, Writable, with};
use crate::scalar::Number;

/// An array of `N` elements for each lane; the initial contents are undefined.
///
/// If every index is known when the kernel is built (a constant, or the variable of an `#[unroll] for`), the elements
/// are in registers. A single other index moves the whole array to scratch, the lane's own memory, which has the
/// latency of global memory. Indices are not checked; an index that is out of range is undefined behaviour, as for an
/// [`Lds`](crate::lang::Lds) array.
///
/// In contrast, an array of device values, `let mut a: [V<f32>; 4] = …`, is always in registers.
///
/// ```
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     /// Each lane counts how often its 16 numbers below 8 occur.
///     #[workgroup(64)]
///     fn count(x: &[u32], counts: &mut [u32]) {
///         let bins = Private::<u32, 8>::new();
///         #[unroll] for b in 0..8 {
///             bins[b] = 0;
///         }
///         for i in 0..16u32 {
///             bins[x[global_id().x * 16 + i] & 7] += 1;
///         }
///         #[unroll] for b in 0..8 {
///             counts[global_id().x * 8 + b] = bins[b];
///         }
///     }
/// }
/// let x: Vec<u32> = (0..64 * 16).map(|i| i % 3).collect();
/// let mut counts = vec![0; 64 * 8];
/// count.launch(&Device::simulator(Target::GFX942), Grid::x(1), (&x, &mut counts))?;
/// assert_eq!(counts[..8], [6, 5, 5, 0, 0, 0, 0, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Private<T, const N: usize> {
    id: PrivateId,
    element: PhantomData<T>,
}

impl<T, const N: usize> Clone for Private<T, N> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, const N: usize> Copy for Private<T, N> {}

impl<T, const N: usize> Private<T, N> {
    /// Declares an array.
    #[allow(clippy::new_without_default, reason = "it allocates: every call is another array")]
    pub fn new() -> Self
    where
        T: Stored,
    {
        let bytes = u32::try_from(N * T::BYTES as usize).unwrap_or(u32::MAX / 2);
        Private { id: with(|c| c.builder.private(bytes)), element: PhantomData }
    }

    /// Declares an array whose elements are all `value`.
    #[track_caller]
    pub fn filled(value: impl IntoDevice<V<T>>) -> Self
    where
        T: Number,
    {
        let (array, value) = (Self::new(), value.into_device());
        for i in 0..array.len() {
            array.store_at(i, value);
        }
        array
    }

    pub(in crate::lang) fn id(&self) -> PrivateId {
        self.id
    }

    pub(in crate::lang) fn of_id(id: PrivateId) -> Self {
        Private { id, element: PhantomData }
    }

    /// The number of elements.
    pub const fn len(&self) -> u32 {
        N as u32
    }

    /// True for an array of no elements.
    pub const fn is_empty(&self) -> bool {
        N == 0
    }
}

impl<T, const N: usize> Backing<T> for Private<T, N> {
    fn memory(&self) -> Memory {
        Memory::Private(self.id)
    }
    fn known_len(&self) -> Option<usize> {
        Some(N)
    }
}
impl<T, const N: usize> Elements<T> for Private<T, N> {}

impl<T: Stored, const N: usize> HoldsParts for Private<T, N> {
    type Element = T;
    type Access = Writable;
    #[track_caller]
    fn element(&self, i: V<u32>) -> (Bytes, V<u32>) {
        refuse_outside(i, 1, N, Location::caller());
        check(i, N as u32, "a private array");
        (Bytes::of(Memory::Private(self.id)), i * T::BYTES)
    }
}

impl<T, const N: usize> AsIs for Private<T, N> {}
