//! The sentences on a reference page about constants and scalar operands.

use crate::table::{Behaviours, Format, InstDesc, OperandDesc, OperandKinds};
use crate::target::InstructionSet;

/// The rules that apply to a row.
pub(super) fn rules(row: &InstDesc) -> Vec<String> {
    let mut rules = Vec::new();
    let any = |kinds: OperandKinds| row.operands.iter().any(|o| o.kinds.intersects(kinds));
    let scalar = OperandKinds::SGPR | OperandKinds::SPECIAL | OperandKinds::LITERAL | OperandKinds::LITERAL16;
    if row.is_valu() && row.operands.iter().any(|o| o.name.starts_with("src") && o.kinds.intersects(scalar)) {
        // As in the encoder: 64-bit shifts have the limit of GFX9 on most instruction sets.
        let reads = row.targets.iter().map(InstructionSet::constant_bus_reads).max().unwrap_or(1);
        let one = reads == 1 || row.does(Behaviours::SHIFTS_PAIR);
        let text = if one {
            "constant bus: all sources together may use one SGPR (pair), VCC, M0 or literal, which may occur twice"
        } else {
            "constant bus: all sources together may use two of SGPRs (pairs), VCC, M0 and one literal, each of which may occur twice"
        };
        rules.push(text.to_owned());
    }
    rules.extend(literal_rule(row));
    if any(OperandKinds::INLINE_INT) {
        rules.push(
            "inline constants: -16 to 64, and 0.5, 1.0, 2.0, 4.0 with either sign, 1/(2 pi)".to_owned(),
        );
    }
    if row.vgpr_align > 1 && row.operands.iter().any(is_wide_vector) {
        rules.push(format!("tuples of vector registers start at a multiple of {}", row.vgpr_align));
    }
    if row.is_matrix() {
        rules.push(
            "D and C are the same registers or have none in common (small shapes may overlap)".to_owned(),
        );
    }
    rules
}

fn literal_rule(row: &InstDesc) -> Option<String> {
    let slots = |kind| -> Vec<&str> {
        row.operands.iter().filter(|o| o.kinds.contains(kind)).map(|o| o.name).collect()
    };
    let (wide, narrow) = (slots(OperandKinds::LITERAL), slots(OperandKinds::LITERAL16));
    if !wide.is_empty() {
        let text = format!("literal: 32 bits, one value, in {}", wide.join(" or "));
        let long = row.operands.iter().any(|o| o.kinds.contains(OperandKinds::LITERAL) && o.dwords == 2);
        return Some(if long { format!("{text}; a 64-bit operand extends it") } else { text });
    }
    if !narrow.is_empty() {
        return Some(format!("literal: its low 16 bits count, in {}", narrow.join(" or ")));
    }
    let none = matches!(
        row.format,
        Format::Vop3a
            | Format::Vop3b
            | Format::Vop3p
            | Format::Vop3pMai
            | Format::Vop3px2
            | Format::Vop1Dpp
            | Format::Vop2Dpp
            | Format::Vop1Sdwa
            | Format::Vop2Sdwa
            | Format::VopcSdwa
            | Format::VopcDpp
            | Format::Vop1Dpp8
            | Format::Vop2Dpp8
            | Format::VopcDpp8
            | Format::Vop3aDpp
            | Format::Vop3aDpp8
            | Format::Vop3bDpp
            | Format::Vop3bDpp8
            | Format::Vop3pDpp
            | Format::Vop3pDpp8
    );
    none.then(|| "no literal in this encoding".to_owned())
}

fn is_wide_vector(operand: &OperandDesc) -> bool {
    operand.dwords > 1 && operand.kinds.intersects(OperandKinds::VGPR | OperandKinds::AGPR)
}
