//! Attributes of kernel nodes.

use crate::abi::stream::{GREATEST, LEAST};
use crate::abi::{Code, with, words};
use crate::error::{Error, Result};
use crate::graph::Node;
use crate::host::{self, Ptr};
use crate::state::State;
use crate::work::Op;

/// The values of `hipLaunchAttributeID` that nodes may have.
const WINDOW: u32 = 1;
const COOPERATIVE: u32 = 2;
const PRIORITY: u32 = 8;
/// `hipAccessPropertyPersisting`.
const PERSISTING: u32 = 2;

/// The node, if it is a kernel node.
fn kernel(s: &mut State, node: u64) -> Result<&mut Node> {
    let found = s.graphs.nodes.get_mut(node).ok_or(Error::InvalidValue)?;
    if matches!(found.op, Op::Launch(_)) { Ok(found) } else { Err(Error::InvalidValue) }
}

pub(crate) extern "C" fn graph_kernel_node_set_attribute(node: u64, attribute: u32, value: Ptr) -> Code {
    with(|s| {
        let found = kernel(s, node)?;
        let first = words(value, 1)?[0];
        match attribute {
            WINDOW => {
                // The four 8-byte words of the window: base address; hit property and hit ratio (`f32`); miss property and padding; number
                // of bytes.
                let window: [u64; 4] = std::array::from_fn(|n| host::word(value.plus(8 * n)));
                let ratio = f32::from_bits((window[1] >> 32) as u32);
                // Devices have no such window (`accessPolicyMaxWindowSize` is 0), so its size must be 0.
                if !(0.0..=1.0).contains(&ratio) || window[2] as u32 == PERSISTING || window[3] != 0 {
                    return Err(Error::InvalidValue);
                }
                found.attributes.window = window;
            }
            COOPERATIVE => {
                found.attributes.cooperative = first as u32;
                if let Op::Launch(launch) = &mut found.op {
                    launch.cooperative = first as u32 != 0;
                }
            }
            PRIORITY => {
                let priority = first as i32;
                if !(GREATEST..=LEAST).contains(&priority) {
                    return Err(Error::InvalidValue);
                }
                found.attributes.priority = priority;
            }
            _ => return Err(Error::InvalidValue),
        }
        found.attributes.set = attribute;
        Ok(())
    })
}

/// As in ROCm, a node has only the attribute that was set last; querying another one is an error.
pub(crate) extern "C" fn graph_kernel_node_get_attribute(node: u64, attribute: u32, value: Ptr) -> Code {
    with(|s| {
        let found = kernel(s, node)?.attributes;
        if value.is_null() || found.set != 0 && found.set != attribute {
            return Err(Error::InvalidValue);
        }
        match attribute {
            WINDOW => {
                found
                    .window
                    .iter()
                    .enumerate()
                    .for_each(|(n, word)| host::put(value.plus(8 * n), &word.to_le_bytes()));
            }
            COOPERATIVE => host::put(value, &found.cooperative.to_le_bytes()),
            PRIORITY => host::put(value, &found.priority.to_le_bytes()),
            _ => return Err(Error::InvalidValue),
        }
        Ok(())
    })
}

pub(crate) extern "C" fn graph_kernel_node_copy_attributes(from: u64, to: u64) -> Code {
    with(|s| {
        let attributes = kernel(s, from)?.attributes;
        let found = kernel(s, to)?;
        if found.attributes.set != 0 && found.attributes.set != attributes.set {
            return Err(Error::InvalidContext);
        }
        found.attributes = attributes;
        if let Op::Launch(launch) = &mut found.op {
            launch.cooperative = attributes.cooperative != 0;
        }
        Ok(())
    })
}
