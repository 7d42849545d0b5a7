//! Types of indices into memory.

use super::{Bytes, read_uniform, read_varying};
use crate::lang::{IntoDevice, S, V};
use crate::scalar::Number;

/// Types of the index `i` in `x[i]` for device memory `x`: `u32`, `S<u32>` or `V<u32>`.
#[diagnostic::on_unimplemented(
    message = "device memory is indexed by `u32`, `S<u32>` or `V<u32>`, not by `{Self}`",
    label = "not a device index",
    note = "convert with `as u32`; of `global_id()` and the like take a dimension: `global_id().x`"
)]
pub trait Index: Copy {
    /// The type of an element of read-only memory at such an index: `S<T>` if the index is uniform, otherwise `V<T>`.
    type Constant<T: Number>;
    /// The type of a `bool` element of read-only memory at such an index.
    type Condition;
    /// True if the byte is not 0.
    fn is_set(byte: Self::Constant<u8>) -> Self::Condition;
    /// The index as a varying value.
    fn index(self) -> V<u32>;
    /// Loads the scalar whose first byte is `scale * self + offset`.
    fn constant<T: Number>(self, from: Bytes, scale: u32, offset: u32) -> Self::Constant<T>;
}

impl Index for V<u32> {
    type Constant<T: Number> = V<T>;
    type Condition = V<bool>;
    #[track_caller]
    fn is_set(byte: V<u8>) -> V<bool> {
        crate::lang::ne(byte, 0)
    }
    fn index(self) -> V<u32> {
        self
    }
    #[track_caller]
    fn constant<T: Number>(self, from: Bytes, scale: u32, offset: u32) -> V<T> {
        read_varying(from, self, scale, offset)
    }
}

impl Index for S<u32> {
    type Constant<T: Number> = S<T>;
    type Condition = S<bool>;
    #[track_caller]
    fn is_set(byte: S<u8>) -> S<bool> {
        crate::lang::ne(byte, 0)
    }
    #[track_caller]
    fn index(self) -> V<u32> {
        self.into_device()
    }
    #[track_caller]
    fn constant<T: Number>(self, from: Bytes, scale: u32, offset: u32) -> S<T> {
        read_uniform(from, self.into_device(), scale, offset)
    }
}

impl Index for u32 {
    type Constant<T: Number> = S<T>;
    type Condition = S<bool>;
    #[track_caller]
    fn is_set(byte: S<u8>) -> S<bool> {
        crate::lang::ne(byte, 0)
    }
    fn index(self) -> V<u32> {
        self.into_device()
    }
    #[track_caller]
    fn constant<T: Number>(self, from: Bytes, scale: u32, offset: u32) -> S<T> {
        read_uniform(from, self.into_device(), scale, offset)
    }
}
