//! Finds instructions that are wrong on some machines regardless of the surrounding code.

use super::report::{Amount, Finding};
use crate::hazards::AnyRule as _;
use crate::hazards::Config;
use crate::hazards::counter::{CounterRule, MAD_FORWARD, SCHED_MODE, SHIFT64, SMEM_ADDRESS};
use crate::hwreg::may_set_sched_mode;
use crate::inst::{Inst, Via};
use crate::operand::Operand;
use crate::program::Program;
use crate::reg::{Reg, RegFile};
use crate::table::{Behaviours, Class};

/// A function that finds the register that an instruction overwrites although it reads it.
type Overwritten = fn(&Inst) -> Option<Reg>;

/// The number of VGPRs that are allocated as a unit.
const BLOCK: u16 = 8;

/// The findings about single instructions.
pub(super) fn check(program: &Program, rules: Config) -> Vec<Finding> {
    let counts = |rule: &CounterRule| rule.holds_on(program.target) && rules.counts(rule);
    let mut findings = Vec::new();
    if counts(&SHIFT64) {
        findings
            .extend(shifts(program).into_iter().map(|(line, reg)| of_register(program, &SHIFT64, line, reg)));
    }
    let overwritten: [(&CounterRule, Overwritten); 2] =
        [(&SMEM_ADDRESS, overwritten_address), (&MAD_FORWARD, overwritten_factor)];
    for (rule, register) in overwritten.into_iter().filter(|(rule, _)| counts(rule)) {
        let lines = program.lines.iter().enumerate();
        let concerned = lines.filter_map(|(line, l)| Some((line, register(&l.inst)?)));
        findings.extend(concerned.map(|(line, reg)| of_register(program, rule, line, reg)));
    }
    if counts(&SCHED_MODE) {
        let lines = (0..program.lines.len()).filter(|line| may_set_sched_mode(&program.lines[*line].inst));
        let need = Amount::OtherValue("0 to bits 1:0 of SCHED_MODE");
        findings.extend(lines.map(|line| finding(program, &SCHED_MODE, line, None, need)));
    }
    findings
}

/// The scalar register that a load of two or more registers both reads as its address and overwrites. A load from an address that is a
/// multiple of the load's size is not split, so it is safe. An immediate offset that is such a multiple is taken as evidence of such an
/// address. `None` if there is none.
fn overwritten_address(inst: &Inst) -> Option<Reg> {
    if inst.desc.class != Class::SmemLoad {
        return None;
    }
    let result = inst.writes().iter().map(|w| w.reg).find(|r| r.len > 1)?;
    let Some(Operand::Imm(offset)) = inst.operand("offset") else { return None };
    if offset % (4 * i64::from(result.len)) == 0 {
        return None;
    }
    inst.reads().iter().map(|r| r.reg).find(|r| r.overlaps(result))
}

/// The vector register that a multiply-add of 64 bits both reads and overwrites; `None` if there is none.
fn overwritten_factor(inst: &Inst) -> Option<Reg> {
    if !inst.desc.does(Behaviours::ADDS_WIDE_PRODUCT) {
        return None;
    }
    let result = inst.operand("vdst").and_then(Operand::reg)?;
    ["src0", "src1", "src2"]
        .into_iter()
        .filter_map(|name| inst.operand(name)?.reg())
        .find(|r| r.overlaps(result))
}

/// 64-bit shifts whose amount is in the last VGPR of the wave's allocation. On gfx90a, such a shift reads beyond that register (LLVM copies
/// the amount to another register). The allocation ends at the highest register that the program uses, rounded up to a block. Therefore
/// only the last register of a block can be affected, and only if the program uses no higher register.
fn shifts(program: &Program) -> Vec<(usize, Reg)> {
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
    suspects.into_iter().filter(|(_, reg)| !agprs && reg.end() == end).collect()
}

/// The VGPR that holds the amount of a 64-bit vector shift; `None` for other instructions, and if the amount is not in a VGPR.
fn shift_amount(inst: &Inst) -> Option<Reg> {
    if !inst.desc.does(Behaviours::SHIFTS_PAIR) {
        return None;
    }
    inst.operand("src0").and_then(Operand::reg).filter(|r| r.file == RegFile::Vgpr)
}

/// One more than the number of the highest VGPR that the program names, and whether the program names AGPRs, which are allocated after the
/// VGPRs.
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

fn of_register(program: &Program, rule: &'static CounterRule, line: usize, reg: Reg) -> Finding {
    finding(program, rule, line, Some(reg), Amount::OtherRegister)
}

fn finding(
    program: &Program,
    rule: &'static CounterRule,
    line: usize,
    reg: Option<Reg>,
    need: Amount,
) -> Finding {
    Finding {
        rule: rule.id,
        grade: rule.grade(),
        title: rule.title,
        first: None,
        second: line,
        first_name: "",
        second_name: program.lines[line].inst.desc.printed,
        loc: program.lines[line].loc,
        reg,
        via: Via::Name,
        need,
        have: Amount::NoWait,
        path: Vec::new(),
        caveat: None,
    }
}
