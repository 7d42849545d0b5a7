//! The schedule as text: the cycle in which each instruction issues, and the operations for which each wait waits.

use std::fmt::Write;

use gcn_emit::text::InstText;
use gcn_isa::cfg::{Block, Cfg};
use gcn_isa::program::SourceLoc;
use gcn_isa::table::Class;
use gcn_isa::{Inst, Line, Operand, hazards};
use gcn_sim::timed::{Issue, straight};

use super::BuiltKernel;
use super::pressure::source_line;
use crate::sched::Classes;

/// The first and the last column in which the remark after an instruction can begin.
const REMARKS: (usize, usize) = (40, 72);

pub(super) fn text(kernel: &BuiltKernel) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write(&mut out, kernel);
    out
}

fn write(out: &mut String, kernel: &BuiltKernel) -> std::fmt::Result {
    let report = kernel.report();
    let waits = report.waits;
    writeln!(
        out,
        "schedule of `{}` for {}: {} instructions, {} s_waitcnt and {} idle wait states among them",
        kernel.name(),
        kernel.target(),
        report.instructions,
        waits.waitcnt,
        waits.states
    )?;
    writeln!(
        out,
        "line, cycle of one wave alone on its SIMD from the block's first instruction on (loads hit in the L2), class, instruction"
    )?;
    let mut shown = None;
    let cfg = Cfg::build(kernel.program());
    for (number, block) in cfg.blocks.iter().enumerate() {
        write_block(out, kernel, number, block, &mut shown)?;
    }
    Ok(())
}

fn write_block(
    out: &mut String,
    kernel: &BuiltKernel,
    number: usize,
    block: &Block,
    shown: &mut Option<(&'static str, u32)>,
) -> std::fmt::Result {
    let program = kernel.program();
    let lines = &program.lines[block.start..block.end];
    let estimate = straight(program.target, lines.iter().map(|l| &*l.inst));
    let labels = program.labels.iter().filter(|l| l.at == Some(block.start));
    let names: String = labels.map(|l| format!(" {}", l.name)).collect();
    let next: Vec<String> = block.succs.iter().map(usize::to_string).collect();
    let next = if next.is_empty() { "end".to_owned() } else { format!("to {}", next.join(", ")) };
    writeln!(out, "\nblock {number}{names}: {} cycles, {next}", estimate.cycles)?;
    let text = |line: &Line| {
        InstText { inst: &line.inst, target: program.target, program: Some(program) }.to_string()
    };
    let texts: Vec<String> = lines.iter().map(text).collect();
    let widest = texts.iter().map(String::len).max().unwrap_or(0).clamp(REMARKS.0, REMARKS.1);
    for (((line, issue), text), index) in lines.iter().zip(&estimate.issues).zip(&texts).zip(block.start..) {
        if let Some(loc) = line.loc {
            heading(out, loc, shown)?;
        }
        let remark = remark(line, issue);
        let row =
            format!("{index:>5} {:>7}  {:<10}  {text:<widest$}  {remark}", issue.cycle, class(&line.inst));
        writeln!(out, "{}", row.trim_end())?;
    }
    Ok(())
}

/// Appends the source line, if it differs from that of the previous instruction that has one.
fn heading(out: &mut String, loc: SourceLoc, shown: &mut Option<(&'static str, u32)>) -> std::fmt::Result {
    if shown.replace((loc.file, loc.line)) == Some((loc.file, loc.line)) {
        return Ok(());
    }
    let source = source_line(loc).map(|text| format!(" | {}", text.trim())).unwrap_or_default();
    writeln!(out, "{}:{}{source}", loc.file, loc.line)
}

/// The class of the instruction for the text: its name in `interleave!`, or another word if it has none.
fn class(inst: &Inst) -> &'static str {
    match (Classes::of(inst.desc), inst.desc.class) {
        (_, Class::Waitcnt) => "wait",
        (_, Class::Nop) => "idle",
        (_, Class::Branch) => "branch",
        (_, Class::Barrier) => "barrier",
        (_, Class::Endpgm) => "end",
        (class, _) if class.is_empty() => "other",
        (class, _) => class.name(),
    }
}

/// The remark on an instruction: its delay, the time at which its result is available, and its note.
fn remark(line: &Line, issue: &Issue) -> String {
    let mut parts = Vec::new();
    let why = line.note.as_deref();
    match (line.inst.desc.class, line.inst.operands.first()) {
        (Class::Nop, Some(Operand::Imm(_))) => {
            let states = hazards::wait_states(&line.inst);
            parts.push(format!("{states} wait state{}", if states == 1 { "" } else { "s" }));
        }
        _ if issue.held > 0 => parts.push(format!("held {} cycles", issue.held)),
        _ => {}
    }
    if let Some(back) = issue.back {
        parts.push(format!("back at {back}"));
    }
    parts.extend(why.map(|why| why.replace('\n', " ")));
    if parts.is_empty() { String::new() } else { format!("; {}", parts.join("; ")) }
}
