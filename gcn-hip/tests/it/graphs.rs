//! Tests graphs that are captured or built, and launched.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::api::{P, code, device, get, hip, ok};
use crate::kernels::{add, buffer, function, module, words};

fn instance(graph: P) -> P {
    get(|place| hip::hipGraphInstantiate(place, graph, 0, 0, 0))
}

#[test]
fn captured_work_runs_when_the_graph_is_launched() {
    let _device = device();
    let add_kernel = function(module(), "add");
    let at = buffer(&[0; 64]);
    let [main, side]: [P; 2] = [get(hip::hipStreamCreate), get(hip::hipStreamCreate)];
    let [fork, join]: [P; 2] = [get(hip::hipEventCreate), get(hip::hipEventCreate)];
    ok(hip::hipStreamBeginCapture(main, 0));
    assert_eq!(get::<u32>(|place| hip::hipStreamIsCapturing(main, place)), 1);
    ok(hip::hipMemsetAsync(at, 0, 256, main));
    ok(hip::hipEventRecord(fork, main));
    ok(hip::hipStreamWaitEvent(side, fork, 0));
    ok(add(add_kernel, at, 3, side));
    ok(hip::hipEventRecord(join, side));
    assert_eq!(hip::hipStreamSynchronize(main), code::CAPTURE_UNSUPPORTED);
    ok(hip::hipStreamWaitEvent(main, join, 0));
    ok(add(add_kernel, at, 4, main));
    let graph: P = get(|place| hip::hipStreamEndCapture(main, place));
    // So far nothing has been executed.
    ok(hip::hipMemset(at, 1, 256));
    assert_eq!(get::<usize>(|count| hip::hipGraphGetNodes(graph, 0, count)), 3);
    let ready = instance(graph);
    ok(hip::hipGraphDestroy(graph));
    for _ in 0..2 {
        ok(hip::hipGraphLaunch(ready, main));
        assert_eq!(words(at, 1), [7]);
    }
    ok(hip::hipGraphExecDestroy(ready));
    assert_eq!(hip::hipGraphLaunch(ready, main), code::INVALID_VALUE);
    assert_eq!(get::<u32>(|place| hip::hipStreamIsCapturing(side, place)), 0);
}

#[test]
fn captures_that_cannot_be_end_in_the_documented_error() {
    let _device = device();
    let at = buffer(&[0; 64]);
    let [main, side]: [P; 2] = [get(hip::hipStreamCreate), get(hip::hipStreamCreate)];
    let event: P = get(hip::hipEventCreate);
    let mut graph = 0 as P;
    let place = &raw mut graph as P;
    assert_eq!(hip::hipStreamBeginCapture(0, 0), code::CAPTURE_UNSUPPORTED);
    assert_eq!(hip::hipStreamBeginCapture(main, 9), code::INVALID_VALUE);
    assert_eq!(hip::hipStreamEndCapture(main, place), code::ILLEGAL_STATE);
    ok(hip::hipStreamBeginCapture(main, 0));
    assert_eq!(hip::hipStreamBeginCapture(main, 0), code::ILLEGAL_STATE);
    ok(hip::hipEventRecord(event, main));
    ok(hip::hipStreamWaitEvent(side, event, 0));
    ok(hip::hipMemsetAsync(at, 0, 4, side));
    assert_eq!(hip::hipStreamEndCapture(main, place), code::UNJOINED);
    assert_eq!(get::<u32>(|place| hip::hipStreamIsCapturing(side, place)), 0);
}

#[test]
fn built_graphs_respect_their_dependencies() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    extern "C" fn count(by: P) {
        CALLS.fetch_add(by as u32, Relaxed);
    }
    let _device = device();
    let add_kernel = function(module(), "add");
    let at = buffer(&[0; 64]);
    let graph: P = get(|place| hip::hipGraphCreate(place, 0));
    let n = 5u32;
    let arguments = [&raw const at as P, &raw const n as P];
    // `hipKernelNodeParams`: block, no `extra`, function, grid, arguments, LDS size.
    let one = 1usize | 1 << 32;
    let kernel: [usize; 8] = [64 | 1 << 32, 1, 0, add_kernel, one, 1, arguments.as_ptr() as P, 0];
    let run: P = get(|place| hip::hipGraphAddKernelNode(place, graph, 0, 0, kernel.as_ptr() as P));
    // `hipMemsetParams`: address, element size, height, pitch, value, width.
    let fill = |value: usize| [at, 4, 1, 0, value, 64];
    let before: P = get(|place| hip::hipGraphAddMemsetNode(place, graph, 0, 0, fill(10).as_ptr() as P));
    ok(hip::hipGraphAddDependencies(graph, &raw const before as P, &raw const run as P, 1));
    let mut out = [0u32; 2];
    let to = out.as_mut_ptr() as P;
    let copied: P =
        get(|place| hip::hipGraphAddMemcpyNode1D(place, graph, &raw const run as P, 1, to, at, 8, 2));
    let call = [count as extern "C" fn(P) as P, 3];
    let _: P =
        get(|place| hip::hipGraphAddHostNode(place, graph, &raw const copied as P, 1, call.as_ptr() as P));
    let ready = instance(graph);
    ok(hip::hipGraphLaunch(ready, 0));
    ok(hip::hipStreamSynchronize(0));
    assert_eq!((out, CALLS.load(Relaxed)), ([15; 2], 3));
    ok(hip::hipGraphExecMemsetNodeSetParams(ready, before, fill(20).as_ptr() as P));
    ok(hip::hipGraphLaunch(ready, 0));
    ok(hip::hipStreamSynchronize(0));
    assert_eq!(out, [25; 2]);
    assert_eq!(hip::hipGraphExecMemsetNodeSetParams(ready, run, fill(20).as_ptr() as P), code::INVALID_VALUE);

    // A graph inside a graph, and errors.
    let outer: P = get(|place| hip::hipGraphCreate(place, 0));
    let child: P = get(|place| hip::hipGraphAddChildGraphNode(place, outer, 0, 0, graph));
    let ready = instance(outer);
    ok(hip::hipGraphLaunch(ready, 0));
    ok(hip::hipStreamSynchronize(0));
    assert_eq!((out, CALLS.load(Relaxed)), ([15; 2], 9));
    let mut node = 0 as P;
    let node = &raw mut node as P;
    assert_eq!(hip::hipGraphAddEmptyNode(node, outer, &raw const run as P, 1), code::INVALID_VALUE);
    assert_eq!(hip::hipGraphAddEmptyNode(node, 99, 0, 0), code::INVALID_VALUE);
    assert_eq!(hip::hipGraphAddEmptyNode(0, outer, 0, 0), code::INVALID_VALUE);
    let same = &raw const child as P;
    assert_eq!(hip::hipGraphAddDependencies(outer, same, same, 1), code::INVALID_VALUE);
    ok(hip::hipGraphDestroy(graph));
    assert_eq!(hip::hipGraphDestroy(graph), code::INVALID_VALUE);
}
