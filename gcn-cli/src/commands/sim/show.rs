//! The result of a run, as text and as JSON.

use std::fmt::Write as _;

use gcn_isa::Inst;
use gcn_sim::launch::{Number, Out, Output, Prepared, Program};
use gcn_sim::{Stats, timed};
use serde_json::{Map, Value, json};

use super::{Ran, found, trust};
use crate::commands;
use crate::failure::Failure;

/// The number of elements of a buffer that are shown as text.
const SHOWN: usize = 16;

/// A run.
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
            *out += &trust::text(self.executed(stats));
        }
    }

    /// The source line of an instruction.
    fn line(&self, offset: u32) -> Option<String> {
        self.program.machine().line(offset).map(ToString::to_string)
    }

    /// Each executed instruction with its offset and count.
    fn executed<'s>(&'s self, stats: &'s Stats) -> impl Iterator<Item = (u32, u64, &'s Inst)> {
        let mut counts = stats.by_instruction.iter().peekable();
        self.program.machine().instructions().filter_map(move |(offset, inst)| {
            let (_, count) = counts.next_if(|(at, _)| *at == offset)?;
            Some((offset, *count, inst))
        })
    }

    /// The report as JSON.
    pub fn json(&self, seconds: bool) -> Result<String, Failure> {
        let mut report = json!({
            "kernel": self.program.name(),
            "target": self.program.target_id().to_string(),
            "grid": self.prepared.grid(),
            "global": self.prepared.global(),
            "workgroup": self.prepared.workgroup(),
            "buffers": self.outputs.iter().map(buffer).collect::<Vec<_>>(),
        });
        if let Value::Object(map) = &mut report {
            if seconds {
                map.insert("seconds".to_owned(), json!(self.seconds));
            }
            match self.ran {
                Ran::Untimed(stats) => self.untimed_json(map, stats),
                Ran::Timed(report) => {
                    map.insert("timed".to_owned(), serde_json::to_value(report.as_ref()).unwrap_or_default());
                    map.extend(self.ranges.map(|ranges| ("ranges".to_owned(), json!(ranges))));
                    map.extend(self.estimate.map(|estimate| ("estimate".to_owned(), json!(estimate))));
                }
            }
        }
        commands::json(&report)
    }

    fn untimed_json(&self, map: &mut Map<String, Value>, stats: &Stats) {
        let by_class = stats.by_class.iter();
        let by_class =
            by_class.map(|(class, count)| json!({ "class": class.name(), "count": count })).collect();
        let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
        put("waves", json!(stats.waves));
        put("instructions", json!(stats.wave_instructions));
        put("by_class", by_class);
        put("stale", json!(stats.stale));
        put("findings", json!(stats.findings));
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
            put("fidelity", trust::json(self.executed(stats)));
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

fn buffer(output: &Output) -> Value {
    let mut shown = json!({ "name": output.name, "type": output.element.name(), "shape": output.shape });
    if let Value::Object(map) = &mut shown {
        match &output.out {
            Some(Out::File(path)) => map.insert("file".to_owned(), json!(path)),
            _ => map.insert("values".to_owned(), output.numbers().map(value).collect()),
        };
    }
    shown
}

/// JSON has no infinities and NaNs: they become strings, as in specs.
fn value(number: Number) -> Value {
    match number {
        Number::Int(int) => u64::try_from(int).map_or_else(|_| json!(int as i64), |int| json!(int)),
        Number::Float(float) if float.is_finite() => json!(float),
        Number::Float(float) => json!(float.to_string()),
        Number::Bits(bits) => json!(format!("{bits:#x}")),
    }
}
