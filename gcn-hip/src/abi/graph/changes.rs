//! Updates of an instance as a whole.

use crate::abi::{Code, Out, with};
use crate::error::{Error, Result};
use crate::graph::{Instance, Update};
use crate::state::State;
use crate::work::Op;

/// Replaces the operations of an instance by those of a graph with the same structure.
pub(crate) extern "C" fn graph_exec_update(
    instance: u64,
    graph: u64,
    error_node: Out<u64>,
    result: Out<u32>,
) -> Code {
    with(|s| {
        result.check()?;
        error_node.set(0)?;
        let update = s.graphs.update(instance, graph)?;
        let (node, code) = match update {
            Update::Done => return result.set(0),
            Update::Topology(node) => (node.unwrap_or(0), 2),
            Update::Kind(node) => (node, 3),
            Update::Parameters(node) => (node, 5),
        };
        error_node.set(node)?;
        result.set(code)?;
        Err(Error::GraphExecUpdateFailure)
    })
}

/// Replaces the operations of a child graph in an instance by those of another graph with the same structure.
pub(crate) extern "C" fn graph_exec_child_graph_node_set_params(
    instance: u64,
    node: u64,
    child: u64,
) -> Code {
    with(|s| {
        let parent = s.graphs.nodes.get(node).ok_or(Error::InvalidValue)?.graph;
        match s.graphs.update_child(instance, node, child)? {
            Update::Done if child != parent => Ok(()),
            _ => Err(Error::Unknown),
        }
    })
}

/// The instance, if it contains this node and nodes of this kind can be disabled.
fn switchable(s: &mut State, instance: u64, node: u64) -> Result<&mut Instance> {
    s.graphs.nodes.get(node).ok_or(Error::InvalidValue)?;
    let found = s.graphs.instances.get_mut(instance).ok_or(Error::InvalidValue)?;
    let able = matches!(found.op(node), Some(Op::Launch(_) | Op::Copy { .. } | Op::Fill { .. }));
    able.then_some(found).ok_or(Error::InvalidValue)
}

pub(crate) extern "C" fn graph_node_set_enabled(instance: u64, node: u64, enabled: u32) -> Code {
    with(|s| {
        let found = switchable(s, instance, node)?;
        if enabled == 0 {
            found.off.insert(node)
        } else {
            found.off.remove(&node)
        };
        Ok(())
    })
}

pub(crate) extern "C" fn graph_node_get_enabled(instance: u64, node: u64, enabled: Out<u32>) -> Code {
    with(|s| {
        let found = switchable(s, instance, node)?;
        enabled.set(u32::from(!found.off.contains(&node)))
    })
}

pub(crate) extern "C" fn graph_exec_get_flags(instance: u64, flags: Out<u64>) -> Code {
    with(|s| flags.set(s.graphs.instances.get(instance).ok_or(Error::InvalidValue)?.flags))
}
