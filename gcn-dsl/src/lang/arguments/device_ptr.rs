//! Device addresses as the host handles them.

use std::fmt;
use std::marker::PhantomData;

/// A typed device address, for `*const T` and `*mut T` arguments. Returned by [`Device::alloc`](crate::Device::alloc)
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
    /// Wraps an address that other bindings have allocated.
    pub const fn from_address(address: u64) -> DevicePtr<T> {
        DevicePtr { address, element: PhantomData }
    }

    /// The null pointer, for an argument that may be absent: a kernel tests it with `p.is_null()`.
    pub const fn null() -> DevicePtr<T> {
        Self::from_address(0)
    }

    /// The same address with another element type, for example bytes.
    ///
    /// ```
    /// use gcn_dsl::prelude::*;
    /// let bytes: DevicePtr<u8> = DevicePtr::<f32>::from_address(256).cast();
    /// assert_eq!(bytes.address(), 256);
    /// ```
    pub const fn cast<U>(self) -> DevicePtr<U> {
        DevicePtr::from_address(self.address)
    }

    /// The address.
    pub const fn address(self) -> u64 {
        self.address
    }
}
