//! A kernel as the user has it: built and launched by one name.

use gcn_isa::Target;
use gcn_sim::timed::Config;

use super::{DevicePacker, Grid, LaunchError, LaunchStats, Launcher, kernarg_bytes, timed};
use crate::kernel::{BuildError, BuildOptions, BuiltKernel, build};
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
    type Args<'a>;

    /// Name, workgroup size, targets and arguments.
    fn signature(&self) -> Signature;

    /// Runs the body, which appends it to the kernel being built.
    #[doc(hidden)]
    fn trace(&self, arguments: &mut Arguments);

    /// The arguments on a [`Stream`](crate::Stream) as a tuple, in order:
    /// [`DeviceSlice`](crate::DeviceSlice)s in place of slices.
    type DeviceArgs<'a>;

    /// Hands the host arguments over one by one.
    #[doc(hidden)]
    fn pack<'b, 'a: 'b>(args: &'b mut Self::Args<'a>, packer: &mut Packer<'b>);

    /// Hands the arguments of a launch on a stream over one by one.
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

    /// As [`Kernel::build_with`]; `observe` is called at the end of each phase with its name. For measuring.
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

    /// Runs the kernel: on a [`Device`](crate::Device), with slices of the host, which are copied to the
    /// device and, if they are `&mut`, back; or on a [`Stream`](crate::Stream), with
    /// [`DeviceBuffer`](crate::DeviceBuffer)s, without waiting for it.
    ///
    /// The kernel is compiled for the device's target at each call; to launch one kernel often, build it once
    /// and use [`Device::launch`](crate::Device::launch) or [`Stream::launch`](crate::Stream::launch).
    ///
    /// # Errors
    /// A [`LaunchError`]: the build failed, the grid or an argument does not fit, or the run failed.
    fn launch<L: Launcher>(
        &self,
        on: &L,
        grid: Grid,
        args: L::Args<'_, Self>,
    ) -> Result<LaunchStats, LaunchError> {
        on.launch_built(self, &self.build(on.target())?, grid, args)
    }

    /// Runs the kernel in the simulator's timed mode: a model says in which cycle each instruction issues and
    /// why not earlier ([`gcn_sim::timed`]). `&mut` slices hold the results afterwards.
    ///
    /// # Errors
    /// Those of [`Kernel::launch`].
    fn timed(
        &self,
        target: Target,
        grid: Grid,
        args: Self::Args<'_>,
        config: &Config,
    ) -> Result<gcn_sim::timed::TimedReport, LaunchError> {
        timed::run(self, &self.build(target)?, grid, args, config)
    }

    /// Runs the kernel on one compute unit in timed mode and draws where the cycles go: pipelines and waves
    /// as rows, instructions and waits as bars, each wait with the rules for which it is there.
    ///
    /// ```
    /// use gcn_dsl::prelude::*;
    /// gcn_kernel! {
    ///     #[workgroup(64)]
    ///     pub fn double(x: &mut [f32]) {
    ///         let i = local_id().x;
    ///         x[i] = x[i] * 2.0;
    ///     }
    /// }
    /// let timeline = double.timeline(Target::GFX942, Grid::x(1), (&mut [1.0; 64],))?;
    /// let (page, picture) = (timeline.html(), timeline.svg());
    /// assert!(page.starts_with("<!doctype html>") && picture.starts_with("<svg"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Kernel::launch`].
    fn timeline(
        &self,
        target: Target,
        grid: Grid,
        args: Self::Args<'_>,
    ) -> Result<gcn_sim::timeline::Timeline, LaunchError> {
        let built = self.build(target)?;
        let config = Config { timeline: gcn_sim::timeline::EVENTS, ..Config::one_cu() };
        let report = timed::run(self, &built, grid, args, &config)?;
        let timeline = gcn_sim::timeline::Timeline::new(report).titled(built.name());
        Ok(timeline.with_notes(timed::notes(&built)))
    }

    /// The bytes of the kernarg segment for scalar and pointer arguments, for people who launch with other
    /// bindings: `addresses` gives the device address of each slice argument in order.
    ///
    /// # Errors
    /// A [`LaunchError`] if the number of addresses differs from the number of slice arguments.
    fn kernarg(&self, mut args: Self::Args<'_>, addresses: &[u64]) -> Result<Vec<u8>, LaunchError> {
        let mut packer = Packer::default();
        Self::pack(&mut args, &mut packer);
        kernarg_bytes(&self.signature(), &packer.args, addresses)
    }
}
