//! A GPU through AMD's HIP library, `libamdhip64.so`, which is loaded when the first device is opened.
//!
//! Compiling this crate does not need HIP. If an old library lacks some of the functions, the others work with it. The
//! crate calls `hipInit`, `hipGetDeviceCount`, `hipDeviceGetName`, `hipDeviceTotalMem`, `hipDeviceGetAttribute`,
//! `hipDeviceGetPCIBusId`, `hipDeviceGetUuid`, `hipDriverGetVersion`, `hipDeviceCanAccessPeer`,
//! `hipDeviceEnablePeerAccess`, `hipMemcpyPeerAsync`, `hipModuleLaunchCooperativeKernel`,
//! `hipModuleOccupancyMaxActiveBlocksPerMultiprocessor`, `hipGraphCreate`, `hipGraphDestroy`, `hipGraphAddKernelNode`,
//! `hipGraphAddMemcpyNode1D`, `hipGraphAddMemsetNode`, `hipGraphInstantiate`, `hipGraphLaunch`, `hipGraphExecDestroy`,
//! `hipGetDeviceProperties`, `hipGetDevice`, `hipSetDevice`, `hipMalloc`, `hipFree`, `hipHostMalloc`, `hipHostFree`,
//! `hipMemcpyHtoD`, `hipMemcpyDtoH`, `hipMemcpyAsync`, `hipMemsetAsync`, `hipModuleLoadData`, `hipModuleGetFunction`,
//! `hipModuleLaunchKernel`, `hipModuleUnload`, `hipDeviceSynchronize`, `hipStreamCreate`, `hipStreamDestroy`,
//! `hipStreamSynchronize`, `hipStreamWaitEvent`, `hipEventCreate`, `hipEventDestroy`, `hipEventRecord`,
//! `hipEventQuery`, `hipEventSynchronize`, `hipEventElapsedTime`, `hipGetErrorString`. Each call restores the calling
//! thread's current device.
//!
//! The host side is safe: buffers and modules are freed exactly once and not while in use, copies stay inside their
//! buffers, and a code object is loaded only on a device for which it is built. Rust cannot check the accesses of a
//! kernel on the device: a launch whose arguments are given as bytes is `unsafe`, and so is loading a library by its
//! path.
//!
//! ```no_run
//! use gcn_dsl::launch::hip::HipDevice;
//!
//! let device = HipDevice::open(0)?;
//! let module = device.load_module(&std::fs::read("saxpy.hsaco").unwrap())?;
//! let kernel = module.function("saxpy")?;
//! let x = device.alloc(4 * 1000)?;
//! x.write(0, &vec![0; 4 * 1000])?;
//! let mut kernarg = vec![0; 16];
//! kernarg[..8].copy_from_slice(&x.address().to_le_bytes());
//! // SAFETY: the kernel stores to the buffer, within its size.
//! unsafe { device.launch(&kernel, [4, 1, 1], [256, 1, 1], 0, &kernarg)? };
//! device.synchronize()?;
//! # Ok::<(), gcn_dsl::launch::hip::HipError>(())
//! ```
#![allow(
    unsafe_code,
    reason = "HIP is a C library: loading it, calling it and passing it addresses is unsafe"
)]

mod api;
mod error;
mod event;
mod graph;
mod host;
mod identity;
mod memory;
mod module;
mod stream;

use std::ffi::{OsString, c_void};
use std::fmt;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use gcn_emit::object::read_code_object;
use gcn_emit::target_id::TargetId;
use gcn_isa::Target;

use super::{Grid, Properties};
use crate::kernel::BuiltKernel;
use api::Api;
pub use error::HipError;
pub(super) use event::HipEvent;
pub(super) use graph::{HipGraph, HipGraphBuilder};
pub(super) use host::HostMemory;
pub use memory::HipBuffer;
use module::Sizes;
pub use module::{HipFunction, HipModule};
pub(super) use stream::{HipStream, Incoming};

/// Values of `hipDeviceAttribute_t`, unchanged since HIP 5.0.
const CLOCK_KHZ: i32 = 5;
const MULTIPROCESSORS: i32 = 63;
const SHARED_MEMORY: i32 = 74;
/// `hipErrorPeerAccessAlreadyEnabled`.
const ALREADY_ENABLED: i32 = 704;

/// Environment variable that names the HIP library to load instead of the usual ones.
pub const LIBRARY_VARIABLE: &str = "GCN_HIP_LIBRARY";

/// Names of the library: that of the development package, then those of `ROCm` 7, 6 and 5.
#[cfg(not(windows))]
const LIBRARY_NAMES: &[&str] =
    &["libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"];
/// Names of the library in the HIP SDK for Windows, of HIP 7, 6 and 5.
#[cfg(windows)]
const LIBRARY_NAMES: &[&str] = &["amdhip64_7.dll", "amdhip64_6.dll", "amdhip64.dll"];

/// Environment variables that name the folder of a `ROCm` installation.
const INSTALLATION_VARIABLES: [&str; 2] = ["ROCM_PATH", "HIP_PATH"];
/// The folder of an installation that contains the libraries.
const LIBRARY_FOLDER: &str = if cfg!(windows) { "bin" } else { "lib" };
/// The default installation folder of `ROCm`.
const INSTALLATION: &str = "/opt/rocm";

/// The file names to try, in order: first each library name alone, which the system's loader searches for, then each
/// name in the folders of the installations.
fn candidates(variable: impl Fn(&str) -> Option<OsString>) -> Vec<OsString> {
    let named = INSTALLATION_VARIABLES.iter().filter_map(|name| variable(name));
    let folders = named.chain([INSTALLATION.into()]).map(|root| PathBuf::from(root).join(LIBRARY_FOLDER));
    let plain = LIBRARY_NAMES.iter().map(OsString::from);
    let inside = folders.flat_map(|folder| LIBRARY_NAMES.iter().map(move |name| folder.join(name).into()));
    plain.chain(inside).collect()
}

/// The loaded HIP library. It stays loaded until the process ends.
#[derive(Clone)]
pub struct HipLibrary {
    api: Arc<Api>,
}

impl fmt::Debug for HipLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HipLibrary").field(&self.api.library).finish()
    }
}

impl HipLibrary {
    /// Loads the library. If the variable `GCN_HIP_LIBRARY` is set, only the file that it names is tried. Otherwise the
    /// names are `libamdhip64.so`, then the same name with the suffixes `.7`, `.6` and `.5`; they are searched for
    /// first by the system's loader, then in the folder `lib` of the folders that `ROCM_PATH` and `HIP_PATH` name, and
    /// of `/opt/rocm`. On Windows the names are `amdhip64_7.dll`, `amdhip64_6.dll` and `amdhip64.dll`, and the folder
    /// is `bin`. Later calls return the library that was found first.
    ///
    /// # Errors
    /// [`HipError::LibraryNotFound`], [`HipError::MissingFunction`].
    pub fn load() -> Result<HipLibrary, HipError> {
        static LOADED: OnceLock<HipLibrary> = OnceLock::new();
        if let Some(library) = LOADED.get() {
            return Ok(library.clone());
        }
        let library = match std::env::var_os(LIBRARY_VARIABLE) {
            // SAFETY: the user who sets the variable asserts that it names a HIP library, as with the system's own
            // `LD_LIBRARY_PATH`.
            Some(name) => unsafe { HipLibrary::load_from(&[name])? },
            // SAFETY: these are names of HIP libraries.
            None => unsafe { HipLibrary::load_from(&candidates(|name| std::env::var_os(name)))? },
        };
        Ok(LOADED.get_or_init(|| library).clone())
    }

    /// Loads the first of these libraries that exists.
    ///
    /// # Errors
    /// [`HipError::LibraryNotFound`], [`HipError::MissingFunction`].
    ///
    /// # Safety
    /// Each name must be that of a HIP library: its initialisers run, and its functions are called with HIP's
    /// signatures.
    pub unsafe fn load_from(names: &[OsString]) -> Result<HipLibrary, HipError> {
        Api::load(names).map(|api| HipLibrary { api: Arc::new(api) })
    }

    /// The name under which the library was loaded.
    pub fn name(&self) -> &str {
        &self.api.library
    }

    /// The number of devices.
    ///
    /// # Errors
    /// [`HipError::NoDevice`] if there is none; [`HipError::Call`].
    pub fn device_count(&self) -> Result<u32, HipError> {
        self.api.device_count()
    }

    /// Opens a device of this library.
    ///
    /// # Errors
    /// The same as for [`HipDevice::open`].
    pub fn open(&self, ordinal: u32) -> Result<HipDevice, HipError> {
        let count = self.device_count()?;
        let api = Arc::clone(&self.api);
        let device = i32::try_from(ordinal).ok().filter(|_| ordinal < count);
        let ordinal = device.ok_or(HipError::NoSuchDevice { ordinal, count })?;
        let arch = api.arch_name(ordinal)?;
        let target_id = arch.parse().map_err(|source| HipError::Unsupported { ordinal, source })?;
        Ok(HipDevice { context: Context { api, ordinal }, target_id })
    }
}

/// A library and the ordinal of one of its devices. HIP has a current device for each thread, which must be set before
/// most calls.
#[derive(Clone)]
struct Context {
    api: Arc<Api>,
    ordinal: i32,
}

impl Context {
    /// Makes the device the current one of this thread until the result is dropped. The result gives access to the
    /// library.
    fn current(&self) -> Result<Current<'_>, HipError> {
        let before = self.api.device()?;
        if before == self.ordinal {
            return Ok(Current { api: &self.api, before: None });
        }
        self.api.set_device(self.ordinal)?;
        Ok(Current { api: &self.api, before: Some(before) })
    }

    fn is(&self, other: &Context) -> bool {
        self.ordinal == other.ordinal && Arc::ptr_eq(&self.api, &other.api)
    }
}

/// The library while one of its devices is current. Dropping it restores the previous current device.
struct Current<'a> {
    api: &'a Api,
    before: Option<i32>,
}

impl Deref for Current<'_> {
    type Target = Api;
    fn deref(&self) -> &Api {
        self.api
    }
}

impl Drop for Current<'_> {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // This device was current before, so it exists, and the call cannot fail.
            let _ = self.api.set_device(before);
        }
    }
}

/// A GPU.
#[derive(Clone)]
pub struct HipDevice {
    context: Context,
    target_id: TargetId,
}

impl fmt::Debug for HipDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let library = &self.context.api.library;
        f.debug_struct("HipDevice")
            .field("ordinal", &self.context.ordinal)
            .field("target_id", &self.target_id)
            .field("library", library)
            .finish()
    }
}

impl HipDevice {
    /// Opens the device with this number, using the library that [`HipLibrary::load`] finds.
    ///
    /// # Errors
    /// [`HipError`] if the library is not found, there is no device with this ordinal, or its target is not supported.
    pub fn open(ordinal: u32) -> Result<HipDevice, HipError> {
        HipLibrary::load()?.open(ordinal)
    }

    /// The device's number.
    pub fn ordinal(&self) -> u32 {
        self.context.ordinal.unsigned_abs()
    }

    /// The device's target.
    pub fn target(&self) -> Target {
        self.target_id.target
    }

    /// The device's target with its XNACK and SRAM-ECC settings, as in `gcnArchName`.
    pub fn target_id(&self) -> TargetId {
        self.target_id
    }

    /// Allocates device memory; its contents are undefined. It is freed when the buffer is dropped.
    ///
    /// # Errors
    /// [`HipError::Call`].
    pub fn alloc(&self, bytes: usize) -> Result<HipBuffer, HipError> {
        HipBuffer::new(self.context.clone(), bytes)
    }

    /// Loads a code object, for example from [`gcn_emit::object::write_code_object`]. It is unloaded when the module
    /// and all its functions are dropped.
    ///
    /// # Errors
    /// [`HipError::CodeObject`] if the bytes are not a code object, [`HipError::WrongTarget`] if it is for
    /// another target than the device, [`HipError::Call`].
    pub fn load_module(&self, code_object: &[u8]) -> Result<HipModule, HipError> {
        let object = read_code_object(code_object)?.linked()?;
        let code = object.target_id;
        if !code.runs_on(self.target_id) {
            return Err(HipError::WrongTarget { code, device: self.target_id });
        }
        HipModule::load(self.context.clone(), code_object, &object)
    }

    /// Starts a kernel of `grid` workgroups with `workgroup` work-items each, `dynamic_lds` bytes of LDS in addition to
    /// the kernel's own, and these bytes of kernel arguments. Returns before the kernel has run: see
    /// [`HipDevice::synchronize`].
    ///
    /// HIP copies each argument that the kernel's metadata lists. If the metadata omits an argument, its bytes do not
    /// reach the kernel.
    ///
    /// # Errors
    /// [`HipError::OtherDevice`] if the kernel was loaded for another device, [`HipError::KernargTooShort`],
    /// [`HipError::Call`].
    ///
    /// # Safety
    /// With these argument bytes and this grid, the kernel must access only memory that the device may access while it
    /// runs. Addresses in the arguments are not checked, and a GPU can reach host memory, too.
    pub unsafe fn launch(
        &self,
        kernel: &HipFunction,
        grid: [u32; 3],
        workgroup: [u32; 3],
        dynamic_lds: u32,
        kernarg: &[u8],
    ) -> Result<(), HipError> {
        if !kernel.context().is(&self.context) {
            return Err(HipError::OtherDevice { kernel: kernel.name().to_owned() });
        }
        let _current = self.context.current()?;
        let sizes = Sizes { groups: grid, workgroup, dynamic_lds, cooperative: false };
        // SAFETY: the caller guarantees that the arguments are valid.
        unsafe { kernel.launch(None, sizes, kernarg) }
    }

    /// Starts a kernel of this crate, with arguments laid out according to its signature, on a stream. Without a
    /// stream, the kernel runs after all other work that was started on the device.
    pub(super) fn launch_built(
        &self,
        stream: Option<&HipStream>,
        function: &HipFunction,
        kernel: &BuiltKernel,
        grid: Grid,
        kernarg: &[u8],
    ) -> Result<(), HipError> {
        let there =
            function.context().is(&self.context) && stream.is_none_or(|s| s.context().is(&self.context));
        if !there {
            return Err(HipError::OtherDevice { kernel: function.name().to_owned() });
        }
        // A stream already determines its device.
        let _current = stream.is_none().then(|| self.context.current()).transpose()?;
        // SAFETY: slice arguments are buffers of this device, with the lengths against which the kernel's accesses are
        // checked. For raw pointers among the arguments, the author of the kernel is responsible.
        unsafe { function.launch(stream, Sizes::of(kernel, grid), kernarg) }
    }

    /// Starts a kernel of a foreign code object after all other work that was started on the device. The caller who
    /// loaded the object guarantees its safety.
    #[cfg(feature = "objects")]
    pub(super) fn launch_object(
        &self,
        function: &HipFunction,
        grid: Grid,
        workgroup: [u32; 3],
        kernarg: &[u8],
    ) -> Result<(), HipError> {
        if !function.context().is(&self.context) {
            return Err(HipError::OtherDevice { kernel: function.name().to_owned() });
        }
        let _current = self.context.current()?;
        let Grid { workgroups: groups, dynamic_lds, cooperative } = grid;
        // SAFETY: `Device::load_object` requires that with arguments of these types the kernel accesses only memory
        // that it is given.
        unsafe { function.launch(None, Sizes { groups, workgroup, dynamic_lds, cooperative }, kernarg) }
    }

    /// Adds a launch of a kernel of this crate to a graph of this device.
    pub(super) fn add_built(
        graph: &mut HipGraphBuilder,
        function: &Arc<HipFunction>,
        kernel: &BuiltKernel,
        grid: Grid,
        kernarg: &[u8],
    ) -> Result<(), HipError> {
        // SAFETY: as in `launch_built`; the graph's owner keeps the buffers allocated.
        unsafe { graph.launch(function, Sizes::of(kernel, grid), kernarg) }
    }

    /// An empty graph.
    pub(super) fn graph(&self) -> Result<HipGraphBuilder, HipError> {
        HipGraphBuilder::new(self.context.clone())
    }

    /// Allocates page-locked host memory, all zero.
    pub(super) fn pinned(&self, bytes: usize) -> Result<HostMemory, HipError> {
        HostMemory::new(&self.context, bytes)
    }

    /// Queries the device's properties.
    pub(super) fn properties(&self) -> Result<Properties, HipError> {
        let Context { api, ordinal } = &self.context;
        let (name, memory) = api.name_and_memory(*ordinal)?;
        let attribute = |number| api.attribute(number, *ordinal);
        Ok(Properties {
            name,
            target: self.target(),
            compute_units: attribute(MULTIPROCESSORS)?,
            lds_bytes: attribute(SHARED_MEMORY)?,
            memory_bytes: Some(memory),
            clock_mhz: Some(attribute(CLOCK_KHZ)? / 1000),
        })
    }

    /// Lets kernels of this device access the memory of `peer`, if the hardware permits it. Returns true if they can
    /// access it.
    pub(super) fn access_peer(&self, peer: &HipDevice) -> Result<bool, HipError> {
        let (api, own, other) = (self.context.current()?, self.context.ordinal, peer.context.ordinal);
        if !Arc::ptr_eq(&self.context.api, &peer.context.api) || own == other {
            return Ok(own == other);
        }
        let (ask, mut can) = (Api::newer(&api.functions.hipDeviceCanAccessPeer)?, 0);
        // SAFETY: `can` may be written.
        api.check("hipDeviceCanAccessPeer", unsafe { ask(&raw mut can, own, other) })?;
        if can == 0 {
            return Ok(false);
        }
        let enable = Api::newer(&api.functions.hipDeviceEnablePeerAccess)?;
        // SAFETY: the function takes two numbers and no pointer; 0 is the only value of its flags.
        match unsafe { enable(other, 0) } {
            ALREADY_ENABLED => Ok(true),
            code => api.check("hipDeviceEnablePeerAccess", code).map(|()| true),
        }
    }

    /// A stream of this device that was created elsewhere.
    pub(super) fn borrowed_stream(&self, handle: *mut c_void) -> HipStream {
        HipStream::borrowed(self.context.clone(), handle)
    }

    /// Memory of this device that was allocated elsewhere.
    pub(super) fn borrowed_buffer(&self, address: u64, bytes: usize) -> HipBuffer {
        HipBuffer::borrowed(self.context.clone(), address, bytes)
    }

    /// Creates a stream. Its work and work without a stream (on HIP's default stream) wait for each other.
    pub(super) fn stream(&self) -> Result<HipStream, HipError> {
        HipStream::new(self.context.clone())
    }

    /// Waits for all work that was started on the device. Faults of kernels are reported here.
    ///
    /// # Errors
    /// [`HipError::Call`].
    pub fn synchronize(&self) -> Result<(), HipError> {
        self.context.current()?.synchronize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn installations_are_searched_after_the_loader_s_own_places() {
        let rocm = |name: &str| (name == "ROCM_PATH").then(|| OsString::from("/rocm-6.4.1"));
        let found = candidates(rocm);
        let at =
            |name: &str| found.iter().position(|n| n == name).unwrap_or_else(|| panic!("{name}: {found:?}"));
        if cfg!(not(windows)) {
            let order = [
                "libamdhip64.so",
                "libamdhip64.so.7",
                "/rocm-6.4.1/lib/libamdhip64.so",
                "/opt/rocm/lib/libamdhip64.so.5",
            ];
            assert!(order.map(at).is_sorted());
        }
        assert_eq!(found.len(), 3 * LIBRARY_NAMES.len());
    }
}
