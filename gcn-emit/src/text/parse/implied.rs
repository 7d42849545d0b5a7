//! Operands that the text may omit.

use gcn_isa::Operand;
use gcn_isa::table::{Class, Format, InstDesc, OperandDesc, OperandKinds};

/// The smallest number of operands with which the row may be written.
pub(super) fn least_operands(desc: &InstDesc) -> usize {
    let all = desc.operands.len();
    all - usize::from(all > 0 && implied_operand(desc, all - 1).is_some())
}

/// The operand that the text omits: the offset of scalar memory, the code of `s_endpgm`, or the VCC of a 32-bit encoding that has no other
/// choice. `Some(None)` if no operand is missing, `None` if the number of operands is wrong.
pub(super) fn implied_operand(desc: &InstDesc, have: usize) -> Option<Option<(usize, Operand)>> {
    let want = desc.operands.len();
    if have == want {
        return Some(None);
    }
    if have + 1 != want {
        return None;
    }
    let last = want - 1;
    let optional_number = match desc.format {
        Format::Smem => desc.operands[last].name == "offset",
        Format::Sopp => desc.class == Class::Endpgm,
        _ => false,
    };
    if optional_number {
        return Some(Some((last, Operand::Imm(0))));
    }
    if !matches!(desc.format, Format::Vop2 | Format::Vopc) {
        return None;
    }
    let mut implied = desc.operands.iter().enumerate().filter(|(_, o)| is_implied_vcc(o));
    match (implied.next(), implied.next()) {
        (Some((position, slot)), None) => {
            Some(Some((position, Operand::Reg(gcn_isa::reg::VCC.slice(0, slot.dwords)))))
        }
        _ => None,
    }
}

fn is_implied_vcc(slot: &OperandDesc) -> bool {
    slot.kinds == OperandKinds::SPECIAL && matches!(slot.specials, "vcc" | "vcc_lo")
}
