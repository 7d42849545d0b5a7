//! Applies a plan to the text: inserts, changes and removes waits.

use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::sync::Arc;

use gcn_isa::cfg::OwnAddress;
use gcn_isa::counters::WaitCnt;
use gcn_isa::hazards::wait_states;
use gcn_isa::program::{Jump, Line};
use gcn_isa::reg::RegUnit;
use gcn_isa::table::{Access, Behaviours, Class};
use gcn_isa::{Inst, Operand, Program};
use smallvec::SmallVec;

use super::RewriteError;
use super::edit::Edits;
use super::plan::{NEW, Plan};
use super::reason::describe_all;
use super::source::{SourceText, Statement};
use super::{Action, Change};
use crate::asm::Origin;
use crate::code::Code;
use crate::text::InstText;

/// Writes the changes of one section.
pub(super) struct Writer<'a> {
    pub source: &'a SourceText<'a>,
    origins: &'a [Origin],
    pub code: &'a Code,
    /// The lines of the program whose text gives a branch distance as a number.
    numbered: &'a [usize],
    /// True if reasons are written as comments.
    pub comment: bool,
    edits: &'a mut Edits,
    /// The list of changes, if the caller requests one.
    pub changes: Option<&'a mut Vec<Change>>,
    /// True if changes are recorded without reasons.
    pub brief: bool,
    /// The lines of the text at which text was inserted or removed.
    shifted: Vec<u32>,
}

/// The position of an insertion.
enum Place {
    /// Before an instruction and after its labels.
    Before(u32, Statement),
    /// After an instruction.
    Behind(u32, Statement),
    /// Before a line.
    Line(u32),
}

/// The waits between two lines that are in both the original and the planned program.
#[derive(Default)]
struct Gap {
    /// The original waits that are removed: those before the labels, and those after them.
    old: [SmallVec<[usize; 4]>; 2],
    /// The waits of the planned program: those before the labels, and those after them.
    new: [SmallVec<[usize; 4]>; 2],
}

impl<'a> Writer<'a> {
    /// A writer that adds its changes to `edits`.
    pub fn new(
        source: &'a SourceText<'a>,
        (origins, code): (&'a [Origin], &'a Code),
        numbered: &'a [usize],
        edits: &'a mut Edits,
    ) -> Writer<'a> {
        let (comment, brief, changes, shifted) = (false, false, None, Vec::new());
        Writer { source, origins, code, numbered, comment, edits, changes, brief, shifted }
    }

    /// Walks through the original and the planned program in parallel.
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
            if (from_new, from_old) == (new, stop) && stop < count {
                self.kept_line(plan, stop, new)?;
                (old, new) = (stop + 1, new + 1);
                continue;
            }
            let mut gap = Gap::default();
            for line in from_new..new {
                gap.new[usize::from(!marked(&new_marks, line + 1..new + 1))].push(line);
            }
            for line in from_old..stop {
                let before =
                    !marked(&old_marks, from_old..line + 1) && marked(&old_marks, line + 1..stop + 1);
                // Nothing is inserted between labels. A wait between labels counts as one after the last label, where other insertions are
                // placed.
                gap.old[usize::from(!before)].push(line);
            }
            self.gap(plan, &gap, from_old, stop)?;
            if stop >= count {
                break;
            }
            self.kept_line(plan, stop, new)?;
            (old, new) = (stop + 1, new + 1);
        }
        self.check_distances()
    }

    /// Removes these lines and inserts instructions before others, at their positions in the text. The output of a macro or an included
    /// file is not changed. Returns the number of insertions.
    pub fn hints(&mut self, removed: &[usize], put: &[(usize, Inst)]) -> Result<usize, RewriteError> {
        for &line in removed {
            if self.statement(line).is_some() {
                self.remove(line)?;
            }
        }
        let mut count = 0;
        for (line, inst) in put {
            let Some((number, statement)) = self.statement(*line) else { continue };
            self.edits.before(self.source, &statement, &self.text(inst));
            self.shifted.push(number);
            count += 1;
        }
        self.check_distances().map(|()| count)
    }

    /// Handles a line that is in both programs: only its operands may differ.
    fn kept_line(&mut self, plan: &Plan, old: usize, new: usize) -> Result<(), RewriteError> {
        let lines = self.code.program.lines.get(old).zip(plan.program.lines.get(new));
        if let Some((before, after)) = lines
            && !Arc::ptr_eq(&before.inst, &after.inst)
            && WaitCnt::of(&before.inst) != WaitCnt::of(&after.inst)
        {
            self.change(old, &after.inst, plan, new)?;
        }
        Ok(())
    }

    fn gap(&mut self, plan: &Plan, gap: &Gap, from: usize, anchor: usize) -> Result<(), RewriteError> {
        for side in [0, 1] {
            for class in [Class::Waitcnt, Class::Nop] {
                let is = |program: &Program, line: &usize| {
                    program.lines.get(*line).is_some_and(|l| l.inst.desc.class == class)
                };
                let old: SmallVec<[usize; 4]> =
                    gap.old[side].iter().copied().filter(|l| is(&self.code.program, l)).collect();
                let new: SmallVec<[usize; 4]> =
                    gap.new[side].iter().copied().filter(|l| is(&plan.program, l)).collect();
                if class == Class::Nop && states(&self.code.program, &old) == states(&plan.program, &new) {
                    continue;
                }
                for pair in 0..old.len().max(new.len()) {
                    match (old.get(pair), new.get(pair)) {
                        (Some(&old), Some(&new)) => {
                            let after = plan.program.lines.get(new).map(|l| &*l.inst);
                            if let (Some(after), Some(before)) = (after, self.inst(old))
                                && !is_same(before, after)
                            {
                                // If only the operands differ, only they are rewritten.
                                if before.desc.mnemonic == after.desc.mnemonic {
                                    self.change(old, after, plan, new)?;
                                } else {
                                    self.remove(old)?;
                                    self.insert(plan, new, side == 0, from, anchor)?;
                                }
                            }
                        }
                        (Some(&old), None) => self.remove(old)?,
                        (None, Some(&new)) => self.insert(plan, new, side == 0, from, anchor)?,
                        (None, None) => {}
                    }
                }
            }
        }
        Ok(())
    }

    fn inst(&self, line: usize) -> Option<&Inst> {
        self.code.program.lines.get(line).map(|l| &*l.inst)
    }

    /// The position in the text of the instruction in a line; `None` if the text does not contain it as an instruction.
    fn statement(&self, line: usize) -> Option<(u32, Statement)> {
        let place = self.code.places.get(line).filter(|place| place.origin.is_none())?;
        let number = place.line?;
        Some((number, self.source.statement(number)?))
    }

    fn change(&mut self, old: usize, after: &Inst, plan: &Plan, new: usize) -> Result<(), RewriteError> {
        let Some((line, statement)) = self.statement(old) else {
            return self.expanded(old).map_or(Ok(()), Err);
        };
        let text = self.text(after);
        let operands = text.split_once(' ').map_or("", |(_, operands)| operands);
        self.edits.operands(self.source, &statement, operands);
        let from = self.source.instruction(&statement);
        self.record(line, Action::Changed, Some(from), Some(text), Some((plan, new)));
        Ok(())
    }

    fn remove(&mut self, old: usize) -> Result<(), RewriteError> {
        let Some((line, statement)) = self.statement(old) else {
            return self.expanded(old).map_or(Ok(()), Err);
        };
        self.edits.remove(self.source, &statement);
        self.record(line, Action::Removed, Some(self.source.instruction(&statement)), None, None);
        Ok(())
    }

    /// Records a change. `reason` is the line of the planned program whose reasons are described.
    fn record(
        &mut self,
        line: u32,
        action: Action,
        from: Option<&str>,
        to: Option<String>,
        reason: Option<(&Plan, usize)>,
    ) {
        if action != Action::Changed {
            self.shifted.push(line);
        }
        let why = match reason {
            Some((plan, new)) if self.changes.is_some() && !self.brief => self.why(plan, new),
            _ => Vec::new(),
        };
        if let Some(changes) = &mut self.changes {
            changes.push(Change { line, action, from: from.map(str::to_owned), to, why });
        }
    }

    fn insert(
        &mut self,
        plan: &Plan,
        new: usize,
        before_labels: bool,
        from: usize,
        anchor: usize,
    ) -> Result<(), RewriteError> {
        let Some(inst) = plan.program.lines.get(new).map(|l| &*l.inst) else { return Ok(()) };
        let mut text = self.text(inst);
        let length = text.len();
        if self.comment {
            let comment = self.comment_of(plan, new);
            if !comment.is_empty() {
                let _ = write!(text, " ; {comment}");
            }
        }
        let place =
            if before_labels { self.before_labels(from, anchor) } else { self.behind_labels(from, anchor) };
        let line = match place.ok_or_else(|| self.no_place(anchor))? {
            Place::Before(line, statement) => {
                self.edits.before(self.source, &statement, &text);
                line
            }
            Place::Behind(line, statement) => {
                self.edits.behind(self.source, &statement, &text);
                line
            }
            Place::Line(line) => {
                self.edits.line(self.source, line, &text);
                line
            }
        };
        text.truncate(length);
        self.record(line, Action::Inserted, None, Some(text), Some((plan, new)));
        Ok(())
    }

    /// A position before `anchor` that every path to `anchor` passes; `None` if the text has no such position.
    fn behind_labels(&self, from: usize, anchor: usize) -> Option<Place> {
        if let Some((line, statement)) = self.statement(anchor) {
            return Some(Place::Before(line, statement));
        }
        // If there are no labels in between, the end of the previous instruction is the same position.
        let labels = marked(&marks(&self.code.program), from..anchor + 1);
        let (line, statement) = self.statement(from.checked_sub(1)?).filter(|_| !labels)?;
        Some(Place::Behind(line, statement))
    }

    /// A position before `anchor` that only fall-through into `anchor` passes, but no branch: after the previous instruction or, at an
    /// entry, before the labels of branches. `None` if the text has no such position.
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
        if let Some(error) = self.expanded(line) {
            return error;
        }
        let offset = self.code.places.get(line).map_or(0, |p| p.offset);
        RewriteError::NoPlace { section: self.code.section.clone(), offset }
    }

    /// The error for a wait inside or before the expansion of a call; `None` if the line is not in an expansion.
    fn expanded(&self, line: usize) -> Option<RewriteError> {
        let place = self.code.places.get(line)?;
        let origin = self.origins.get(place.origin? as usize)?.to_string();
        Some(RewriteError::Expanded { line: place.line?, origin })
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

    /// The reasons as a comment, without line numbers, which would be wrong in the result.
    fn comment_of(&self, plan: &Plan, new: usize) -> String {
        describe_all(plan, new, &|_| None).join("; ")
    }

    /// An error if text was inserted or removed between a branch with a numeric distance and its target, or where code adds to its own
    /// address.
    fn check_distances(&self) -> Result<(), RewriteError> {
        let mut shifted = self.shifted.clone();
        shifted.sort_unstable();
        let shifts = |lines: RangeInclusive<u32>| {
            let next = shifted.get(shifted.partition_point(|l| l < lines.start()));
            next.is_some_and(|line| lines.contains(line))
        };
        let line_at = |line: usize| self.code.places.get(line).and_then(|p| p.line).unwrap_or(0);
        let lines = &self.code.program.lines;
        let long = |(_, l): &(usize, &Line)| l.inst.desc.does(Behaviours::JUMPS_BY);
        let long = lines.iter().enumerate().filter(long).map(|(line, _)| line);
        for line in self.numbered.iter().copied().chain(long.filter(|line| self.ends_with_number(*line))) {
            let to = lines.get(line).and_then(|l| destination(&self.code.program, l));
            let (from, to) = (line_at(line), to.map_or(0, line_at));
            if shifts(from.min(to)..=from.max(to)) {
                return Err(RewriteError::Distance { line: from });
            }
        }
        for (line, l) in lines.iter().enumerate().filter(|(_, l)| l.inst.desc.does(Behaviours::READS_PC)) {
            let Some(last) = last_use(&self.code.program, line, &l.inst) else { continue };
            if shifts(line_at(line) + 1..=line_at(last)) {
                return Err(RewriteError::OwnAddress { line: line_at(line) });
            }
            let Some((sum, to)) = self.distance_in_bytes(line) else { continue };
            let (from, to) = (line_at(line), line_at(to));
            if shifts(from.min(to)..=from.max(to)) {
                return Err(RewriteError::Bytes { line: line_at(sum) });
            }
        }
        Ok(())
    }
}

impl Writer<'_> {
    /// For an `s_getpc_b64` at `line`: the line that adds a numeric distance to the returned address, and the line at the resulting
    /// address. `None` if the code adds no distance, or if the text gives it by labels.
    fn distance_in_bytes(&self, line: usize) -> Option<(usize, usize)> {
        let lines = self.code.program.lines.get(line..)?;
        let own = OwnAddress::of(lines.iter().map(|l| &*l.inst))?;
        let sum = line + 1 + own.low;
        let from = self.code.places.get(line + 1)?.offset;
        let to = self.code.line_at(from.checked_add_signed(own.distance)?)?;
        self.ends_with_number(sum).then_some((sum, to))
    }

    /// True if the text gives the last operand of an instruction as a number.
    fn ends_with_number(&self, line: usize) -> bool {
        let statement = self.code.places.get(line).and_then(|p| self.source.statement(p.line?));
        let text = statement.and_then(|statement| self.source.text.get(statement.span));
        text.and_then(|text| text.rsplit([',', ' ', '\t']).next()).is_some_and(|operand| {
            let number = operand.trim_start_matches("lit(").trim_start_matches("lit64(");
            number.starts_with(|c: char| c == '-' || c.is_ascii_digit())
        })
    }
}

/// The last line that computes with a half of the address that `s_getpc_b64` at `line` returns, or with a copy of it, or that loads from
/// that address. The constants in such instructions depend on the bytes in between; constants in instructions that only use their results
/// do not. `None` if there is none.
fn last_use(program: &Program, line: usize, getpc: &Inst) -> Option<usize> {
    let mut halves: SmallVec<[RegUnit; 4]> = getpc.writes().iter().flat_map(|w| w.reg.units()).collect();
    let mut last = None;
    for (at, l) in program.lines.iter().enumerate().skip(line + 1).take(OwnAddress::REACH) {
        if l.inst.desc.ends_block() {
            break;
        }
        let (reads, writes) = (l.inst.reads(), l.inst.writes());
        let takes = reads.iter().any(|r| r.reg.units().any(|u| halves.contains(&u)));
        let written = || writes.iter().flat_map(|w| w.reg.units());
        halves.retain(|half| !written().any(|w| w == *half));
        let sources = l.inst.desc.operands.iter().filter(|o| o.access != Access::Write).count();
        match l.inst.desc.class {
            _ if !takes => {}
            // Moves and sign extensions produce copies of a half.
            Class::Salu | Class::Valu if sources == 1 => halves.extend(written()),
            Class::Salu | Class::Valu | Class::SmemLoad => last = Some(at),
            _ => {}
        }
        if halves.is_empty() {
            break;
        }
    }
    last
}

fn destination(program: &Program, line: &Line) -> Option<usize> {
    let label = line.inst.operands.iter().find_map(|o| match o {
        Operand::Label(label) => Some(*label),
        _ => None,
    });
    let jump = match line.jump {
        Some(Jump::To(label)) => Some(label),
        _ => None,
    };
    program.labels.get(label.or(jump)?.0 as usize)?.at
}

/// The positions of labels and entries, in order.
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
    match (WaitCnt::of(a), WaitCnt::of(b)) {
        (Some(a), Some(b)) => a == b,
        _ => a.desc.mnemonic == b.desc.mnemonic && a.operands == b.operands,
    }
}
