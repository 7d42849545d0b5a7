//! Creates instructions with random operands for the harness in `bench`.

use gcn_isa::operand::Inline;
use gcn_isa::reg::{self, RegFile};
use gcn_isa::table::{Class, InstDesc, OperandDesc, OperandKinds, Unit};
use gcn_isa::{Inst, Operand, Reg, Target};

use crate::bench::{FIRST, LANE_ADDRESS, LANE_OFFSET, MEMORY_ADDRESS, RESOURCE, SGPR_END, SMALL};
use crate::case::modify;
use crate::random::Random;

/// Creates instructions, and allocates registers for them that no earlier instruction uses.
#[derive(Debug, Clone, Default)]
pub struct Builder {
    used: [u16; 3],
    /// Registers that an indexed access may reach in addition to those that the instruction names.
    pub wider: Vec<Reg>,
}

impl Builder {
    /// Allocates a register tuple, followed by unused registers so that a later operand can overlap it partly; `None` if too few registers
    /// are left.
    fn tuple(&mut self, file: RegFile, dwords: u8) -> Option<Reg> {
        let which = FIRST.iter().position(|(f, _)| *f == file)?;
        let align = match (file, dwords) {
            (RegFile::Sgpr, 3..) => 4,
            _ => 2,
        };
        let index = (FIRST[which].1 + self.used[which]).next_multiple_of(align);
        let end = index + u16::from(dwords) + 4;
        let most = if file == RegFile::Sgpr { SGPR_END } else { 256 };
        self.used[which] = end - FIRST[which].1;
        (end <= most).then_some(Reg { file, index, len: dwords })
    }

    /// An instruction whose operands are fresh registers. If `varied`, its modifiers are random, and `chosen` may replace an operand, for
    /// example by an AGPR or VCC. `None` if the row has an operand for which there is no value.
    pub fn inst(
        &mut self,
        row: &'static InstDesc,
        target: Target,
        random: &mut Random,
        varied: bool,
        chosen: bool,
    ) -> Option<Inst> {
        let mut operands = Vec::new();
        for slot in row.operands {
            operands.push(self.operand(row, slot, target, random, chosen)?);
        }
        let mut inst = Inst::new(row, operands);
        if varied && random.below(2) == 0 {
            modify(&mut inst, random);
        }
        if inst.mods.dpp.is_some() && varied {
            // With `bound_ctrl`, lanes without a source lane are written; without it, they keep their values. Both are tested.
            if let Some(dpp) = &mut inst.mods.dpp {
                dpp.bound_ctrl = random.below(2) == 0;
            }
        }
        Some(inst)
    }

    fn operand(
        &mut self,
        row: &InstDesc,
        slot: &OperandDesc,
        target: Target,
        random: &mut Random,
        chosen: bool,
    ) -> Option<Operand> {
        let memory = matches!(row.format.unit(), Unit::VectorMemory | Unit::Lds);
        let kinds = slot.kinds;
        match slot.name {
            "vaddr" | "saddr" if kinds == OperandKinds::OFF => return Some(Operand::Off),
            "saddr" => return Some(MEMORY_ADDRESS.into()),
            "srsrc" => return Some(RESOURCE.into()),
            "vaddr" if slot.dwords == 2 && row.format.is_buffer() => return None,
            "vaddr" if slot.dwords == 2 => return Some(LANE_ADDRESS.into()),
            "vaddr" | "addr" if memory => return Some(LANE_OFFSET.into()),
            "soffset" if random.below(2) == 0 => return Some(Operand::Inline(Inline::Int(0))),
            "hwreg" => return Some(Operand::Imm(mode_field(random))),
            _ => {}
        }
        let dwords = slot.dwords.max(1);
        let vector = match (kinds.contains(OperandKinds::VGPR), kinds.contains(OperandKinds::AGPR)) {
            (true, true) if chosen && target.has_agprs() && random.below(4) == 0 => Some(RegFile::Agpr),
            (true, _) => Some(RegFile::Vgpr),
            (false, true) => Some(RegFile::Agpr),
            (false, false) => None,
        };
        let scalar = kinds.contains(OperandKinds::SGPR);
        if let Some(file) = vector.filter(|_| !scalar || random.below(4) > 0) {
            return Some(self.tuple(file, dwords)?.into());
        }
        let special = [("vcc", reg::VCC, 2), ("vcc_lo", reg::VCC.slice(0, 1), 1), ("exec", reg::EXEC, 2)];
        let named = special.iter().find(|(name, _, wide)| slot.allows_special(name) && *wide == dwords);
        if scalar {
            if let Some((_, register, _)) = named.filter(|_| chosen && random.below(4) == 0) {
                return Some((*register).into());
            }
            let is_indexed = row.is_relative();
            let room = if is_indexed { SMALL as u8 } else { dwords };
            let tuple = self.tuple(RegFile::Sgpr, room.max(dwords))?;
            if is_indexed {
                self.wider.push(tuple);
            }
            return Some(tuple.slice(0, dwords).into());
        }
        if let Some((_, register, _)) = named {
            return Some((*register).into());
        }
        let constants = OperandKinds::IMM | OperandKinds::LITERAL | OperandKinds::LITERAL16;
        if kinds.intersects(OperandKinds::LITERAL | OperandKinds::LITERAL16) && row.class == Class::Setreg {
            return Some(Operand::Literal(random.bits() as u32));
        }
        match () {
            () if kinds.contains(OperandKinds::INLINE_INT) => {
                Some(Operand::Inline(Inline::Int(random.below(60) as i8)))
            }
            () if kinds.intersects(constants - OperandKinds::IMM) => Some(Operand::Literal(0x1234)),
            () if kinds.contains(OperandKinds::IMM) => Some(Operand::Imm(random.below(8) as i64)),
            () if kinds.contains(OperandKinds::OFF) => Some(Operand::Off),
            () => None,
        }
    }
}

/// A field of MODE as an operand of `s_setreg` and `s_getreg`: rounding and denormals, or VSKIP.
fn mode_field(random: &mut Random) -> i64 {
    const MODE: i64 = 1;
    let (first, size) = random.one_of(&[(0, 8), (0, 4), (2, 6), (28, 1)]);
    MODE | first << 6 | (size - 1) << 11
}
