//! The trait of kernels: each is built and launched under its own name.

use std::sync::Arc;

use gcn_isa::Target;

use super::{DevicePacker, Grid, LaunchError, LaunchStats, Passed, kernarg_bytes};
use crate::kernel::{BuildError, BuildOptions, BuiltKernel, build, kept};
use crate::lang::{Arguments, Packer, Signature};

/// A kernel written with `gcn_kernel!`. The macro implements this for a unit struct with the kernel's name;
/// the provided methods are what users call.
///
/// ```
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     /// y = a * x + y
///     #[workgroup(256)]
///     pub fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
///         let i = global_id().x;
///         if i < y.len() {
///             y[i] = a * x[i] + y[i];
///         }
///     }
/// }
/// let kernel = saxpy.build(Target::GFX942)?;
/// assert!(kernel.assembly(Comments::None).contains("v_fma_f32") || kernel.assembly(Comments::None).contains("v_add_f32"));
///
/// let (x, mut y) = (vec![1.0; 1000], vec![2.0; 1000]);
/// saxpy.launch(&Device::simulator(Target::GFX942), Grid::x(4), (3.0, &x, &mut y))?;
/// assert!(y.iter().all(|y| *y == 5.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Kernel: Copy {
    /// The host arguments as a tuple, in order.
    type Args<'a>: Passed<Self::Args<'a>>;

    /// Name, workgroup size, targets and arguments.
    fn signature(&self) -> Signature;

    /// Runs the kernel's body on the host, which appends its instructions to the kernel that is being built.
    #[doc(hidden)]
    fn trace(&self, arguments: &mut Arguments);

    /// The arguments of a launch on a [`Stream`](crate::Stream) as a tuple, in order; slices are
    /// [`DeviceSlice`](crate::DeviceSlice)s.
    type DeviceArgs<'a>: Passed<Self::DeviceArgs<'a>>;

    /// Passes the host arguments one by one to `packer`.
    #[doc(hidden)]
    fn pack<'b, 'a: 'b>(args: &'b mut Self::Args<'a>, packer: &mut Packer<'b>);

    /// Passes the arguments of a launch on a stream one by one to `packer`.
    #[doc(hidden)]
    fn pack_device<'b, 'a: 'b>(args: &'b mut Self::DeviceArgs<'a>, packer: &mut DevicePacker<'b>);

    /// Compiles the kernel for `target`.
    ///
    /// # Errors
    /// A [`BuildError`] that names the kernel, the source location and the remedy.
    fn build(&self, target: Target) -> Result<BuiltKernel<Self>, BuildError> {
        self.build_with(target, &BuildOptions::default())
    }

    /// Compiles the kernel for `target` with options.
    ///
    /// # Errors
    /// A [`BuildError`].
    fn build_with(&self, target: Target, options: &BuildOptions) -> Result<BuiltKernel<Self>, BuildError> {
        self.build_observed(target, options, &mut |_| {})
    }

    /// Like [`Kernel::build_with`], but calls `observe` with the name of each phase when the phase ends, for
    /// measurements.
    #[doc(hidden)]
    fn build_observed(
        &self,
        target: Target,
        options: &BuildOptions,
        observe: &mut dyn FnMut(&'static str),
    ) -> Result<BuiltKernel<Self>, BuildError> {
        build::build(self.signature(), &|arguments| self.trace(arguments), target, options, observe)
            .map(BuiltKernel::of)
    }

    /// Like [`Kernel::build`], but returns the cached result if an earlier call built the same kernel.
    #[doc(hidden)]
    fn build_kept(&self, target: Target) -> Result<Arc<BuiltKernel>, BuildError> {
        kept::built(self.signature(), &|arguments| self.trace(arguments), target)
    }

    /// Runs the kernel. On a [`Device`](crate::Device), the arguments are slices of the host, which are copied to the
    /// device before the run and, if they are `&mut`, copied back after it. On a [`Stream`](crate::Stream), the
    /// arguments are [`DeviceBuffer`](crate::DeviceBuffer)s, and the call does not wait for the kernel.
    ///
    /// The kernel is compiled for the device's target at the first call, and later calls use the cached code. Later
    /// calls still run the body on the host, since values of the host may change the instructions. To avoid this,
    /// [build](Kernel::build) the kernel explicitly and use [`Device::launch`](crate::Device::launch) or
    /// [`Stream::launch`](crate::Stream::launch).
    ///
    /// # Errors
    /// A [`LaunchError`] if the build fails, the grid or an argument is invalid, or the run fails.
    fn launch<'a, L: Launcher>(
        &self,
        on: &L,
        grid: Grid,
        args: impl Passed<L::Args<'a, Self>>,
    ) -> Result<LaunchStats, LaunchError> {
        on.launch_built(self, &*self.build_kept(on.target())?, grid, args.passed())
    }

    /// The bytes of the kernarg segment, for launches through other bindings. `addresses` gives the device address of
    /// each slice argument, in order.
    ///
    /// # Errors
    /// A [`LaunchError`] if the number of addresses differs from the number of slice arguments.
    fn kernarg<'a>(
        &self,
        args: impl Passed<Self::Args<'a>>,
        addresses: &[u64],
    ) -> Result<Vec<u8>, LaunchError> {
        let mut args = args.passed();
        let mut packer = Packer::default();
        Self::pack(&mut args, &mut packer);
        kernarg_bytes(&self.signature(), &packer.args, addresses)
    }
}

/// An object on which a kernel can be launched: a [`Device`](crate::Device), with host slices that are copied to the
/// device and back, or a [`Stream`](crate::Stream), with buffers that are already on the device.
#[diagnostic::on_unimplemented(
    message = "kernels are not launched on `{Self}`",
    label = "neither a `Device` nor a `Stream`"
)]
pub trait Launcher {
    /// The type of the arguments of a launch of kernel `K`.
    type Args<'a, K: Kernel>: Passed<Self::Args<'a, K>>;

    /// The target of the device.
    fn target(&self) -> Target;

    /// Runs a kernel that was built for the device.
    #[doc(hidden)]
    fn launch_built<K: Kernel>(
        &self,
        kernel: &K,
        built: &BuiltKernel,
        grid: Grid,
        args: Self::Args<'_, K>,
    ) -> Result<LaunchStats, LaunchError>;
}

impl<L: Launcher> Launcher for &L {
    type Args<'a, K: Kernel> = L::Args<'a, K>;

    fn target(&self) -> Target {
        L::target(self)
    }

    fn launch_built<K: Kernel>(
        &self,
        kernel: &K,
        built: &BuiltKernel,
        grid: Grid,
        args: L::Args<'_, K>,
    ) -> Result<LaunchStats, LaunchError> {
        L::launch_built(self, kernel, built, grid, args)
    }
}
