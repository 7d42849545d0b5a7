//! Arguments of kernels: signatures, the kernarg segment, and values passed by the host.

pub(super) mod by_value;
pub(super) mod device_ptr;
pub(super) mod signature;
