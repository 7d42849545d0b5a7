//! Arguments that are on the device.

use super::DevicePtr;
use super::buffer::{Allocation, DeviceSlice};
use crate::lang::{ByValue, PackedArg, Packer, Stored};
use crate::scalar::Number;

/// Takes the arguments of a launch on a stream one by one, in order.
#[doc(hidden)]
#[derive(Default)]
pub struct DevicePacker<'a> {
    pub(super) args: Vec<PackedArg<'a>>,
    /// Memory of slices, and whether the kernel may write it.
    pub(super) used: Vec<(&'a Allocation, bool)>,
}

impl<'a> DevicePacker<'a> {
    fn host(&mut self, add: impl FnOnce(&mut Packer<'a>)) {
        let mut packer = Packer::default();
        add(&mut packer);
        self.args.append(&mut packer.args);
    }

    /// A value.
    pub fn value<T: ByValue>(&mut self, x: T) {
        self.host(|packer| packer.value(x));
    }

    /// A device pointer.
    pub fn pointer<T: Number>(&mut self, pointer: DevicePtr<T>) {
        self.host(|packer| packer.pointer(pointer));
    }

    /// A slice that the kernel reads.
    pub fn slice<T: Stored>(&mut self, slice: &'a DeviceSlice<T>) {
        self.buffer(slice, false);
    }

    /// A slice that the kernel may write.
    pub fn slice_mut<T: Stored>(&mut self, slice: &'a DeviceSlice<T>) {
        self.buffer(slice, true);
    }

    fn buffer<T: Stored>(&mut self, slice: &'a DeviceSlice<T>, written: bool) {
        let (len, bytes, address) = (slice.len(), slice.bytes(), slice.address());
        self.args.push(PackedArg::Buffer { len, bytes, address });
        self.used.push((&slice.memory, written));
    }
}
