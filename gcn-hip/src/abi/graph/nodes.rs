//! Nodes of graphs: functions that add nodes, and functions that replace their operations.

use gcn_sim::Grid;

use crate::abi::copies::{parameters_3d, symbol};
use crate::abi::launch::{Sizes, prepare};
use crate::abi::{Code, Out, call, words};

use super::memory;
use crate::error::{Error, Result};
use crate::host::{self, HostCall, Ptr};
use crate::state::lock;
use crate::work::{Extent, Op, Pitched};

/// Declares functions that add a node: each takes four common parameters, followed by those of its kind.
macro_rules! add {
    ($($name:ident($($parameter:ident: $t:ty),*) => $op:expr;)*) => {$(
        #[allow(clippy::too_many_arguments, reason = "they are HIP's")]
        pub(crate) extern "C" fn $name(
            node: Out<u64>,
            graph: u64,
            after: Ptr,
            count: usize,
            $($parameter: $t),*
        ) -> Code {
            call(|| {
                node.check()?;
                let after = words(after, count)?;
                let op: Op = $op?;
                let mut state = lock();
                let added = state.graphs.add(graph, after, op);
                // Frees memory that was reserved for a node that could not be added.
                state.sweep();
                node.set(added?)
            })
        }
    )*};
}

add! {
    graph_add_empty_node() => Ok(Op::Nothing);
    graph_add_kernel_node(parameters: Ptr) => kernel(parameters);
    graph_add_memcpy_node(parameters: Ptr) => copy_3d(parameters);
    graph_add_memcpy_node_1d(to: Ptr, from: Ptr, bytes: usize, kind: u32) => copy(to, from, bytes, kind);
    graph_add_memcpy_node_to_symbol(to: u64, from: Ptr, bytes: usize, offset: usize, kind: u32) =>
        copy_to(to, from, bytes, offset, kind);
    graph_add_memcpy_node_from_symbol(to: Ptr, from: u64, bytes: usize, offset: usize, kind: u32) =>
        copy_from(to, from, bytes, offset, kind);
    graph_add_memset_node(parameters: Ptr) => fill(parameters);
    graph_add_host_node(parameters: Option<&HostNode>) => host_call(parameters);
    // The child is copied, so later changes of it have no effect.
    graph_add_child_graph_node(child: u64) => graph_copy(child);
    graph_add_event_record_node(event: u64) => record(event);
    graph_add_event_wait_node(event: u64) => wait(event);
    graph_add_mem_alloc_node(parameters: Ptr) => memory::allocation(parameters);
    graph_add_mem_free_node(at: Ptr) => memory::end(at);
    graph_add_node(parameters: Ptr) => any(parameters);
    drv_graph_add_memset_node(parameters: Ptr, _context: u64) => fill(parameters);
}

/// Declares pairs of functions that replace the operation of a node: in its graph, and in one instance of the graph.
macro_rules! replace {
    ($($in_graph:ident, $in_instance:ident($($parameter:ident: $t:ty),*) => $op:expr;)*) => {$(
        pub(crate) extern "C" fn $in_graph(node: u64, $($parameter: $t),*) -> Code {
            call(|| {
                let op = $op?;
                let graphs = &mut lock().graphs;
                replace(graphs.nodes.get_mut(node).map(|node| &mut node.op), op)
            })
        }

        pub(crate) extern "C" fn $in_instance(instance: u64, node: u64, $($parameter: $t),*) -> Code {
            call(|| {
                let op = $op?;
                let graphs = &mut lock().graphs;
                let old = graphs.instances.get_mut(instance).and_then(|instance| instance.op(node));
                if old.as_ref().is_some_and(|old| !old.may_become(&op)) {
                    return Err(Error::InvalidValue);
                }
                replace(old, op)
            })
        }
    )*};
}

replace! {
    graph_kernel_node_set_params, graph_exec_kernel_node_set_params(parameters: Ptr) => kernel(parameters);
    graph_memset_node_set_params, graph_exec_memset_node_set_params(parameters: Ptr) => fill(parameters);
    graph_memcpy_node_set_params, graph_exec_memcpy_node_set_params(parameters: Ptr) => copy_3d(parameters);
    graph_memcpy_node_set_params_to_symbol, graph_exec_memcpy_node_set_params_to_symbol(
        to: u64, from: Ptr, bytes: usize, offset: usize, kind: u32) => copy_to(to, from, bytes, offset, kind);
    graph_memcpy_node_set_params_from_symbol, graph_exec_memcpy_node_set_params_from_symbol(
        to: Ptr, from: u64, bytes: usize, offset: usize, kind: u32) => copy_from(to, from, bytes, offset, kind);
    graph_event_record_node_set_event, graph_exec_event_record_node_set_event(event: u64) =>
        record(event);
    graph_event_wait_node_set_event, graph_exec_event_wait_node_set_event(event: u64) => wait(event);
    graph_memcpy_node_set_params_1d, graph_exec_memcpy_node_set_params_1d(
        to: Ptr, from: Ptr, bytes: usize, kind: u32) => apart(to, from, bytes).and_then(|()| copy(to, from, bytes, kind));
    graph_node_set_params, graph_exec_node_set_params(parameters: Ptr) => change(parameters);
    graph_host_node_set_params, graph_exec_host_node_set_params(
        parameters: Option<&HostNode>) => host_call(parameters);
}

/// Replaces an operation by another one of the same kind.
fn replace(old: Option<&mut Op>, op: Op) -> Result {
    let old = old.ok_or(Error::InvalidValue)?;
    if std::mem::discriminant(old) != std::mem::discriminant(&op) {
        return Err(Error::InvalidValue);
    }
    *old = op;
    Ok(())
}

/// Reads `hipKernelNodeParams`: block, `extra`, function, grid, arguments, LDS size.
fn kernel(at: Ptr) -> Result<Op> {
    let fields = words(at, 8)?;
    let low = |n: usize| fields[n] as u32;
    let high = |n: usize| (fields[n] >> 32) as u32;
    let function = lock().kernel(fields[3])?;
    let sizes = Sizes {
        grid: Grid::Workgroups([low(4), high(4), low(5)]),
        workgroup: [low(0), high(0), low(1)],
        dynamic_lds: low(7) as usize,
    };
    let (extra, arguments) = (host::pointer(at.plus(16)), host::pointer(at.plus(48)));
    Ok(Op::Launch(prepare(function, sizes, arguments, extra, false)?))
}

/// Reads `hipMemcpy3DParms`.
fn copy_3d(at: Ptr) -> Result<Op> {
    let (to, from, extent, kind) = parameters_3d(at)?;
    lock().copy_op(to, from, extent, kind)
}

fn copy(to: Ptr, from: Ptr, bytes: usize, kind: u32) -> Result<Op> {
    lock().copy_op(Pitched::row(to), Pitched::row(from), Extent::row(bytes), kind)
}

fn copy_to(to: u64, from: Ptr, bytes: usize, offset: usize, kind: u32) -> Result<Op> {
    copy(symbol(to, bytes, offset)?, from, bytes, kind)
}

fn copy_from(to: Ptr, from: u64, bytes: usize, offset: usize, kind: u32) -> Result<Op> {
    copy(to, symbol(from, bytes, offset)?, bytes, kind)
}

/// Rejects a copy with overlapping ranges, as ROCm's functions that change a node do.
fn apart(to: Ptr, from: Ptr, bytes: usize) -> Result {
    if to.address().abs_diff(from.address()) < bytes as u64 { Err(Error::InvalidValue) } else { Ok(()) }
}

fn graph_copy(child: u64) -> Result<Op> {
    lock().graphs.copy(child).map(Op::Graph)
}

/// Checks that an event exists. Graph functions have no more specific error code for a nonexistent event.
fn event(event: u64) -> Result<u64> {
    lock().event(event).map(|_| event).map_err(|_| Error::InvalidValue)
}

fn record(handle: u64) -> Result<Op> {
    event(handle).map(Op::Record)
}

fn wait(handle: u64) -> Result<Op> {
    event(handle).map(Op::Wait)
}

/// Reads `hipGraphNodeParams`: the kind of node (`hipGraphNodeType`), and from byte 16 on its parameters, which for a copy are preceded by
/// 16 bytes of flags.
fn any(at: Ptr) -> Result<Op> {
    let (kind, parameters) = (words(at, 1)?[0] as u32, at.plus(16));
    match kind {
        0 => kernel(parameters),
        1 => copy_3d(parameters.plus(16)),
        2 => fill(parameters),
        3 => {
            let function = host::function(parameters).ok_or(Error::InvalidValue)?;
            Ok(Op::Call(HostCall::Plain(function, host::pointer(parameters.plus(8)))))
        }
        4 => graph_copy(host::word(parameters)),
        5 => Ok(Op::Nothing),
        6 => wait(host::word(parameters)),
        7 => record(host::word(parameters)),
        // External semaphores.
        8 | 9 => Err(Error::NotSupported),
        10 => memory::allocation(parameters),
        11 => memory::end(host::pointer(parameters)),
        _ => Err(Error::InvalidValue),
    }
}

/// As [`any`], for an existing node, whose memory or child graph cannot be changed.
fn change(at: Ptr) -> Result<Op> {
    if matches!(words(at, 1)?[0] as u32, 4 | 10 | 11) { Err(Error::NotSupported) } else { any(at) }
}

/// Reads `hipMemsetParams`: address, element size, height, pitch, value, width.
fn fill(at: Ptr) -> Result<Op> {
    let fields = words(at, 6)?;
    let element = fields[1] as u32 as usize;
    if !matches!(element, 1 | 2 | 4) {
        return Err(Error::InvalidValue);
    }
    let pattern = (fields[4] as u32).to_le_bytes()[..element].to_vec();
    let width = (fields[5] as usize).checked_mul(element).ok_or(Error::InvalidValue)?;
    let extent = Extent { width, height: fields[2] as usize, depth: 1 };
    let to = Pitched { at: host::pointer(at), pitch: fields[3] as usize, slice: 0 };
    if extent.is_empty() {
        return Err(Error::InvalidValue);
    }
    let state = lock();
    // As in ROCm, the pitch also matters for a single row.
    let rows = to.pitch.checked_mul(extent.height).ok_or(Error::InvalidValue)?;
    if state.heap.find(to.at).is_some_and(|found| rows > found.bytes) {
        return Err(Error::InvalidValue);
    }
    state.fill_op(to, pattern, extent)
}

/// `hipHostNodeParams`.
#[repr(C)]
pub(crate) struct HostNode {
    function: Option<extern "C" fn(Ptr)>,
    data: Ptr,
}

fn host_call(parameters: Option<&HostNode>) -> Result<Op> {
    let parameters = parameters.ok_or(Error::InvalidValue)?;
    Ok(Op::Call(HostCall::Plain(parameters.function.ok_or(Error::InvalidValue)?, parameters.data)))
}
