//! Operands that the text may omit.

use gcn_isa::Operand;
use gcn_isa::table::{Class, Format, InstDesc, OperandDesc, OperandKinds};
use gcn_isa::target::Family;
use smallvec::{SmallVec, smallvec};

/// The smallest number of operands with which the row may be written.
pub(super) fn least_operands(desc: &InstDesc) -> usize {
    desc.operands.len() - omissible(desc).len()
}

/// Operands that the text omits, each with its position.
pub(super) type Implied = SmallVec<[(usize, Operand); 2]>;

/// The operands that the text omits if it has `have` operands; `None` if the number of operands is wrong.
pub(super) fn implied_operands(desc: &InstDesc, have: usize) -> Option<Implied> {
    let want = desc.operands.len();
    if have == want {
        return Some(Implied::new());
    }
    // An assembler accepts all of them or none.
    Some(omissible(desc)).filter(|omitted| have + omitted.len() == want)
}

/// The operands that the text may omit: the offset of scalar memory, the code of `s_endpgm`, or the VCC operands of a 32-bit encoding that
/// has no other choice.
fn omissible(desc: &InstDesc) -> Implied {
    let Some(last) = desc.operands.len().checked_sub(1) else { return Implied::new() };
    let optional_number = match desc.format {
        Format::Smem => desc.operands[last].name == "offset",
        Format::Sopp => desc.class == Class::Endpgm,
        _ => false,
    };
    if optional_number {
        return smallvec![(last, Operand::Imm(0))];
    }
    // LLVM 22: on RDNA, also the encodings of SDWA and DPP imply VCC, and two operands may be omitted.
    let is_rdna = desc.family() == Family::RDNA;
    let is_short = matches!(desc.format, Format::Vop2 | Format::Vopc);
    let is_extended = desc.format.is_sdwa() || desc.format.is_dpp() && !desc.format.is_long_dpp();
    if !(is_short || is_rdna && is_extended) {
        return Implied::new();
    }
    let vcc = |slot: &OperandDesc| Operand::Reg(gcn_isa::reg::VCC.slice(0, slot.dwords));
    let slots = desc.operands.iter().enumerate().filter(|(_, slot)| is_implied_vcc(slot));
    let implied: Implied = slots.map(|(position, slot)| (position, vcc(slot))).collect();
    if is_rdna || implied.len() == 1 { implied } else { Implied::new() }
}

fn is_implied_vcc(slot: &OperandDesc) -> bool {
    slot.kinds == OperandKinds::SPECIAL && matches!(slot.specials, "vcc" | "vcc_lo")
}
