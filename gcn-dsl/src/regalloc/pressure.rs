//! Register pressure: the largest number of live registers, and where it occurs.

use std::fmt;

use gcn_isa::RegFile;
use gcn_isa::program::SourceLoc;

use super::place::InstPlace;
use super::segs::{Seg, Slot};
use crate::mir::VReg;

/// A virtual register that is live at a point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LiveReg {
    /// The register.
    pub reg: VReg,
    /// The number of its dwords that are live.
    pub dwords: u8,
    /// The source location of its first definition.
    pub defined: Option<SourceLoc>,
}

impl fmt::Display for LiveReg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{} ({} dword{})", self.reg.0, self.dwords, if self.dwords == 1 { "" } else { "s" })
    }
}

/// The point of a function with the most live registers of one file.
#[derive(Clone, PartialEq, Debug)]
pub struct FilePressure {
    /// The file.
    pub file: RegFile,
    /// The number of live dwords at the peak.
    pub peak: u32,
    /// The first point with that number of live dwords; `None` if no register is ever live.
    pub at: Option<InstPlace>,
    /// The registers that are live at that point, widest first. Registers that contain initial state count in `peak`
    /// but are not listed.
    pub live: Vec<LiveReg>,
}

/// The peaks of the three files.
#[derive(Clone, PartialEq, Debug)]
pub struct Pressure {
    /// SGPRs.
    pub sgpr: FilePressure,
    /// VGPRs.
    pub vgpr: FilePressure,
    /// AGPRs.
    pub agpr: FilePressure,
}

impl Pressure {
    /// The peak of `file`.
    pub fn of(&self, file: RegFile) -> &FilePressure {
        match file {
            RegFile::Sgpr => &self.sgpr,
            RegFile::Vgpr => &self.vgpr,
            RegFile::Agpr => &self.agpr,
        }
    }
}

/// The largest number of segments that contain the same slot, and the first such slot.
pub(super) fn peak(segments: impl Iterator<Item = Seg>, slots: Slot) -> (u32, Slot) {
    let mut change = vec![0i32; slots as usize + 1];
    for seg in segments {
        change[seg.start as usize] += 1;
        change[seg.end as usize] -= 1;
    }
    let mut depth = 0;
    let mut best = (0, 0);
    for (slot, change) in change.into_iter().enumerate() {
        depth += change;
        if depth > best.0 {
            best = (depth, slot as Slot);
        }
    }
    (best.0 as u32, best.1)
}
