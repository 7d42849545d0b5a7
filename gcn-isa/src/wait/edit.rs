//! Puts planned waits into the program.

use crate::program::LabelDef;
use crate::{Inst, Line, Operand, Program, table};

use super::loops::Place;
use super::{Inserted, InsertedKind, Reason};

/// Something to be put in.
pub(super) struct Edit {
    pub place: Place,
    pub kind: InsertedKind,
    /// The instructions; empty if the edit changed an existing line instead.
    pub insts: Vec<Inst>,
    /// Why, with lines as they were before the edit.
    pub reasons: Vec<Reason>,
}

impl Place {
    fn line(self) -> usize {
        match self {
            Place::Before(line) | Place::FallingInto(line) => line,
        }
    }
}

/// An instruction of the `SOPP` format that takes an immediate. Every target has those used here.
pub(super) fn sopp(program: &Program, mnemonic: &str, imm: u16) -> Option<Inst> {
    let desc = table::find(program.target, mnemonic).next()?;
    Some(Inst::new(desc, [Operand::Imm(i64::from(imm))]))
}

/// Applies `edits` and says what was put where; `earlier` insertions are brought up to date.
pub(super) fn apply(program: &mut Program, mut edits: Vec<Edit>, earlier: &mut [Inserted]) -> Vec<Inserted> {
    // Whoever falls into a line passes what stands before its labels first.
    edits.sort_by_key(|e| (e.place.line(), matches!(e.place, Place::Before(_))));
    let map = LineMap::new(&edits);
    for label in &mut program.labels {
        map.shift_label(label);
    }
    // An entry is a label, too; a gap stays before what is put before its line.
    for entry in &mut program.entries {
        entry.at = map.of_label(entry.at);
    }
    for gap in &mut program.gaps {
        *gap += map.before.partition_point(|b| b < gap);
    }
    for inserted in earlier.iter_mut() {
        map.shift(inserted);
    }
    let old = std::mem::take(&mut program.lines);
    program.lines.reserve(old.len() + edits.len());
    let mut done = Vec::with_capacity(edits.len());
    let mut pending = edits.into_iter().peekable();
    for (index, line) in old.into_iter().enumerate() {
        while let Some(edit) = pending.next_if(|e| e.place.line() <= index) {
            done.push(put(program, edit, &map));
        }
        program.lines.push(line);
    }
    for inserted in earlier.iter().chain(&done) {
        let note = super::note(&inserted.reasons);
        for line in program.lines.iter_mut().skip(inserted.at).take(inserted.count.max(1)) {
            line.note = Some(note.clone());
        }
    }
    done
}

fn put(program: &mut Program, edit: Edit, map: &LineMap) -> Inserted {
    let mut inserted =
        Inserted { at: program.lines.len(), count: edit.insts.len(), kind: edit.kind, reasons: edit.reasons };
    for reason in &mut inserted.reasons {
        map.shift_reason(reason);
    }
    for inst in edit.insts {
        program.lines.push(Line { inst, note: None, loc: None });
    }
    inserted
}

/// Where lines go.
struct LineMap {
    /// For each new line the old line before which it is put, in order.
    before: Vec<usize>,
    /// The same, only for those that go before the labels.
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

    /// Where a label goes that stands at old line `at`.
    fn of_label(&self, at: usize) -> usize {
        let above = &self.above_labels;
        let before_labels = above.partition_point(|&b| b <= at) - above.partition_point(|&b| b < at);
        at + self.before.partition_point(|&b| b < at) + before_labels
    }

    fn shift(&self, inserted: &mut Inserted) {
        inserted.at = self.of(inserted.at);
        inserted.reasons.iter_mut().for_each(|r| self.shift_reason(r));
    }

    fn shift_reason(&self, reason: &mut Reason) {
        reason.producer = reason.producer.map(|p| self.of(p));
        reason.consumer = self.of(reason.consumer);
    }
}
