//! Arguments that are on the device.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use super::buffer::{Allocation, DeviceSlice};
use crate::lang::{PackedArg, Packer};

/// Receives the arguments of a launch on a stream one by one, in order: values and pointers in the same way as
/// [`Packer`].
///
/// Its own methods have no bounds and the others are [`Packer`]'s, so that rustc reports an argument of a wrong type
/// once, for the launch with host slices, and not again for this one.
#[doc(hidden)]
#[derive(Default)]
pub struct DevicePacker<'a> {
    packer: Packer<'a>,
    /// The memory of slices, and whether the kernel may write it.
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
    /// A slice that the kernel reads.
    pub fn slice<T>(&mut self, slice: &'a DeviceSlice<T>) {
        self.buffer(slice, false);
    }

    /// A slice that the kernel may write.
    pub fn slice_mut<T>(&mut self, slice: &'a DeviceSlice<T>) {
        self.buffer(slice, true);
    }

    fn buffer<T>(&mut self, slice: &'a DeviceSlice<T>, written: bool) {
        let (len, bytes, address) = (slice.len(), slice.bytes(), slice.address());
        self.args.push(PackedArg::Buffer { len, bytes, address });
        self.used.push((&slice.memory, written));
    }
}
