//! Sample instructions made from a row, for queries to the analyses. There is one with default operands, and variants in which each operand
//! and modifier that matters to a rule has each kind of value that it can have.

use crate::inst::{Inst, Mods};
use crate::operand::{Inline, Operand, SrcSpecial};
use crate::reg::{self, Reg};
use crate::table::{Access, InstDesc, Modifiers, OperandDesc, OperandKinds};

/// The instruction in which every operand is the first of [`choices`].
pub(super) fn plain(row: &'static InstDesc) -> Inst {
    Inst::new(row, row.operands.iter().map(|o| choices(o).into_iter().next().unwrap_or(Operand::Imm(0))))
}

/// The instruction of [`plain`], and copies of it with one operand or modifier changed.
pub(super) fn variants(row: &'static InstDesc) -> Vec<Inst> {
    let plain = plain(row);
    let mut all = vec![plain.clone()];
    for (i, operand) in row.operands.iter().enumerate() {
        for choice in choices(operand).into_iter().skip(1) {
            let mut inst = plain.clone();
            inst.operands[i] = choice;
            keep_files_together(&mut inst, i);
            all.push(inst);
        }
    }
    all.extend(modifier_changes(row).into_iter().map(|change| plain.clone().with(change)));
    all
}

/// Operands that are valid at this position: for each kind of operand that the position accepts, one or a few representatives, the most
/// common kind first.
fn choices(operand: &OperandDesc) -> Vec<Operand> {
    let dwords = operand.dwords.max(1);
    let kinds = operand.kinds;
    let mut list = Vec::new();
    if kinds.contains(OperandKinds::VGPR) {
        list.push(Reg::v(0, dwords).into());
    }
    if kinds.contains(OperandKinds::AGPR) {
        list.push(Reg::a(0, dwords).into());
    }
    if kinds.contains(OperandKinds::SGPR) {
        list.push(Reg::s(0, dwords).into());
    }
    if kinds.contains(OperandKinds::SPECIAL) {
        list.extend(operand.specials.split(',').filter_map(|name| special(name, dwords)));
    }
    if kinds.contains(OperandKinds::IMM) {
        list.push(Operand::Imm(0));
        if operand.name == "hwreg" {
            // All bits of MODE and of TRAPSTS, which are the hardware registers that rules name.
            list.extend([1, 3].map(|id| Operand::Imm(id | 31 << 11)));
        }
    }
    if kinds.contains(OperandKinds::INLINE_INT) && operand.access == Access::Read {
        list.push(Operand::Inline(Inline::Int(0)));
    }
    if kinds.contains(OperandKinds::OFF) {
        list.push(Operand::Off);
    }
    list
}

fn special(name: &str, dwords: u8) -> Option<Operand> {
    let reg = match name {
        "vcc" | "vcc_lo" => reg::VCC,
        "exec" | "exec_lo" => reg::EXEC,
        "m0" => reg::M0,
        "flat_scratch" | "flat_scratch_lo" => reg::FLAT_SCRATCH,
        _ => return SrcSpecial::ALL.into_iter().find(|s| s.name() == name).map(Operand::Special),
    };
    Some(Operand::Reg(Reg { len: dwords.min(reg.len), ..reg }))
}

/// Changes the operands that must be in the same vector register file as operand `changed`, so that they are in its file.
fn keep_files_together(inst: &mut Inst, changed: usize) {
    let Some(Operand::Reg(reg)) = inst.operands.get(changed).copied() else { return };
    for pair in inst.desc.same_file {
        let partner = match changed {
            i if i == usize::from(pair.a) => usize::from(pair.b),
            i if i == usize::from(pair.b) => usize::from(pair.a),
            _ => continue,
        };
        if let Some(Operand::Reg(other)) = inst.operands.get_mut(partner) {
            other.file = reg.file;
        }
    }
}

type Change = fn(&mut Mods);

fn modifier_changes(row: &InstDesc) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    if row.modifiers.contains(Modifiers::GDS) {
        changes.push(|m| m.gds = true);
    }
    if row.modifiers.contains(Modifiers::OP_SEL) {
        changes.push(|m| m.op_sel = 0xf);
    }
    if row.modifiers.contains(Modifiers::OP_SEL_HI) {
        changes.push(|m| m.op_sel_hi = 0);
        changes.push(|m| m.op_sel_hi = 7);
    }
    if row.modifiers.contains(Modifiers::DST_SEL) {
        changes.push(|m| {
            if let Some(sdwa) = &mut m.sdwa {
                sdwa.dst_sel = 4;
            }
        });
    }
    if row.default_mods().dpp.is_some() {
        changes.push(|m| {
            if let Some(dpp) = &mut m.dpp {
                dpp.bound_ctrl = true;
            }
        });
    }
    if row.modifiers.contains(Modifiers::CBSZ) && row.width_by_format {
        changes.push(|m| (m.cbsz, m.blgp) = (4, 4));
    }
    changes
}
