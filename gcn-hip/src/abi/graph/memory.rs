//! Memory of graphs: nodes that allocate and free it, and its usage by device.

use crate::abi::{Code, Out, with, words};
use crate::error::{Error, Result};
use crate::host::{self, Ptr};
use crate::state::{State, lock};
use crate::work::{Op, Reserved};

/// The layout of `hipMemAllocNodeParams` in 8-byte words: pool properties, access descriptors and their number, size, and address.
const WORDS: usize = 15;
const BYTES: usize = 13;
const ADDRESS: usize = 14;
/// `hipMemAllocationTypePinned`, and `hipMemLocationTypeDevice`.
const PINNED: u32 = 1;
const ON_DEVICE: u32 = 1;

/// Reserves memory for a node, and returns its address to the caller.
pub(super) fn allocation(at: Ptr) -> Result<Op> {
    let mut fields = words(at, WORDS)?;
    let address = at.plus(8 * ADDRESS);
    host::put(address, &0u64.to_le_bytes());
    let bytes = fields[BYTES] as usize;
    if bytes == 0 || fields[0] as u32 != PINNED || fields[1] as u32 != ON_DEVICE {
        return Err(Error::InvalidValue);
    }
    let mut state = lock();
    let device = usize::try_from((fields[1] >> 32) as i32).unwrap_or(usize::MAX);
    state.model(device).map_err(|_| Error::InvalidValue)?;
    let reserved = state.reserve(device, bytes)?;
    fields[ADDRESS] = reserved.address();
    host::put(address, &reserved.address().to_le_bytes());
    Ok(Op::Alloc(Reserved { at: reserved, bytes, device, parameters: fields.into() }))
}

/// The operation that frees a node's allocation. An error unless the address is that of a graph's allocation that no other node frees.
pub(super) fn end(at: Ptr) -> Result<Op> {
    let state = lock();
    if state.reserved.contains(&at) && !state.graphs.frees(at) {
        Ok(Op::Free(at))
    } else {
        Err(Error::InvalidValue)
    }
}

pub(crate) extern "C" fn graph_mem_alloc_node_get_params(node: u64, parameters: Out<u8>) -> Code {
    with(|s| match s.graphs.nodes.get(node).map(|node| &node.op) {
        Some(Op::Alloc(memory)) => {
            let bytes: Vec<u8> = memory.parameters.iter().flat_map(|word| word.to_le_bytes()).collect();
            host::put(parameters.place()?, &bytes);
            Ok(())
        }
        _ => Err(Error::InvalidValue),
    })
}

pub(crate) extern "C" fn graph_mem_free_node_get_params(node: u64, place: Out<u64>) -> Code {
    with(|s| match s.graphs.nodes.get(node).map(|node| &node.op) {
        Some(Op::Free(at)) => place.set(at.address()),
        _ => Err(Error::InvalidValue),
    })
}

/// The pool of an existing device.
fn pool(s: &mut State, device: i32) -> Result<u64> {
    let device = usize::try_from(device).map_err(|_| Error::InvalidDevice)?;
    s.model(device)?;
    Ok(s.pools.graphs_of(device))
}

/// `hipGraphMemAttributeType`: the bytes in use and their maximum so far, and the same for reserved bytes.
const USED: u32 = 0;
const USED_HIGH: u32 = 1;
const RESERVED: u32 = 2;
const RESERVED_HIGH: u32 = 3;

pub(crate) extern "C" fn device_get_graph_mem_attribute(
    device: i32,
    attribute: u32,
    value: Out<u64>,
) -> Code {
    with(|s| {
        let pool = pool(s, device)?;
        let found = *s.pools.get(pool)?;
        match attribute {
            USED | RESERVED => value.set(found.used),
            USED_HIGH | RESERVED_HIGH => value.set(found.high),
            _ => Err(Error::InvalidValue),
        }
    })
}

/// Resets a maximum to the amount in use now; other values cannot be set.
pub(crate) extern "C" fn device_set_graph_mem_attribute(device: i32, attribute: u32, value: Ptr) -> Code {
    with(|s| {
        let pool = pool(s, device)?;
        if !matches!(attribute, USED_HIGH | RESERVED_HIGH) || words(value, 1)?[0] != 0 {
            return Err(Error::InvalidValue);
        }
        let found = s.pools.get(pool)?;
        found.high = found.used;
        Ok(())
    })
}

/// Does nothing, because unused memory is never kept.
pub(crate) extern "C" fn device_graph_mem_trim(device: i32) -> Code {
    with(|s| pool(s, device).map(|_| ()))
}
