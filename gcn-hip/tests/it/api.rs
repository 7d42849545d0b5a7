//! Tests the library's functions, looked up as the dynamic loader does for a program.

use std::ffi::{CString, c_char, c_void};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// A pointer or handle.
pub type P = usize;

unsafe extern "C" {
    fn dlopen(name: *const c_char, flags: i32) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlvsym(library: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
}

/// The path at which cargo puts the library under test.
pub fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().join("libamdhip64.so")
}

fn handle() -> *mut c_void {
    static LIBRARY: OnceLock<usize> = OnceLock::new();
    let load = || {
        // Lets the test of an endless kernel end soon.
        unsafe { std::env::set_var("GCN_HIP_LIMIT", "1000000") };
        unsafe { std::env::set_var("GCN_HIP_DEVICES", "2") };
        if let Some(clang) = gcn_test_support::llvm::tool("clang++") {
            unsafe { std::env::set_var("GCN_HIP_CLANG", clang) };
        }
        let path = CString::new(library().to_str().unwrap()).unwrap();
        let library = unsafe { dlopen(path.as_ptr(), 2) };
        assert!(!library.is_null(), "{} cannot be loaded", self::library().display());
        library as usize
    };
    *LIBRARY.get_or_init(load) as *mut c_void
}

/// The address of a symbol: the given version of it, or the default version.
pub fn symbol(name: &str, version: Option<&str>) -> P {
    let name = CString::new(name).unwrap();
    let version = version.map(|v| CString::new(v).unwrap());
    let found = match version {
        Some(version) => unsafe { dlvsym(handle(), name.as_ptr(), version.as_ptr()) },
        None => unsafe { dlsym(handle(), name.as_ptr()) },
    };
    found as P
}

macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {
        /// The functions that tests call. They are safe functions, although tests pass null pointers and invalid handles.
        #[allow(non_snake_case, reason = "the functions' own names")]
        pub mod hip {
            use super::{P, symbol};
            $(
                #[allow(clippy::too_many_arguments, reason = "they are HIP's")]
                pub fn $name($($argument: $type),*) -> u32 {
                    type Function = unsafe extern "C" fn($($type),*) -> u32;
                    let address = symbol(stringify!($name), None);
                    assert_ne!(address, 0, stringify!($name));
                    let function: Function = unsafe { std::mem::transmute(address) };
                    unsafe { function($($argument),*) }
                }
            )*
        }
    };
}

functions! {
    hipGetDeviceCount(count: P);
    hipSetDevice(device: i32);
    hipDeviceReset();
    hipDeviceSynchronize();
    hipGetLastError();
    hipPeekAtLastError();
    hipGetDevicePropertiesR0600(properties: P, device: i32);
    hipDeviceGetAttribute(value: P, attribute: u32, device: i32);
    hipDeviceCanAccessPeer(can: P, device: i32, peer: i32);
    hipDeviceEnablePeerAccess(peer: i32, flags: u32);
    hipDeviceDisablePeerAccess(peer: i32);
    hipMalloc(place: P, bytes: usize);
    hipMallocManaged(place: P, bytes: usize, flags: u32);
    hipMallocPitch(place: P, pitch: P, width: usize, height: usize);
    hipMallocAsync(place: P, bytes: usize, stream: P);
    hipHostMalloc(place: P, bytes: usize, flags: u32);
    hipFree(at: P);
    hipFreeAsync(at: P, stream: P);
    hipHostFree(at: P);
    hipHostRegister(at: P, bytes: usize, flags: u32);
    hipHostUnregister(at: P);
    hipHostGetDevicePointer(place: P, at: P, flags: u32);
    hipMemGetInfo(free: P, total: P);
    hipPointerGetAttributes(attributes: P, at: P);
    hipMemGetAddressRange(base: P, size: P, at: P);
    hipMemcpy(to: P, from: P, bytes: usize, kind: u32);
    hipMemcpyAsync(to: P, from: P, bytes: usize, kind: u32, stream: P);
    hipMemcpyPeer(to: P, to_device: i32, from: P, from_device: i32, bytes: usize);
    hipMemcpyDtoH(to: P, from: P, bytes: usize);
    hipMemcpy2D(to: P, to_pitch: usize, from: P, from_pitch: usize, width: usize, height: usize, kind: u32);
    hipMemcpy3D(parameters: P);
    hipMemcpyParam2D(parameters: P);
    hipMemset(to: P, value: i32, bytes: usize);
    hipMemsetAsync(to: P, value: i32, bytes: usize, stream: P);
    hipMemsetD16(to: P, value: u16, count: usize);
    hipMemsetD32(to: P, value: i32, count: usize);
    hipMemset2D(to: P, pitch: usize, value: i32, width: usize, height: usize);
    hipModuleLoadData(module: P, data: P);
    hipModuleLoad(module: P, path: P);
    hipModuleUnload(module: P);
    hipModuleGetFunction(function: P, module: P, name: P);
    hipModuleGetGlobal(place: P, size: P, module: P, name: P);
    hipModuleLaunchKernel(
        function: P, gx: u32, gy: u32, gz: u32, x: u32, y: u32, z: u32, shared: u32, stream: P, arguments: P, extra: P
    );
    hipExtModuleLaunchKernel(
        function: P, gx: u32, gy: u32, gz: u32, x: u32, y: u32, z: u32, shared: usize, stream: P, arguments: P, extra: P,
        start: P, stop: P, flags: u32
    );
    hipModuleLaunchCooperativeKernel(
        function: P, gx: u32, gy: u32, gz: u32, x: u32, y: u32, z: u32, shared: u32, stream: P, arguments: P
    );
    hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(count: P, function: P, block: i32, shared: usize);
    hipFuncGetAttribute(value: P, attribute: u32, function: P);
    hipStreamCreate(stream: P);
    hipStreamCreateWithFlags(stream: P, flags: u32);
    hipStreamDestroy(stream: P);
    hipStreamSynchronize(stream: P);
    hipStreamQuery(stream: P);
    hipStreamWaitValue32(stream: P, at: P, value: u32, how: u32, mask: u32);
    hipStreamWaitEvent(stream: P, event: P, flags: u32);
    hipStreamBeginCapture(stream: P, mode: u32);
    hipStreamEndCapture(stream: P, graph: P);
    hipStreamIsCapturing(stream: P, status: P);
    hipLaunchHostFunc(stream: P, function: P, data: P);
    hipEventCreate(event: P);
    hipEventCreateWithFlags(event: P, flags: u32);
    hipEventDestroy(event: P);
    hipEventRecord(event: P, stream: P);
    hipEventQuery(event: P);
    hipEventSynchronize(event: P);
    hipEventElapsedTime(milliseconds: P, start: P, stop: P);
    hipGraphCreate(graph: P, flags: u32);
    hipGraphDestroy(graph: P);
    hipGraphAddEmptyNode(node: P, graph: P, after: P, count: usize);
    hipGraphAddKernelNode(node: P, graph: P, after: P, count: usize, parameters: P);
    hipGraphAddMemsetNode(node: P, graph: P, after: P, count: usize, parameters: P);
    hipGraphAddMemcpyNode1D(node: P, graph: P, after: P, count: usize, to: P, from: P, bytes: usize, kind: u32);
    hipGraphAddHostNode(node: P, graph: P, after: P, count: usize, parameters: P);
    hipGraphAddChildGraphNode(node: P, graph: P, after: P, count: usize, child: P);
    hipGraphAddDependencies(graph: P, from: P, to: P, count: usize);
    hipGraphGetNodes(graph: P, nodes: P, count: P);
    hipGraphInstantiate(instance: P, graph: P, node: P, log: P, bytes: usize);
    hipGraphExecMemsetNodeSetParams(instance: P, node: P, parameters: P);
    hipGraphLaunch(instance: P, stream: P);
    hipGraphExecDestroy(instance: P);
    hipGetProcAddress(name: P, place: P, version: i32, flags: u64, said: P);
    hipTexRefGetFlags(flags: P, reference: P);
}

/// Codes of `hipError_t`.
pub mod code {
    pub const INVALID_VALUE: u32 = 1;
    pub const OUT_OF_MEMORY: u32 = 2;
    pub const INVALID_CONFIGURATION: u32 = 9;
    pub const INVALID_DIRECTION: u32 = 21;
    pub const INVALID_DEVICE: u32 = 101;
    pub const INVALID_IMAGE: u32 = 200;
    pub const FILE_NOT_FOUND: u32 = 301;
    pub const INVALID_HANDLE: u32 = 400;
    pub const ILLEGAL_STATE: u32 = 401;
    pub const NOT_FOUND: u32 = 500;
    pub const ILLEGAL_ADDRESS: u32 = 700;
    pub const NOT_READY: u32 = 600;
    pub const TIME_OUT: u32 = 702;
    pub const PEER_ENABLED: u32 = 704;
    pub const PEER_NOT_ENABLED: u32 = 705;
    pub const NOT_REGISTERED: u32 = 713;
    /// `hipErrorContextIsDestroyed`, which ROCm returns for a stream or event that has been destroyed.
    pub const DESTROYED: u32 = 709;
    pub const LAUNCH_FAILURE: u32 = 719;
    pub const TOO_LARGE: u32 = 720;
    pub const NOT_SUPPORTED: u32 = 801;
    pub const CAPTURE_UNSUPPORTED: u32 = 900;
    pub const UNJOINED: u32 = 904;
}

/// Panics unless a call succeeded.
#[track_caller]
pub fn ok(code: u32) {
    assert_eq!(code, 0);
}

/// The result that a call writes to the address passed to it.
#[track_caller]
pub fn get<T: Default>(call: impl FnOnce(P) -> u32) -> T {
    let mut value = T::default();
    ok(call(&raw mut value as P));
    value
}

/// Locks the device for one test: a test's errors persist on the device, so other tests wait.
pub fn device() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    let guard = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    ok(hip::hipSetDevice(0));
    ok(hip::hipDeviceReset());
    hip::hipGetLastError();
    guard
}
