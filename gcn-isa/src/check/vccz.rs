//! Checks reads of VCCZ after writes to half of VCC, by a forward dataflow analysis over all paths.

use super::report::{Amount, Finding};
use crate::cfg::Flow;
use crate::hazards::AnyRule as _;
use crate::hazards::counter::VCCZ_HALF;
use crate::inst::Inst;
use crate::inst::Via;
use crate::operand::{Operand, SrcSpecial};
use crate::program::Program;
use crate::reg;
use crate::table::Behaviours;

/// The last line that wrote half of VCC, if no instruction has written all of VCC since.
type Stale = Option<usize>;

/// Finds branches and operands that read VCCZ while it may still reflect an earlier value of VCC.
pub(super) fn check(program: &Program, flow: &Flow) -> Vec<Finding> {
    let reads: Vec<usize> =
        (0..program.lines.len()).filter(|l| reads_vccz(&program.lines[*l].inst)).collect();
    let half = |inst: &Inst| writes(inst) == Some(false);
    if reads.is_empty() || !program.lines.iter().any(|l| half(&l.inst)) {
        return Vec::new();
    }
    let entries = solve(program, flow);
    let mut findings = Vec::new();
    for line in reads {
        let block = flow.cfg.block_of(line);
        let start = flow.cfg.blocks[block].start;
        if let Some(Some(first)) = entries[block].map(|s| (start..line).fold(s, |s, l| after(program, s, l)))
        {
            findings.push(finding(program, first, line));
        }
    }
    findings
}

/// The state at the start of each block; `None` for blocks that no path reaches.
fn solve(program: &Program, flow: &Flow) -> Vec<Option<Stale>> {
    let mut entries: Vec<Option<Stale>> = vec![None; flow.cfg.blocks.len()];
    let mut open: Vec<usize> = flow.roots.iter().map(|r| r.block).collect();
    open.iter().for_each(|block| entries[*block] = Some(None));
    while let Some(block) = open.pop() {
        let Some(entry) = entries[block] else { continue };
        let lines = flow.cfg.blocks[block].start..flow.cfg.blocks[block].end;
        let exit = lines.fold(entry, |s, line| after(program, s, line));
        for &next in &flow.cfg.blocks[block].succs {
            let joined = entries[next].map_or(exit, |known| known.or(exit));
            if entries[next] != Some(joined) {
                entries[next] = Some(joined);
                open.push(next);
            }
        }
    }
    entries
}

fn after(program: &Program, stale: Stale, line: usize) -> Stale {
    match writes(&program.lines[line].inst) {
        Some(true) => None,
        Some(false) => Some(line),
        None => stale,
    }
}

/// Whether an instruction writes all of VCC (true) or only half of it (false); `None` if it does not write VCC.
fn writes(inst: &Inst) -> Option<bool> {
    let written =
        inst.writes().iter().map(|w| w.reg).filter(|r| r.overlaps(reg::VCC)).max_by_key(|r| r.len)?;
    Some(written.covers(reg::VCC))
}

fn reads_vccz(inst: &Inst) -> bool {
    inst.desc.does(Behaviours::READS_VCCZ)
        || inst.operands.iter().any(|o| matches!(o, Operand::Special(SrcSpecial::Vccz)))
}

fn finding(program: &Program, first: usize, second: usize) -> Finding {
    Finding {
        rule: VCCZ_HALF.id,
        grade: VCCZ_HALF.grade(),
        title: VCCZ_HALF.title,
        first: Some(first),
        second,
        first_name: program.lines[first].inst.desc.printed,
        second_name: program.lines[second].inst.desc.printed,
        loc: program.lines[second].loc,
        reg: Some(reg::VCC),
        via: Via::Name,
        need: Amount::Instruction("s_mov_b64 vcc, vcc"),
        have: Amount::NoWait,
        path: Vec::new(),
        caveat: None,
    }
}
