//! The dataflow analysis of M0 and MODE: their possible values before each line that an index can affect.

use std::collections::BTreeSet;

use super::state::{Bits, INDEX, Msb, OPERANDS, State};
use super::{Indexed, msb_set_by};
use crate::cfg::Flow;
use crate::hwreg::{GprIdxEn, may_index_vgprs};
use crate::inst::Inst;
use crate::operand::Operand;
use crate::program::Program;
use crate::reg::{self, Reg, RegFile};
use crate::table::{Behaviours, Class};

/// The lines that may access registers through an index, in ascending order.
pub(super) fn lines(program: &Program, flow: &Flow) -> Vec<(u32, Indexed)> {
    let enables = may_index_vgprs(program);
    let matters =
        |inst: &Inst| inst.desc.is_relative() || msb_set_by(program.target, inst).is_some_and(|msb| msb != 0);
    if !enables && !program.lines.iter().any(|l| matters(&l.inst)) {
        return Vec::new();
    }
    let solver = Solver { program, flow, enables, changes: changes(program) };
    let mut found = Vec::new();
    for (block, entry) in flow.cfg.blocks.iter().zip(solver.solve()) {
        let Some(mut state) = entry else { continue };
        for line in block.start..block.end {
            let inst = &program.lines[line].inst;
            let indexed = Indexed::of(inst, &state);
            if !indexed.0.is_empty() {
                found.push((line as u32, indexed));
            }
            solver.step(&mut state, block.start, line);
        }
    }
    found
}

/// The lines that may change M0 or MODE.
fn changes(program: &Program) -> Vec<u32> {
    let changes = |inst: &Inst| {
        matches!(inst.desc.class, Class::GprIdx | Class::Setreg)
            || msb_set_by(program.target, inst).is_some()
            || inst.writes().iter().any(|w| w.reg.overlaps(reg::M0))
    };
    let lines = program.lines.iter().enumerate().filter(|(_, l)| changes(&l.inst));
    lines.map(|(line, _)| line as u32).collect()
}

struct Solver<'a> {
    program: &'a Program,
    flow: &'a Flow,
    /// True if some line sets GPR_IDX_EN.
    enables: bool,
    /// The lines that may change M0 or MODE.
    changes: Vec<u32>,
}

impl Solver<'_> {
    /// The state before each block that control reaches.
    fn solve(&self) -> Vec<Option<State>> {
        let blocks = &self.flow.cfg.blocks;
        let mut states: Vec<Option<State>> = vec![None; blocks.len()];
        let mut open: BTreeSet<usize> = BTreeSet::new();
        for root in &self.flow.roots {
            states[root.block] = Some(State::ENTRY);
            open.insert(root.block);
        }
        while let Some(index) = open.pop_first() {
            let Some(mut state) = states[index] else { continue };
            let block = &blocks[index];
            let from = self.changes.partition_point(|l| (*l as usize) < block.start);
            // Only the lines that change M0 or MODE are visited, so that the time of the iteration does not depend on the length of the
            // code between them.
            let own = self.changes[from..].iter().take_while(|l| (**l as usize) < block.end);
            own.for_each(|line| self.step(&mut state, block.start, *line as usize));
            for &next in &block.succs {
                let mut new = state;
                // Code outside the program may have changed M0; the mode is assumed to be as before the call.
                if self.flow.comes_back(index, next) {
                    new.m0 = Bits::UNKNOWN;
                }
                let joined = states[next].map_or(new, |known| known.join(new));
                if states[next] != Some(joined) {
                    states[next] = Some(joined);
                    open.insert(next);
                }
            }
        }
        states
    }

    /// The state after `line`, whose block begins at `start`.
    fn step(&self, state: &mut State, start: usize, line: usize) {
        let inst = &self.program.lines[line].inst;
        if let Some(msb) = msb_set_by(self.program.target, inst) {
            state.msb = Msb::constant(msb);
        }
        match inst.desc.class {
            Class::GprIdx => self.index(state, start, line),
            Class::Setreg => match GprIdxEn::written_by(inst) {
                Some(GprIdxEn::Set) => (state.may_be_on, state.may_be_off) = (true, false),
                Some(GprIdxEn::Clear) => (state.may_be_on, state.may_be_off) = (false, true),
                Some(GprIdxEn::Unknown) => (state.may_be_on, state.may_be_off) = (self.enables, true),
                None => {}
            },
            _ => {
                for write in inst.writes().iter().filter(|w| w.reg.overlaps(reg::M0)) {
                    let whole = write.reg == reg::M0;
                    state.m0 = if whole { self.result(start, line, DEEPEST) } else { Bits::UNKNOWN };
                }
            }
        }
    }

    /// Applies one of the four instructions of VGPR indexing. They are distinguished by their operands: a source operand is the index, an
    /// immediate is the mask (MI100 ISA 6.6.1, table 27). The instruction with both operands switches indexing on, and the instruction with
    /// neither switches it off.
    fn index(&self, state: &mut State, start: usize, line: usize) {
        let inst = &self.program.lines[line].inst;
        let mask = inst.operands.iter().find(|o| matches!(o, Operand::Imm(_)));
        let source = inst.operand("ssrc0");
        if let Some(source) = source {
            state.m0 = state.m0.with(INDEX, self.value(start, line, source, DEEPEST));
        }
        if let Some(Operand::Imm(mask)) = mask {
            state.m0 = state.m0.with(OPERANDS, Bits::constant((*mask as u32) << super::FIRST_OPERAND));
        }
        match (source, mask) {
            (Some(_), Some(_)) => (state.may_be_on, state.may_be_off) = (true, false),
            (None, None) => (state.may_be_on, state.may_be_off) = (false, true),
            _ => {}
        }
    }

    /// The value that `line` writes to its scalar destination, to the extent that constants in the same block determine it.
    fn result(&self, start: usize, line: usize, depth: usize) -> Bits {
        let inst = &self.program.lines[line].inst;
        let source = |name: &str| {
            inst.operand(name).map_or(Bits::UNKNOWN, |operand| self.value(start, line, operand, depth))
        };
        match inst.desc.entry.meaning {
            "D.b32 = S0.b32" => source("ssrc0"),
            "D.b32 = S0.b32 & S1.b32; SCC = D != 0" => source("ssrc0").and(source("ssrc1")),
            "D.i32 = sext(SIMM16)" => match inst.operand("simm16") {
                Some(Operand::Imm(imm)) => Bits::constant(i32::from(imm as i16) as u32),
                _ => Bits::UNKNOWN,
            },
            _ => Bits::UNKNOWN,
        }
    }

    /// The value of `operand` before `line`.
    fn value(&self, start: usize, line: usize, operand: Operand, depth: usize) -> Bits {
        let Operand::Reg(reg) = operand else { return Bits::of(operand).unwrap_or(Bits::UNKNOWN) };
        let writes = |line: &usize| {
            let inst = &self.program.lines[*line].inst;
            inst.desc.does(Behaviours::DESTINATION_BY_M0) || inst.writes().iter().any(|w| w.reg.overlaps(reg))
        };
        let nearest = line.saturating_sub(LOOK).max(start);
        let writer = (nearest..line).rev().find(writes).filter(|w| self.defines(*w, reg));
        match (writer, depth.checked_sub(1)) {
            (Some(writer), Some(depth)) => self.result(start, writer, depth),
            _ => Bits::UNKNOWN,
        }
    }

    /// True if `line` writes all of `reg` and does not write any other SGPR.
    fn defines(&self, line: usize, reg: Reg) -> bool {
        let inst = &self.program.lines[line].inst;
        let scalar = inst.desc.is_salu() && !inst.desc.does(Behaviours::DESTINATION_BY_M0);
        scalar && inst.writes().iter().filter(|w| w.reg.file == RegFile::Sgpr).all(|w| w.reg == reg)
    }
}

/// The number of lines in which the definition of a register is searched backwards. This limit keeps the analysis linear; a definition
/// farther away counts as unknown.
const LOOK: usize = 64;

/// The maximum number of definitions that are followed in a chain.
const DEEPEST: usize = 4;
