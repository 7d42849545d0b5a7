//! Tests memory: allocations, copies, fills, and attributes of pointers.

use crate::api::{P, code, device, get, hip, ok};
use crate::kernels::{add, buffer, function, module, words};

const H2D: u32 = 1;
const D2H: u32 = 2;
const DEFAULT: u32 = 4;

#[test]
fn memory_of_every_kind_is_one_address_for_host_and_kernel() {
    let _device = device();
    let add_kernel = function(module(), "add");
    let mut own = vec![7u32; 64];
    let at = own.as_mut_ptr() as P;
    assert_ne!(add(add_kernel, at, 1, 0), 0, "memory of the program is not the device's");
    ok(hip::hipDeviceReset());
    ok(hip::hipHostRegister(at, 256, 0));
    let pinned: P = get(|place| hip::hipHostMalloc(place, 256, 0));
    let managed: P = get(|place| hip::hipMallocManaged(place, 256, 1));
    for place in [at, pinned, managed] {
        let list = unsafe { std::slice::from_raw_parts_mut(place as *mut u32, 64) };
        list.iter_mut().enumerate().for_each(|(n, word)| *word = n as u32);
        assert_eq!(get::<P>(|p| hip::hipHostGetDevicePointer(p, place, 0)), place);
        ok(add(add_kernel, place, 5, 0));
        assert!(list.iter().enumerate().all(|(n, word)| *word == n as u32 + 5));
    }
    ok(hip::hipHostUnregister(at));
    assert_eq!(hip::hipHostUnregister(at), code::NOT_REGISTERED);
    assert_eq!(hip::hipHostFree(pinned), 0);
    assert_eq!(hip::hipHostFree(pinned), code::INVALID_VALUE);
    // Each kind of memory has its own function to free it.
    assert_eq!(hip::hipHostFree(managed), code::INVALID_VALUE);
    ok(hip::hipFree(managed));
}

#[test]
fn copies_check_both_ranges() {
    let _device = device();
    let at = buffer(&[1, 2, 3, 4]);
    let mut host = [0u32; 4096];
    let out = host.as_mut_ptr() as P;
    ok(hip::hipMemcpy(out, at + 4, 8, DEFAULT));
    assert_eq!(host[..3], [2, 3, 0]);
    ok(hip::hipMemcpyDtoH(out, at, 16));
    let page = 4096;
    for (to, from, bytes, kind, expected) in [
        (0, at, 4, D2H, code::INVALID_VALUE),
        (out, 0, 4, D2H, code::INVALID_VALUE),
        (out, at, 17, D2H, code::INVALID_VALUE),
        (at, out, 17, H2D, code::INVALID_VALUE),
        (at, out, usize::MAX, H2D, code::INVALID_VALUE),
        (out, at, 4, 77, code::INVALID_DIRECTION),
        // The ranges are not on the device.
        (out, out + page, 4, H2D, code::INVALID_VALUE),
        (out, out + page, 4, D2H, code::INVALID_VALUE),
        (0, 0, 0, H2D, 0),
    ] {
        assert_eq!(hip::hipMemcpy(to, from, bytes, kind), expected, "{to:#x} {from:#x} {bytes} {kind}");
    }
    assert_eq!(hip::hipMemset(out, 0, 4), code::INVALID_VALUE);
    assert_eq!(hip::hipMemset(at, 0, 17), code::INVALID_VALUE);
    assert_eq!(hip::hipMemsetD32(at + 1, 0, 1), code::INVALID_VALUE);
    assert_eq!(words(at, 4), [1, 2, 3, 4]);
    ok(hip::hipFree(at));
    assert_eq!(hip::hipMemcpy(out, at, 4, DEFAULT), code::INVALID_VALUE, "freed");
    assert_eq!(hip::hipFree(at), code::INVALID_VALUE);
    assert_eq!(hip::hipFree(out), code::INVALID_VALUE);
    ok(hip::hipFree(0));
}

#[test]
fn rows_and_slices_are_copied_and_filled() {
    let _device = device();
    let (mut at, mut pitch) = (0 as P, 0usize);
    ok(hip::hipMallocPitch(&raw mut at as P, &raw mut pitch as P, 12, 3));
    assert!(pitch >= 12 && pitch.is_multiple_of(256));
    ok(hip::hipMemset2D(at, pitch, 0x11, 12, 3));
    let source: Vec<u8> = (0..24).collect();
    ok(hip::hipMemcpy2D(at, pitch, source.as_ptr() as P, 8, 8, 3, H2D));
    let mut out = [0u8; 36];
    ok(hip::hipMemcpy2D(out.as_mut_ptr() as P, 12, at, pitch, 12, 3, D2H));
    let row = |n: u8| (8 * n..8 * n + 8).chain([0x11; 4]).collect::<Vec<u8>>();
    assert_eq!(out.to_vec(), [row(0), row(1), row(2)].concat());
    assert_ne!(hip::hipMemcpy2D(at, pitch, source.as_ptr() as P, 4, 8, 3, H2D), 0, "rows overlap");
    assert_eq!(hip::hipMemset2D(at, pitch, 0, 12, 4), code::INVALID_VALUE);

    // `hip_Memcpy2D`: 4 bytes from column 2 on in rows 1 and 2, from device memory (type 2) to host memory (type 1).
    let mut part = [0u8; 8];
    let to = part.as_mut_ptr() as P;
    let fields: [usize; 16] = [2, 1, 2, 0, at, 0, pitch, 0, 0, 1, to, 0, 0, 4, 4, 2];
    ok(hip::hipMemcpyParam2D(fields.as_ptr() as P));
    assert_eq!(part, [10, 11, 12, 13, 18, 19, 20, 21]);

    // `hipMemcpy3DParms`: two slices, each with one row of 4 bytes.
    let mut slices = [0u8; 8];
    let to = slices.as_mut_ptr() as P;
    let mut fields = [0usize; 20];
    (fields[4], fields[5], fields[7]) = (at, pitch, 1);
    (fields[12], fields[13], fields[15]) = (to, 4, 1);
    (fields[16], fields[17], fields[18], fields[19]) = (4, 1, 2, 2);
    ok(hip::hipMemcpy3D(fields.as_ptr() as P));
    assert_eq!(slices, [0, 1, 2, 3, 8, 9, 10, 11]);
}

#[test]
fn a_null_pointer_has_no_inside() {
    let _device = device();
    let mut out = [7u8; 16];
    let to = out.as_mut_ptr() as P;
    // Reads byte 2 of row 1 at a null address: of the host (type 1) and of the device (type 2).
    for kind in [1, 2] {
        let fields: [usize; 16] = [2, 1, kind, 0, 0, 0, 8, 0, 0, 1, to, 0, 0, 4, 4, 2];
        assert_eq!(hip::hipMemcpyParam2D(fields.as_ptr() as P), code::INVALID_VALUE);
    }
    let mut fields = [0usize; 20];
    (fields[1], fields[5], fields[7]) = (3, 4, 1);
    (fields[12], fields[13], fields[15]) = (to, 4, 1);
    (fields[16], fields[17], fields[18], fields[19]) = (4, 1, 2, DEFAULT as usize);
    assert_eq!(hip::hipMemcpy3D(fields.as_ptr() as P), code::INVALID_VALUE);
    assert_eq!(out, [7; 16]);
}

#[test]
fn a_stale_pointer_stays_wrong_and_memory_of_the_program_its_own() {
    let _device = device();
    let stale = buffer(&[1; 4]);
    ok(hip::hipFree(stale));
    for _ in 0..2000 {
        ok(hip::hipFree(get(|place| hip::hipMalloc(place, 4))));
    }
    let mut own = [5u32; 4];
    let at = own.as_mut_ptr() as P;
    assert_eq!(hip::hipMemcpy(at, stale, 4, DEFAULT), code::INVALID_VALUE);
    // After it was registered and unregistered, it is ordinary memory again.
    ok(hip::hipHostRegister(at, 16, 0));
    ok(hip::hipHostUnregister(at));
    let device = buffer(&[8; 4]);
    ok(hip::hipMemcpy(at, device, 16, D2H));
    assert_eq!(own, [8; 4]);
    ok(hip::hipFree(device));
}

#[test]
fn fills_have_patterns_of_one_two_and_four_bytes() {
    let _device = device();
    let at = buffer(&[9; 4]);
    ok(hip::hipMemset(at, 0x1ab, 3));
    ok(hip::hipMemsetD16(at + 4, 0x1234, 2));
    ok(hip::hipMemsetD32(at + 8, 0x0a0b_0c0d, 1));
    assert_eq!(words(at, 4), [0x00ab_abab, 0x1234_1234, 0x0a0b_0c0d, 9]);
}

#[test]
fn pointers_say_what_they_are() {
    let _device = device();
    let at = buffer(&[0; 10]);
    let pinned: P = get(|place| hip::hipHostMalloc(place, 100, 0));
    let managed: P = get(|place| hip::hipMallocManaged(place, 100, 1));
    let own = 0u32;
    for (pointer, kind) in [(at + 4, 2), (pinned, 1), (managed + 99, 3), (&raw const own as P, 0)] {
        let attributes: [u32; 8] = get(|place| hip::hipPointerGetAttributes(place, pointer));
        assert_eq!(attributes[0], kind);
    }
    assert_eq!(hip::hipPointerGetAttributes(0, at), code::INVALID_VALUE);
    let (mut base, mut size) = (0 as P, 0usize);
    ok(hip::hipMemGetAddressRange(&raw mut base as P, &raw mut size as P, at + 39));
    assert_eq!((base, size), (at, 40));
    assert_eq!(hip::hipMemGetAddressRange(0, 0, &raw const own as P), code::NOT_FOUND);
}

#[test]
fn memory_is_as_large_as_the_device_says() {
    let _device = device();
    let (mut free, mut total) = (0usize, 0usize);
    ok(hip::hipMemGetInfo(&raw mut free as P, &raw mut total as P));
    let mut place = 1 as P;
    assert_eq!(hip::hipMalloc(&raw mut place as P, total + 1), code::OUT_OF_MEMORY);
    assert_eq!(place, 0);
    let at: P = get(|place| hip::hipMalloc(place, 1 << 20));
    let mut less = 0usize;
    ok(hip::hipMemGetInfo(&raw mut less as P, &raw mut total as P));
    assert_eq!(free - less, 1 << 20);
    ok(hip::hipFree(at));
    assert_eq!(hip::hipMalloc(0, 4), code::INVALID_VALUE);
    assert_eq!(get::<P>(|place| hip::hipMalloc(place, 0)), 0);
    let stream_memory: P = get(|place| hip::hipMallocAsync(place, 64, 0));
    ok(hip::hipFreeAsync(stream_memory, 0));
    assert_eq!(hip::hipFreeAsync(stream_memory, 0), code::INVALID_VALUE);
}

#[test]
fn two_devices_copy_to_each_other() {
    let _device = device();
    assert_eq!(get::<i32>(hip::hipGetDeviceCount), 2);
    let first = buffer(&[1, 2]);
    ok(hip::hipSetDevice(1));
    let second = buffer(&[3, 4]);
    ok(hip::hipMemcpyPeer(second, 1, first, 0, 4));
    assert_eq!(words(second, 2), [1, 4]);
    assert_eq!(hip::hipMemcpyPeer(second, 1, first, 2, 4), code::INVALID_DEVICE);
    assert_eq!(get::<i32>(|can| hip::hipDeviceCanAccessPeer(can, 1, 0)), 1);
    ok(hip::hipDeviceEnablePeerAccess(0, 0));
    assert_eq!(hip::hipDeviceEnablePeerAccess(0, 0), code::PEER_ENABLED);
    ok(hip::hipDeviceDisablePeerAccess(0));
    assert_eq!(hip::hipDeviceDisablePeerAccess(0), code::PEER_NOT_ENABLED);
    assert_eq!(hip::hipSetDevice(2), code::INVALID_DEVICE);
    assert_eq!(hip::hipSetDevice(-1), code::INVALID_DEVICE);
    ok(hip::hipDeviceReset());
    ok(hip::hipSetDevice(0));
    assert_eq!(words(first, 2), [1, 2]);
}
