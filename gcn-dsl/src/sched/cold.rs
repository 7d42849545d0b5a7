//! Moves rarely executed code to the end of the program.
//!
//! A taken branch costs time, a fall-through hardly any. In layout order, the branch over the body of an `if` is taken
//! each time the body is *not* executed. So a body with a [`Mark::Cold`] moves to the end of the program: the branch is
//! inverted and leads to the body, and the body ends with a branch back.
//!
//! ```text
//!   s_cbranch_scc0 .after            s_cbranch_scc1 .cold
//!   body                             …
//! .after:                            s_endpgm
//!   …                              .cold:
//!   s_endpgm                         body
//!                                    s_branch .after
//! ```
//!
//! An `else` with such a mark moves in the same way, and the branch over it disappears.

use std::ops::Range;

use gcn_isa::table::{self, Class};
use gcn_isa::{Inst, Label, Line, Operand, Program};
use smallvec::smallvec;

use crate::ir::mark::Mark;

/// The largest number of instructions of a program in which every branch certainly reaches every target. A branch
/// reaches 2^15 dwords, and an instruction has at most four. The waits, which are inserted later, have one dword each,
/// and the limit leaves ample room for them.
const NEAR: usize = 1 << 13;

/// Moves the code at each [`Mark::Cold`] to the end of `program` and removes these marks. The other marks stay at their
/// instructions.
pub fn run(program: &mut Program, marks: &mut Vec<(usize, Mark)>) {
    // Move an outer body first, together with the bodies inside it: if an inner body had already moved, its branch back
    // would look like another entry to the outer one.
    while let Some(at) = marks.iter().position(|(_, mark)| *mark == Mark::Cold) {
        let (line, _) = marks.remove(at);
        if program.lines.len() < NEAR
            && let Some(body) = Body::around(program, line)
            && !in_manual_schedule(marks, &body.lines)
        {
            body.move_to_end(program, marks);
        }
    }
}

/// True if an instruction of `lines`, or the point after them, is in a manual schedule. The instructions of a manual
/// schedule must stay together.
fn in_manual_schedule(marks: &[(usize, Mark)], lines: &Range<usize>) -> bool {
    let mut depth = 0u32;
    for (line, mark) in marks {
        if depth > 0 && *line >= lines.start {
            return true;
        }
        match mark {
            Mark::ManualBegin if *line > lines.end => return false,
            Mark::ManualBegin => depth += 1,
            Mark::ManualEnd => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// The body of an `if`, or its `else`. The instruction before the body is a branch to the instruction after it.
struct Body {
    lines: Range<usize>,
    /// The label after the body.
    after: Label,
    /// The opcode with the opposite condition of the branch before the body; `None` if that branch is unconditional, as
    /// before an `else`.
    inverse: Option<&'static gcn_isa::InstDesc>,
}

impl Body {
    /// The body whose first block begins at `line`. `None` if control can enter the body in other ways than by the
    /// branch or fall-through before it.
    fn around(program: &Program, line: usize) -> Option<Body> {
        let starts = |at: &usize| {
            program.lines[at - 1].inst.desc.class == Class::Branch || labels_at(program, *at).next().is_some()
        };
        let start = (1..=line).rev().find(starts)?;
        let branch = &program.lines[start - 1].inst;
        let after = target(branch)?;
        let end = program.labels[after.0 as usize].at?;
        let inverse = if branch.desc.falls_through() {
            Some(table::find(program.target, branch.desc.entry.inverse).next()?)
        } else {
            None
        };
        let lines = start..end;
        // Code that is also entered from elsewhere does not belong to this `if` alone and may not be cold. The start of
        // an `else` may be entered only by the branch of its own `if`.
        let inside = |label: Label| {
            let at = program.labels[label.0 as usize].at;
            at.is_some_and(|at| lines.contains(&at) && !(at == start && inverse.is_none()))
        };
        let others = program.lines.iter().enumerate().filter(|(at, _)| !lines.contains(at));
        let entered = others.filter_map(|(_, line)| target(&line.inst)).any(inside);
        let last = program.lines.last()?;
        let plain = end > start
            && end < program.lines.len()
            && program.entries.is_empty()
            && program.gaps.is_empty()
            && program.labels.iter().all(|label| label.at != Some(program.lines.len()))
            && !last.inst.desc.falls_through();
        (plain && !entered).then_some(Body { lines, after, inverse })
    }

    fn move_to_end(self, program: &mut Program, marks: &mut [(usize, Mark)]) {
        let Body { lines: Range { start, end }, after, inverse } = self;
        let moved: Vec<Line> = program.lines.drain(start..end).collect();
        let loc = program.lines[start - 1].loc;
        // After an `else` has moved, the unconditional branch over it is unnecessary.
        let kept = if inverse.is_some() { start } else { start - 1 };
        program.lines.drain(kept..start);
        let first = program.lines.len();
        let place = |at: usize| match at {
            _ if at < start => at,
            _ if at < end => at - start + first,
            _ => at - end + kept,
        };
        program.labels.iter_mut().for_each(|label| label.at = label.at.map(place));
        marks.iter_mut().for_each(|(line, _)| *line = place(*line));
        // A stable sort keeps marks on the same line in order.
        marks.sort_by_key(|(line, _)| *line);
        if let Some(inverse) = inverse {
            let cold = program.new_label(format!(".LBB0_cold{}", program.labels.len()));
            program.labels[cold.0 as usize].at = Some(first);
            program.lines[start - 1] = Line { loc, ..Line::new(branch(inverse, cold)) };
        }
        let runs_on = moved.last().is_some_and(|line| line.inst.desc.falls_through());
        program.lines.extend(moved);
        if runs_on && let Some(jump) = table::find(program.target, "s_branch").next() {
            program.lines.push(Line { loc, ..Line::new(branch(jump, after)) });
        }
    }
}

fn branch(desc: &'static gcn_isa::InstDesc, to: Label) -> Inst {
    Inst { desc, operands: smallvec![Operand::Label(to)], mods: desc.default_mods() }
}

fn labels_at(program: &Program, line: usize) -> impl Iterator<Item = Label> {
    let placed = program.labels.iter().enumerate().filter(move |(_, label)| label.at == Some(line));
    placed.map(|(number, _)| Label(number as u32))
}

/// The label that a branch leads to.
fn target(inst: &Inst) -> Option<Label> {
    inst.operands.iter().find_map(|operand| match operand {
        Operand::Label(label) if inst.desc.class == Class::Branch => Some(*label),
        _ => None,
    })
}
