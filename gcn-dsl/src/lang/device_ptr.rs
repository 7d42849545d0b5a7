//! Addresses in the memory of devices, as the host holds them.

use std::fmt;
use std::marker::PhantomData;

/// A typed address in a device's memory, for `*const T` and `*mut T` arguments. Made by [`Device::alloc`](crate::Device::alloc)
/// and by `as_ptr` of a [`DeviceBuffer`](crate::DeviceBuffer).
pub struct DevicePtr<T> {
    address: u64,
    element: PhantomData<T>,
}

impl<T> Clone for DevicePtr<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for DevicePtr<T> {}

impl<T> fmt::Debug for DevicePtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.address)
    }
}

impl<T> DevicePtr<T> {
    /// A pointer to an address that other bindings allocated.
    pub const fn from_address(address: u64) -> DevicePtr<T> {
        DevicePtr { address, element: PhantomData }
    }

    /// The null pointer, for an argument that may be missing: the kernel asks with `p.is_null()`.
    pub const fn null() -> DevicePtr<T> {
        Self::from_address(0)
    }

    /// The address.
    pub const fn address(self) -> u64 {
        self.address
    }
}
