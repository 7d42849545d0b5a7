//! Arguments of kernels: signatures, the kernarg segment, and values that the host passes.

pub(super) mod by_value;
pub(super) mod device_ptr;
pub(super) mod signature;
