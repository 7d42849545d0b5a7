//! The result of a run, as text and as JSON.

use std::fmt::Write as _;

use gcn_isa::Inst;
use gcn_report::launch;
use gcn_sim::launch::{Out, Output, Prepared, Program};
use gcn_sim::{Stats, timed};
use serde_json::{Map, Value, json};

use super::{Ran, found, trust};
use crate::commands;
use crate::failure::Failure;

/// The number of elements of a buffer that are shown as text.
const SHOWN: usize = 16;

/// A run and its results.
pub struct Report<'r> {
    pub program: &'r Program,
    pub prepared: &'r Prepared,
    pub ran: &'r Ran,
    pub ranges: Option<&'r timed::Ranges>,
    pub estimate: Option<timed::ClockEstimate>,
    pub outputs: &'r [Output],
    pub seconds: f64,
    pub profile: bool,
    pub fidelity: bool,
}

impl Report<'_> {
    fn workgroups(&self) -> u64 {
        self.prepared.grid().iter().map(|n| u64::from(*n)).product()
    }

    /// The note on partial workgroups.
    fn partial(&self) -> String {
        let (items, size) = (self.prepared.global(), self.prepared.workgroup());
        if items.iter().zip(size).all(|(items, size)| items.is_multiple_of(size)) {
            return String::new();
        }
        format!(", the last ones partial: {} x {} x {} work-items in all", items[0], items[1], items[2])
    }

    /// The report as text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let sizes = |s: [u32; 3]| format!("{} x {} x {}", s[0], s[1], s[2]);
        let _ = writeln!(out, "{} on {}", self.program.name(), self.program.target_id());
        let _ = writeln!(
            out,
            "  {} workgroups ({}) of {} work-items ({}){}",
            self.workgroups(),
            sizes(self.prepared.grid()),
            self.prepared.workgroup().iter().product::<u32>(),
            sizes(self.prepared.workgroup()),
            self.partial(),
        );
        match self.ran {
            Ran::Untimed(stats) => self.untimed(&mut out, stats),
            Ran::Timed(report) => out += &report.listing(),
        }
        out.extend(self.ranges.map(timed::Ranges::text));
        out.extend(self.estimate.map(|estimate| estimate.text()));
        self.outputs.iter().for_each(|output| show_output(&mut out, output));
        out
    }

    fn untimed(&self, out: &mut String, stats: &Stats) {
        let rate = stats.wave_instructions as f64 / self.seconds.max(1e-9) / 1e6;
        let _ = writeln!(
            out,
            "  {} waves, {} instructions in {:.3} s ({rate:.1} million a second)",
            stats.waves, stats.wave_instructions, self.seconds
        );
        for (class, count) in &stats.by_class {
            let _ = writeln!(out, "  {count:>12} {}", class.name());
        }
        *out += &found::totals(stats);
        if self.profile {
            let _ = writeln!(out, "executed:");
            for (offset, count, inst) in self.executed(stats) {
                let text = self.program.machine().text(inst);
                let line = self.line(offset).map_or_else(String::new, |line| format!("  ; {line}"));
                let _ = writeln!(out, "  {offset:>#8x} {count:>12} {text}{line}");
            }
        }
        if self.fidelity {
            *out += &trust::text(self.program.machine(), self.executed(stats));
        }
    }

    /// The source line of the instruction at a byte offset; `None` if it is not known.
    fn line(&self, offset: u32) -> Option<String> {
        self.program.machine().line(offset).map(ToString::to_string)
    }

    /// Each executed instruction with its byte offset and how often it was executed.
    fn executed<'s>(&'s self, stats: &'s Stats) -> impl Iterator<Item = (u32, u64, &'s Inst)> {
        let mut counts = stats.by_instruction.iter().peekable();
        self.program.machine().instructions().filter_map(move |(offset, inst)| {
            let (_, count) = counts.next_if(|(at, _)| *at == offset)?;
            Some((offset, *count, inst))
        })
    }

    /// The report as JSON.
    pub fn json(&self, seconds: bool) -> Result<String, Failure> {
        let mut report = launch::json(self.program, self.prepared);
        report.insert(
            "buffers".to_owned(),
            self.outputs.iter().map(|o| launch::buffer(o, usize::MAX)).collect(),
        );
        if seconds {
            report.insert("seconds".to_owned(), json!(self.seconds));
        }
        match self.ran {
            Ran::Untimed(stats) => self.untimed_json(&mut report, stats),
            Ran::Timed(timed) => {
                report.insert("timed".to_owned(), json!(timed));
                report.extend(self.ranges.map(|ranges| ("ranges".to_owned(), json!(ranges))));
                report.extend(self.estimate.map(|estimate| ("estimate".to_owned(), json!(estimate))));
            }
        }
        commands::json(&report)
    }

    fn untimed_json(&self, map: &mut Map<String, Value>, stats: &Stats) {
        map.append(&mut launch::stats(stats));
        let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
        if self.profile {
            let machine = self.program.machine();
            let row = |(offset, count, inst)| {
                json!({
                    "offset": offset, "count": count, "text": machine.text(inst), "line": self.line(offset)
                })
            };
            put("executed", self.executed(stats).map(row).collect());
        }
        if self.fidelity {
            put("fidelity", trust::json(self.program.machine(), self.executed(stats)));
        }
    }
}

fn show_output(out: &mut String, output: &Output) {
    let _ = write!(out, "{}: {} {:?}", output.name, output.element, output.shape);
    if let Some(Out::File(path)) = &output.out {
        let _ = writeln!(out, " written to {}", path.display());
        return;
    }
    let values: Vec<String> = output.numbers().take(SHOWN).map(|n| n.to_string()).collect();
    let more = if output.numbers().count() > SHOWN { ", …" } else { "" };
    let _ = writeln!(out, " = {}{more}", values.join(", "));
}
