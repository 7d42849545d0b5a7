//! The functions of the HIP library, and the calls that pass no addresses of device or host memory.

use std::ffi::{CStr, OsString, c_char, c_int, c_uint, c_void};
use std::mem::ManuallyDrop;

use libloading::Library;

use super::HipError;

/// `hipErrorNoDevice`.
const NO_DEVICE: c_int = 100;
/// `hipErrorInvalidDevice`, which `hipInit` of HIP 5 returns if there is no device.
const INVALID_DEVICE: c_int = 101;

/// Size in bytes of the buffer that the library fills with a `hipDeviceProp_t`. The structure has 792 bytes in HIP 5
/// and 1,472 in HIP 6; the rest allows for larger ones.
const PROPERTIES_BYTES: usize = 8192;
/// Size of `gcnArchName` in bytes.
const ARCH_BYTES: usize = 256;

/// The functions that fill a `hipDeviceProp_t`, each with the offset of `gcnArchName` in it. HIP 6 changed the
/// structure and gave the function for the new one a new name; it also exports the old name, for the old structure. The
/// offsets are from `hip_runtime_api.h` of 5.2 and 6.0.
const PROPERTIES: [(&str, usize); 2] =
    [("hipGetDevicePropertiesR0600", 1160), ("hipGetDeviceProperties", 396)];

type GetProperties = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;

/// Declares the functions of the library that return a `hipError_t`. Old libraries may lack the functions after
/// `@newer`; that is an error only when a missing function is called.
macro_rules! functions {
    ($($name:ident($($arg:ty),*);)* @newer $($newer:ident($($newer_arg:ty),*);)*) => {
        /// Pointers to the library's functions.
        #[allow(non_snake_case, reason = "the functions' own names")]
        pub(super) struct Functions {
            $(pub(super) $name: unsafe extern "C" fn($($arg),*) -> c_int,)*
            $(pub(super) $newer: Result<unsafe extern "C" fn($($newer_arg),*) -> c_int, HipError>,)*
            hipGetErrorString: unsafe extern "C" fn(c_int) -> *const c_char,
        }

        impl Functions {
            fn of(library: &Library, name: &str) -> Result<Functions, HipError> {
                Ok(Functions {
                    $($name: {
                        type Function = unsafe extern "C" fn($($arg),*) -> c_int;
                        // SAFETY: this is the signature of the function in hip_runtime_api.h.
                        unsafe { symbol::<Function>(library, name, stringify!($name))? }
                    },)*
                    $($newer: {
                        type Function = unsafe extern "C" fn($($newer_arg),*) -> c_int;
                        // SAFETY: this is the signature of the function in hip_runtime_api.h.
                        unsafe { symbol::<Function>(library, name, stringify!($newer)) }
                    },)*
                    // SAFETY: this is the signature of the function in hip_runtime_api.h.
                    hipGetErrorString: unsafe { symbol(library, name, "hipGetErrorString")? },
                })
            }
        }
    };
}

functions! {
    hipInit(c_uint);
    hipGetDeviceCount(*mut c_int);
    hipSetDevice(c_int);
    hipMalloc(*mut *mut c_void, usize);
    hipFree(*mut c_void);
    hipMemcpyHtoD(*mut c_void, *const c_void, usize);
    hipMemcpyDtoH(*mut c_void, *mut c_void, usize);
    hipModuleLoadData(*mut *mut c_void, *const c_void);
    hipModuleGetFunction(*mut *mut c_void, *mut c_void, *const c_char);
    hipModuleUnload(*mut c_void);
    hipModuleLaunchKernel(
        *mut c_void, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, *mut c_void, *mut *mut c_void,
        *mut *mut c_void
    );
    hipDeviceSynchronize();
    hipGetDevice(*mut c_int);
    hipHostMalloc(*mut *mut c_void, usize, c_uint);
    hipHostFree(*mut c_void);
    hipMemcpyAsync(*mut c_void, *const c_void, usize, c_int, *mut c_void);
    hipMemsetAsync(*mut c_void, c_int, usize, *mut c_void);
    hipStreamCreate(*mut *mut c_void);
    hipStreamDestroy(*mut c_void);
    hipStreamSynchronize(*mut c_void);
    hipStreamWaitEvent(*mut c_void, *mut c_void, c_uint);
    hipEventCreate(*mut *mut c_void);
    hipEventDestroy(*mut c_void);
    hipEventRecord(*mut c_void, *mut c_void);
    hipEventQuery(*mut c_void);
    hipEventSynchronize(*mut c_void);
    hipEventElapsedTime(*mut f32, *mut c_void, *mut c_void);
    @newer
    hipDeviceGetName(*mut c_char, c_int, c_int);
    hipDeviceTotalMem(*mut usize, c_int);
    hipDeviceGetAttribute(*mut c_int, c_int, c_int);
    hipDeviceGetPCIBusId(*mut c_char, c_int, c_int);
    hipDeviceGetUuid(*mut c_char, c_int);
    hipDriverGetVersion(*mut c_int);
    hipDeviceCanAccessPeer(*mut c_int, c_int, c_int);
    hipDeviceEnablePeerAccess(c_int, c_uint);
    hipMemcpyPeerAsync(*mut c_void, c_int, *const c_void, c_int, usize, *mut c_void);
    hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(*mut c_int, *mut c_void, c_int, usize);
    hipModuleLaunchCooperativeKernel(
        *mut c_void, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, *mut c_void, *mut *mut c_void
    );
    hipGraphCreate(*mut *mut c_void, c_uint);
    hipGraphDestroy(*mut c_void);
    hipGraphAddKernelNode(*mut *mut c_void, *mut c_void, *const *mut c_void, usize, *const KernelNode);
    hipGraphAddMemcpyNode1D(
        *mut *mut c_void, *mut c_void, *const *mut c_void, usize, *mut c_void, *const c_void, usize, c_int
    );
    hipGraphAddMemsetNode(*mut *mut c_void, *mut c_void, *const *mut c_void, usize, *const FillNode);
    hipGraphInstantiate(*mut *mut c_void, *mut c_void, *mut *mut c_void, *mut c_char, usize);
    hipGraphLaunch(*mut c_void, *mut c_void);
    hipGraphExecDestroy(*mut c_void);
}

/// `hipKernelNodeParams`.
#[repr(C)]
pub(super) struct KernelNode {
    pub workgroup: [c_uint; 3],
    pub extra: *mut *mut c_void,
    pub function: *mut c_void,
    pub grid: [c_uint; 3],
    pub arguments: *mut *mut c_void,
    pub dynamic_lds: c_uint,
}

/// `hipMemsetParams`.
#[repr(C)]
pub(super) struct FillNode {
    pub to: *mut c_void,
    pub element_bytes: c_uint,
    pub height: usize,
    pub pitch: usize,
    pub value: c_uint,
    pub width: usize,
}

/// Looks up a function of the library.
///
/// # Safety
/// `F` must be the type of a pointer to the function `name`.
unsafe fn symbol<F: Copy>(library: &Library, file: &str, name: &'static str) -> Result<F, HipError> {
    // SAFETY: the caller guarantees that the type is right.
    let found = unsafe { library.get::<F>(name.as_bytes()) };
    found.map(|f| *f).map_err(|_| HipError::MissingFunction { library: file.to_owned(), function: name })
}

/// The loaded library.
pub(super) struct Api {
    pub(super) functions: Functions,
    get_properties: (GetProperties, &'static str, usize),
    /// The name under which the library was loaded.
    pub(super) library: String,
    /// The library, which is never unloaded, because HIP registers functions that run when the process ends.
    _keep: ManuallyDrop<Library>,
}

impl Api {
    pub(super) fn load(names: &[OsString]) -> Result<Api, HipError> {
        let mut tried = Vec::new();
        for name in names {
            let library = name.to_string_lossy().into_owned();
            // SAFETY: loading runs the library's initializers. HIP's have no preconditions, and the caller or
            // the environment chose which file is loaded.
            match unsafe { Library::new(name) } {
                Ok(loaded) => return Api::of(loaded, library),
                Err(error) => tried.push((library, error.to_string())),
            }
        }
        Err(HipError::LibraryNotFound { tried })
    }

    fn of(loaded: Library, library: String) -> Result<Api, HipError> {
        let loaded = ManuallyDrop::new(loaded);
        let functions = Functions::of(&loaded, &library)?;
        let [newest, oldest] = PROPERTIES.map(|(name, offset)| {
            // SAFETY: both functions take the structure to fill and the device's number.
            let found = unsafe { symbol::<GetProperties>(&loaded, &library, name) };
            found.map(|f| (f, name, offset))
        });
        let get_properties = newest.or(oldest)?;
        Ok(Api { functions, get_properties, library, _keep: loaded })
    }

    /// Converts a return code to a result.
    pub(super) fn check(&self, function: &'static str, code: c_int) -> Result<(), HipError> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: any code may be passed; the text is static.
        let text = unsafe { (self.functions.hipGetErrorString)(code) };
        let message = if text.is_null() {
            "unknown error".to_owned()
        } else {
            // SAFETY: HIP's error strings end with NUL and are never freed.
            unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
        };
        Err(HipError::Call { function, code, message })
    }

    /// The number of devices, at least one.
    pub(super) fn device_count(&self) -> Result<u32, HipError> {
        let none = || HipError::NoDevice { library: self.library.clone() };
        let mut count = 0;
        // SAFETY: hipInit takes no flags but 0.
        let mut code = unsafe { (self.functions.hipInit)(0) };
        if code == 0 {
            // SAFETY: `count` may be written.
            code = unsafe { (self.functions.hipGetDeviceCount)(&raw mut count) };
        }
        if code == NO_DEVICE || code == INVALID_DEVICE {
            return Err(none());
        }
        self.check("hipGetDeviceCount", code)?;
        u32::try_from(count).ok().filter(|count| *count > 0).ok_or_else(none)
    }

    /// `gcnArchName` of a device, for example `gfx90a:sramecc+:xnack-`.
    pub(super) fn arch_name(&self, ordinal: c_int) -> Result<String, HipError> {
        let (function, name, offset) = self.get_properties;
        // The array has the alignment of the structure, whose widest members are pointers.
        let mut properties = [0u64; PROPERTIES_BYTES / 8];
        // SAFETY: the buffer is larger than the structure of every version that has this function.
        let code = unsafe { function(properties.as_mut_ptr().cast(), ordinal) };
        self.check(name, code)?;
        let bytes: Vec<u8> = properties.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let text = bytes.get(offset..offset + ARCH_BYTES).unwrap_or_default();
        let end = text.iter().position(|b| *b == 0).unwrap_or(text.len());
        Ok(String::from_utf8_lossy(&text[..end]).into_owned())
    }

    pub(super) fn device(&self) -> Result<c_int, HipError> {
        let mut ordinal = 0;
        // SAFETY: `ordinal` may be written.
        let code = unsafe { (self.functions.hipGetDevice)(&raw mut ordinal) };
        self.check("hipGetDevice", code)?;
        Ok(ordinal)
    }

    pub(super) fn set_device(&self, ordinal: c_int) -> Result<(), HipError> {
        // SAFETY: any number may be passed.
        let code = unsafe { (self.functions.hipSetDevice)(ordinal) };
        self.check("hipSetDevice", code)
    }

    /// Returns a function that old libraries lack, or the error that it is missing.
    pub(super) fn newer<F: Copy>(function: &Result<F, HipError>) -> Result<F, HipError> {
        function.as_ref().copied().map_err(HipError::clone)
    }

    /// An attribute of a device (`hipDeviceAttribute_t`).
    pub(super) fn attribute(&self, attribute: c_int, ordinal: c_int) -> Result<u32, HipError> {
        let (function, mut value) = (Api::newer(&self.functions.hipDeviceGetAttribute)?, 0);
        // SAFETY: `value` may be written.
        let code = unsafe { function(&raw mut value, attribute, ordinal) };
        self.check("hipDeviceGetAttribute", code)?;
        Ok(value.unsigned_abs())
    }

    /// The name of a device and the size of its memory in bytes.
    pub(super) fn name_and_memory(&self, ordinal: c_int) -> Result<(String, u64), HipError> {
        let (mut name, mut bytes) = ([0u8; ARCH_BYTES], 0usize);
        let function = Api::newer(&self.functions.hipDeviceGetName)?;
        // SAFETY: `name` has the size that is passed.
        let code = unsafe { function(name.as_mut_ptr().cast(), ARCH_BYTES as c_int, ordinal) };
        self.check("hipDeviceGetName", code)?;
        let function = Api::newer(&self.functions.hipDeviceTotalMem)?;
        // SAFETY: `bytes` may be written.
        let code = unsafe { function(&raw mut bytes, ordinal) };
        self.check("hipDeviceTotalMem", code)?;
        let name = CStr::from_bytes_until_nul(&name).map(|name| name.to_string_lossy().into_owned());
        Ok((name.unwrap_or_default(), bytes as u64))
    }

    pub(super) fn synchronize(&self) -> Result<(), HipError> {
        // SAFETY: there are no arguments.
        let code = unsafe { (self.functions.hipDeviceSynchronize)() };
        self.check("hipDeviceSynchronize", code)
    }
}
