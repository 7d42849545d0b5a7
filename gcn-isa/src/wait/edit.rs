//! Inserts planned waits into the program.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::program::LabelDef;
use crate::{Inst, Line, Operand, Program, Target, table};

use super::loops::Place;
use super::{Inserted, InsertedKind, Reason};

/// A planned insertion.
pub(super) struct Edit {
    pub place: Place,
    pub kind: InsertedKind,
    /// The instructions; empty if the edit changed an existing line instead.
    pub insts: SmallVec<[Arc<Inst>; 1]>,
    /// The reasons, with line numbers from before the edit.
    pub reasons: Vec<Reason>,
}

impl Place {
    fn line(self) -> usize {
        match self {
            Place::Before(line) | Place::FallingInto(line) => line,
        }
    }
}

/// An instruction of the `SOPP` format that takes an immediate; `None` if the target lacks it. All targets have the instructions that are
/// used here.
pub(super) fn sopp(target: Target, mnemonic: &str, imm: u16) -> Option<Arc<Inst>> {
    let desc = table::find(target, mnemonic).next()?;
    Some(Arc::new(Inst::new(desc, [Operand::Imm(i64::from(imm))])))
}

/// The `s_nop` instructions of a target. Each is created only once.
pub(super) struct Nops {
    target: Target,
    /// The instructions, indexed by operand.
    made: [Option<Arc<Inst>>; 16],
}

impl Nops {
    /// An empty cache.
    pub fn new(target: Target) -> Nops {
        Nops { target, made: [const { None }; 16] }
    }

    /// The instruction `s_nop imm`; `None` if no `s_nop` has this operand.
    pub fn get(&mut self, imm: u16) -> Option<Arc<Inst>> {
        let made = self.made.get_mut(usize::from(imm))?;
        if made.is_none() {
            *made = sopp(self.target, "s_nop", imm);
        }
        made.clone()
    }
}

/// Applies `edits` and returns the insertions. The line numbers in the `earlier` insertions are updated. With `notes`, the reasons are also
/// written to the lines.
pub(super) fn apply(
    program: &mut Program,
    mut edits: Vec<Edit>,
    earlier: &mut [Inserted],
    notes: bool,
) -> Vec<Inserted> {
    // When control falls through, it executes the instructions before the labels first.
    edits.sort_by_key(|e| (e.place.line(), matches!(e.place, Place::Before(_))));
    let map = LineMap::new(&edits);
    for label in &mut program.labels {
        map.shift_label(label);
    }
    // An entry moves like a label; a gap stays before the instructions that are inserted before its line.
    for entry in &mut program.entries {
        entry.at = map.of_label(entry.at);
    }
    for gap in &mut program.gaps {
        *gap += map.before.partition_point(|b| b < gap);
    }
    for inserted in earlier.iter_mut() {
        inserted.moved(&map.before);
    }
    let mut new = Vec::with_capacity(map.before.len());
    let mut done = Vec::with_capacity(edits.len());
    for Edit { place, kind, insts, mut reasons } in edits {
        let (at, count) = (place.line() + new.len(), insts.len());
        reasons.iter_mut().for_each(|reason| reason.moved(|line| map.of(line)));
        new.extend(insts);
        done.push(Inserted { at, count, kind, reasons });
    }
    spread(&mut program.lines, &map.before, new);
    let mut text = String::new();
    for inserted in earlier.iter().chain(&done).filter(|_| notes) {
        let note = super::note(&inserted.reasons, &mut text);
        for line in program.lines.iter_mut().skip(inserted.at).take(inserted.count.max(1)) {
            line.note = Some(note.clone());
        }
    }
    done
}

/// Inserts each of `new` before the old line in `before` (ascending), within the same vector.
fn spread(lines: &mut Vec<Line>, before: &[usize], mut new: Vec<Arc<Inst>>) {
    let mut end = lines.len();
    lines.reserve_exact(new.len());
    lines.extend(new.iter().map(|inst| Line::new(Arc::clone(inst))));
    // The loop runs backwards, so that every old line is moved only once.
    while let (Some(inst), Some(&at)) = (new.pop(), before.get(new.len())) {
        let shift = new.len() + 1;
        for line in (at..end).rev() {
            lines.swap(line, line + shift);
        }
        lines[at + shift - 1] = Line::new(inst);
        end = at;
    }
}

/// Maps old line numbers to new ones.
struct LineMap {
    /// For each inserted line, the old line before which it is inserted, in ascending order.
    before: Vec<usize>,
    /// The same as `before`, but only for lines that are inserted before the labels.
    above_labels: Vec<usize>,
}

impl LineMap {
    fn new(edits: &[Edit]) -> LineMap {
        let lines = |e: &Edit| std::iter::repeat_n(e.place.line(), e.insts.len());
        let above = |e: &&Edit| matches!(e.place, Place::FallingInto(_));
        LineMap {
            before: edits.iter().flat_map(lines).collect(),
            above_labels: edits.iter().filter(above).flat_map(lines).collect(),
        }
    }

    /// The new index of old line `line`.
    fn of(&self, line: usize) -> usize {
        line + self.before.partition_point(|&b| b <= line)
    }

    fn shift_label(&self, label: &mut LabelDef) {
        label.at = label.at.map(|at| self.of_label(at));
    }

    /// The new position of a label at old line `at`.
    fn of_label(&self, at: usize) -> usize {
        let above = &self.above_labels;
        let before_labels = above.partition_point(|&b| b <= at) - above.partition_point(|&b| b < at);
        at + self.before.partition_point(|&b| b < at) + before_labels
    }
}
