//! Tests nodes of graphs: memory, user objects, events and attributes. The expected results are those of ROCm's runtime and its
//! documentation.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::api::{P, code, device, get, hip, ok};
use crate::fuzz::invoke;
use crate::kernels::{buffer, function, module, words};

const NO_NODES: [P; 2] = [0, 0];

fn graph() -> P {
    get(|place| hip::hipGraphCreate(place, 0))
}

fn instance(graph: P) -> P {
    get(|place| hip::hipGraphInstantiate(place, graph, 0, 0, 0))
}

/// Adds a node through a function that takes the arguments `more` after the four common ones.
#[track_caller]
fn add(name: &str, graph: P, after: &[P], more: &[P]) -> P {
    get(|place| invoke(name, &[&[place, graph, after.as_ptr() as P, after.len()], more].concat()))
}

/// `hipMemAllocNodeParams` for pinned memory of device 0.
fn allocation(bytes: P) -> [P; 15] {
    let mut parameters = [0; 15];
    (parameters[0], parameters[1], parameters[13]) = (1, 1, bytes);
    parameters
}

/// Adds an allocation node; returns the node and the memory's address.
fn allocate(graph: P, bytes: P) -> (P, P) {
    let mut parameters = allocation(bytes);
    let node = add("hipGraphAddMemAllocNode", graph, &[], &[parameters.as_mut_ptr() as P]);
    assert_ne!(parameters[14], 0);
    (node, parameters[14])
}

/// `hipMemsetParams` for a fill of `count` words.
fn filling(at: P, value: P, count: P) -> [P; 6] {
    [at, 4, 1, 0, value, count]
}

/// The bytes of graph memory in use on device 0, and their maximum so far.
fn in_use() -> [P; 2] {
    [0, 1].map(|attribute| {
        let found = get(|place| invoke("hipDeviceGetGraphMemAttribute", &[0, attribute, place]));
        // The number of reserved bytes equals that of bytes in use.
        assert_eq!(
            found,
            get::<P>(|place| invoke("hipDeviceGetGraphMemAttribute", &[0, attribute + 2, place]))
        );
        found
    })
}

#[test]
fn memory_of_a_graph_is_in_use_from_its_node_to_the_one_that_frees_it() {
    let _device = device();
    let zero = 0u64;
    for attribute in [1, 3] {
        ok(invoke("hipDeviceSetGraphMemAttribute", &[0, attribute, &raw const zero as P]));
    }
    let free = || get::<[usize; 1]>(|place| hip::hipMemGetInfo(place, &raw const zero as P))[0];
    let before = free();
    const BYTES: P = 1 << 20;
    let graph = graph();
    let (node, at) = allocate(graph, BYTES);
    let filled = add("hipGraphAddMemsetNode", graph, &[node], &[filling(at, 7, 64).as_ptr() as P]);
    let mut out = [0u32; 2];
    let to = out.as_mut_ptr() as P;
    let copied = add("hipGraphAddMemcpyNode1D", graph, &[filled], &[to, at, 8, 2]);
    assert_eq!(in_use(), [0, 0]);

    let kept = instance(graph);
    ok(hip::hipGraphLaunch(kept, 0));
    assert_eq!((out, in_use()), ([7; 2], [BYTES, BYTES]));
    // The memory is still in use; the program may use and free it.
    assert_eq!(hip::hipGraphLaunch(kept, 0), code::INVALID_VALUE);
    assert_eq!(words(at, 2), [7, 7]);
    ok(hip::hipFree(at));
    assert_eq!((hip::hipFree(at), in_use()), (code::INVALID_VALUE, [0, BYTES]));
    ok(hip::hipGraphLaunch(kept, 0));
    ok(hip::hipFreeAsync(at, 0));
    // A second instance would use the same memory, so it is refused.
    assert_eq!(hip::hipGraphInstantiate(&raw mut out as P, graph, 0, 0, 0), code::NOT_SUPPORTED);
    ok(hip::hipGraphExecDestroy(kept));

    // An instance that frees the memory that its last launch has left allocated.
    let again: P = get(|place| invoke("hipGraphInstantiateWithFlags", &[place, graph, 1]));
    ok(hip::hipGraphLaunch(again, 0));
    ok(hip::hipGraphLaunch(again, 0));
    assert_eq!(in_use(), [BYTES, BYTES]);
    ok(hip::hipFree(at));
    ok(hip::hipGraphExecDestroy(again));

    // A node that frees the memory; a second one is refused.
    let freed = add("hipGraphAddMemFreeNode", graph, &[copied], &[at]);
    let mut place: P = 0;
    let twice = [&raw mut place as P, graph, &raw const copied as P, 1, at];
    assert_eq!(invoke("hipGraphAddMemFreeNode", &twice), code::INVALID_VALUE);
    assert_eq!(get::<P>(|place| invoke("hipGraphMemFreeNodeGetParams", &[freed, place])), at);
    let found: [P; 15] = get(|place| invoke("hipGraphMemAllocNodeGetParams", &[node, place]));
    assert_eq!((found[13], found[14]), (BYTES, at));
    for (node, kind) in [(node, 10u32), (freed, 11)] {
        assert_eq!(get::<u32>(|place| invoke("hipGraphNodeGetType", &[node, place])), kind);
    }
    let whole = instance(graph);
    for _ in 0..2 {
        ok(hip::hipGraphLaunch(whole, 0));
        assert_eq!(in_use(), [0, BYTES]);
    }
    ok(hip::hipGraphDestroy(graph));
    ok(hip::hipGraphExecDestroy(whole));
    assert_eq!(free(), before);
}

#[test]
fn memory_outlives_its_graph_while_it_is_in_use() {
    let _device = device();
    let none = 0u64;
    let free = || get::<[usize; 1]>(|place| hip::hipMemGetInfo(place, &raw const none as P))[0];
    let before = free();
    let (first, second) = (graph(), graph());
    let (_, at) = allocate(first, 4096);
    let _ = add("hipGraphAddMemFreeNode", second, &[], &[at]);
    let [allocates, frees] = [first, second].map(instance);
    ok(hip::hipGraphDestroy(first));
    ok(hip::hipGraphDestroy(second));
    ok(hip::hipGraphLaunch(allocates, 0));
    ok(hip::hipGraphExecDestroy(allocates));
    ok(hip::hipMemset(at, 3, 4096));
    assert_eq!(words(at, 1), [0x0303_0303]);
    ok(hip::hipGraphLaunch(frees, 0));
    // The destroyed graph was the last reference to the memory.
    assert_eq!(hip::hipMemset(at, 3, 4096), code::INVALID_VALUE);
    assert_eq!(hip::hipGraphLaunch(frees, 0), code::INVALID_VALUE);
    assert_eq!(free(), before);
    // Allocations and frees that are refused.
    let graph = graph();
    for (word, value) in [(0, 0), (1, 0), (1, 1 | 2 << 32), (13, 0)] {
        let mut wrong = allocation(64);
        wrong[word] = value;
        let mut node: P = 0;
        let arguments = [&raw mut node as P, graph, NO_NODES.as_ptr() as P, 0, wrong.as_mut_ptr() as P];
        assert_eq!(invoke("hipGraphAddMemAllocNode", &arguments), code::INVALID_VALUE, "{word}");
    }
    let own = buffer(&[0; 4]);
    for at in [own, &raw const none as P, 0] {
        let mut node: P = 0;
        let arguments = [&raw mut node as P, graph, NO_NODES.as_ptr() as P, 0, at];
        assert_eq!(invoke("hipGraphAddMemFreeNode", &arguments), code::INVALID_VALUE);
    }
    ok(hip::hipFree(own));
    assert_eq!(free(), before);
    assert_eq!(invoke("hipDeviceGraphMemTrim", &[2]), code::INVALID_DEVICE);
}

#[test]
fn objects_are_destroyed_with_their_last_reference() {
    static GONE: AtomicU32 = AtomicU32::new(0);
    extern "C" fn destroy(by: P) {
        // The destructor may use the runtime.
        assert_eq!(hip::hipGetLastError(), 0);
        GONE.fetch_add(by as u32, Relaxed);
    }
    let gone = || GONE.swap(0, Relaxed);
    let _device = device();
    let function = destroy as extern "C" fn(P) as P;
    let object =
        |by: P, count: P| get::<P>(|place| invoke("hipUserObjectCreate", &[place, by, function, count, 1]));
    let one = object(1, 2);
    ok(invoke("hipUserObjectRetain", &[one, 3]));
    ok(invoke("hipUserObjectRelease", &[one, 4]));
    // Releasing more references than there are has no effect.
    ok(invoke("hipUserObjectRelease", &[one, 2]));
    assert_eq!(gone(), 0);
    ok(invoke("hipUserObjectRelease", &[one, 1]));
    assert_eq!(gone(), 1);
    ok(invoke("hipUserObjectRelease", &[one, 1]));

    // References that are moved to a graph, and additional references for a graph.
    let graph = graph();
    let (moved, kept) = (object(10, 1), object(100, 1));
    ok(invoke("hipGraphRetainUserObject", &[graph, moved, 1, 1]));
    ok(invoke("hipGraphRetainUserObject", &[graph, kept, 2, 0]));
    ok(invoke("hipGraphReleaseUserObject", &[graph, kept, 1]));
    ok(hip::hipGraphDestroy(graph));
    assert_eq!(gone(), 10);
    ok(invoke("hipUserObjectRelease", &[kept, 1]));
    assert_eq!(gone(), 100);

    let mut place: P = 0;
    let place = &raw mut place as P;
    let graph = get::<P>(|place| hip::hipGraphCreate(place, 0));
    let one = object(1, 1);
    for (name, arguments) in [
        ("hipUserObjectCreate", [0, 0, function, 1, 1]),
        ("hipUserObjectCreate", [place, 0, 0, 1, 1]),
        ("hipUserObjectCreate", [place, 0, function, 0, 1]),
        ("hipUserObjectCreate", [place, 0, function, 1, 9]),
        ("hipUserObjectRetain", [0, 1, 0, 0, 0]),
        ("hipUserObjectRetain", [one, 0, 0, 0, 0]),
        ("hipUserObjectRelease", [one, 1 << 31, 0, 0, 0]),
        ("hipGraphRetainUserObject", [0, one, 1, 1, 0]),
        ("hipGraphRetainUserObject", [graph, one, 1, 2, 0]),
        ("hipGraphReleaseUserObject", [0, one, 1, 0, 0]),
        ("hipGraphReleaseUserObject", [graph, 0, 1, 0, 0]),
    ] {
        assert_eq!(invoke(name, &arguments), code::INVALID_VALUE, "{name} {arguments:?}");
    }
    ok(hip::hipGraphDestroy(graph));
}

/// The parameters of a kernel node that runs `add` with one workgroup; they contain pointers to the arguments.
fn kernel(function: P, arguments: &[P; 2]) -> [P; 8] {
    let one = 1usize | 1 << 32;
    [64 | 1 << 32, 1, 0, function, one, 1, arguments.as_ptr() as P, 0]
}

#[test]
fn kernels_have_attributes() {
    let _device = device();
    let (at, n) = (buffer(&[0; 64]), 5u32);
    let arguments = [&raw const at as P, &raw const n as P];
    let parameters = kernel(function(module(), "add"), &arguments);
    let graph = graph();
    let [node, other] = [0; 2].map(|_| add("hipGraphAddKernelNode", graph, &[], &[parameters.as_ptr() as P]));
    const WINDOW: P = 1;
    let attribute =
        |node: P| get::<[u64; 4]>(|place| invoke("hipGraphKernelNodeGetAttribute", &[node, WINDOW, place]));
    let set =
        |value: [u64; 4]| invoke("hipGraphKernelNodeSetAttribute", &[node, WINDOW, value.as_ptr() as P]);
    assert_eq!(attribute(node), [0; 4]);
    let window =
        |ratio: f32, miss: u64, bytes: u64| [4096, 2 | u64::from(ratio.to_bits()) << 32, miss, bytes];
    ok(set(window(0.5, 1, 0)));
    assert_eq!(attribute(node), window(0.5, 1, 0));
    // Invalid windows: a hit ratio outside of 0 to 1, the persisting property for misses, and a size above 0, since devices have no window
    // (`accessPolicyMaxWindowSize` is 0).
    for wrong in [window(1.1, 1, 0), window(-0.6, 1, 0), window(0.5, 2, 0), window(0.5, 1, 1024)] {
        assert_eq!(set(wrong), code::INVALID_VALUE);
    }
    ok(invoke("hipGraphKernelNodeCopyAttributes", &[node, other]));
    assert_eq!(attribute(other), window(0.5, 1, 0));
    // Querying another attribute than the one that was set is an error.
    let mut value = [0u64; 8];
    let place = value.as_mut_ptr() as P;
    assert_eq!(invoke("hipGraphKernelNodeGetAttribute", &[node, 2, place]), code::INVALID_VALUE);
    assert_eq!(invoke("hipGraphKernelNodeGetAttribute", &[node, 99, place]), code::INVALID_VALUE);
    let empty = add("hipGraphAddEmptyNode", graph, &[], &[]);
    for node in [empty, 0] {
        assert_eq!(invoke("hipGraphKernelNodeGetAttribute", &[node, WINDOW, place]), code::INVALID_VALUE);
        assert_eq!(invoke("hipGraphKernelNodeSetAttribute", &[node, WINDOW, place]), code::INVALID_VALUE);
        assert_eq!(invoke("hipGraphKernelNodeCopyAttributes", &[node, other]), code::INVALID_VALUE);
    }
    ok(hip::hipGraphLaunch(instance(graph), 0));
    assert_eq!(words(at, 1), [10]);
}

#[test]
fn nodes_wait_for_events_that_can_be_exchanged() {
    let _device = device();
    let [first, second]: [P; 2] = [0; 2].map(|_| get(hip::hipEventCreate));
    let graph = graph();
    let recorded = add("hipGraphAddEventRecordNode", graph, &[], &[first]);
    let waiting = add("hipGraphAddEventWaitNode", graph, &[recorded], &[first]);
    let event = || get::<P>(|place| invoke("hipGraphEventWaitNodeGetEvent", &[waiting, place]));
    assert_eq!(get::<u32>(|place| invoke("hipGraphNodeGetType", &[waiting, place])), 6);
    let ready = instance(graph);
    assert_eq!(event(), first);
    ok(invoke("hipGraphEventWaitNodeSetEvent", &[waiting, second]));
    ok(invoke("hipGraphExecEventWaitNodeSetEvent", &[ready, waiting, second]));
    assert_eq!(event(), second);
    ok(hip::hipGraphLaunch(ready, 0));
    ok(hip::hipEventQuery(first));
    let mut place: P = 0;
    for (name, arguments) in [
        ("hipGraphEventWaitNodeGetEvent", [recorded, &raw mut place as P, 0]),
        ("hipGraphEventWaitNodeSetEvent", [recorded, second, 0]),
        ("hipGraphEventWaitNodeSetEvent", [waiting, 0, 0]),
        ("hipGraphEventRecordNodeSetEvent", [recorded, 0, 0]),
        ("hipGraphExecEventWaitNodeSetEvent", [ready, recorded, second]),
        ("hipGraphExecEventWaitNodeSetEvent", [ready, waiting, 0]),
    ] {
        assert_eq!(invoke(name, &arguments), code::INVALID_VALUE, "{name}");
    }
    for name in ["hipGraphAddEventWaitNode", "hipGraphAddEventRecordNode"] {
        let arguments = [&raw mut place as P, graph, NO_NODES.as_ptr() as P, 0, 0];
        assert_eq!(invoke(name, &arguments), code::INVALID_VALUE, "{name}");
    }
}

#[test]
fn one_function_adds_nodes_of_all_kinds() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    extern "C" fn count(by: P) {
        CALLS.fetch_add(by as u32, Relaxed);
    }
    let _device = device();
    let (at, n) = (buffer(&[0; 64]), 5u32);
    let arguments = [&raw const at as P, &raw const n as P];
    let (graph, child) = (graph(), graph());
    let _ = add("hipGraphAddMemsetNode", child, &[], &[filling(at, 20, 64).as_ptr() as P]);
    let event: P = get(hip::hipEventCreate);
    // `hipGraphNodeParams`: the kind of the node, then from byte 16 on the parameters of that kind.
    let any = |kind: P, parameters: &[P]| {
        let mut whole = [0; 32];
        whole[0] = kind;
        whole[2..][..parameters.len()].copy_from_slice(parameters);
        whole
    };
    let mut out = [0u32; 4];
    // `hipMemcpyNodeParams`: flags, then `hipMemcpy3DParms`.
    let mut copy = [0; 22];
    (copy[2 + 4], copy[2 + 5], copy[2 + 6], copy[2 + 7]) = (at, 16, 16, 1);
    (copy[2 + 12], copy[2 + 13], copy[2 + 14], copy[2 + 15]) = (out.as_mut_ptr() as P, 16, 16, 1);
    (copy[2 + 16], copy[2 + 17], copy[2 + 18], copy[2 + 19]) = (16, 1, 1, 2);
    let mut memory = any(10, &allocation(256));
    let mut before = Vec::new();
    let mut nodes = Vec::new();
    for (kind, parameters) in [
        (4, any(4, &[child])),
        (0, any(0, &kernel(function(module(), "add"), &arguments))),
        (1, any(1, &copy)),
        (3, any(3, &[count as extern "C" fn(P) as P, 3])),
        (7, any(7, &[event])),
        (6, any(6, &[event])),
        (2, any(2, &filling(at, 1, 64))),
    ] {
        let node = add("hipGraphAddNode", graph, &before, &[parameters.as_ptr() as P]);
        assert_eq!(get::<u32>(|place| invoke("hipGraphNodeGetType", &[node, place])), kind);
        before = vec![node];
        nodes.push(node);
    }
    let allocated = add("hipGraphAddNode", graph, &[], &[memory.as_mut_ptr() as P]);
    let _ = add("hipGraphAddNode", graph, &[allocated], &[any(11, &[memory[2 + 14]]).as_ptr() as P]);
    let ready = instance(graph);
    ok(hip::hipGraphLaunch(ready, 0));
    // Host callbacks run on a separate thread.
    ok(hip::hipDeviceSynchronize());
    assert_eq!((out, CALLS.load(Relaxed), words(at, 1)), ([25; 4], 3, vec![1]));
    // Replaces the parameters of a node by others of the same kind: in the graph, and in the instance.
    let other = any(2, &filling(at, 9, 64));
    ok(invoke("hipGraphExecNodeSetParams", &[ready, nodes[6], other.as_ptr() as P]));
    ok(hip::hipGraphLaunch(ready, 0));
    assert_eq!(words(at, 1), [9]);
    ok(invoke("hipGraphNodeSetParams", &[nodes[6], other.as_ptr() as P]));
    for (node, name) in [(nodes[0], "hipGraphNodeSetParams"), (nodes[1], "hipGraphNodeSetParams")] {
        assert_eq!(invoke(name, &[node, other.as_ptr() as P]), code::INVALID_VALUE);
    }
    let mut place: P = 0;
    for wrong in [[0x20; 32], any(3, &[0]), any(6, &[0]), any(11, &[at])] {
        let arguments = [&raw mut place as P, graph, NO_NODES.as_ptr() as P, 0, wrong.as_ptr() as P];
        assert_eq!(invoke("hipGraphAddNode", &arguments), code::INVALID_VALUE);
    }
}

#[test]
fn instances_refuse_what_they_cannot_take_over() {
    let _device = device();
    let (a, b) = (buffer(&[1; 64]), buffer(&[2; 64]));
    let mut own = [0u32; 64];
    let host = own.as_mut_ptr() as P;
    let copy = |graph: P, to: P, from: P, kind: P| {
        add("hipGraphAddMemcpyNode1D", graph, &[], &[to, from, 256, kind])
    };
    let (whole, part, other) = (graph(), graph(), graph());
    let node = copy(whole, a, b, 3);
    copy(part, a, b, 3);
    let child = add("hipGraphAddChildGraphNode", whole, &[node], &[part]);
    let ready = instance(whole);
    // A copy in another direction is refused.
    let mut error = [0 as P, 0];
    let (wrong_node, result) = (&raw mut error[0] as P, &raw mut error[1] as P);
    let into_host = graph();
    let changed = copy(into_host, host, b, 2);
    let simple = graph();
    copy(simple, a, b, 3);
    let ready_copy = instance(simple);
    const FAILED: u32 = 910;
    assert_eq!(invoke("hipGraphExecUpdate", &[ready_copy, into_host, wrong_node, result]), FAILED);
    // `hipGraphExecUpdateErrorParametersChanged`.
    assert_eq!(error, [changed, 5]);
    assert_eq!(invoke("hipGraphExecUpdate", &[ready_copy, into_host, 0, 0]), code::INVALID_VALUE);
    let set = |to: P, from: P, bytes: P, kind: P| {
        invoke("hipGraphExecMemcpyNodeSetParams1D", &[ready, node, to, from, bytes, kind])
    };
    for wrong in
        [(host, b, 256, 2), (a, a, 256, 3), (a + 4, a, 128, 3), (a, b, 0, 3), (0, b, 256, 3), (a, b, 260, 3)]
    {
        assert_eq!(set(wrong.0, wrong.1, wrong.2, wrong.3), code::INVALID_VALUE, "{wrong:?}");
    }
    ok(set(a, b, 128, 3));
    // The child graph of a node can be replaced only by one of the same structure.
    copy(other, b, a, 3);
    ok(invoke("hipGraphExecChildGraphNodeSetParams", &[ready, child, other]));
    const UNKNOWN: u32 = 999;
    assert_eq!(invoke("hipGraphExecChildGraphNodeSetParams", &[ready, child, whole]), UNKNOWN);
    copy(other, b, a, 3);
    assert_eq!(invoke("hipGraphExecChildGraphNodeSetParams", &[ready, child, other]), UNKNOWN);
    assert_eq!(invoke("hipGraphExecChildGraphNodeSetParams", &[ready, node, part]), code::INVALID_VALUE);
    ok(hip::hipMemset(a, 0, 256));
    ok(hip::hipGraphLaunch(ready, 0));
    // The first half of `b` was copied to `a`, and then all of `a` to `b`.
    assert_eq!((words(b, 64)[31], words(b, 64)[32]), (2, 0));
    // A destroyed node cannot be enabled or disabled.
    ok(invoke("hipGraphNodeSetEnabled", &[ready, node, 0]));
    ok(invoke("hipGraphDestroyNode", &[node]));
    assert_eq!(invoke("hipGraphNodeSetEnabled", &[ready, node, 1]), code::INVALID_VALUE);
    // `hipGraphInstantiateParams`: the result is also stored in the structure.
    let mut parameters = [9 as P, 0, 9, 0];
    let at = parameters.as_mut_ptr() as P;
    let made: P = get(|place| invoke("hipGraphInstantiateWithParams", &[place, part, at]));
    assert_eq!((parameters[0], parameters[2] as u32), (0, 0));
    ok(hip::hipGraphLaunch(made, 0));
    parameters[1] = 16;
    assert_eq!(invoke("hipGraphInstantiateWithParams", &[result, part, at]), code::INVALID_VALUE);
    assert_eq!(parameters[2] as u32, 1);
    assert_eq!(invoke("hipGraphInstantiateWithFlags", &[result, part, 2]), code::INVALID_VALUE);
    // Invalid fills: fills of no words, and a row that is longer than the memory.
    for wrong in [filling(a, 0, 0), [a, 4, 0, 256, 0, 64], [a, 4, 1, 512, 0, 64], [a, 4, 2, 128, 0, 64]] {
        let arguments = [result, part, NO_NODES.as_ptr() as P, 0, wrong.as_ptr() as P];
        assert_eq!(invoke("hipGraphAddMemsetNode", &arguments), code::INVALID_VALUE, "{wrong:?}");
    }
    // The arrays of edges' start and end nodes must both be given, or neither.
    let mut count = 4usize;
    let (edges, many) = ([[9 as P; 4]; 2], &raw mut count as P);
    let [from, to] = edges.each_ref().map(|side| side.as_ptr() as P);
    assert_eq!(invoke("hipGraphGetEdges", &[whole, 0, to, many]), code::INVALID_VALUE);
    assert_eq!(invoke("hipGraphGetEdges", &[whole, from, 0, many]), code::INVALID_VALUE);
}

#[test]
fn what_waits_for_the_null_stream_ends_a_capture() {
    let _device = device();
    let at = buffer(&[0; 64]);
    let host = [1u32; 64];
    let stream: P = get(hip::hipStreamCreate);
    const IMPLICIT: u32 = 906;
    const INVALIDATED: u32 = 901;
    // The same in every capture mode.
    for mode in 0..3 {
        for (name, arguments) in
            [("hipMemcpy", [at, host.as_ptr() as P, 256, 1]), ("hipMemset", [at, 0, 256, 0])]
        {
            ok(hip::hipStreamBeginCapture(stream, mode));
            assert_eq!(invoke(name, &arguments), IMPLICIT, "{name} {mode}");
            assert_eq!(hip::hipStreamEndCapture(stream, &raw const host as P), INVALIDATED);
        }
    }
}
