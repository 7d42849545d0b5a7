//! Checks copies and fills, and creates their operations.

use super::State;
use crate::error::{Error, Result};
use crate::heap::{Allocation, Kind};
use crate::host;
use crate::work::{Extent, Op, Pitched, Task};

/// `hipMemcpyKind`.
pub(crate) const HOST_TO_HOST: u32 = 0;
pub(crate) const HOST_TO_DEVICE: u32 = 1;
pub(crate) const DEVICE_TO_HOST: u32 = 2;
const DEVICE_TO_DEVICE: u32 = 3;
/// `hipMemcpyDefault`: the pointers determine the direction. `hipMemcpyDeviceToDeviceNoCU` is another value for copies within devices.
pub(crate) const DEFAULT: u32 = 4;
const DEVICE_TO_DEVICE_NO_CU: u32 = 1024;

impl State {
    /// Creates the operation of a copy; an error if the ranges contradict `kind`.
    pub(crate) fn copy_op(&self, to: Pitched, from: Pitched, extent: Extent, kind: u32) -> Result<Op> {
        let (to_device, from_device) = match kind {
            HOST_TO_HOST => (Some(false), Some(false)),
            HOST_TO_DEVICE => (Some(true), Some(false)),
            DEVICE_TO_HOST => (Some(false), Some(true)),
            DEVICE_TO_DEVICE | DEVICE_TO_DEVICE_NO_CU => (Some(true), Some(true)),
            DEFAULT => (None, None),
            _ => return Err(Error::InvalidMemcpyDirection),
        };
        if extent.is_empty() {
            return Ok(Op::Nothing);
        }
        for (side, device) in [(to, to_device), (from, from_device)] {
            let bytes = side.bytes(extent).ok_or(Error::InvalidPitchValue)?;
            let known = self.heap.range(side.at, bytes)?;
            // Memory of the program is not on a device, memory of `hipMalloc` is not on the host, and all other memory is on both.
            let wrong = match (known, device) {
                (None, Some(true)) => true,
                (Some(Allocation { kind: Kind::Device | Kind::Image, .. }), Some(false)) => {
                    kind == HOST_TO_HOST
                }
                _ => false,
            };
            if wrong {
                return Err(Error::InvalidValue);
            }
        }
        Ok(Op::Copy { to, from, extent, kind })
    }

    /// True if the host has to wait for an operation of a synchronous function: a part of the accessed memory is on the host, or
    /// `hipPointerSetAttribute` requested that it waits.
    pub(crate) fn is_for_host(&self, op: &Op) -> bool {
        let only_device = |side: Pitched| {
            let found = self.heap.find(side.at);
            found.is_some_and(|a| {
                matches!(a.kind, Kind::Device | Kind::Image) && !self.waiting.contains(&a.base)
            })
        };
        match op {
            Op::Copy { to, from, .. } => !only_device(*to) || !only_device(*from),
            Op::Fill { to, .. } => !only_device(*to),
            _ => false,
        }
    }

    /// True if the operation is complete even when an asynchronous function returns: a copy between two host addresses, or to memory of the
    /// program that the runtime does not know.
    pub(crate) fn is_synchronous(&self, op: &Op) -> bool {
        let Op::Copy { to, from, .. } = op else { return false };
        let is_host = |side: &Pitched| self.heap.find(side.at).is_none_or(|found| found.kind.is_host());
        self.heap.find(to.at).is_none() || is_host(to) && is_host(from)
    }

    /// The form in which a deferred operation is stored. Data that it reads from the program's memory is copied, because the program may
    /// change it before the operation executes.
    pub(super) fn held(&self, task: Task) -> Task {
        match task {
            Task::Op(Op::Copy { to, from, extent, .. }) if self.heap.find(from.at).is_none() => {
                let bytes = from.rows(extent).flat_map(|row| host::bytes(row, extent.width)).collect();
                Task::Store { to, bytes, extent }
            }
            task => task,
        }
    }

    /// Creates the operation of a fill. The memory must be known to the runtime; `extent` is in bytes.
    pub(crate) fn fill_op(&self, to: Pitched, pattern: Vec<u8>, extent: Extent) -> Result<Op> {
        if extent.is_empty() {
            return Ok(Op::Nothing);
        }
        let bytes = to.bytes(extent).ok_or(Error::InvalidValue)?;
        self.heap.own(to.at, bytes)?;
        if !to.at.address().is_multiple_of(pattern.len() as u64) {
            return Err(Error::InvalidValue);
        }
        Ok(Op::Fill { to, pattern, extent })
    }
}
