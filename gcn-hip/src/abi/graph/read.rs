//! Queries the kinds of nodes and their operations.

use gcn_sim::Grid;

use crate::abi::{Code, Out, with};
use crate::error::{Error, Result};
use crate::host::{self, HostCall, Ptr};
use crate::state::State;
use crate::work::{Launch, Op};

fn op(s: &State, node: u64) -> Result<&Op> {
    s.graphs.nodes.get(node).map(|node| &node.op).ok_or(Error::InvalidValue)
}

/// Writes the words of a structure.
fn put(at: Out<u8>, fields: &[u64]) -> Result {
    let at = at.place()?;
    host::put(at, &fields.iter().flat_map(|field| field.to_le_bytes()).collect::<Vec<_>>());
    Ok(())
}

/// Returns `hipKernelNodeParams`. The arguments remain valid until the node is changed.
pub(crate) extern "C" fn graph_kernel_node_get_params(node: u64, parameters: Out<u8>) -> Code {
    with(|s| {
        let Op::Launch(launch) = op(s, node)? else { return Err(Error::InvalidValue) };
        let Grid::Workgroups([x, y, z]) = launch.grid else { return Err(Error::InvalidValue) };
        let [bx, by, bz] = launch.workgroup;
        let both = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let fields = [both(bx, by), bz.into(), 0, symbol(s, launch)?, both(x, y), z.into()];
        let dynamic_lds = launch.dynamic_lds.into();
        let places = places(s, launch)?;
        let node = s.graphs.nodes.get_mut(node).ok_or(Error::InvalidValue)?;
        node.places = places;
        put(parameters, &[&fields[..], &[Ptr::of(&node.places).address(), dynamic_lds]].concat())
    })
}

/// The program's symbol for a kernel: the address of its stub, or the handle of the function if there is no stub.
fn symbol(s: &State, launch: &Launch) -> Result<u64> {
    let function = s.functions.get(launch.function).ok_or(Error::InvalidValue)?;
    let stub = s.kernels.iter().find(|(_, symbol)| symbol.name == function.name);
    Ok(stub.map_or(launch.function, |(stub, _)| *stub))
}

/// The address of each argument of a launch.
fn places(s: &State, launch: &Launch) -> Result<Box<[u64]>> {
    let function = s.functions.get(launch.function).ok_or(Error::InvalidValue)?;
    let place = |offset: u64, size: u64| {
        let end = offset.checked_add(size).filter(|end| *end <= launch.arguments.len() as u64);
        end.map(|_| Ptr::of(&launch.arguments).address() + offset).ok_or(Error::InvalidValue)
    };
    function.program.args().map(|argument| place(argument.offset.into(), argument.size.into())).collect()
}

/// Returns `hipMemsetParams`.
pub(crate) extern "C" fn graph_memset_node_get_params(node: u64, parameters: Out<u8>) -> Code {
    with(|s| {
        let Op::Fill { to, pattern, extent } = op(s, node)? else { return Err(Error::InvalidValue) };
        let value = pattern.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
        let (element, width) = (pattern.len() as u64, extent.width / pattern.len());
        put(
            parameters,
            &[to.at.address(), element, extent.height as u64, to.pitch as u64, value, width as u64],
        )
    })
}

/// Returns `hipHostNodeParams`.
pub(crate) extern "C" fn graph_host_node_get_params(node: u64, parameters: Out<u8>) -> Code {
    with(|s| match op(s, node)? {
        Op::Call(HostCall::Plain(function, data)) => {
            put(parameters, &[*function as usize as u64, data.address()])
        }
        _ => Err(Error::InvalidValue),
    })
}

pub(crate) extern "C" fn graph_child_graph_node_get_graph(node: u64, graph: Out<u64>) -> Code {
    with(|s| match op(s, node)? {
        Op::Graph(child) => graph.set(*child),
        _ => Err(Error::InvalidValue),
    })
}

pub(crate) extern "C" fn graph_event_record_node_get_event(node: u64, event: Out<u64>) -> Code {
    with(|s| match op(s, node)? {
        Op::Record(found) => event.set(*found),
        _ => Err(Error::InvalidValue),
    })
}

pub(crate) extern "C" fn graph_event_wait_node_get_event(node: u64, event: Out<u64>) -> Code {
    with(|s| match op(s, node)? {
        Op::Wait(found) => event.set(*found),
        _ => Err(Error::InvalidValue),
    })
}

/// The node of a cloned graph that corresponds to a node of the original graph.
pub(crate) extern "C" fn graph_node_find_in_clone(found: Out<u64>, original: u64, clone: u64) -> Code {
    with(|s| {
        found.check()?;
        let nodes = &s.graphs.graphs.get(clone).ok_or(Error::InvalidValue)?.nodes;
        let copied = |node: &&u64| s.graphs.nodes.get(**node).is_some_and(|n| n.original == Some(original));
        found.set(*nodes.iter().find(copied).ok_or(Error::InvalidValue)?)
    })
}
