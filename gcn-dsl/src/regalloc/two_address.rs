//! Replaces instructions by shorter forms that require the result in the register of a source.
//!
//! A fused multiply-add whose result goes to its addend's register has a form of 4 bytes instead of 8, since one
//! operand need not be encoded. The register of the result is known only after allocation; `classes` hints that it
//! should be the addend's.

use gcn_isa::table::{self, Format, InstDesc};
use gcn_isa::{Inst, Operand, Program, RegFile, Target};

use crate::mir::{Function, MInst, MOperand, Op, VSlice};

/// An instruction with three sources, and the form that adds to its destination.
struct Row {
    long: &'static str,
    short: &'static str,
    /// True if both forms read inline constants in the same way.
    constants: bool,
}

const ROWS: [Row; 3] = [
    Row { long: "v_fma_f32", short: "v_fmac_f32", constants: true },
    Row { long: "v_fma_f64", short: "v_fmac_f64", constants: true },
    // In VOP3P an inline constant fills only the low half.
    Row { long: "v_pk_fma_f16", short: "v_pk_fmac_f16", constants: false },
];

fn row(desc: &InstDesc) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.long == desc.entry.mnemonic)
}

/// The result and the addend of an instruction that would be shorter if both were in one register. `None` for
/// instructions that the kernel names.
pub(super) fn tied(f: &Function, inst: &MInst) -> Option<[VSlice; 2]> {
    let Op::Machine(desc, mods) = &inst.op else { return None };
    row(desc)?;
    match inst.operands[..] {
        [MOperand::Virt(to), _, _, MOperand::Virt(addend)]
            if to.len == addend.len && !f.named.contains(&to.reg) =>
        {
            (*mods == desc.default_mods()).then_some([to, addend])
        }
        _ => None,
    }
}

/// Replaces the given instructions by shorter ones if their registers allow it.
pub fn run(program: &mut Program, lines: &[usize]) {
    let target = program.target;
    for at in lines {
        let inst = &program.lines[*at].inst;
        if let Some(shorter) = shorter(target, inst) {
            program.lines[*at].inst = shorter.into();
        }
    }
}

fn shorter(target: Target, inst: &Inst) -> Option<Inst> {
    let row = row(inst.desc)?;
    let [to, a, b, addend] = inst.operands[..] else { return None };
    let is_vector = |operand: Operand| operand.reg().is_some_and(|reg| reg.file == RegFile::Vgpr);
    // The second factor must be in a vector register.
    let (first, second) = match (is_vector(a), is_vector(b)) {
        (_, true) => (a, b),
        (true, false) => (b, a),
        _ => return None,
    };
    let readable = match first {
        Operand::Reg(reg) => reg.file != RegFile::Agpr,
        Operand::Inline(_) => row.constants,
        _ => false,
    };
    if to != addend || !readable {
        return None;
    }
    let desc = table::find_operation(target, row.short).find(|desc| desc.format == Format::Vop2)?;
    Some(Inst { desc, operands: [to, first, second].into_iter().collect(), mods: desc.default_mods() })
}
