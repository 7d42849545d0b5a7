//! Loaded code objects and their kernels.

use std::ffi::{CString, c_void};
use std::fmt;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gcn_emit::object::{CodeObject, KernelCode};

use super::api::Api;
use super::{Context, HipError, HipStream};
use crate::kernel::BuiltKernel;
use crate::launch::Grid;

/// `HIP_LAUNCH_PARAM_BUFFER_POINTER`: the address of the argument buffer follows.
const BUFFER_POINTER: usize = 1;
/// `HIP_LAUNCH_PARAM_BUFFER_SIZE`: the address of the buffer's size follows.
const BUFFER_SIZE: usize = 2;
/// `HIP_LAUNCH_PARAM_END`.
const END: usize = 3;

/// The grid and the workgroup size of a launch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    /// Number of workgroups in each dimension.
    pub groups: [u32; 3],
    /// Number of work-items of a workgroup in each dimension.
    pub workgroup: [u32; 3],
    /// Bytes of LDS in addition to the kernel's own arrays.
    pub dynamic_lds: u32,
    /// True if all workgroups must be on the device at the same time.
    pub cooperative: bool,
}

impl Sizes {
    /// The sizes of a launch of a kernel of this crate.
    pub(super) fn of(kernel: &BuiltKernel, grid: Grid) -> Sizes {
        let Grid { workgroups: groups, dynamic_lds, cooperative } = grid;
        Sizes { groups, workgroup: kernel.signature().workgroup, dynamic_lds, cooperative }
    }
}

/// A loaded code object. It is unloaded when it and its functions have been dropped and the kernels that were started
/// have finished.
#[derive(Debug, Clone)]
pub struct HipModule {
    loaded: Arc<Loaded>,
}

struct Loaded {
    context: Context,
    /// The handle from `hipModuleLoadData`, owned by this value.
    handle: *mut c_void,
    /// The bytes of the code object, which HIP may read as long as the module exists.
    _image: Box<[u8]>,
    /// The names of the kernels, with their arguments.
    kernels: Vec<(String, Arguments)>,
    /// True if a kernel was started and may still be running.
    started: AtomicBool,
}

// SAFETY: the handle is never dereferenced here; HIP's functions may be called from any thread.
unsafe impl Send for Loaded {}
// SAFETY: as above; nothing changes a loaded module.
unsafe impl Sync for Loaded {}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaded").field("handle", &self.handle).finish_non_exhaustive()
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        if let Ok(api) = self.context.current() {
            if *self.started.get_mut() && api.synchronize().is_err() {
                // If the device no longer responds, kernels may still be running, so their code stays loaded.
                return;
            }
            // SAFETY: the handle is from hipModuleLoadData and this value is its only owner.
            unsafe { (api.functions.hipModuleUnload)(self.handle) };
        }
    }
}

impl HipModule {
    /// Loads `image`, whose parsed form is `object`. Parsing it first ensures that HIP reads nothing beyond its end.
    pub(super) fn load(
        context: Context,
        image: &[u8],
        object: &CodeObject<'_>,
    ) -> Result<HipModule, HipError> {
        let kernels = object.kernels.iter().map(|k| (k.name.to_owned(), Arguments::of(k))).collect();
        let image: Box<[u8]> = image.into();
        let mut handle = ptr::null_mut();
        let api = context.current()?;
        // SAFETY: `handle` may be written; `image` is a whole ELF file and lives as long as the module.
        let code = unsafe { (api.functions.hipModuleLoadData)(&raw mut handle, image.as_ptr().cast()) };
        api.check("hipModuleLoadData", code)?;
        drop(api);
        Ok(HipModule {
            loaded: Arc::new(Loaded {
                context,
                handle,
                _image: image,
                kernels,
                started: AtomicBool::new(false),
            }),
        })
    }

    /// The kernel with this name.
    ///
    /// # Errors
    /// [`HipError::NoKernel`], [`HipError::Call`].
    pub fn function(&self, name: &str) -> Result<HipFunction, HipError> {
        let kernels = &self.loaded.kernels;
        let kernel = kernels.iter().find(|k| k.0 == name);
        // A symbol name contains no NUL.
        let (Some((_, arguments)), Ok(symbol)) = (kernel, CString::new(name)) else {
            let available = kernels.iter().map(|k| k.0.clone()).collect();
            return Err(HipError::NoKernel { name: name.to_owned(), available });
        };
        let mut handle = ptr::null_mut();
        let api = self.loaded.context.current()?;
        // SAFETY: `handle` may be written, the module is loaded, the name ends with NUL.
        let code = unsafe {
            (api.functions.hipModuleGetFunction)(&raw mut handle, self.loaded.handle, symbol.as_ptr())
        };
        api.check("hipModuleGetFunction", code)?;
        let module = Arc::clone(&self.loaded);
        Ok(HipFunction { module, handle, name: name.to_owned(), arguments: arguments.clone() })
    }
}

/// The explicit arguments of a kernel: those that HIP does not set itself.
#[derive(Debug, Clone)]
struct Arguments {
    /// Number of bytes up to the end of the last argument.
    bytes: usize,
    /// The offset of each argument.
    offsets: Arc<[usize]>,
}

impl Arguments {
    fn of(kernel: &KernelCode<'_>) -> Arguments {
        let Some(metadata) = &kernel.metadata else {
            return Arguments { bytes: kernel.descriptor.kernarg_size as usize, offsets: Arc::default() };
        };
        let given = || metadata.args.iter().filter(|a| !a.value_kind.is_hidden());
        let bytes = given().map(|a| a.offset.saturating_add(a.size)).max().unwrap_or(0) as usize;
        Arguments { bytes, offsets: given().map(|a| a.offset as usize).collect() }
    }
}

/// A kernel of a loaded code object, which it keeps loaded.
#[derive(Debug, Clone)]
pub struct HipFunction {
    module: Arc<Loaded>,
    /// The handle from `hipModuleGetFunction`, valid as long as the module.
    handle: *mut c_void,
    name: String,
    arguments: Arguments,
}

// SAFETY: the handle is never dereferenced here; HIP's functions may be called from any thread.
unsafe impl Send for HipFunction {}
// SAFETY: as above; a function is never changed.
unsafe impl Sync for HipFunction {}

impl HipFunction {
    /// The kernel's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn context(&self) -> &Context {
        &self.module.context
    }

    /// Starts the kernel on a stream; without one, on the default stream of the thread's current device.
    ///
    /// # Safety
    /// The same as for [`HipDevice::launch`](super::HipDevice::launch).
    pub(super) unsafe fn launch(
        &self,
        stream: Option<&HipStream>,
        sizes: Sizes,
        kernarg: &[u8],
    ) -> Result<(), HipError> {
        let Sizes { groups: [gx, gy, gz], workgroup: [wx, wy, wz], dynamic_lds, cooperative } = sizes;
        let (api, none) = (&self.context().api, ptr::null_mut());
        let stream = stream.map_or(ptr::null_mut(), HipStream::handle);
        if cooperative {
            let mut places = self.places(kernarg)?;
            let launch = Api::newer(&api.functions.hipModuleLaunchCooperativeKernel)?;
            self.started();
            let params = places.as_mut_ptr();
            // SAFETY: the caller guarantees that the arguments are valid; the function's module is loaded; HIP reads
            // the arguments at these addresses before it returns, and does not write them.
            let code = unsafe { launch(self.handle, gx, gy, gz, wx, wy, wz, dynamic_lds, stream, params) };
            return api.check("hipModuleLaunchCooperativeKernel", code);
        }
        self.check_arguments(kernarg)?;
        let mut size = kernarg.len();
        let mut extra = [
            ptr::without_provenance_mut(BUFFER_POINTER),
            kernarg.as_ptr().cast_mut().cast(),
            ptr::without_provenance_mut(BUFFER_SIZE),
            (&raw mut size).cast(),
            ptr::without_provenance_mut(END),
        ];
        let extra = if kernarg.is_empty() { ptr::null_mut() } else { extra.as_mut_ptr() };
        let launch = api.functions.hipModuleLaunchKernel;
        self.started();
        // SAFETY: as above, with the arguments in one buffer.
        let code = unsafe { launch(self.handle, gx, gy, gz, wx, wy, wz, dynamic_lds, stream, none, extra) };
        api.check("hipModuleLaunchKernel", code)
    }

    /// The number of workgroups of this size that fit on a compute unit at a time.
    pub(in super::super) fn occupancy(&self, workgroup: u32, dynamic_lds: u32) -> Result<u32, HipError> {
        let api = self.context().current()?;
        let function = Api::newer(&api.functions.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor)?;
        let (mut count, size) = (0, workgroup.cast_signed());
        // SAFETY: `count` may be written, and the function's module is loaded.
        let code = unsafe { function(&raw mut count, self.handle, size, dynamic_lds as usize) };
        api.check("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", code)?;
        Ok(count.unsigned_abs())
    }

    pub(super) fn handle(&self) -> *mut c_void {
        self.handle
    }

    /// Records that the kernel may be running from now on.
    pub(super) fn started(&self) {
        self.module.started.store(true, Ordering::Release);
    }

    /// The address of each argument in `kernarg`, in the form of HIP's `kernelParams`. HIP only reads them.
    pub(super) fn places(&self, kernarg: &[u8]) -> Result<Vec<*mut c_void>, HipError> {
        self.check_arguments(kernarg)?;
        let place = |offset: &usize| kernarg.as_ptr().wrapping_add(*offset).cast_mut().cast();
        Ok(self.arguments.offsets.iter().map(place).collect())
    }

    fn check_arguments(&self, kernarg: &[u8]) -> Result<(), HipError> {
        let (expected, found) = (self.arguments.bytes, kernarg.len());
        if found < expected {
            return Err(HipError::KernargTooShort { kernel: self.name.clone(), expected, found });
        }
        Ok(())
    }
}
