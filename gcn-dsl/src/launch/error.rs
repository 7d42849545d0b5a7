//! Why a launch fails.

use std::fmt;

use gcn_isa::Target;

#[cfg(feature = "hip")]
use super::hip;
use crate::kernel::BuildError;
use crate::scalar::{Elem, UnknownVariant};

/// The reason why a launch did not start or failed.
///
/// `Debug` prints the same as `Display`, because `unwrap` and a `main` that returns the error show it to people:
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
        /// Kernel.
        kernel: String,
        /// Workgroups in x.
        x: u32,
        /// Workgroups in y.
        y: u32,
        /// Workgroups in z.
        z: u32,
    },
    /// More work-items than a dispatch packet can say.
    #[error(
        "kernel `{kernel}`: {workgroups} workgroups of {size} work-items in dimension {dimension} exceed 2^32 - 1 \
         work-items; split the launch"
    )]
    GridTooLarge {
        /// Kernel.
        kernel: String,
        /// Workgroups in the dimension.
        workgroups: u32,
        /// Work-items of a workgroup in the dimension.
        size: u32,
        /// 0 for x, 1 for y, 2 for z.
        dimension: usize,
    },
    /// The kernel's LDS arrays and the launch's do not fit together.
    #[error(
        "kernel `{kernel}`: {own} bytes of its own LDS arrays and {dynamic} bytes that the launch adds exceed the {limit} \
         bytes of a workgroup; ask for less with `Grid::with_dynamic_lds`"
    )]
    Lds {
        /// Kernel.
        kernel: String,
        /// Bytes of the kernel's arrays.
        own: u32,
        /// Bytes that the launch adds.
        dynamic: u32,
        /// Bytes there are.
        limit: u32,
    },
    /// A slice does not fit a buffer resource.
    #[error(
        "kernel `{kernel}`, argument `{argument}`: {bytes} bytes do not fit a buffer resource (at most 2^32 - 1); pass a \
         raw pointer or split the data"
    )]
    SliceTooLong {
        /// Kernel.
        kernel: String,
        /// Argument.
        argument: &'static str,
        /// Bytes.
        bytes: u64,
    },
    /// The code is another kernel's than the one that is launched: code whose type does not say of which
    /// kernel it is, or an instance with another value.
    #[error(
        "kernel `{kernel}` cannot be launched with the code of `{built}`: build it, `{kernel}.build(target)`"
    )]
    OtherKernel {
        /// The kernel.
        kernel: String,
        /// The one that was built.
        built: String,
    },
    /// A slice that the kernel takes to end with a whole dword does not.
    #[error(
        "kernel `{kernel}`, argument `{argument}`: {len} elements of `{elem}` do not end with a whole dword, as matrix loads and \
         stores and `assume_whole_dwords` ask for; make the length a multiple of {multiple}"
    )]
    PartialDword {
        /// Kernel.
        kernel: String,
        /// Argument.
        argument: &'static str,
        /// Elements of the slice.
        len: usize,
        /// Their type.
        elem: Elem,
        /// Elements of a dword.
        multiple: u32,
    },
    /// What a `&mut [T]` argument reaches, another argument reaches as well.
    #[error(
        "kernel `{kernel}`: the memory of `{mutable}`, a `&mut` slice, overlaps that of `{other}`; pass raw pointers if that \
         is meant"
    )]
    Overlap {
        /// Kernel.
        kernel: String,
        /// The `&mut` slice.
        mutable: &'static str,
        /// The other slice.
        other: &'static str,
    },
    /// Wrong number of arguments or addresses for the signature.
    #[error("kernel `{kernel}` takes {expected} {what}, {found} given; see its signature")]
    ArgumentCount {
        /// Kernel.
        kernel: String,
        /// `arguments` or `slice addresses`.
        what: &'static str,
        /// The number in the signature.
        expected: usize,
        /// The number that was passed.
        found: usize,
    },
    /// An argument has another kind or width than in the signature.
    #[error("kernel `{kernel}`, argument `{argument}`: expected {expected}")]
    ArgumentKind {
        /// Kernel.
        kernel: String,
        /// Argument.
        argument: &'static str,
        /// The kind and width in the signature.
        expected: String,
    },
    /// Bytes that are not a code object which can be loaded.
    #[error("the code object cannot be loaded: {0}")]
    Object(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// An argument of a code object's kernel has another type than its metadata says.
    #[error(
        "kernel `{kernel}`, argument {argument}: the code object takes {expected}, and the type given is {given}"
    )]
    ObjectArgument {
        /// Kernel.
        kernel: String,
        /// The argument's name in the metadata, or its number.
        argument: String,
        /// The type in the metadata.
        expected: String,
        /// The type that was given.
        given: String,
    },
    /// The compiled kernel is for another target than the device.
    #[error(
        "kernel `{kernel}` was built for {built}, the device is a {device}; build it for `device.target()`"
    )]
    WrongTarget {
        /// Kernel.
        kernel: String,
        /// Target of the code object.
        built: Target,
        /// Target of the device.
        device: Target,
    },
    /// A buffer, stream, event or loaded kernel is used on a device that it does not belong to.
    #[error("{what} belongs to another device; make it with the device that uses it")]
    OtherDevice {
        /// The object that was passed.
        what: &'static str,
    },
    /// A step of a graph cannot be a cooperative launch.
    #[error("kernel `{kernel}`: a graph takes no cooperative launches; launch it on a stream")]
    CooperativeStep {
        /// Kernel.
        kernel: String,
    },
    /// A part of a buffer that is not in it.
    #[error("elements {start}..{end} do not lie in device memory of {len} elements")]
    Range {
        /// First element asked for.
        start: usize,
        /// The element after the last one.
        end: usize,
        /// Elements there are.
        len: usize,
    },
    /// Two ranges of a copy differ in length.
    #[error("{from} elements cannot be copied to {to} elements; pass slices of the same length")]
    Length {
        /// Elements of the source.
        from: usize,
        /// Elements of the destination.
        to: usize,
    },
    /// Times were asked for on a device that has none.
    #[error(
        "the simulator executes kernels without a clock; `Device::timed_simulator` models the time that they take"
    )]
    NoClock,
    /// The time between two events was asked for that were not recorded in that order.
    #[error("the event `since` was recorded after the other one; pass the earlier event as `since`")]
    EventOrder,
    /// The kernel is not among those of the module.
    #[error("the module has no kernel `{kernel}` built as this one is; it has {available}")]
    NotInModule {
        /// The kernel.
        kernel: String,
        /// The kernels that there are.
        available: String,
    },
    /// A part of a buffer begins where no dword begins.
    #[error(
        "kernel `{kernel}`, argument `{argument}`: the slice begins {over} bytes after a multiple of 4; {}",
        aligned_start(*multiple)
    )]
    Misaligned {
        /// Kernel.
        kernel: String,
        /// Argument.
        argument: &'static str,
        /// Bytes from the last multiple of 4 to its address.
        over: u64,
        /// Elements of a dword.
        multiple: u32,
    },
    /// Device memory: an address or a range that is not allocated.
    #[error("device memory: {0}")]
    Memory(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The simulator stopped the run.
    #[error("kernel `{kernel}`: {error}")]
    Simulation {
        /// Kernel.
        kernel: String,
        /// Why.
        #[source]
        error: Box<gcn_sim::SimError>,
    },
    /// The simulated kernel met `trap()`, or a `debug_assert!` that does not hold.
    #[error("kernel `{kernel}`: {location}: {message} (workgroup {workgroup:?}, wave {wave}: trap)")]
    Trap {
        /// Kernel.
        kernel: String,
        /// The user's source position.
        location: String,
        /// The assertion.
        message: String,
        /// Workgroup in the grid.
        workgroup: [u32; 3],
        /// Wave in the workgroup.
        wave: u32,
    },
    /// HIP refused.
    #[cfg(feature = "hip")]
    #[error(transparent)]
    Hip(#[from] hip::HipError),
    /// The device left a number where an enum is that no variant has.
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

/// The advice how to begin a slice at a multiple of 4 bytes; `elements` is the number of its elements in 4 bytes, at
/// least 1.
fn aligned_start(elements: u32) -> String {
    match elements {
        1 => "its address must be a multiple of 4".to_owned(),
        n => format!("begin it at a multiple of {n} elements"),
    }
}
