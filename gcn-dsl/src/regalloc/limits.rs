//! The limits of an allocation, the permitted destinations of spilled values, and statistics about spill code.

use gcn_isa::{Class, Operand, RegFile, Target};

use super::input;
use crate::mir::VReg;

/// The number of registers of each file that may be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The number of SGPRs, from `s0` on.
    pub sgprs: u16,
    /// The number of VGPRs.
    pub vgprs: u16,
    /// The number of AGPRs.
    pub agprs: u16,
    /// On targets where VGPRs and AGPRs are one file: the total of the VGPRs (rounded up to a multiple of 4, because
    /// AGPRs start at one) and the AGPRs. On other targets, the larger of the two numbers.
    pub total_vector: u16,
    /// The permitted destinations of spilled values; by default none.
    pub spill: SpillTo,
}

impl Default for Limits {
    /// The limits that permit every register that can be named.
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

/// The AGPRs of a unified file start at a multiple of this number (`accum_offset`, LLVM AMDGPU guide).
pub(super) const ACCUM_OFFSET_GRANULE: u16 = 4;

impl Limits {
    /// The limit for `file` on `target` if the kernel uses `agprs` AGPRs.
    pub(super) fn of(&self, file: RegFile, target: Target, agprs: u16) -> u16 {
        match file {
            RegFile::Sgpr => self.sgprs.min(target.addressable_sgprs() as u16),
            RegFile::Agpr if !target.has_agprs() => 0,
            RegFile::Vgpr if target.has_unified_agprs() && self.total_vector < 512 => {
                let rest = self.total_vector.saturating_sub(agprs);
                // If AGPRs are in use, the number of VGPRs is a multiple of the granule.
                let rest = if agprs == 0 { rest } else { rest - rest % ACCUM_OFFSET_GRANULE };
                self.vgprs.min(256).min(rest)
            }
            RegFile::Vgpr => self.vgprs.min(256).min(self.total_vector),
            RegFile::Agpr => self.agprs.min(256).min(self.total_vector),
        }
    }
}

/// The permitted destinations of spilled values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SpillTo {
    /// SGPRs may be spilled to lanes of VGPRs.
    pub lanes: bool,
    /// VGPRs may be spilled to free AGPRs, and AGPRs to free VGPRs.
    pub agprs: bool,
    /// The part of LDS for spilled values, which is filled before scratch memory; `None` if LDS must not be used.
    pub lds: Option<LdsFrame>,
    /// The number of bytes of scratch memory that are already in use; spilled values follow them. `None` if scratch
    /// memory must not be used.
    pub frame: Option<u32>,
}

/// LDS for spilled values. A slot has one dword for each work-item of the workgroup.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LdsFrame {
    /// A VGPR of the function that, from the entry on, contains four times the work-item's number in its workgroup plus
    /// [`LdsRoom::address`].
    pub address: VReg,
    /// The slots.
    pub room: LdsRoom,
}

/// The slots in LDS.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LdsRoom {
    /// The part of the address that is the same for all work-items; 0 if the offset field of an instruction alone
    /// reaches all slots.
    pub address: u32,
    /// The byte address of the first slot.
    pub first_byte: u32,
    /// The size of a slot in bytes.
    pub slot_bytes: u32,
    /// The number of slots available. The offset field of an instruction reaches the start of each of them.
    pub slots: u32,
}

impl LdsRoom {
    /// The value of the offset field of an instruction that accesses `slot`.
    pub fn offset(&self, slot: u32) -> u32 {
        self.slot(slot) - self.address
    }

    /// The byte address of a slot.
    pub fn slot(&self, slot: u32) -> u32 {
        self.first_byte + slot * self.slot_bytes
    }
}

/// Statistics about the spill code of a register allocation, and the size of its spill memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Spills {
    /// The number of `v_writelane_b32` and `v_readlane_b32` that spill SGPRs to lanes of VGPRs and reload them.
    pub lane_moves: usize,
    /// The number of moves between VGPRs and AGPRs.
    pub register_moves: usize,
    /// The number of stores to scratch memory.
    pub stores: usize,
    /// The number of loads from scratch memory.
    pub loads: usize,
    /// The number of stores to LDS.
    pub lds_stores: usize,
    /// The number of loads from LDS.
    pub lds_loads: usize,
    /// The number of instructions that rematerialise values or load constants for addresses.
    pub again: usize,
    /// The number of bytes of scratch memory that each lane needs, including the bytes that were in use before; 0 if
    /// nothing was spilled to scratch memory.
    pub frame_bytes: u32,
    /// The first byte of the scratch frame that is used for spilled values.
    pub first_byte: u32,
    /// The LDS slots in use, if LDS was permitted.
    pub lds: Option<LdsFrame>,
}

impl Spills {
    /// The number of spill instructions.
    pub fn total(&self) -> usize {
        self.lane_moves
            + self.register_moves
            + self.stores
            + self.loads
            + self.lds_stores
            + self.lds_loads
            + self.again
    }

    /// The end, as a byte address, of the part of LDS that the slots occupy; 0 if there are no slots.
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
