//! Errors of HIP.

use std::fmt;

use gcn_emit::object::ObjectError;
use gcn_emit::target_id::{TargetId, TargetIdError};

use super::LIBRARY_VARIABLE;

/// The reason why a HIP operation failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HipError {
    /// No library could be loaded.
    #[error(
        "the HIP library was not found; tried {}; install ROCm (on Debian the package libamdhip64-5), or name the file in \
         the environment variable {LIBRARY_VARIABLE}",
        Attempts(tried)
    )]
    LibraryNotFound {
        /// Each name that was tried, with the message of the system's loader.
        tried: Vec<(String, String)>,
    },
    /// The library is not the HIP library, or is too old.
    #[error(
        "the library {library} has no function {function}; it is not HIP, or older than what is asked of it: graphs came with 4.3, all else with 4.2"
    )]
    MissingFunction {
        /// The library's file name.
        library: String,
        /// The function that it lacks.
        function: &'static str,
    },
    /// The library finds no device.
    #[error(
        "HIP ({library}) finds no GPU; `ls /dev/kfd` and `rocminfo` show whether the driver is loaded and this user may use \
         it (groups render and video); to run without a GPU use the simulator"
    )]
    NoDevice {
        /// The library's file name.
        library: String,
    },
    /// The ordinal is not below the number of devices.
    #[error("there is no GPU number {ordinal}, HIP finds {count}; they are numbered from 0")]
    NoSuchDevice {
        /// The requested ordinal.
        ordinal: u32,
        /// The number of devices.
        count: u32,
    },
    /// The device's target is not supported.
    #[error("GPU number {ordinal}: {source}")]
    Unsupported {
        /// The device's ordinal.
        ordinal: i32,
        /// The reason why its target id is not accepted.
        source: TargetIdError,
    },
    /// The bytes are not a code object.
    #[error(transparent)]
    CodeObject(#[from] ObjectError),
    /// The code object is for another target than the device's.
    #[error("the code object is for {code}, the GPU is a {device}; build the kernel for it")]
    WrongTarget {
        /// The target of the code object.
        code: TargetId,
        /// The target of the device.
        device: TargetId,
    },
    /// The kernel belongs to another device.
    #[error("kernel `{kernel}` was loaded for another device; load its module on the device that runs it")]
    OtherDevice {
        /// The kernel's name.
        kernel: String,
    },
    /// A copy would exceed its buffer.
    #[error("{bytes} bytes at offset {offset} do not lie in a device buffer of {len} bytes")]
    OutOfRange {
        /// Byte offset of the copy in the buffer.
        offset: usize,
        /// Size of the copy in bytes.
        bytes: usize,
        /// Size of the buffer in bytes.
        len: usize,
    },
    /// The code object has no kernel of this name.
    #[error("the code object has no kernel `{name}`; it has {}", available.join(", "))]
    NoKernel {
        /// The requested name.
        name: String,
        /// The names of the object's kernels.
        available: Vec<String>,
    },
    /// Fewer bytes of arguments were passed than the kernel takes.
    #[error("kernel `{kernel}` has {expected} bytes of arguments, {found} are given")]
    KernargTooShort {
        /// The kernel's name.
        kernel: String,
        /// Number of bytes up to the end of its last argument.
        expected: usize,
        /// Number of bytes that were passed.
        found: usize,
    },
    /// A HIP call failed.
    #[error("{function} failed with error {code}: {message}")]
    Call {
        /// The function that was called.
        function: &'static str,
        /// The `hipError_t` that it returned.
        code: i32,
        /// HIP's text for the code.
        message: String,
    },
}

struct Attempts<'a>(&'a [(String, String)]);

impl fmt::Display for Attempts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, reason)) in self.0.iter().enumerate() {
            let separator = if i == 0 { "" } else { ", " };
            write!(f, "{separator}{name} ({reason})")?;
        }
        Ok(())
    }
}
