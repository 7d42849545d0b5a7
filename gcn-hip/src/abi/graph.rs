//! Graphs and their instances.

pub(crate) mod attributes;
pub(crate) mod changes;
pub(crate) mod memory;
pub(crate) mod nodes;
pub(crate) mod objects;
pub(crate) mod read;

use super::{Code, Out, call, text, with, words};
use crate::error::{Error, Result};
use crate::host::{self, HostCall, Ptr};
use crate::state::{lock, submit};
use crate::work::Op;

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
    call(|| {
        let last = lock().destroy_graph(graph)?;
        // Called without the lock, because the callbacks may use the runtime.
        last.into_iter().for_each(HostCall::call);
        Ok(())
    })
}

pub(crate) extern "C" fn graph_clone(copy: Out<u64>, graph: u64) -> Code {
    with(|s| {
        copy.check()?;
        let handle = s.graphs.copy(graph)?;
        copy.set(handle)
    })
}

pub(crate) extern "C" fn graph_destroy_node(node: u64) -> Code {
    with(|s| {
        s.graphs.destroy_node(node)?;
        s.sweep();
        Ok(())
    })
}

/// Adds or removes dependencies of a graph, given as pairs of nodes.
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

/// Returns a list in HIP's way: without an array, only its length; otherwise as many elements as fit, and their number.
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
        match (from.check(), to.check()) {
            (Err(_), Err(_)) => return count.set(edges.len()),
            (Ok(()), Ok(())) => {}
            _ => return Err(Error::InvalidValue),
        }
        for n in 0..room {
            let (before, after) = edges.get(n).copied().unwrap_or((0, 0));
            from.at(n).set(before)?;
            to.at(n).set(after)?;
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
            Op::Wait(_) => 6,
            Op::Record(_) => 7,
            Op::Alloc(_) => 10,
            Op::Free(_) => 11,
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

pub(crate) extern "C" fn graph_instantiate_with_flags(instance: Out<u64>, graph: u64, flags: u64) -> Code {
    with(|s| {
        instance.check()?;
        if !matches!(flags, 0 | AUTO_FREE | NODE_PRIORITY) {
            return Err(Error::InvalidValue);
        }
        let handle = s.graphs.instantiate(graph, flags)?;
        instance.set(handle)
    })
}

/// `hipGraphInstantiateFlags`.
const AUTO_FREE: u64 = 1;
const UPLOAD: u64 = 2;
const DEVICE_LAUNCH: u64 = 4;
const NODE_PRIORITY: u64 = 8;

/// `hipGraphInstantiateParams`: the failing node, flags, the result, and the stream for uploading.
pub(crate) extern "C" fn graph_instantiate_with_params(
    instance: Out<u64>,
    graph: u64,
    parameters: Ptr,
) -> Code {
    with(|s| {
        instance.check()?;
        let [_, flags, _, stream] = words(parameters, 4)?[..] else { return Err(Error::InvalidValue) };
        s.graphs.graphs.get(graph).ok_or(Error::InvalidValue)?;
        let known = matches!(flags, 0 | AUTO_FREE | UPLOAD | DEVICE_LAUNCH | NODE_PRIORITY);
        let made = if known { s.graphs.instantiate(graph, flags) } else { Err(Error::InvalidValue) };
        host::put(parameters, &0u64.to_le_bytes());
        // `hipGraphInstantiateError`, or success.
        host::put(parameters.plus(16), &u32::from(made.is_err()).to_le_bytes());
        instance.set(made?)?;
        if flags == UPLOAD { s.check_stream(stream) } else { Ok(()) }
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
    with(|s| {
        s.graphs.instances.remove(instance).ok_or(Error::InvalidValue)?;
        s.sweep();
        Ok(())
    })
}

/// Writes the graph in Graphviz's language.
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
                Op::Wait(_) => "wait for an event".to_owned(),
                Op::Alloc(memory) => format!("memory of {} bytes", memory.bytes),
                Op::Free(_) => "end of memory".to_owned(),
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
