//! The [`Device`] on which kernels run, and launches with slices of the host.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gcn_isa::Target;

use super::backend::{Backend, Handle};
use super::buffer::{Allocation, bytes_of, from_bytes, to_bytes};
#[cfg(feature = "hip")]
use super::gpu::Gpu;
#[cfg(feature = "hip")]
use super::hip::HipDevice;
use super::kernarg::kernarg_of;
use super::simulator::{Clock, Simulator};
use super::{
    CodeOf, DeviceBuffer, DevicePtr, GraphBuilder, Grid, Kernel, LaunchError, LaunchStats, Launcher,
    LoadedKernel, LoadedModule, Module, Passed, PinnedBuffer, Properties, Stream,
};
use crate::kernel::BuiltKernel;
use crate::lang::{PackedArg, Packer, Signature, Stored};
use crate::scalar::Number;

impl Launcher for Device {
    type Args<'a, K: Kernel> = K::Args<'a>;

    fn target(&self) -> Target {
        self.backend.target()
    }

    fn launch_built<K: Kernel>(
        &self,
        kernel: &K,
        built: &BuiltKernel,
        grid: Grid,
        args: K::Args<'_>,
    ) -> Result<LaunchStats, LaunchError> {
        self.launch(kernel, built, grid, args)
    }
}

impl Launcher for Stream {
    type Args<'a, K: Kernel> = K::DeviceArgs<'a>;

    fn target(&self) -> Target {
        self.backend().target()
    }

    fn launch_built<K: Kernel>(
        &self,
        _: &K,
        built: &BuiltKernel,
        grid: Grid,
        args: K::DeviceArgs<'_>,
    ) -> Result<LaunchStats, LaunchError> {
        self.launch(&load::<K>(self.backend(), built)?, grid, args)
    }
}

/// A device that runs kernels: the simulator, or a GPU through HIP. Threads may share a device; a clone is the same
/// device.
#[derive(Clone)]
pub struct Device {
    backend: Arc<dyn Backend>,
    /// Addresses from [`Device::alloc`] that have not been freed.
    raw: Arc<Mutex<BTreeSet<u64>>>,
    /// The time that launches have taken so far; `None` if launches are not measured.
    spent: Option<Arc<Mutex<Duration>>>,
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").field("target", &self.target()).finish_non_exhaustive()
    }
}

impl Device {
    fn of(backend: impl Backend + 'static) -> Device {
        Device::over(Arc::new(backend))
    }

    #[cfg(any(feature = "hip", feature = "objects"))]
    pub(super) fn backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }

    pub(super) fn over(backend: Arc<dyn Backend>) -> Device {
        Device { backend, raw: Arc::default(), spent: None }
    }

    fn raw(&self) -> MutexGuard<'_, BTreeSet<u64>> {
        self.raw.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The simulator of `target`, in strict mode: reading a result before its wait is an error.
    pub fn simulator(target: Target) -> Device {
        Device::simulator_with(target, gcn_sim::Options { parallel: true, ..gcn_sim::Options::strict() })
    }

    /// The simulator of `target` without hazard checks: faster, but it does not detect missing waits.
    pub fn fast_simulator(target: Target) -> Device {
        Device::simulator_with(target, gcn_sim::Options { parallel: true, ..gcn_sim::Options::default() })
    }

    /// The simulator of `target` with custom options: for example faithful mode, in which a read that comes too early
    /// returns the register's old value, or sanitizers that detect data races and uninitialised memory and registers.
    /// Errors that they find are reported with the source line of the kernel.
    ///
    /// ```
    /// use gcn_dsl::prelude::*;
    /// use gcn_dsl::sim::{Options, Sanitize};
    /// gcn_kernel! {
    ///     #[workgroup(128)]
    ///     fn neighbours(x: &mut [u32]) {
    ///         let block = Lds::<u32, 128>::new();
    ///         let i = local_id().x;
    ///         block[i] = x[i];
    ///         x[i] = block[127 - i]; // the barrier is missing
    ///     }
    /// }
    /// let options = Options { sanitize: Sanitize::RACES, ..Options::strict() };
    /// let device = Device::simulator_with(Target::GFX942, options);
    /// let error = neighbours.launch(&device, Grid::x(1), (&mut [0; 128],)).unwrap_err();
    /// let report = error.to_string();
    /// assert!(report.contains("race"), "{report}");
    /// ```
    pub fn simulator_with(target: Target, options: gcn_sim::Options) -> Device {
        Device::of(Simulator::new(target, None, options))
    }

    /// The simulator of `target` with the timed model of a compute unit, whose clock runs at `mhz` MHz. Times between
    /// events are available, see [`Event::elapsed_since`](crate::Event::elapsed_since). This simulator does not check
    /// hazards.
    pub fn timed_simulator(target: Target, mhz: u32) -> Device {
        let config = gcn_sim::timed::Config { wave_reports: 0, ..gcn_sim::timed::Config::default() };
        let clock = Some(Clock::new(mhz.max(1), config));
        Device::of(Simulator::new(target, clock, gcn_sim::Options::default()))
    }

    /// Opens the GPU with this ordinal through HIP. The library `libamdhip64.so` is loaded if it is not loaded yet.
    ///
    /// # Errors
    /// [`LaunchError::Hip`] if the library or the device does not exist, or the device's target is not supported.
    #[cfg(feature = "hip")]
    pub fn hip(ordinal: u32) -> Result<Device, LaunchError> {
        Ok(Device::of(Gpu::new(HipDevice::open(ordinal)?)))
    }

    /// The number of GPUs that HIP finds.
    ///
    /// # Errors
    /// [`LaunchError::Hip`] if the library does not exist or finds no GPU.
    #[cfg(feature = "hip")]
    pub fn hip_count() -> Result<u32, LaunchError> {
        Ok(super::hip::HipLibrary::load()?.device_count()?)
    }

    /// A device for a GPU that is already open, for example through another library file.
    #[cfg(feature = "hip")]
    pub fn of_hip(device: &HipDevice) -> Device {
        Device::of(Gpu::new(device.clone()))
    }

    /// The same device, whose launches with slices of the host are measured by events; [`Device::kernel_time`] gives
    /// the sum. To measure launches on a [`Stream`], record events yourself.
    ///
    /// ```
    /// use gcn_dsl::prelude::*;
    /// gcn_kernel! {
    ///     #[workgroup(64)]
    ///     fn double(x: &mut [f32]) {
    ///         let i = local_id().x;
    ///         x[i] = x[i] * 2.0;
    ///     }
    /// }
    /// let device = Device::timed_simulator(Target::GFX942, 2100).measured();
    /// double.launch(&device, Grid::x(1), (&mut [1.0; 64],))?;
    /// assert!(device.kernel_time() > std::time::Duration::ZERO);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn measured(self) -> Device {
        Device { spent: Some(Arc::default()), ..self }
    }

    /// The time that kernels have taken on the device since it has been [measured](Device::measured), without copies;
    /// zero if the device is not measured.
    pub fn kernel_time(&self) -> Duration {
        // A panic cannot leave the number in an invalid state.
        self.spent
            .as_ref()
            .map_or(Duration::ZERO, |spent| *spent.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Runs a kernel and waits for it. If launches are measured, records an event before and after it.
    fn run(
        &self,
        loaded: &Handle,
        built: &BuiltKernel,
        grid: Grid,
        kernarg: &[u8],
    ) -> Result<LaunchStats, LaunchError> {
        let Some(spent) = &self.spent else {
            return self.backend.launch(None, loaded, built, grid, kernarg);
        };
        let stream = self.backend.stream()?;
        let before = self.backend.record(&stream)?;
        let stats = self.backend.launch(Some(&stream), loaded, built, grid, kernarg)?;
        let after = self.backend.record(&stream)?;
        self.backend.synchronize(&stream)?;
        let took = self.backend.elapsed(&before, &after)?;
        *spent.lock().unwrap_or_else(PoisonError::into_inner) += took;
        Ok(stats)
    }

    /// The device's target.
    pub fn target(&self) -> Target {
        self.backend.target()
    }

    /// Name, size and clock of the device.
    ///
    /// # Errors
    /// Any error that the device reports.
    pub fn properties(&self) -> Result<Properties, LaunchError> {
        self.backend.properties()
    }

    /// Lets kernels of this device access the memory of `peer` through [raw pointers](crate::DeviceSlice::as_ptr), if
    /// the connection between the two devices permits it. Returns true if it does. Copies by [`Stream::copy_peer`] do
    /// not need this. Simulators do not share memory.
    ///
    /// # Errors
    /// Any error that the device reports.
    pub fn access_peer(&self, peer: &Device) -> Result<bool, LaunchError> {
        self.backend.access_peer(&*peer.backend)
    }

    /// Allocates `len` elements; their contents are undefined.
    ///
    /// # Errors
    /// [`LaunchError`] if there is not enough memory.
    pub fn alloc<T: Number>(&self, len: usize) -> Result<DevicePtr<T>, LaunchError> {
        let address = self.backend.alloc(bytes_of::<T>(len)?)?;
        self.raw().insert(address);
        Ok(DevicePtr::from_address(address))
    }

    /// Frees memory that [`Device::alloc`] allocated.
    ///
    /// # Errors
    /// [`LaunchError`] if the pointer is not from [`Device::alloc`] or was freed before.
    pub fn free<T>(&self, pointer: DevicePtr<T>) -> Result<(), LaunchError> {
        let address = pointer.address();
        if !self.raw().remove(&address) {
            let what = format!("{address:#x} is not what `Device::alloc` gave, or is freed already");
            return Err(LaunchError::Memory(what.into()));
        }
        self.backend.free(address)
    }

    /// Copies elements to the device.
    ///
    /// # Errors
    /// [`LaunchError`] if the range is not allocated.
    pub fn write<T: Number>(&self, pointer: DevicePtr<T>, data: &[T]) -> Result<(), LaunchError> {
        self.backend.write(pointer.address(), &to_bytes(data))
    }

    /// Copies `len` elements from the device.
    ///
    /// # Errors
    /// [`LaunchError`] if the range is not allocated.
    pub fn read<T: Number>(&self, pointer: DevicePtr<T>, len: usize) -> Result<Vec<T>, LaunchError> {
        let bytes = self.backend.read(pointer.address(), bytes_of::<T>(len)?)?;
        from_bytes(&bytes)
    }

    /// Allocates a buffer of `len` elements, whose contents are undefined. The memory is freed when the buffer is
    /// dropped.
    ///
    /// # Errors
    /// [`LaunchError`] if there is not enough memory.
    pub fn buffer<T: Stored>(&self, len: usize) -> Result<DeviceBuffer<T>, LaunchError> {
        DeviceBuffer::new(&self.backend, len)
    }

    /// Allocates a buffer of `len` elements whose bytes are all zero.
    ///
    /// # Errors
    /// [`LaunchError`] if there is not enough memory.
    pub fn zeroed<T: Stored>(&self, len: usize) -> Result<DeviceBuffer<T>, LaunchError> {
        let buffer = self.buffer::<T>(len)?;
        self.backend.write(buffer.address(), &vec![0; buffer.bytes()])?;
        Ok(buffer)
    }

    /// Allocates page-locked host memory for `len` elements, whose bytes are all zero.
    ///
    /// # Errors
    /// [`LaunchError`] if there is not enough memory.
    pub fn pinned<T: Stored>(&self, len: usize) -> Result<PinnedBuffer<T>, LaunchError> {
        PinnedBuffer::new(&self.backend, len)
    }

    /// An empty list of launches and copies, which are prepared once and started together.
    pub fn graph(&self) -> GraphBuilder {
        GraphBuilder::new(&self.backend)
    }

    /// Allocates a buffer and copies these elements to it.
    ///
    /// # Errors
    /// [`LaunchError`] if there is not enough memory.
    pub fn upload<T: Stored>(&self, data: &[T]) -> Result<DeviceBuffer<T>, LaunchError> {
        let mut buffer = self.buffer(data.len())?;
        buffer.copy_from_slice(data)?;
        Ok(buffer)
    }

    /// Creates a stream.
    ///
    /// # Errors
    /// Any error that the device reports.
    pub fn stream(&self) -> Result<Stream, LaunchError> {
        Stream::new(&self.backend)
    }

    /// Loads a kernel for launches on streams. Repeated calls load the code object only once.
    ///
    /// # Errors
    /// [`LaunchError::WrongTarget`], or any error that the device reports.
    pub fn load<K: Kernel>(&self, kernel: &BuiltKernel<K>) -> Result<LoadedKernel<K>, LaunchError> {
        load(&self.backend, kernel)
    }

    /// Loads a module for launches of its kernels on streams.
    ///
    /// # Errors
    /// [`LaunchError::WrongTarget`], or any error that the device reports.
    pub fn load_module(&self, module: &Module) -> Result<LoadedModule, LaunchError> {
        module.kernels().iter().try_for_each(|kernel| check_target(&self.backend, kernel))?;
        LoadedModule::new(&self.backend, module)
    }

    /// Runs a kernel that has already been built, and waits for it. Slices are copied to the device before the launch,
    /// and `&mut` slices are copied back after it.
    ///
    /// # Errors
    /// A [`LaunchError`]. The host slices are changed only if the run succeeds.
    pub fn launch<'a, K: Kernel, C: CodeOf<K>>(
        &self,
        kernel: &K,
        built: &BuiltKernel<C>,
        grid: Grid,
        args: impl Passed<K::Args<'a>>,
    ) -> Result<LaunchStats, LaunchError> {
        let mut args = args.passed();
        let mut packer = Packer::default();
        K::pack(&mut args, &mut packer);
        self.launch_packed(&kernel.signature(), C::any(built), grid, packer)
    }

    /// The part of [`Device::launch`] that is not generic, so that a user's crate does not compile it again for each
    /// kernel.
    fn launch_packed(
        &self,
        signature: &Signature,
        built: &BuiltKernel,
        grid: Grid,
        packer: Packer<'_>,
    ) -> Result<LaunchStats, LaunchError> {
        if (&signature.name, &signature.args) != (&built.signature().name, &built.signature().args) {
            let (kernel, built) = (signature.name.clone(), built.name().to_owned());
            return Err(LaunchError::OtherKernel { kernel, built });
        }
        check_target(&self.backend, built)?;
        grid.check(built)?;
        let mut copies = Vec::new();
        for arg in &packer.args {
            if let PackedArg::Slice { bytes, .. } = arg {
                let copy = Allocation::new(&self.backend, bytes.len())?;
                self.backend.write(copy.address, bytes)?;
                copies.push(copy);
            }
        }
        let addresses: Vec<u64> = copies.iter().map(|copy| copy.address).collect();
        let kernarg = kernarg_of(built, &packer.args, &addresses)?;
        let loaded = self.backend.load(built.code_object(), built)?;
        let stats = self.run(&loaded, built, grid, &kernarg)?;
        let mut addresses = addresses.into_iter();
        for arg in packer.args {
            if let PackedArg::Slice { bytes, write_back, .. } = arg
                && let Some(address) = addresses.next()
                && let Some(write_back) = write_back
            {
                write_back(&self.backend.read(address, bytes.len())?)?;
            }
        }
        Ok(stats)
    }
}

fn check_target(backend: &Arc<dyn Backend>, built: &BuiltKernel) -> Result<(), LaunchError> {
    let (kernel, device) = (built.name(), backend.target());
    if built.target() == device {
        return Ok(());
    }
    Err(LaunchError::WrongTarget { kernel: kernel.to_owned(), built: built.target(), device })
}

/// Loads the code of kernel `K`.
fn load<K: Kernel>(backend: &Arc<dyn Backend>, built: &BuiltKernel) -> Result<LoadedKernel<K>, LaunchError> {
    check_target(backend, built)?;
    let handle = backend.load(built.code_object(), built)?;
    Ok(LoadedKernel::new(backend, built, handle))
}
