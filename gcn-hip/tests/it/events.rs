//! Streams and events.

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
