//! Receives the arguments of launches on a stream; their slices are in device memory.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use super::buffer::{Allocation, DeviceSlice};
use crate::lang::{PackedArg, Packer};

/// Receives the arguments of a launch on a stream one by one, in order. Values and pointers are received as by
/// [`Packer`].
///
/// The methods for slices have no trait bounds, and all other methods are [`Packer`]'s. So rustc reports an argument of
/// a wrong type only once, for the launch with host slices, and not again for this launch.
#[doc(hidden)]
#[derive(Default)]
pub struct DevicePacker<'a> {
    packer: Packer<'a>,
    /// The memory of the slices; the flag is true if the kernel may write it.
    pub(super) used: Vec<(&'a Arc<Allocation>, bool)>,
}

impl<'a> Deref for DevicePacker<'a> {
    type Target = Packer<'a>;
    fn deref(&self) -> &Packer<'a> {
        &self.packer
    }
}

impl<'a> DerefMut for DevicePacker<'a> {
    fn deref_mut(&mut self) -> &mut Packer<'a> {
        &mut self.packer
    }
}

impl<'a> DevicePacker<'a> {
    /// Adds a slice that the kernel reads.
    pub fn slice<T>(&mut self, slice: &'a DeviceSlice<T>) {
        self.buffer(slice, false);
    }

    /// Adds a slice that the kernel may write.
    pub fn slice_mut<T>(&mut self, slice: &'a DeviceSlice<T>) {
        self.buffer(slice, true);
    }

    fn buffer<T>(&mut self, slice: &'a DeviceSlice<T>, written: bool) {
        let (len, bytes, address) = (slice.len(), slice.bytes(), slice.address());
        self.args.push(PackedArg::Buffer { len, bytes, address });
        self.used.push((&slice.memory, written));
    }
}
