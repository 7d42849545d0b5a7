//! Formats a report as text: a summary, and the program with costs in columns.

use std::fmt::Write;

use super::report::{InstructionReport, TimedReport};
use super::stall::Stall;

/// The columns for stall reasons, with their headings.
const COLUMNS: [(&str, Stall); Stall::COUNT] = [
    ("no-inst", Stall::NoInstructionAvailable),
    ("alu-dep", Stall::AluDependency),
    ("waitcnt", Stall::Waitcnt),
    ("internal", Stall::InternalInstruction),
    ("barrier", Stall::BarrierWait),
    ("not-win", Stall::ArbiterNotWin),
    ("ex-stall", Stall::ArbiterWinExStall),
    ("other", Stall::Other),
];

impl TimedReport {
    /// The program with the cost of each instruction: the number of issues, the share of all waves' time, and the cycles for which waves
    /// stalled at it, by reason. If source lines are known, each is shown before its instructions. A summary precedes the program.
    pub fn listing(&self) -> String {
        let mut text = self.summary();
        // Writing to a string cannot fail.
        let _ = self.write_program(&mut text);
        text
    }

    /// The first lines of the listing: cycles, workgroups, utilization, and stall reasons.
    pub fn summary(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write_summary(&mut text);
        text
    }

    fn write_summary(&self, out: &mut String) -> std::fmt::Result {
        let TimedReport { target, cycles, instructions, ipc, .. } = self;
        writeln!(
            out,
            "{target}: {cycles} cycles, {instructions} wave instructions, {ipc:.2} per cycle and CU"
        )?;
        writeln!(
            out,
            "{} of {} workgroups on {} of {} CUs; {} waves per SIMD, limited by {}; {:.1} on average",
            self.simulated_workgroups,
            self.workgroups,
            self.simulated_cus,
            self.cus,
            self.occupancy.waves_per_simd,
            self.occupancy.limited_by,
            self.occupancy.average_waves_per_simd,
        )?;
        let busy = self.pipes.iter().filter(|p| p.issued > 0);
        let busy: Vec<_> = busy.map(|p| format!("{} {:.0}%", p.pipe, 100.0 * p.utilization)).collect();
        writeln!(out, "busy: {}", busy.join(", "))?;
        let total = self.stalls.total();
        let stalls = self.stalls.by_length().into_iter();
        let stalls: Vec<_> =
            stalls.map(|(s, n)| format!("{s} {:.0}%", 100.0 * n as f64 / total as f64)).collect();
        if !stalls.is_empty() {
            writeln!(out, "stalled: {}", stalls.join(", "))?;
        }
        let lds = &self.lds;
        if lds.busy_cycles > 0 {
            let share = 100.0 * lds.conflict_cycles as f64 / lds.busy_cycles as f64;
            writeln!(
                out,
                "LDS: {} bytes in {} cycles of its banks, {share:.0}% of them for conflicts",
                lds.bytes, lds.busy_cycles
            )?;
        }
        let memory = &self.memory;
        if memory.bytes > 0 {
            let rate = |c: super::CacheUse| 100.0 * c.hits as f64 / (c.hits + c.misses).max(1) as f64;
            writeln!(
                out,
                "vector memory: {} bytes; hits L1 {:.0}%, L2 {:.0}%; {} bytes of memory",
                memory.bytes,
                rate(memory.l1),
                rate(memory.l2),
                memory.memory_bytes,
            )?;
        }
        Ok(())
    }

    fn write_program(&self, out: &mut String) -> std::fmt::Result {
        let used: Vec<_> = COLUMNS.iter().filter(|(_, stall)| self.stalls.get(*stall) > 0).collect();
        let all = self.by_instruction.iter().map(cycles).sum::<u64>().max(1);
        write!(out, "\n{:>6} {:>9} {:>6} {:>8}", "offset", "issued", "time", "pipe")?;
        for (heading, _) in &used {
            write!(out, " {heading:>10}")?;
        }
        writeln!(out, "  instruction")?;
        let mut line = None;
        for inst in &self.by_instruction {
            if let Some(new) = inst.line.as_ref().filter(|new| line != Some(*new)) {
                writeln!(out, "{new}:")?;
            }
            line = inst.line.as_ref();
            let share = 100.0 * cycles(inst) as f64 / all as f64;
            write!(out, "{:>6x} {:>9} {share:>5.1}% {:>8}", inst.offset, inst.issued, inst.pipe.name())?;
            for (_, stall) in &used {
                match inst.stalls.get(*stall) {
                    0 => write!(out, " {:>10}", ".")?,
                    n => write!(out, " {n:>10}")?,
                }
            }
            writeln!(out, "  {}", inst.text)?;
        }
        Ok(())
    }
}

/// The cycles that waves spent at an instruction.
fn cycles(inst: &InstructionReport) -> u64 {
    inst.issue_cycles + inst.stalls.total()
}
