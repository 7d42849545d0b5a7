//! Errors of launches.

use std::fmt;

use gcn_isa::Target;

#[cfg(feature = "hip")]
use super::hip;
use crate::kernel::BuildError;
use crate::scalar::{Elem, UnknownVariant};

/// The reason why a launch was rejected or failed.
///
/// `Debug` prints the same text as `Display`, because `unwrap`, and a `main` that returns the error, show it to people:
///
/// ```
/// use gcn_dsl::{LaunchError, prelude::*};
///
/// gcn_kernel! {
///     #[workgroup(64)]
///     fn nothing() {}
/// }
///
/// let error: LaunchError = nothing.launch(&Device::simulator(Target::GFX942), Grid::x(0), ()).unwrap_err();
/// assert!(format!("{error:?}").starts_with("kernel `nothing`: a grid of 0 x 1 x 1 workgroups is empty"));
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The kernel does not build for the device's target.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A dimension of the grid is zero.
    #[error(
        "kernel `{kernel}`: a grid of {x} x {y} x {z} workgroups is empty; every dimension must be at least 1"
    )]
    EmptyGrid {
        /// The kernel's name.
        kernel: String,
        /// Number of workgroups in x.
        x: u32,
        /// Number of workgroups in y.
        y: u32,
        /// Number of workgroups in z.
        z: u32,
    },
    /// A dimension of the grid has more work-items than a dispatch packet can express.
    #[error(
        "kernel `{kernel}`: {workgroups} workgroups of {size} work-items in dimension {dimension} exceed 2^32 - 1 \
         work-items; split the launch"
    )]
    GridTooLarge {
        /// The kernel's name.
        kernel: String,
        /// Number of workgroups in the dimension.
        workgroups: u32,
        /// Number of work-items of a workgroup in the dimension.
        size: u32,
        /// The dimension: 0 for x, 1 for y, 2 for z.
        dimension: usize,
    },
    /// The kernel's own LDS arrays and the dynamic LDS of the launch together exceed a workgroup's LDS.
    #[error(
        "kernel `{kernel}`: {own} bytes of its own LDS arrays and {dynamic} bytes that the launch adds exceed the {limit} \
         bytes of a workgroup; ask for less with `Grid::with_dynamic_lds`"
    )]
    Lds {
        /// The kernel's name.
        kernel: String,
        /// Bytes of the kernel's own arrays.
        own: u32,
        /// Bytes of dynamic LDS, from [`Grid::with_dynamic_lds`](super::Grid::with_dynamic_lds).
        dynamic: u32,
        /// The maximum in bytes.
        limit: u32,
    },
    /// A slice is too long for a buffer resource.
    #[error(
        "kernel `{kernel}`, argument `{argument}`: {bytes} bytes do not fit a buffer resource (at most 2^32 - 1); pass a \
         raw pointer or split the data"
    )]
    SliceTooLong {
        /// The kernel's name.
        kernel: String,
        /// The argument's name.
        argument: &'static str,
        /// Size of the slice in bytes.
        bytes: u64,
    },
    /// The code was built from a different kernel than the one that is launched. This is possible if the type of the
    /// code does not name its kernel, or if the kernel was built with other values of its `#[host]` parameters.
    #[error(
        "kernel `{kernel}` cannot be launched with the code of `{built}`: build it, `{kernel}.build(target)`"
    )]
    OtherKernel {
        /// The kernel that is launched.
        kernel: String,
        /// The kernel that was built.
        built: String,
    },
    /// A slice ends within a dword, but the kernel assumes that it ends at a multiple of 4 bytes.
    #[error(
        "kernel `{kernel}`, argument `{argument}`: {len} elements of `{elem}` do not end with a whole dword, as matrix loads and \
         stores and `assume_whole_dwords` ask for; make the length a multiple of {multiple}"
    )]
    PartialDword {
        /// The kernel's name.
        kernel: String,
        /// The argument's name.
        argument: &'static str,
        /// Number of elements of the slice.
        len: usize,
        /// The element type.
        elem: Elem,
        /// The number of elements in a dword; the length must be a multiple of it.
        multiple: u32,
    },
    /// The memory of a `&mut [T]` argument overlaps that of another argument.
    #[error(
        "kernel `{kernel}`: the memory of `{mutable}`, a `&mut` slice, overlaps that of `{other}`; pass raw pointers if that \
         is meant"
    )]
    Overlap {
        /// The kernel's name.
        kernel: String,
        /// The name of the `&mut` argument.
        mutable: &'static str,
        /// The name of the other argument.
        other: &'static str,
    },
    /// The number of arguments or of slice addresses differs from the signature's.
    #[error("kernel `{kernel}` takes {expected} {what}, {found} given; see its signature")]
    ArgumentCount {
        /// The kernel's name.
        kernel: String,
        /// What is counted: `arguments` or `slice addresses`.
        what: &'static str,
        /// The number in the signature.
        expected: usize,
        /// The number that was passed.
        found: usize,
    },
    /// An argument has a kind or width that differs from the signature's.
    #[error("kernel `{kernel}`, argument `{argument}`: expected {expected}")]
    ArgumentKind {
        /// The kernel's name.
        kernel: String,
        /// The argument's name.
        argument: &'static str,
        /// The kind and width in the signature.
        expected: String,
    },
    /// The bytes are not a code object that can be loaded.
    #[error("the code object cannot be loaded: {0}")]
    Object(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// An argument was given with another type than the metadata of the code object's kernel says.
    #[error(
        "kernel `{kernel}`, argument {argument}: the code object takes {expected}, and the type given is {given}"
    )]
    ObjectArgument {
        /// The kernel's name.
        kernel: String,
        /// The argument's name in the metadata, or its number.
        argument: String,
        /// The type in the metadata.
        expected: String,
        /// The type that was given.
        given: String,
    },
    /// The kernel was built for another target than the device's.
    #[error(
        "kernel `{kernel}` was built for {built}, the device is a {device}; build it for `device.target()`"
    )]
    WrongTarget {
        /// The kernel's name.
        kernel: String,
        /// The target for which it was built.
        built: Target,
        /// The target of the device.
        device: Target,
    },
    /// A buffer, stream, event or loaded kernel is used on a device to which it does not belong.
    #[error("{what} belongs to another device; make it with the device that uses it")]
    OtherDevice {
        /// A description of the object.
        what: &'static str,
    },
    /// A step of a graph is a cooperative launch, which graphs do not support.
    #[error("kernel `{kernel}`: a graph takes no cooperative launches; launch it on a stream")]
    CooperativeStep {
        /// The kernel's name.
        kernel: String,
    },
    /// The range of a view exceeds the buffer.
    #[error("elements {start}..{end} do not lie in device memory of {len} elements")]
    Range {
        /// First element of the range.
        start: usize,
        /// The element after the last one of the range.
        end: usize,
        /// Number of elements of the buffer.
        len: usize,
    },
    /// The source and the destination of a copy differ in length.
    #[error("{from} elements cannot be copied to {to} elements; pass slices of the same length")]
    Length {
        /// Number of elements of the source.
        from: usize,
        /// Number of elements of the destination.
        to: usize,
    },
    /// A time was requested from a simulator without a clock.
    #[error(
        "the simulator executes kernels without a clock; `Device::timed_simulator` models the time that they take"
    )]
    NoClock,
    /// The time between two events was requested, but `since` was recorded after the other event.
    #[error("the event `since` was recorded after the other one; pass the earlier event as `since`")]
    EventOrder,
    /// The kernel is not in the module.
    #[error("the module has no kernel `{kernel}` built as this one is; it has {available}")]
    NotInModule {
        /// The kernel's name.
        kernel: String,
        /// The names of the module's kernels.
        available: String,
    },
    /// A view of a buffer that is a kernel argument does not begin at a multiple of 4 bytes.
    #[error(
        "kernel `{kernel}`, argument `{argument}`: the slice begins {over} bytes after a multiple of 4; {}",
        aligned_start(*multiple)
    )]
    Misaligned {
        /// The kernel's name.
        kernel: String,
        /// The argument's name.
        argument: &'static str,
        /// The address modulo 4.
        over: u64,
        /// Number of elements in a dword, at least 1.
        multiple: u32,
    },
    /// An address or a range of device memory is not allocated, or an allocation failed.
    #[error("device memory: {0}")]
    Memory(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The simulator stopped the run because of an error in the kernel.
    #[error("kernel `{kernel}`: {error}")]
    Simulation {
        /// The kernel's name.
        kernel: String,
        /// The error that the simulator found.
        #[source]
        error: Box<gcn_sim::SimError>,
    },
    /// The simulated kernel executed a `trap()`, or a `debug_assert!` or an index check failed.
    #[error("kernel `{kernel}`: {location}: {message} (workgroup {workgroup:?}, wave {wave}: trap)")]
    Trap {
        /// The kernel's name.
        kernel: String,
        /// The source location.
        location: String,
        /// The message of the assertion.
        message: String,
        /// Coordinates of the workgroup in the grid.
        workgroup: [u32; 3],
        /// Number of the wave in the workgroup.
        wave: u32,
    },
    /// An error of HIP.
    #[cfg(feature = "hip")]
    #[error(transparent)]
    Hip(#[from] hip::HipError),
    /// An element whose type is an enum contains a number that is not that of a variant.
    #[error(
        "{0}, which the device wrote: declare the variant, or let the element be the number itself and compare with `as`"
    )]
    UnknownVariant(#[from] UnknownVariant),
}

#[cfg(feature = "objects")]
impl LaunchError {
    pub(super) fn object(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> LaunchError {
        LaunchError::Object(error.into())
    }
}

impl fmt::Debug for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Advice for a slice that must begin at a multiple of 4 bytes; `elements` is the number of elements in 4 bytes, at
/// least 1.
fn aligned_start(elements: u32) -> String {
    match elements {
        1 => "its address must be a multiple of 4".to_owned(),
        n => format!("begin it at a multiple of {n} elements"),
    }
}
