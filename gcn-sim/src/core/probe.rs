//! Probes: report the contents of registers after certain instructions.

use std::collections::BTreeMap;
use std::fmt;

use gcn_isa::reg::{Reg, RegFile};

use crate::core::wave::Wave;

/// The contents of a register after a probed instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probed {
    /// The byte offset of the instruction in the code.
    pub offset: u32,
    /// The workgroup's ID in the grid.
    pub workgroup: [u32; 3],
    /// The wave's number in the workgroup.
    pub wave: u32,
    /// The number of instructions that the wave had executed before it.
    pub count: u64,
    /// The value of EXEC.
    pub exec: u64,
    /// The register's contents: 64 lanes of a VGPR, or one value of an SGPR.
    pub lanes: Vec<u32>,
}

type Sink = dyn Fn(Probed) + Send + Sync;

/// For each probed instruction, by code offset, the SGPR or VGPR to read after it; and the function to call.
pub(crate) struct Probes {
    at: BTreeMap<u32, Reg>,
    sink: Box<Sink>,
}

impl Probes {
    pub fn new(at: BTreeMap<u32, Reg>, sink: Box<Sink>) -> Probes {
        Probes { at, sink }
    }

    /// Called after the wave has executed the instruction at `offset`.
    pub fn after(&self, wave: &Wave, offset: u32, workgroup: [u32; 3]) {
        let Some(reg) = self.at.get(&offset) else { return };
        let index = usize::from(reg.index);
        let lanes = match reg.file {
            RegFile::Sgpr => wave.s.get(index).map(|x| vec![*x]),
            RegFile::Vgpr => wave.v.get(index).map(|lanes| lanes.to_vec()),
            _ => None,
        };
        let Some(lanes) = lanes else { return };
        let (count, exec) = (wave.count, wave.exec());
        (self.sink)(Probed { offset, workgroup, wave: wave.id, count, exec, lanes });
    }
}

impl fmt::Debug for Probes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(&self.at).finish()
    }
}
