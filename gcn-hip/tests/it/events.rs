//! Tests streams and events.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::api::{P, code, device, get, hip, ok};
use crate::kernels::{add, buffer, function, module, words};

#[test]
fn streams_do_work_in_order() {
    let _device = device();
    let add_kernel = function(module(), "add");
    let at = buffer(&[0; 64]);
    let streams: [P; 2] = [get(hip::hipStreamCreate), get(|s| hip::hipStreamCreateWithFlags(s, 1))];
    let event: P = get(hip::hipEventCreate);
    ok(hip::hipMemsetAsync(at, 1, 256, streams[0]));
    ok(add(add_kernel, at, 1, streams[0]));
    ok(hip::hipEventRecord(event, streams[0]));
    ok(hip::hipStreamWaitEvent(streams[1], event, 0));
    ok(add(add_kernel, at, 2, streams[1]));
    let mut out = [0u32; 1];
    ok(hip::hipMemcpyAsync(out.as_mut_ptr() as P, at, 4, 2, streams[1]));
    ok(hip::hipStreamSynchronize(streams[1]));
    ok(hip::hipStreamQuery(streams[0]));
    ok(hip::hipEventQuery(event));
    assert_eq!(out, [0x0101_0104]);
    assert_eq!(words(at, 2), [0x0101_0104; 2]);
    ok(hip::hipStreamDestroy(streams[0]));
    for call in [hip::hipStreamDestroy, hip::hipStreamSynchronize, hip::hipStreamQuery] {
        assert_eq!(call(streams[0]), code::DESTROYED);
    }
    assert_eq!(hip::hipStreamDestroy(0), code::INVALID_HANDLE);
    assert_eq!(add(add_kernel, at, 1, streams[0]), code::DESTROYED);
    assert_eq!(hip::hipMemcpyAsync(out.as_mut_ptr() as P, at, 4, 2, streams[0]), code::DESTROYED);
    assert_eq!(hip::hipStreamCreateWithFlags(&raw const out as P, 9), code::INVALID_VALUE);
    ok(add(add_kernel, at, 1, 2));
}

#[test]
fn functions_of_the_host_run_in_their_place_and_may_call_the_library() {
    static SEEN: AtomicU32 = AtomicU32::new(0);
    extern "C" fn look(at: P) {
        SEEN.store(words(at, 1)[0], Relaxed);
    }
    let _device = device();
    let at = buffer(&[0; 64]);
    let stream: P = get(hip::hipStreamCreate);
    ok(hip::hipMemsetD32(at, 5, 64));
    ok(hip::hipLaunchHostFunc(stream, look as extern "C" fn(P) as P, at));
    ok(hip::hipStreamSynchronize(stream));
    assert_eq!(SEEN.load(Relaxed), 5);
    assert_eq!(hip::hipLaunchHostFunc(stream, 0, at), code::INVALID_VALUE);
}

/// A host callback that waits for the submitting thread delays only its stream and the work that the null stream orders after it.
#[test]
fn a_function_of_the_host_holds_its_stream() {
    static GO: AtomicU32 = AtomicU32::new(0);
    extern "C" fn hold(_: P) {
        while GO.load(Relaxed) == 0 {
            std::thread::yield_now();
        }
    }
    let _device = device();
    let add_kernel = function(module(), "add");
    let (at, other) = (buffer(&[1; 64]), buffer(&[1; 64]));
    let [held, after]: [P; 2] = [get(hip::hipStreamCreate), get(hip::hipStreamCreate)];
    let free: P = get(|stream| hip::hipStreamCreateWithFlags(stream, 1));
    let event: P = get(hip::hipEventCreate);
    ok(hip::hipLaunchHostFunc(held, hold as extern "C" fn(P) as P, 0));
    // Pageable host memory is read when the copy is submitted; copies to it are complete before the next operation.
    let mut own = [5u32; 64];
    ok(hip::hipMemcpyAsync(at, own.as_ptr() as P, 256, 1, held));
    own.fill(7);
    ok(add(add_kernel, at, 2, held));
    ok(hip::hipEventRecord(event, held));
    ok(hip::hipStreamWaitEvent(after, event, 0));
    ok(add(add_kernel, at, 3, after));
    let memory: P = get(|place| hip::hipMallocAsync(place, 256, held));
    ok(hip::hipMemsetAsync(memory, 1, 256, held));
    ok(hip::hipFreeAsync(memory, held));
    for query in [hip::hipStreamQuery(held), hip::hipStreamQuery(after), hip::hipStreamQuery(0)] {
        assert_eq!(query, code::NOT_READY);
    }
    assert_eq!(hip::hipEventQuery(event), code::NOT_READY);
    // This stream is not delayed.
    ok(add(add_kernel, other, 4, free));
    let mut seen = [0u32; 2];
    ok(hip::hipMemcpyAsync(seen.as_mut_ptr() as P, other, 4, 2, free));
    ok(hip::hipMemcpyAsync(seen.as_mut_ptr() as P + 4, at, 4, 2, free));
    ok(hip::hipStreamQuery(free));
    assert_eq!(seen, [5, 1]);
    GO.store(1, Relaxed);
    ok(hip::hipEventSynchronize(event));
    ok(hip::hipStreamSynchronize(after));
    ok(hip::hipStreamSynchronize(held));
    ok(hip::hipStreamQuery(held));
    assert_eq!(words(at, 64), [10; 64]);
    assert_eq!(hip::hipFree(memory), code::INVALID_VALUE, "freed in its stream");
}

/// A stream waits until the host writes a certain value; if the value is there already, the stream does not wait.
#[test]
fn streams_wait_for_values() {
    let _device = device();
    let at = buffer(&[1; 64]);
    let stream: P = get(hip::hipStreamCreate);
    let flag: P = get(|place| hip::hipHostMalloc(place, 64, 0));
    let write = |value: u32| unsafe { (flag as *mut u32).write_volatile(value) };
    // The comparisons greater-or-equal, equal, and, nor: for each a mask, a value for which the stream waits, and one for which it
    // continues.
    for (how, mask, value, stays, goes) in [
        (0, 0xf, 4, 0x13, 6),
        (1, 0xffff, 1, 0xfff_0000, 0xfff_0001),
        (2, 0xff, 0xf4a, 0xf35, 2),
        (3, 0xff, 0x85, 0x7a, 0x9a),
    ] {
        write(stays);
        ok(hip::hipStreamWaitValue32(stream, flag, value, how, mask));
        ok(hip::hipMemsetAsync(at, how as i32, 4, stream));
        assert_eq!(hip::hipStreamQuery(stream), code::NOT_READY, "{how}");
        write(goes);
        ok(hip::hipStreamSynchronize(stream));
        assert_eq!(words(at, 1), [how * 0x0101_0101]);
        ok(hip::hipStreamWaitValue32(stream, flag, value, how, mask));
        ok(hip::hipStreamQuery(stream));
    }
    assert_eq!(hip::hipStreamWaitValue32(stream, flag, 0, 4, 1), code::INVALID_VALUE);
    assert_eq!(hip::hipStreamWaitValue32(stream, 0, 0, 0, 1), code::INVALID_VALUE);
    ok(hip::hipFree(flag));
}

#[test]
fn events_have_times() {
    let _device = device();
    let [a, b]: [P; 2] = [get(hip::hipEventCreate), get(hip::hipEventCreate)];
    let untimed: P = get(|place| hip::hipEventCreateWithFlags(place, 2));
    let mut time = -1.0f32;
    let place = &raw mut time as P;
    assert_eq!(hip::hipEventElapsedTime(place, a, b), code::INVALID_HANDLE, "not recorded");
    [a, b, untimed].into_iter().for_each(|event| ok(hip::hipEventRecord(event, 0)));
    ok(hip::hipEventElapsedTime(place, a, b));
    assert!((0.0..1000.0).contains(&time), "{time}");
    assert_eq!(hip::hipEventElapsedTime(place, a, untimed), code::INVALID_HANDLE);
    assert_eq!(hip::hipEventElapsedTime(0, a, b), code::INVALID_VALUE);
    ok(hip::hipEventSynchronize(b));
    ok(hip::hipEventDestroy(b));
    for call in [hip::hipEventDestroy, hip::hipEventSynchronize, hip::hipEventQuery] {
        assert_eq!(call(b), code::DESTROYED);
        assert_eq!(call(0), code::INVALID_HANDLE);
    }
    assert_eq!(hip::hipEventRecord(b, 0), code::DESTROYED);
    assert_eq!(hip::hipEventRecord(a, 77), code::DESTROYED);
    assert_eq!(hip::hipEventCreateWithFlags(place, 0x100), code::INVALID_VALUE);
}
