//! A HIP library without a GPU, for tests of the loader. Device memory is host memory. A launch stores its parameters
//! at the address in the first argument. Signatures and constants are those of hip_runtime_api.h.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicI32, Ordering::SeqCst};

/// The current device, shared by all threads.
static CURRENT: AtomicI32 = AtomicI32::new(0);
/// The number of modules and buffers that exist.
static ALIVE: AtomicI32 = AtomicI32::new(0);
/// The number of calls, except those of functions that free something.
static CALLS: AtomicI32 = AtomicI32::new(0);
/// The number of launched kernels that nothing has waited for.
static RUNNING: AtomicI32 = AtomicI32::new(0);

const INVALID_VALUE: c_int = 1;
const LAUNCH_FAILURE: c_int = 719;

#[unsafe(no_mangle)]
pub extern "C" fn hipInit(flags: c_uint) -> c_int {
    if flags == 0 { 0 } else { INVALID_VALUE }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDeviceCount(count: *mut c_int) -> c_int {
    unsafe { *count = 2 };
    0
}

fn fill(properties: *mut c_void, ordinal: c_int, size: usize, offset: usize) -> c_int {
    let arch: &[u8] = if ordinal == 0 { b"gfx942:sramecc+:xnack-" } else { b"gfx1310" };
    unsafe {
        properties.cast::<u8>().write_bytes(0xaa, size);
        let at = properties.cast::<u8>().add(offset);
        at.write_bytes(0, 256);
        at.copy_from_nonoverlapping(arch.as_ptr(), arch.len());
    }
    0
}

#[cfg(hip6)]
#[unsafe(no_mangle)]
pub extern "C" fn hipGetDevicePropertiesR0600(properties: *mut c_void, ordinal: c_int) -> c_int {
    fill(properties, ordinal, 1472, 1160)
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGetDeviceProperties(properties: *mut c_void, ordinal: c_int) -> c_int {
    fill(properties, ordinal, 792, 396)
}

#[unsafe(no_mangle)]
pub extern "C" fn hipSetDevice(ordinal: c_int) -> c_int {
    CALLS.fetch_add(1, SeqCst);
    if !(0..2).contains(&ordinal) {
        return 101;
    }
    CURRENT.store(ordinal, SeqCst);
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDevice(ordinal: *mut c_int) -> c_int {
    CALLS.fetch_add(1, SeqCst);
    unsafe { *ordinal = CURRENT.load(SeqCst) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipHostMalloc(at: *mut *mut c_void, size: usize, _: c_uint) -> c_int {
    unsafe { hipMalloc(at, size) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipHostFree(at: *mut c_void) -> c_int {
    unsafe { hipFree(at) }
}

/// Streams accept only kernels.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamCreate(stream: *mut *mut c_void) -> c_int {
    CALLS.fetch_add(1, SeqCst);
    ALIVE.fetch_add(1, SeqCst);
    unsafe { *stream = 64 as *mut c_void };
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamDestroy(_stream: *mut c_void) -> c_int {
    ALIVE.fetch_sub(1, SeqCst);
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamSynchronize(_stream: *mut c_void) -> c_int {
    CALLS.fetch_add(1, SeqCst);
    RUNNING.store(0, SeqCst);
    0
}

macro_rules! refused {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> c_int {
            CALLS.fetch_add(1, SeqCst);
            INVALID_VALUE
        }
    )*};
}
refused! {
    hipMemcpyAsync hipMemsetAsync hipStreamWaitEvent hipEventCreate hipEventDestroy hipEventRecord hipEventQuery
    hipEventSynchronize hipEventElapsedTime
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMalloc(at: *mut *mut c_void, size: usize) -> c_int {
    if size > 1 << 40 {
        return 2;
    }
    // The size is stored in front of the buffer, so that free finds it.
    let words = vec![0u64; size.div_ceil(8) + 1].into_boxed_slice();
    let start = Box::into_raw(words).cast::<u64>();
    unsafe {
        *start = size as u64;
        *at = start.add(1).cast();
    }
    ALIVE.fetch_add(1, SeqCst);
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipFree(at: *mut c_void) -> c_int {
    unsafe {
        let start = at.cast::<u64>().sub(1);
        let words = (*start as usize).div_ceil(8) + 1;
        drop(Box::from_raw(std::ptr::slice_from_raw_parts_mut(start, words)));
    }
    ALIVE.fetch_sub(1, SeqCst);
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyHtoD(to: *mut c_void, from: *const c_void, size: usize) -> c_int {
    CALLS.fetch_add(1, SeqCst);
    unsafe { to.cast::<u8>().copy_from(from.cast(), size) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyDtoH(to: *mut c_void, from: *mut c_void, size: usize) -> c_int {
    CALLS.fetch_add(1, SeqCst);
    unsafe { to.cast::<u8>().copy_from(from.cast(), size) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLoadData(module: *mut *mut c_void, image: *const c_void) -> c_int {
    CALLS.fetch_add(1, SeqCst);
    let magic = unsafe { image.cast::<[u8; 4]>().read() };
    if magic != *b"\x7fELF" {
        return 200;
    }
    ALIVE.fetch_add(1, SeqCst);
    unsafe { *module = image.cast_mut() };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleGetFunction(
    function: *mut *mut c_void,
    module: *mut c_void,
    name: *const c_char,
) -> c_int {
    CALLS.fetch_add(1, SeqCst);
    let known = unsafe { CStr::from_ptr(name) } == c"record";
    if module.is_null() || !known {
        return 500;
    }
    unsafe { *function = module };
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn hipModuleUnload(_module: *mut c_void) -> c_int {
    // The code of a running kernel must stay loaded.
    if RUNNING.load(SeqCst) > 0 {
        return LAUNCH_FAILURE;
    }
    ALIVE.fetch_sub(1, SeqCst);
    0
}

/// Writes the grid, the workgroup, the LDS bytes, the size of the arguments and the second argument to the address in
/// the first argument.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLaunchKernel(
    function: *mut c_void,
    gx: c_uint,
    gy: c_uint,
    gz: c_uint,
    wx: c_uint,
    wy: c_uint,
    wz: c_uint,
    lds: c_uint,
    _stream: *mut c_void,
    params: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> c_int {
    CALLS.fetch_add(1, SeqCst);
    if function.is_null() || !params.is_null() || extra.is_null() {
        return INVALID_VALUE;
    }
    if wx * wy * wz > 1024 {
        return LAUNCH_FAILURE;
    }
    unsafe {
        let extra = std::slice::from_raw_parts(extra, 5);
        if [extra[0] as usize, extra[2] as usize, extra[4] as usize] != [1, 2, 3] {
            return INVALID_VALUE;
        }
        let size = *extra[3].cast::<usize>();
        let args = std::slice::from_raw_parts(extra[1].cast::<u8>(), size);
        let out = u64::from_le_bytes(args[..8].try_into().unwrap()) as *mut u32;
        let second = u32::from_le_bytes(args[8..12].try_into().unwrap());
        for (i, word) in [gx, gy, gz, wx, wy, wz, lds, size as u32, second].into_iter().enumerate() {
            out.add(i).write(word);
        }
    }
    RUNNING.fetch_add(1, SeqCst);
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceSynchronize() -> c_int {
    RUNNING.store(0, SeqCst);
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorString(code: c_int) -> *const c_char {
    match code {
        2 => c"out of memory".as_ptr(),
        719 => c"unspecified launch failure".as_ptr(),
        _ => std::ptr::null(),
    }
}

/// For the test: the number of objects that were not freed.
#[unsafe(no_mangle)]
pub extern "C" fn fake_hip_alive() -> c_int {
    ALIVE.load(SeqCst)
}

/// For the test: the number of calls.
#[unsafe(no_mangle)]
pub extern "C" fn fake_hip_calls() -> c_int {
    CALLS.load(SeqCst)
}
