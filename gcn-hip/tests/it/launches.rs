//! Tests modules and launches.

use std::ffi::CString;

use crate::api::{P, code, device, get, hip, ok};
use crate::kernels::{add, buffer, function, module, object, words};

#[test]
fn arguments_come_as_pointers_or_as_a_buffer() {
    let _device = device();
    let add_kernel = function(module(), "add");
    let at = buffer(&[1; 128]);
    ok(add(add_kernel, at, 10, 0));
    assert_eq!(words(at, 128), [[11; 64], [1; 64]].concat());
    // A pointer of 8 bytes and a number of 4.
    let mut packed = at.to_le_bytes().to_vec();
    packed.extend(100u32.to_le_bytes());
    let size = packed.len();
    let extra = [1, packed.as_ptr() as P, 2, &raw const size as P, 3];
    ok(hip::hipModuleLaunchKernel(add_kernel, 2, 1, 1, 64, 1, 1, 0, 0, 0, extra.as_ptr() as P));
    assert_eq!(words(at, 128), [[111; 64], [101; 64]].concat());
    // A grid counted in work-items, with an event before and after the launch.
    let events: [P; 2] = [get(hip::hipEventCreate), get(hip::hipEventCreate)];
    let [start, stop] = events;
    let e = extra.as_ptr() as P;
    ok(hip::hipExtModuleLaunchKernel(add_kernel, 64, 1, 1, 64, 1, 1, 0, 0, 0, e, start, stop, 0));
    let time: f32 = get(|place| hip::hipEventElapsedTime(place, start, stop));
    assert!(time > 0.0, "{time}");
    assert_eq!(words(at, 1), [211]);
}

#[test]
fn launches_that_cannot_be_are_refused() {
    let _device = device();
    let module = module();
    let add_kernel = function(module, "add");
    let at = buffer(&[0; 64]);
    let n = 1u32;
    let arguments = [&raw const at as P, &raw const n as P];
    let arguments = arguments.as_ptr() as P;
    let launch = |function, grid: u32, block: u32, shared, arguments| {
        hip::hipModuleLaunchKernel(function, grid, 1, 1, block, 1, 1, shared, 0, arguments, 0)
    };
    assert_eq!(launch(add_kernel, 0, 64, 0, arguments), code::INVALID_CONFIGURATION);
    assert_eq!(launch(add_kernel, 1, 0, 0, arguments), code::INVALID_CONFIGURATION);
    assert_eq!(launch(add_kernel, 1, 1025, 0, arguments), code::INVALID_CONFIGURATION);
    // `maxGridSize` is 2^31 - 1 in x, and the number of work-items must fit in 32 bits.
    assert_eq!(launch(add_kernel, 1 << 31, 1, 0, arguments), code::INVALID_CONFIGURATION);
    assert_eq!(launch(add_kernel, 1 << 26, 64, 0, arguments), code::INVALID_CONFIGURATION);
    assert_eq!(launch(add_kernel, 1, 257, 0, arguments), code::LAUNCH_FAILURE, "compiled for 256");
    assert_eq!(launch(add_kernel, 1, 64, 70_000, arguments), code::INVALID_VALUE, "64 KiB of LDS");
    assert_eq!(launch(add_kernel, 1, 64, 0, 0), code::INVALID_VALUE);
    assert_eq!(launch(12345, 1, 64, 0, arguments), 98, "hipErrorInvalidDeviceFunction");
    let cooperative =
        |groups| hip::hipModuleLaunchCooperativeKernel(add_kernel, groups, 1, 1, 64, 1, 1, 0, 0, arguments);
    assert_eq!(cooperative(1_000_000), code::TOO_LARGE);
    ok(cooperative(1));
    // No error persists.
    ok(hip::hipDeviceSynchronize());
    assert_eq!(words(at, 2), [1, 1]);
    let blocks: i32 =
        get(|place| hip::hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(place, add_kernel, 256, 0));
    // Four SIMDs with eight waves each; registers do not limit the number.
    assert_eq!(blocks, 8);
    assert_eq!(get::<u32>(|place| hip::hipFuncGetAttribute(place, 0, add_kernel)), 256);
}

#[test]
fn modules_have_functions_and_variables() {
    let _device = device();
    let loaded = module();
    let name = |text: &str| CString::new(text).unwrap();
    let (mut place, mut size) = (0 as P, 0usize);
    let total = name("total");
    ok(hip::hipModuleGetGlobal(&raw mut place as P, &raw mut size as P, loaded, total.as_ptr() as P));
    assert_eq!((size, words(place, 2)), (8, vec![40, 41]));
    let none = name("none");
    assert_eq!(hip::hipModuleGetGlobal(0, 0, loaded, none.as_ptr() as P), code::NOT_FOUND);
    let mut out = 0 as P;
    let out = &raw mut out as P;
    assert_eq!(hip::hipModuleGetFunction(out, loaded, none.as_ptr() as P), code::NOT_FOUND);
    assert_eq!(hip::hipModuleGetFunction(out, 77, total.as_ptr() as P), code::INVALID_HANDLE);
    assert_eq!(hip::hipModuleGetFunction(out, loaded, 0), code::INVALID_VALUE);
    let file = name("/nowhere/none.hsaco");
    assert_eq!(hip::hipModuleLoad(out, file.as_ptr() as P), code::FILE_NOT_FOUND);
    assert_eq!(hip::hipModuleLoadData(out, 0), code::INVALID_VALUE);
    let junk = [0x55u8; 256];
    assert_eq!(hip::hipModuleLoadData(out, junk.as_ptr() as P), code::INVALID_IMAGE);
    let mut cut = object();
    cut[64..200].fill(0xff);
    assert_eq!(hip::hipModuleLoadData(out, cut.as_ptr() as P), code::INVALID_IMAGE);
    let kernel = function(loaded, "add");
    ok(hip::hipModuleUnload(loaded));
    assert_eq!(hip::hipModuleUnload(loaded), code::NOT_FOUND);
    assert_eq!(hip::hipModuleUnload(0), code::INVALID_HANDLE);
    assert_eq!(add(kernel, 0, 0, 0), 98, "hipErrorInvalidDeviceFunction");
}

#[test]
fn properties_and_attributes_agree() {
    let _device = device();
    let properties: Vec<u8> = {
        let mut bytes = vec![0xaa; 1472 + 8];
        ok(hip::hipGetDevicePropertiesR0600(bytes.as_mut_ptr() as P, 0));
        bytes
    };
    assert_eq!(properties[1472..], [0xaa; 8], "no more than the structure");
    let text = |at: usize| properties[at..].split(|b| *b == 0).next().unwrap();
    assert_eq!(text(1160), b"gfx942:sramecc+:xnack-");
    assert_eq!(text(0), b"AMD Instinct MI300X");
    let number = |at: usize| i32::from_le_bytes(properties[at..at + 4].try_into().unwrap());
    // Offsets and attributes of hip_runtime_api.h 7.1: warpSize, maxThreadsPerBlock, multiProcessorCount, clockRate.
    for (offset, attribute, value) in [(308, 87, 64), (320, 56, 1024), (388, 63, 304), (348, 5, 2_100_000)] {
        assert_eq!(number(offset), value);
        assert_eq!(get::<i32>(|place| hip::hipDeviceGetAttribute(place, attribute, 0)), value);
    }
    let mut value = 0i32;
    let place = &raw mut value as P;
    assert_eq!(hip::hipDeviceGetAttribute(place, 5000, 0), code::INVALID_VALUE);
    assert_eq!(hip::hipDeviceGetAttribute(place, 5, 2), code::INVALID_DEVICE);
    assert_eq!(hip::hipDeviceGetAttribute(0, 5, 0), code::INVALID_VALUE);
}
