//! A plan in the text: which waits are put in, changed in place, and taken out.

use std::collections::BTreeSet;

use gcn_isa::hazards::wait_states;
use gcn_isa::table::Class;
use gcn_isa::{Inst, Program};

use super::RewriteError;
use super::edit::Edits;
use super::order::wait_of;
use super::plan::{NEW, Plan};
use super::reason::describe_all;
use super::source::{SourceText, Statement};
use super::{Action, Change};
use crate::code::Code;
use crate::text::InstText;

/// Writes the changes of one section.
pub(super) struct Writer<'a> {
    pub source: &'a SourceText<'a>,
    pub code: &'a Code,
    /// Lines of the program where the text gives a branch's distance as a number.
    pub numbered: &'a [usize],
    pub comment: bool,
    pub edits: &'a mut Edits,
    pub changes: &'a mut Vec<Change>,
}

/// Where a line goes in.
enum Place {
    /// Before an instruction and behind its labels.
    Before(u32, Statement),
    /// Behind an instruction.
    Behind(u32, Statement),
    /// Before a line.
    Line(u32),
}

/// Lines between two lines that both programs have.
#[derive(Default)]
struct Gap {
    /// Original waits that went: before the labels, after them.
    old: [Vec<usize>; 2],
    /// Waits of the final program, the same.
    new: [Vec<usize>; 2],
}

impl Writer<'_> {
    /// Walks over both programs at once.
    pub fn write(&mut self, plan: &Plan) -> Result<(), RewriteError> {
        let old_marks = marks(&self.code.program);
        let new_marks = marks(&plan.program);
        let count = self.code.program.lines.len();
        let (mut old, mut new) = (0, 0);
        while old <= count {
            let from_old = old;
            let from_new = new;
            while plan.origins.get(new) == Some(&NEW) {
                new += 1;
            }
            let stop = plan.origins.get(new).map_or(count, |o| *o as usize);
            let mut gap = Gap::default();
            for line in from_new..new {
                gap.new[usize::from(!marked(&new_marks, line + 1..new + 1))].push(line);
            }
            for line in from_old..stop {
                let before =
                    !marked(&old_marks, from_old..line + 1) && marked(&old_marks, line + 1..stop + 1);
                // Between labels nothing is put: such a wait goes with the latter, as what is put there is.
                gap.old[usize::from(!before)].push(line);
            }
            self.gap(plan, &gap, from_old, stop)?;
            if stop >= count {
                break;
            }
            self.kept_line(plan, stop, new);
            (old, new) = (stop + 1, new + 1);
        }
        self.check_distances()
    }

    /// A line that both have: only its operands may differ.
    fn kept_line(&mut self, plan: &Plan, old: usize, new: usize) {
        let (Some(before), Some(after)) = (self.inst(old), plan.program.lines.get(new).map(|l| &l.inst))
        else {
            return;
        };
        if wait_of(before) != wait_of(after) {
            self.change(old, after.clone(), plan, new);
        }
    }

    fn gap(&mut self, plan: &Plan, gap: &Gap, from: usize, anchor: usize) -> Result<(), RewriteError> {
        for side in [0, 1] {
            for class in [Class::Waitcnt, Class::Nop] {
                let is = |program: &Program, line: &usize| {
                    program.lines.get(*line).is_some_and(|l| l.inst.desc.class == class)
                };
                let old: Vec<usize> =
                    gap.old[side].iter().copied().filter(|l| is(&self.code.program, l)).collect();
                let new: Vec<usize> =
                    gap.new[side].iter().copied().filter(|l| is(&plan.program, l)).collect();
                if class == Class::Nop && states(&self.code.program, &old) == states(&plan.program, &new) {
                    continue;
                }
                for pair in 0..old.len().max(new.len()) {
                    match (old.get(pair), new.get(pair)) {
                        (Some(&old), Some(&new)) => {
                            let after = plan.program.lines.get(new).map(|l| &l.inst);
                            if let (Some(after), Some(before)) = (after, self.inst(old))
                                && !is_same(before, after)
                            {
                                self.change(old, after.clone(), plan, new);
                            }
                        }
                        (Some(&old), None) => self.remove(old),
                        (None, Some(&new)) => self.insert(plan, new, side == 0, from, anchor)?,
                        (None, None) => {}
                    }
                }
            }
        }
        Ok(())
    }

    fn inst(&self, line: usize) -> Option<&Inst> {
        self.code.program.lines.get(line).map(|l| &l.inst)
    }

    /// The instruction of a line in the text.
    fn statement(&self, line: usize) -> Option<(u32, Statement)> {
        let number = self.code.places.get(line)?.line?;
        Some((number, self.source.statement(number)?))
    }

    fn change(&mut self, old: usize, after: Inst, plan: &Plan, new: usize) {
        let Some((line, statement)) = self.statement(old) else { return };
        let from = self.source.instruction(&statement).to_owned();
        let text = self.text(&after);
        let operands = text.split_once(' ').map_or("", |(_, operands)| operands);
        self.edits.operands(self.source, &statement, operands);
        let why = self.why(plan, new);
        self.changes.push(Change { line, action: Action::Changed, from: Some(from), to: Some(text), why });
    }

    fn remove(&mut self, old: usize) {
        let Some((line, statement)) = self.statement(old) else { return };
        let from = Some(self.source.instruction(&statement).to_owned());
        self.edits.remove(self.source, &statement);
        self.changes.push(Change { line, action: Action::Removed, from, to: None, why: Vec::new() });
    }

    fn insert(
        &mut self,
        plan: &Plan,
        new: usize,
        before_labels: bool,
        from: usize,
        anchor: usize,
    ) -> Result<(), RewriteError> {
        let Some(inst) = plan.program.lines.get(new).map(|l| &l.inst) else { return Ok(()) };
        let text = self.text(inst);
        let why = self.why(plan, new);
        let written = match (self.comment, why.is_empty()) {
            (true, false) => format!("{text} ; {}", self.comment_of(plan, new)),
            _ => text.clone(),
        };
        let place =
            if before_labels { self.before_labels(from, anchor) } else { self.behind_labels(from, anchor) };
        let line = match place.ok_or_else(|| self.no_place(anchor))? {
            Place::Before(line, statement) => {
                self.edits.before(self.source, &statement, &written);
                line
            }
            Place::Behind(line, statement) => {
                self.edits.behind(self.source, &statement, &written);
                line
            }
            Place::Line(line) => {
                self.edits.line(self.source, line, &written);
                line
            }
        };
        self.changes.push(Change { line, action: Action::Inserted, from: None, to: Some(text), why });
        Ok(())
    }

    /// Where everything that comes to `anchor` passes.
    fn behind_labels(&self, from: usize, anchor: usize) -> Option<Place> {
        if let Some((line, statement)) = self.statement(anchor) {
            return Some(Place::Before(line, statement));
        }
        // Without labels in between it is the same place.
        let labels = marked(&marks(&self.code.program), from..anchor + 1);
        let (line, statement) = self.statement(from.checked_sub(1)?).filter(|_| !labels)?;
        Some(Place::Behind(line, statement))
    }

    /// Where only who falls into `anchor` passes: behind the line above, or at an entry before the labels of branches.
    fn before_labels(&self, from: usize, anchor: usize) -> Option<Place> {
        let program = &self.code.program;
        let above = from.checked_sub(1).and_then(|line| self.statement(line));
        if !program.entries.iter().any(|e| (from..=anchor).contains(&e.at)) {
            return above.map(|(line, statement)| Place::Behind(line, statement));
        }
        let names = program.labels.iter().filter(|l| l.at.is_some_and(|at| (from..=anchor).contains(&at)));
        let names: Vec<&str> = names.map(|l| l.name.as_str()).collect();
        let first = above.map_or(1, |(line, _)| line + 1);
        let (last, _) = self.statement(anchor)?;
        (first..=last)
            .find(|line| self.source.label(*line).is_some_and(|l| names.contains(&l)))
            .map(Place::Line)
    }

    fn no_place(&self, line: usize) -> RewriteError {
        let offset = self.code.places.get(line).map_or(0, |p| p.offset);
        RewriteError::NoPlace { section: self.code.section.clone(), offset }
    }

    fn text(&self, inst: &Inst) -> String {
        InstText { inst, target: self.code.program.target, program: None }.to_string()
    }

    fn why(&self, plan: &Plan, new: usize) -> Vec<String> {
        let line_of = |line: usize| {
            let origin = plan.origins.get(line).filter(|o| **o != NEW)?;
            self.code.places.get(*origin as usize)?.line
        };
        describe_all(plan, new, &line_of)
    }

    /// The same without line numbers, which are other ones in the result.
    fn comment_of(&self, plan: &Plan, new: usize) -> String {
        describe_all(plan, new, &|_| None).join("; ")
    }

    /// An error if a change stands between a branch and where it leads by a number, or where code adds to its own address.
    fn check_distances(&self) -> Result<(), RewriteError> {
        let shifting = self.changes.iter().filter(|c| c.action != Action::Changed).map(|c| c.line);
        let changed: BTreeSet<u32> = shifting.collect();
        let line_at = |line: usize| self.code.places.get(line).and_then(|p| p.line).unwrap_or(0);
        let lines = &self.code.program.lines;
        for &line in self.numbered {
            let to = lines.get(line).and_then(|l| destination(&self.code.program, &l.inst));
            let (from, to) = (line_at(line), to.map_or(0, line_at));
            if changed.range(from.min(to)..=from.max(to)).next().is_some() {
                return Err(RewriteError::Distance { line: from });
            }
        }
        for (line, _) in lines.iter().enumerate().filter(|(_, l)| l.inst.desc.mnemonic == "s_getpc_b64") {
            let adds = |l: &usize| {
                lines.get(*l).is_some_and(|l| matches!(l.inst.desc.mnemonic, "s_add_u32" | "s_addc_u32"))
            };
            let Some(last) = (line + 1..line + GETPC_REACH).rev().find(adds) else { continue };
            if changed.range(line_at(line) + 1..=line_at(last).max(line_at(line) + 1)).next().is_some() {
                return Err(RewriteError::OwnAddress { line: line_at(line) });
            }
        }
        Ok(())
    }
}

/// Behind `s_getpc_b64` come `s_add_u32` and `s_addc_u32`, whose literals count the bytes in between: at most so many lines.
const GETPC_REACH: usize = 5;

fn destination(program: &Program, inst: &Inst) -> Option<usize> {
    inst.operands.iter().find_map(|o| match o {
        gcn_isa::Operand::Label(label) => program.labels.get(label.0 as usize)?.at,
        _ => None,
    })
}

/// The places of labels and entries, in order.
fn marks(program: &Program) -> Vec<usize> {
    let labels = program.labels.iter().filter_map(|l| l.at);
    let mut marks: Vec<usize> = labels.chain(program.entries.iter().map(|e| e.at)).collect();
    marks.sort_unstable();
    marks
}

fn marked(marks: &[usize], range: std::ops::Range<usize>) -> bool {
    marks.get(marks.partition_point(|m| *m < range.start)).is_some_and(|m| *m < range.end)
}

fn states(program: &Program, lines: &[usize]) -> u32 {
    lines.iter().filter_map(|l| program.lines.get(*l)).map(|l| wait_states(&l.inst)).sum()
}

fn is_same(a: &Inst, b: &Inst) -> bool {
    match (wait_of(a), wait_of(b)) {
        (Some(a), Some(b)) => a == b,
        _ => a.operands == b.operands,
    }
}
