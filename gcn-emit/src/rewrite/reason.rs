//! Describes the reasons of a wait in words.

use std::fmt::Write as _;

use gcn_isa::Program;
use gcn_isa::wait::{Demand, Inserted, Reason};

use super::plan::Plan;

/// The maximum number of insertions at one line, with a margin: the longest wait needs two `s_nop`.
const MOST_AT_ONE_LINE: usize = 8;

/// The reasons of the wait at a line of the planned program. `line_of` returns the line of the file, or `None` if lines should not be
/// named.
pub(super) fn describe_all(plan: &Plan, line: usize, line_of: &dyn Fn(usize) -> Option<u32>) -> Vec<String> {
    let own = |i: &&Inserted| (i.at..i.at + i.count.max(1)).contains(&line);
    let mut texts: Vec<String> = Vec::new();
    let behind = plan.inserted.partition_point(|i| i.at <= line);
    let near = plan.inserted.get(behind.saturating_sub(MOST_AT_ONE_LINE)..behind).unwrap_or_default();
    for reason in near.iter().filter(own).flat_map(|i| &i.reasons) {
        let text = describe(&plan.program, reason, line_of);
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

/// Describes one reason: the rule, the two instructions, the registers that they share, the required and the present
/// wait.
pub(super) fn describe(program: &Program, reason: &Reason, line_of: &dyn Fn(usize) -> Option<u32>) -> String {
    let name = |line: usize| {
        let mnemonic = program.lines.get(line).map_or("?", |l| l.inst.desc.printed);
        let place = line_of(line).map_or_else(String::new, |n| format!(" (line {n})"));
        format!("{mnemonic}{place}")
    };
    let mut text = String::new();
    let amount = match reason.demand {
        Demand::Count { counter, needed, .. } => {
            let _ = write!(text, "{}: ", reason.rule);
            format!("{}({needed})", counter.name(program.target.instruction_set()))
        }
        Demand::States { needed, present } => {
            let _ = write!(text, "{}: ", reason.rule);
            format!("{needed} wait state{}, {present} there", if needed == 1 { "" } else { "s" })
        }
        Demand::Remedy { fix, target } => {
            let _ = write!(text, "{}: ", reason.rule);
            fix.words(target)
        }
    };
    if let Some(reg) = reason.reg {
        let _ = write!(text, "{reg} of ");
    }
    match reason.producer {
        Some(producer) => {
            let _ = write!(text, "{}, then ", name(producer));
        }
        None => text.push_str("what was there before, then "),
    }
    let _ = write!(text, "{}{}: {amount}", name(reason.consumer), reason.via.words());
    text
}
