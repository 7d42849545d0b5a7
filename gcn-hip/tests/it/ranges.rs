//! Tests memory ranges: advice about pages, access rights, copy directions, and argument buffers. The expected results are those of ROCm's
//! runtime and AMD's own tests.

use crate::api::{P, code, device, get, hip, ok};
use crate::fuzz::invoke;
use crate::kernels::{buffer, function, module, words};

const PAGE: P = 4096;
const NO_DEVICE: i32 = -2;

#[test]
fn advice_is_of_whole_pages() {
    let _device = device();
    let at: P = get(|place| hip::hipMallocManaged(place, 4 * PAGE, 1));
    let attribute = |which: P, from: P, pages: P| {
        get::<i32>(|place| {
            invoke("hipMemRangeGetAttribute", &[place, 4, which, at + from * PAGE, pages * PAGE])
        })
    };
    let advise =
        |advice: P, from: P, bytes: P, device: P| invoke("hipMemAdvise", &[at + from, bytes, advice, device]);
    let [read_mostly_of, preferred, accessed_by, prefetched]: [P; 4] = [1, 2, 3, 4];
    // Covers the second half of the second page and the first half of the third.
    ok(advise(1, PAGE + PAGE / 2, PAGE, 0));
    let read_mostly: Vec<i32> = (0..4).map(|page| attribute(read_mostly_of, page, 1)).collect();
    assert_eq!(read_mostly, [0, 1, 1, 0]);
    assert_eq!(
        (attribute(read_mostly_of, 1, 2), attribute(read_mostly_of, 0, 2), attribute(read_mostly_of, 2, 2)),
        (1, 0, 0)
    );
    // Sets advice for all pages, then a different value for the first page.
    ok(advise(3, 0, 4 * PAGE, 1));
    assert_eq!(attribute(preferred, 0, 4), 1);
    ok(advise(3, 0, 1, 0));
    assert_eq!(
        [attribute(preferred, 0, 1), attribute(preferred, 0, 4), attribute(preferred, 1, 3)],
        [0, NO_DEVICE, 1]
    );
    assert_eq!(attribute(read_mostly_of, 1, 2), 1);
    ok(advise(5, 0, 2 * PAGE, 0));
    assert_eq!([attribute(accessed_by, 0, 2), attribute(accessed_by, 0, 3)], [0, NO_DEVICE]);
    ok(invoke("hipMemPrefetchAsync", &[at, PAGE, 0, 0]));
    assert_eq!([attribute(prefetched, 0, 1), attribute(prefetched, 0, 2)], [0, NO_DEVICE]);
    assert_eq!(invoke("hipMemPrefetchAsync", &[at, PAGE, NO_DEVICE as u32 as P, 0]), code::INVALID_DEVICE);
    for wrong in [0, 7, 99, u32::MAX as P] {
        assert_eq!(advise(wrong, 0, PAGE, 0), code::INVALID_VALUE);
    }
    ok(hip::hipFree(at));
    assert_eq!(advise(1, 0, PAGE, 0), code::INVALID_VALUE);
}

#[test]
fn places_and_directions_are_checked() {
    let _device = device();
    // `hipMemAccessDesc`: location type, device, access.
    let pool: P = get(|place| invoke("hipDeviceGetDefaultMemPool", &[place, 0]));
    for (access, device, expected) in [
        (3u32, 1u32, 0),
        (0xffff, 0, code::INVALID_VALUE),
        (3, u32::MAX, code::INVALID_DEVICE),
        (3, 2, code::INVALID_DEVICE),
    ] {
        let list = [1u32, device, access];
        assert_eq!(
            invoke("hipMemPoolSetAccess", &[pool, list.as_ptr() as P, 1]),
            expected,
            "{access} {device}"
        );
    }
    let (place, mut flags) = ([1u32, 2], 0u32);
    let arguments = [&raw mut flags as P, pool, place.as_ptr() as P];
    assert_eq!(invoke("hipMemPoolGetAccess", &arguments), code::INVALID_VALUE);
    // A variable is in device memory.
    let own = [0u32; 2];
    let host = own.as_ptr() as P;
    for (name, kinds) in [("hipMemcpyToSymbol", [0, 2]), ("hipMemcpyFromSymbol", [0, 1])] {
        for kind in kinds {
            let [to, from] = if name.contains("To") { [1, host] } else { [host, 1] };
            assert_eq!(invoke(name, &[to, from, 4, 0, kind]), code::INVALID_DIRECTION, "{name} {kind}");
        }
    }
    // Signal memory is a single 64-bit word.
    let mut at: P = 0;
    let signal = |bytes: P, place: P| invoke("hipExtMallocWithFlags", &[place, bytes, 2]);
    assert_eq!([signal(0, &raw mut at as P), signal(16, &raw mut at as P)], [code::INVALID_VALUE; 2]);
    ok(signal(8, &raw mut at as P));
    const GONE: P = 0x6a00_0000_1230;
    assert_eq!(hip::hipMallocAsync(&raw mut at as P, 64, GONE), code::INVALID_HANDLE);
    assert_eq!(hip::hipFreeAsync(at, GONE), code::INVALID_HANDLE);
    assert_eq!(hip::hipStreamWaitEvent(GONE, 0, 0), code::INVALID_HANDLE);
    let event: P = get(hip::hipEventCreate);
    assert_eq!(hip::hipStreamWaitEvent(0, event, 7), code::INVALID_VALUE);
    // A range that the process has not mapped.
    assert_eq!(hip::hipHostRegister(host, 1 << 46, 0), code::INVALID_VALUE);
    // `HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS` exists for device memory only; otherwise the error is `hipErrorInvalidDevicePointer`.
    let value = 1u32;
    assert_eq!(invoke("hipPointerSetAttribute", &[&raw const value as P, 6, host]), 17);
    // `HIP_POINTER_ATTRIBUTE_RANGE_SIZE` is written as 32 bits.
    let mut size = [7u32; 2];
    ok(invoke("hipPointerGetAttribute", &[size.as_mut_ptr() as P, 12, at]));
    assert_eq!(size, [8, 7]);
}

#[test]
fn waiting_ends_the_captures_of_other_streams() {
    let _device = device();
    let [one, other]: [P; 2] = [0; 2].map(|_| get(hip::hipStreamCreate));
    const INVALIDATED: u32 = 901;
    const IMPLICIT: u32 = 906;
    let mut graph: P = 0;
    for mode in [0, 1] {
        ok(hip::hipStreamBeginCapture(one, mode));
        let mut status = 0u32;
        // The null stream, by either of its handles, would wait for the captured work, so using it is an error.
        for null in [0, 1] {
            assert_eq!(hip::hipStreamIsCapturing(null, &raw mut status as P), IMPLICIT);
        }
        assert_eq!(hip::hipStreamSynchronize(other), code::CAPTURE_UNSUPPORTED);
        assert_eq!(hip::hipStreamEndCapture(one, &raw mut graph as P), INVALIDATED);
    }
    // Relaxed captures allow it, and non-blocking streams are not waited for.
    ok(hip::hipStreamBeginCapture(one, 2));
    ok(hip::hipStreamSynchronize(other));
    ok(hip::hipStreamEndCapture(one, &raw mut graph as P));
    let free: P = get(|place| hip::hipStreamCreateWithFlags(place, 1));
    ok(hip::hipStreamBeginCapture(free, 0));
    assert_eq!(get::<u32>(|place| hip::hipStreamIsCapturing(0, place)), 0);
    ok(hip::hipStreamEndCapture(free, &raw mut graph as P));
}

#[test]
fn a_buffer_of_arguments_may_end_in_padding() {
    let _device = device();
    let at = buffer(&[1; 64]);
    let kernel = function(module(), "add");
    // A structure of a pointer and an `int`: 12 bytes, and 4 bytes of padding.
    let arguments = [at, 5 | 0x7777 << 32];
    let launch = |bytes: P| {
        let extra = [1, arguments.as_ptr() as P, 2, &raw const bytes as P, 3];
        hip::hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, 0, 0, extra.as_ptr() as P)
    };
    ok(launch(16));
    ok(launch(12));
    assert_eq!(words(at, 64), [11; 64]);
    // If there are more work-items than a workgroup can have, no workgroup fits.
    let name = "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor";
    assert_eq!(get::<u32>(|place| invoke(name, &[place, kernel, i32::MAX as P, 0])), 0);
}
