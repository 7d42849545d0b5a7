//! Lane masks, which are as wide as a wave: one SGPR or a pair. This module has the instructions and registers of that
//! width.

use gcn_isa::reg::{EXEC, Reg, RegFile, VCC};
use gcn_isa::target::WaveSize;

use super::{Lower, Lowered, Src, Width};
use crate::ir::Value;
use crate::mir::VSlice;

/// A mask operation: the mnemonics for waves of 32 and of 64 lanes.
pub(super) type MaskOp = [&'static str; 2];

pub(super) const AND: MaskOp = ["s_and_b32", "s_and_b64"];
/// The first mask without the lanes of the second.
pub(super) const AND_NOT: MaskOp = ["s_andn2_b32", "s_andn2_b64"];
pub(super) const OR: MaskOp = ["s_or_b32", "s_or_b64"];
pub(super) const XOR: MaskOp = ["s_xor_b32", "s_xor_b64"];
pub(super) const XNOR: MaskOp = ["s_xnor_b32", "s_xnor_b64"];
pub(super) const NOT: MaskOp = ["s_not_b32", "s_not_b64"];
pub(super) const MOVE: MaskOp = ["s_mov_b32", "s_mov_b64"];
/// Selects one of two masks by SCC.
pub(super) const SELECT: MaskOp = ["s_cselect_b32", "s_cselect_b64"];
/// Sets SCC if two masks differ.
pub(super) const IS_ANY: MaskOp = ["s_cmp_lg_u32", "s_cmp_lg_u64"];
/// The number of the first lane in a mask.
pub(super) const FIRST: MaskOp = ["s_ff1_i32_b32", "s_ff1_i32_b64"];
/// Sets SCC to the bit of a lane.
pub(super) const TEST: MaskOp = ["s_bitcmp1_b32", "s_bitcmp1_b64"];
/// Saves EXEC, then EXEC &= mask.
pub(super) const AND_SAVE: MaskOp = ["s_and_saveexec_b32", "s_and_saveexec_b64"];
/// Saves EXEC, then EXEC |= mask.
pub(super) const OR_SAVE: MaskOp = ["s_or_saveexec_b32", "s_or_saveexec_b64"];

impl Lower<'_> {
    /// The mnemonic for masks of this wave size.
    pub(super) fn mask_op(&self, op: MaskOp) -> &'static str {
        op[usize::from(self.func.wave == WaveSize::W64)]
    }

    /// New registers for a mask.
    pub(super) fn new_mask(&mut self) -> VSlice {
        self.new_reg(RegFile::Sgpr, self.func.wave.mask_registers())
    }

    /// EXEC, as wide as the wave.
    pub(super) fn exec(&self) -> Reg {
        EXEC.slice(0, self.func.wave.mask_registers())
    }

    /// VCC, as wide as the wave.
    pub(super) fn vcc(&self) -> Reg {
        VCC.slice(0, self.func.wave.mask_registers())
    }

    /// A constant mask: the low bits of `bits`, one for each lane.
    pub(super) fn mask_const(&self, bits: u64) -> Src {
        match self.func.wave {
            WaveSize::W32 => Src::Const(bits & WaveSize::W32.mask(), Width::B32),
            WaveSize::W64 => Src::Const(bits, Width::B64),
        }
    }

    /// The mask of all lanes if `holds`, otherwise of none.
    pub(super) fn mask_of_all(&self, holds: bool) -> Src {
        self.mask_const(if holds { u64::MAX } else { 0 })
    }

    /// The mask of the active lanes in which `a` is true, as a number.
    pub(super) fn ballot(&mut self, v: Value, a: Value) -> Lowered {
        let mask = self.operand(a);
        let dst = self.define(v);
        // The bits of inactive lanes in a mask are undefined, but a ballot must report 0 for them.
        self.machine(self.mask_op(AND), &[dst], &[mask, Src::Fixed(self.exec().into())])
    }
}
