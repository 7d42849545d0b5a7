//! Instructions that are wrong by themselves on some machines.

use super::report::{Amount, Finding};
use crate::hazards::Grade;
use crate::inst::Inst;
use crate::operand::Operand;
use crate::program::Program;
use crate::reg::{Reg, RegFile};
use crate::target::Target;

/// VGPRs are allocated in blocks of this many.
const BLOCK: u16 = 8;

/// Findings about single instructions.
///
/// gfx90a: a 64-bit shift whose amount stands in the last VGPR of the wave's allocation reads beyond it (LLVM copies the
/// amount elsewhere). The allocation ends at the highest register that the program uses, rounded up to a block, so only
/// the last register of a block can be concerned, and only if nothing behind it is used.
pub(super) fn check(program: &Program) -> Vec<Finding> {
    if program.target != Target::GFX90A {
        return Vec::new();
    }
    let suspects: Vec<(usize, Reg)> = program
        .lines
        .iter()
        .enumerate()
        .filter_map(|(line, l)| shift_amount(&l.inst).map(|reg| (line, reg)))
        .filter(|(_, reg)| reg.index % BLOCK == BLOCK - 1)
        .collect();
    if suspects.is_empty() {
        return Vec::new();
    }
    let (end, agprs) = used(program);
    let concerned = suspects.into_iter().filter(|(_, reg)| !agprs && reg.end() == end);
    concerned.map(|(line, reg)| finding(program, line, reg)).collect()
}

/// The VGPR that holds the amount of a 64-bit vector shift.
fn shift_amount(inst: &Inst) -> Option<Reg> {
    if !matches!(inst.desc.mnemonic, "v_lshlrev_b64" | "v_lshrrev_b64" | "v_ashrrev_i64") {
        return None;
    }
    inst.operand("src0").and_then(Operand::reg).filter(|r| r.file == RegFile::Vgpr)
}

/// One past the highest VGPR that the program names, and whether it names AGPRs, which lie behind the VGPRs.
fn used(program: &Program) -> (u16, bool) {
    let mut end = 0;
    let mut agprs = false;
    for reg in program.lines.iter().flat_map(|l| &l.inst.operands).filter_map(|o| o.reg()) {
        match reg.file {
            RegFile::Vgpr => end = end.max(reg.end()),
            RegFile::Agpr => agprs = true,
            RegFile::Sgpr => {}
        }
    }
    (end, agprs)
}

fn finding(program: &Program, line: usize, reg: Reg) -> Finding {
    Finding {
        rule: "gfx90a.shift64",
        grade: Grade::Cautious,
        title: "the amount of a 64-bit shift stands in the last VGPR of the allocation",
        first: None,
        second: line,
        first_name: "",
        second_name: program.lines[line].inst.desc.printed,
        loc: program.lines[line].loc,
        reg: Some(reg),
        need: Amount::OtherRegister,
        have: Amount::NoWait,
        path: Vec::new(),
    }
}
