//! Graphs.

use gcn_sim::Grid;

use super::copies::parameters_3d;
use super::launch::{Sizes, prepare};
use super::{Code, Out, call, text, with, words};
use crate::error::{Error, Result};
use crate::graph::Graphs;
use crate::host::{self, HostCall, Ptr};
use crate::state::{lock, submit};
use crate::work::{Extent, Op, Pitched};

pub(crate) extern "C" fn graph_create(graph: Out<u64>, flags: u32) -> Code {
    with(|s| {
        graph.check()?;
        if flags != 0 {
            return Err(Error::InvalidValue);
        }
        let handle = s.graphs.create();
        graph.set(handle)
    })
}

pub(crate) extern "C" fn graph_destroy(graph: u64) -> Code {
    with(|s| s.graphs.destroy(graph))
}

pub(crate) extern "C" fn graph_clone(copy: Out<u64>, graph: u64) -> Code {
    with(|s| {
        copy.check()?;
        let handle = s.graphs.copy(graph)?;
        copy.set(handle)
    })
}

pub(crate) extern "C" fn graph_destroy_node(node: u64) -> Code {
    with(|s| s.graphs.destroy_node(node))
}

/// Adds an operation after the nodes of an array.
fn add(node: Out<u64>, graph: u64, after: Ptr, count: usize, op: impl FnOnce() -> Result<Op>) -> Code {
    call(|| {
        node.check()?;
        let after = words(after, count)?;
        let op = op()?;
        let handle = lock().graphs.add(graph, after, op)?;
        node.set(handle)
    })
}

pub(crate) extern "C" fn graph_add_empty_node(node: Out<u64>, graph: u64, after: Ptr, count: usize) -> Code {
    add(node, graph, after, count, || Ok(Op::Nothing))
}

pub(crate) extern "C" fn graph_add_kernel_node(
    node: Out<u64>,
    graph: u64,
    after: Ptr,
    count: usize,
    parameters: Ptr,
) -> Code {
    add(node, graph, after, count, || kernel(parameters))
}

/// `hipKernelNodeParams`: block, `extra`, function, grid, arguments, LDS.
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

pub(crate) extern "C" fn graph_add_memcpy_node(
    node: Out<u64>,
    graph: u64,
    after: Ptr,
    count: usize,
    parameters: Ptr,
) -> Code {
    add(node, graph, after, count, || {
        let (to, from, extent, kind) = parameters_3d(parameters)?;
        lock().copy_op(to, from, extent, kind)
    })
}

#[allow(clippy::too_many_arguments, reason = "they are HIP's")]
pub(crate) extern "C" fn graph_add_memcpy_node_1d(
    node: Out<u64>,
    graph: u64,
    after: Ptr,
    count: usize,
    to: Ptr,
    from: Ptr,
    bytes: usize,
    kind: u32,
) -> Code {
    add(node, graph, after, count, || copy(to, from, bytes, kind))
}

fn copy(to: Ptr, from: Ptr, bytes: usize, kind: u32) -> Result<Op> {
    lock().copy_op(Pitched::row(to), Pitched::row(from), Extent::row(bytes), kind)
}

pub(crate) extern "C" fn graph_add_memset_node(
    node: Out<u64>,
    graph: u64,
    after: Ptr,
    count: usize,
    parameters: Ptr,
) -> Code {
    add(node, graph, after, count, || fill(parameters))
}

/// `hipMemsetParams`: where, size of an element, height, pitch, value, width.
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
    lock().fill_op(to, pattern, extent)
}

pub(crate) extern "C" fn graph_add_host_node(
    node: Out<u64>,
    graph: u64,
    after: Ptr,
    count: usize,
    parameters: Option<&HostNode>,
) -> Code {
    add(node, graph, after, count, || host_call(parameters))
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

pub(crate) extern "C" fn graph_add_child_graph_node(
    node: Out<u64>,
    graph: u64,
    after: Ptr,
    count: usize,
    child: u64,
) -> Code {
    // The child as it is now: a copy.
    add(node, graph, after, count, || Ok(Op::Graph(lock().graphs.copy(child)?)))
}

pub(crate) extern "C" fn graph_add_event_record_node(
    node: Out<u64>,
    graph: u64,
    after: Ptr,
    count: usize,
    event: u64,
) -> Code {
    add(node, graph, after, count, || {
        lock().event(event)?;
        Ok(Op::Record(event))
    })
}

pub(crate) extern "C" fn graph_add_event_wait_node(
    node: Out<u64>,
    graph: u64,
    after: Ptr,
    count: usize,
    event: u64,
) -> Code {
    add(node, graph, after, count, || {
        lock().event(event)?;
        Ok(Op::Nothing)
    })
}

/// Changes the dependencies of a graph by pairs of nodes.
fn depend(
    graph: u64,
    from: Ptr,
    to: Ptr,
    count: usize,
    change: impl Fn(&mut Vec<u64>, u64) -> Result,
) -> Code {
    with(|s| {
        s.graphs.graphs.get(graph).ok_or(Error::InvalidValue)?;
        for (from, to) in words(from, count)?.into_iter().zip(words(to, count)?) {
            let inside = |node: u64| s.graphs.nodes.get(node).is_some_and(|n| n.graph == graph);
            if !inside(from) || !inside(to) || from == to {
                return Err(Error::InvalidValue);
            }
            let node = s.graphs.nodes.get_mut(to).ok_or(Error::InvalidValue)?;
            change(&mut node.after, from)?;
        }
        Ok(())
    })
}

pub(crate) extern "C" fn graph_add_dependencies(graph: u64, from: Ptr, to: Ptr, count: usize) -> Code {
    depend(graph, from, to, count, |after, node| {
        if after.contains(&node) {
            return Err(Error::InvalidValue);
        }
        after.push(node);
        Ok(())
    })
}

pub(crate) extern "C" fn graph_remove_dependencies(graph: u64, from: Ptr, to: Ptr, count: usize) -> Code {
    depend(graph, from, to, count, |after, node| {
        let at = after.iter().position(|n| *n == node).ok_or(Error::InvalidValue)?;
        after.remove(at);
        Ok(())
    })
}

/// Gives a list in HIP's way: without an array only its length, else as many as there is room for and how many these are.
fn list(found: &[u64], place: Out<u64>, count: Out<usize>) -> Result {
    let room = words(count.place()?, 1)?[0] as usize;
    if place.check().is_err() {
        return count.set(found.len());
    }
    for n in 0..room {
        place.at(n).set(found.get(n).copied().unwrap_or(0))?;
    }
    count.set(found.len().min(room))
}

pub(crate) extern "C" fn graph_get_nodes(graph: u64, place: Out<u64>, count: Out<usize>) -> Code {
    with(|s| list(&s.graphs.graphs.get(graph).ok_or(Error::InvalidValue)?.nodes, place, count))
}

pub(crate) extern "C" fn graph_get_root_nodes(graph: u64, place: Out<u64>, count: Out<usize>) -> Code {
    with(|s| {
        let nodes = s.graphs.graphs.get(graph).ok_or(Error::InvalidValue)?.nodes.iter().copied();
        let free = |node: &u64| s.graphs.nodes.get(*node).is_some_and(|n| n.after.is_empty());
        list(&nodes.filter(free).collect::<Vec<_>>(), place, count)
    })
}

pub(crate) extern "C" fn graph_get_edges(
    graph: u64,
    from: Out<u64>,
    to: Out<u64>,
    count: Out<usize>,
) -> Code {
    with(|s| {
        let edges = s.graphs.edges(graph)?;
        let room = words(count.place()?, 1)?[0] as usize;
        if from.check().is_err() || to.check().is_err() {
            return count.set(edges.len());
        }
        for (n, edge) in edges.iter().take(room).enumerate() {
            from.at(n).set(edge.0)?;
            to.at(n).set(edge.1)?;
        }
        count.set(edges.len().min(room))
    })
}

pub(crate) extern "C" fn graph_node_get_dependencies(node: u64, place: Out<u64>, count: Out<usize>) -> Code {
    with(|s| list(&s.graphs.nodes.get(node).ok_or(Error::InvalidValue)?.after, place, count))
}

pub(crate) extern "C" fn graph_node_get_dependent_nodes(
    node: u64,
    place: Out<u64>,
    count: Out<usize>,
) -> Code {
    with(|s| {
        let graph = s.graphs.nodes.get(node).ok_or(Error::InvalidValue)?.graph;
        let edges = s.graphs.edges(graph)?.into_iter().filter(|edge| edge.0 == node);
        list(&edges.map(|edge| edge.1).collect::<Vec<_>>(), place, count)
    })
}

pub(crate) extern "C" fn graph_node_get_type(node: u64, kind: Out<u32>) -> Code {
    with(|s| {
        let node = s.graphs.nodes.get(node).ok_or(Error::InvalidValue)?;
        kind.set(match node.op {
            Op::Launch(_) => 0,
            Op::Copy { .. } => 1,
            Op::Fill { .. } => 2,
            Op::Call(_) => 3,
            Op::Graph(_) => 4,
            Op::Nothing => 5,
            Op::Record(_) => 7,
        })
    })
}

pub(crate) extern "C" fn graph_instantiate(
    instance: Out<u64>,
    graph: u64,
    _node: Ptr,
    _log: Ptr,
    _n: usize,
) -> Code {
    graph_instantiate_with_flags(instance, graph, 0)
}

pub(crate) extern "C" fn graph_instantiate_with_flags(instance: Out<u64>, graph: u64, _flags: u64) -> Code {
    with(|s| {
        instance.check()?;
        let handle = s.graphs.instantiate(graph)?;
        instance.set(handle)
    })
}

pub(crate) extern "C" fn graph_launch(instance: u64, stream: u64) -> Code {
    call(|| {
        lock().graphs.instances.get(instance).ok_or(Error::InvalidValue)?;
        submit(stream, Op::Graph(instance))
    })
}

pub(crate) extern "C" fn graph_upload(instance: u64, stream: u64) -> Code {
    with(|s| {
        s.check_stream(stream)?;
        s.graphs.instances.get(instance).map(|_| ()).ok_or(Error::InvalidValue)
    })
}

pub(crate) extern "C" fn graph_exec_destroy(instance: u64) -> Code {
    with(|s| s.graphs.instances.remove(instance).map(|_| ()).ok_or(Error::InvalidValue))
}

/// Replaces the operation that an instance has for a node, which stays of its kind.
fn replace(g: &mut Graphs, instance: u64, node: u64, op: Op) -> Result {
    let ops = &mut g.instances.get_mut(instance).ok_or(Error::InvalidValue)?.ops;
    let (_, old) = ops.iter_mut().find(|(of, _)| *of == node).ok_or(Error::InvalidValue)?;
    if std::mem::discriminant(old) != std::mem::discriminant(&op) {
        return Err(Error::InvalidValue);
    }
    *old = op;
    Ok(())
}

/// The same for the node of the graph itself.
fn replace_node(g: &mut Graphs, node: u64, op: Op) -> Result {
    let old = &mut g.nodes.get_mut(node).ok_or(Error::InvalidValue)?.op;
    if std::mem::discriminant(old) != std::mem::discriminant(&op) {
        return Err(Error::InvalidValue);
    }
    *old = op;
    Ok(())
}

pub(crate) extern "C" fn graph_exec_kernel_node_set_params(
    instance: u64,
    node: u64,
    parameters: Ptr,
) -> Code {
    call(|| {
        let op = kernel(parameters)?;
        replace(&mut lock().graphs, instance, node, op)
    })
}

pub(crate) extern "C" fn graph_exec_memset_node_set_params(
    instance: u64,
    node: u64,
    parameters: Ptr,
) -> Code {
    call(|| {
        let op = fill(parameters)?;
        replace(&mut lock().graphs, instance, node, op)
    })
}

pub(crate) extern "C" fn graph_exec_memcpy_node_set_params_1d(
    instance: u64,
    node: u64,
    to: Ptr,
    from: Ptr,
    bytes: usize,
    kind: u32,
) -> Code {
    call(|| {
        let op = copy(to, from, bytes, kind)?;
        replace(&mut lock().graphs, instance, node, op)
    })
}

pub(crate) extern "C" fn graph_exec_host_node_set_params(
    instance: u64,
    node: u64,
    parameters: Option<&HostNode>,
) -> Code {
    call(|| {
        let op = host_call(parameters)?;
        replace(&mut lock().graphs, instance, node, op)
    })
}

pub(crate) extern "C" fn graph_kernel_node_set_params(node: u64, parameters: Ptr) -> Code {
    call(|| {
        let op = kernel(parameters)?;
        replace_node(&mut lock().graphs, node, op)
    })
}

pub(crate) extern "C" fn graph_memset_node_set_params(node: u64, parameters: Ptr) -> Code {
    call(|| {
        let op = fill(parameters)?;
        replace_node(&mut lock().graphs, node, op)
    })
}

pub(crate) extern "C" fn graph_memcpy_node_set_params_1d(
    node: u64,
    to: Ptr,
    from: Ptr,
    bytes: usize,
    kind: u32,
) -> Code {
    call(|| {
        let op = copy(to, from, bytes, kind)?;
        replace_node(&mut lock().graphs, node, op)
    })
}

pub(crate) extern "C" fn graph_host_node_set_params(node: u64, parameters: Option<&HostNode>) -> Code {
    call(|| {
        let op = host_call(parameters)?;
        replace_node(&mut lock().graphs, node, op)
    })
}

/// Writes the graph in the language of Graphviz.
pub(crate) extern "C" fn graph_debug_dot_print(graph: u64, path: Ptr, _flags: u32) -> Code {
    call(|| {
        let path = text(path)?;
        let state = lock();
        let nodes = &state.graphs.graphs.get(graph).ok_or(Error::InvalidValue)?.nodes;
        let mut out = String::from("digraph {\n");
        for node in nodes {
            let Some(found) = state.graphs.nodes.get(*node) else { continue };
            let label = match &found.op {
                Op::Launch(launch) => {
                    let function = state.functions.get(launch.function);
                    function.map_or("kernel".to_owned(), |f| f.name.clone())
                }
                Op::Copy { extent, .. } => format!("copy of {extent:?}"),
                Op::Fill { extent, .. } => format!("fill of {extent:?}"),
                Op::Call(_) => "host function".to_owned(),
                Op::Record(_) => "event".to_owned(),
                Op::Nothing => "nothing".to_owned(),
                Op::Graph(_) => "graph".to_owned(),
            };
            out += &format!("  \"{node:#x}\" [label=\"{label}\"];\n");
        }
        for (from, to) in state.graphs.edges(graph)? {
            out += &format!("  \"{from:#x}\" -> \"{to:#x}\";\n");
        }
        std::fs::write(path, out + "}\n").map_err(|_| Error::OperatingSystem)
    })
}
