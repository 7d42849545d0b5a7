//! What an allocation may take, where values go that find no register, and what that cost.

use gcn_isa::{Class, Operand, RegFile, Target};

use super::input;
use crate::mir::VReg;

/// How many registers of each file may be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// SGPRs, from `s0` on.
    pub sgprs: u16,
    /// VGPRs.
    pub vgprs: u16,
    /// AGPRs.
    pub agprs: u16,
    /// VGPRs (rounded up to a multiple of 4, where the AGPRs start) and AGPRs together, on targets where they are one
    /// file; elsewhere the larger of the two.
    pub total_vector: u16,
    /// Where values may go that find no register; by default nowhere.
    pub spill: SpillTo,
}

impl Default for Limits {
    /// All that can be named.
    fn default() -> Limits {
        Limits {
            sgprs: input::FIRST_NAMED_SGPR,
            vgprs: 256,
            agprs: 256,
            total_vector: 512,
            spill: SpillTo::default(),
        }
    }
}

/// The AGPRs of a unified file start at a multiple of this (`accum_offset`, LLVM AMDGPU guide).
pub(super) const ACCUM_OFFSET_GRANULE: u16 = 4;

impl Limits {
    /// The limit of `file` on `target`, when `agprs` AGPRs are in use.
    pub(super) fn of(&self, file: RegFile, target: Target, agprs: u16) -> u16 {
        match file {
            RegFile::Sgpr => self.sgprs.min(target.addressable_sgprs() as u16),
            RegFile::Agpr if !target.has_agprs() => 0,
            RegFile::Vgpr if target.has_unified_agprs() && self.total_vector < 512 => {
                let rest = self.total_vector.saturating_sub(agprs);
                // With AGPRs in use the VGPRs end at a granule.
                let rest = if agprs == 0 { rest } else { rest - rest % ACCUM_OFFSET_GRANULE };
                self.vgprs.min(256).min(rest)
            }
            RegFile::Vgpr => self.vgprs.min(256).min(self.total_vector),
            RegFile::Agpr => self.agprs.min(256).min(self.total_vector),
        }
    }
}

/// Where values may go that find no register.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SpillTo {
    /// SGPRs to lanes of VGPRs.
    pub lanes: bool,
    /// VGPRs to AGPRs, and AGPRs to VGPRs.
    pub agprs: bool,
    /// To LDS, before scratch memory.
    pub lds: Option<LdsFrame>,
    /// To scratch memory, after the bytes that are in use already.
    pub frame: Option<u32>,
}

/// LDS for values that find no register: a slot has a dword for each lane of the workgroup.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LdsFrame {
    /// A VGPR of the function that holds four times the number of the lane in its workgroup and [`LdsRoom::address`], from the
    /// entry on.
    pub address: VReg,
    /// Where the slots are.
    pub room: LdsRoom,
}

/// Where slots in LDS are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LdsRoom {
    /// What the address register holds besides the lane's own part: 0 if an instruction's offset reaches all slots from there.
    pub address: u32,
    /// The first one's first byte.
    pub first_byte: u32,
    /// Bytes of one.
    pub slot_bytes: u32,
    /// How many there may be. All of them begin within reach of an instruction's offset.
    pub slots: u32,
}

impl LdsRoom {
    /// The offset of an instruction for a slot.
    pub fn offset(&self, slot: u32) -> u32 {
        self.slot(slot) - self.address
    }

    /// The first byte of a slot.
    pub fn slot(&self, slot: u32) -> u32 {
        self.first_byte + slot * self.slot_bytes
    }
}

/// Instructions that were put in for values that found no register, and the memory that these take.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Spills {
    /// `v_writelane_b32` and `v_readlane_b32`: SGPRs in lanes.
    pub lane_moves: usize,
    /// Moves between VGPRs and AGPRs.
    pub register_moves: usize,
    /// Stores to scratch memory.
    pub stores: usize,
    /// Loads from scratch memory.
    pub loads: usize,
    /// Stores to LDS.
    pub lds_stores: usize,
    /// Loads from LDS.
    pub lds_loads: usize,
    /// Values that were made again, and constants for addresses.
    pub again: usize,
    /// Bytes of scratch memory that a lane needs, those that were in use before included; 0 without spilling.
    pub frame_bytes: u32,
    /// First byte of the frame that is for values without a register.
    pub first_byte: u32,
    /// Slots of LDS in use, where they were asked for.
    pub lds: Option<LdsFrame>,
}

impl Spills {
    /// All instructions.
    pub fn total(&self) -> usize {
        self.lane_moves
            + self.register_moves
            + self.stores
            + self.loads
            + self.lds_stores
            + self.lds_loads
            + self.again
    }

    /// The end of the LDS that slots take; 0 if none do.
    pub fn lds_end(&self) -> u32 {
        self.lds.filter(|lds| lds.room.slots > 0).map_or(0, |lds| lds.room.slot(lds.room.slots))
    }

    pub(super) fn count(&mut self, line: &gcn_isa::Line) {
        let from_vector =
            matches!(line.inst.operands.get(1), Some(Operand::Reg(r)) if r.file != RegFile::Sgpr);
        let count = match line.inst.desc.class {
            Class::ScratchStore | Class::VmemStore => &mut self.stores,
            Class::ScratchLoad | Class::VmemLoad => &mut self.loads,
            Class::LdsWrite => &mut self.lds_stores,
            Class::LdsRead => &mut self.lds_loads,
            Class::AccvgprRead | Class::AccvgprWrite | Class::AccvgprMov if from_vector => {
                &mut self.register_moves
            }
            Class::Readlane | Class::Writelane => &mut self.lane_moves,
            _ => &mut self.again,
        };
        *count += 1;
    }
}
