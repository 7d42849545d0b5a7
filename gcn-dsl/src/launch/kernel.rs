//! The user's view of a kernel: built and launched by one name.

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

    /// Runs the body, which appends its instructions to the kernel being built.
    #[doc(hidden)]
    fn trace(&self, arguments: &mut Arguments);

    /// The arguments on a [`Stream`](crate::Stream) as a tuple, in order: [`DeviceSlice`](crate::DeviceSlice)s in place
    /// of slices.
    type DeviceArgs<'a>: Passed<Self::DeviceArgs<'a>>;

    /// Passes the host arguments on one by one.
    #[doc(hidden)]
    fn pack<'b, 'a: 'b>(args: &'b mut Self::Args<'a>, packer: &mut Packer<'b>);

    /// Passes the arguments of a launch on a stream on one by one.
    #[doc(hidden)]
    fn pack_device<'b, 'a: 'b>(args: &'b mut Self::DeviceArgs<'a>, packer: &mut DevicePacker<'b>);

    /// Compiles the kernel for `target`.
    ///
    /// # Errors
    /// A [`BuildError`] that names the kernel, the place and the remedy.
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

    /// Like [`Kernel::build_with`]; `observe` is called at the end of each phase with its name, for measurements.
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

    /// Like [`Kernel::build`], or the cached result of an earlier call for the same kernel.
    #[doc(hidden)]
    fn build_kept(&self, target: Target) -> Result<Arc<BuiltKernel>, BuildError> {
        kept::built(self.signature(), &|arguments| self.trace(arguments), target)
    }

    /// Runs the kernel: on a [`Device`](crate::Device), with slices of the host, which are copied to the
    /// device and, if they are `&mut`, back; or on a [`Stream`](crate::Stream), with
    /// [`DeviceBuffer`](crate::DeviceBuffer)s, without waiting for it.
    ///
    /// The kernel is compiled for the device's target at the first call and cached for later ones. Each of these still
    /// runs the body on the host, as values of the host may change it. A kernel that was [built](Kernel::build)
    /// explicitly avoids that: [`Device::launch`](crate::Device::launch), [`Stream::launch`](crate::Stream::launch).
    ///
    /// # Errors
    /// A [`LaunchError`]: the build failed, the grid or an argument does not fit, or the run failed.
    fn launch<'a, L: Launcher>(
        &self,
        on: &L,
        grid: Grid,
        args: impl Passed<L::Args<'a, Self>>,
    ) -> Result<LaunchStats, LaunchError> {
        on.launch_built(self, &*self.build_kept(on.target())?, grid, args.passed())
    }

    /// The bytes of the kernarg segment for scalar and pointer arguments, for launches through other bindings:
    /// `addresses` gives the device address of each slice argument in order.
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
    /// The arguments of a kernel.
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
