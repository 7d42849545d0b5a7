//! Micro-benchmarks: loops of one instruction in the model, compared with published throughputs.
//!
//! `data/published.tsv` contains the published figures with their sources. For each figure there is a loop of independent instructions,
//! with four waves on every SIMD, that runs with two trip counts. The throughput follows from the difference of the times and of the trip
//! counts. [`markdown`] generates the table in `docs/timing.md`.

use std::fmt::Write;

use gcn_emit::encode::encode_program;
use gcn_emit::text::parse_program;
use gcn_isa::Target;
use gcn_isa::table::{self, InstDesc};
use gcn_isa::target::Family;
use rayon::prelude::*;

use super::{Config, parameters, run};
use crate::core::error::SimError;
use crate::core::kernel::KernelState;
use crate::core::machine::Machine;
use crate::core::memory::Memory;
use crate::core::params::{Params, is_timed};

/// The trip counts of the two runs.
const TRIPS: [u64; 2] = [1, 3];
/// The number of work-items of the workgroup: four waves for each SIMD.
const ITEMS: u32 = 1024;
/// The number of instructions in the loop, enough to make the loop overhead negligible.
const UNROLL: u64 = 128;
/// The number of operations of the matrix instructions in a loop. It is limited, because matrix instructions take long to execute on the
/// host.
const MATRIX_WORK: u64 = 262_144;

/// The unit in which a throughput is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThroughputKind {
    /// Operations of a matrix instruction.
    Matrix,
    /// Operations of a vector instruction.
    Valu,
    /// Bytes of LDS.
    Lds,
    /// Operations of the fastest matrix instruction of a type; it has no separate benchmark.
    Peak,
}

/// A published throughput.
#[derive(Clone, PartialEq, Debug)]
pub struct Published {
    /// The unit of the throughput.
    pub kind: ThroughputKind,
    /// The target.
    pub target: Target,
    /// The type of the numbers, or the kind of access.
    pub what: &'static str,
    /// Assembly text with placeholders, or the mnemonic and modifiers of a matrix instruction.
    pub instruction: &'static str,
    /// The number of operations of a wave's matrix instruction, or of operations or bytes of a lane.
    ops: u64,
    /// The number of operations or bytes per clock and CU (on RDNA, per clock and workgroup processor).
    pub value: f64,
    /// The source of the figure.
    pub source: &'static str,
}

/// The reason why a benchmark could not be run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ThroughputError {
    /// The benchmark could not be assembled.
    #[error("the benchmark of `{instruction}` on {target} cannot be written: {reason}")]
    Program {
        /// The instruction.
        instruction: &'static str,
        /// The target.
        target: Target,
        /// The reason.
        reason: String,
    },
    /// The simulator reported an error.
    #[error(transparent)]
    Sim(#[from] SimError),
}

impl Published {
    fn parse(line: &'static str) -> Option<Published> {
        let mut fields = line.split('\t');
        let mut next = || fields.next();
        let kind = match next()? {
            "matrix" => ThroughputKind::Matrix,
            "valu" => ThroughputKind::Valu,
            "lds" => ThroughputKind::Lds,
            "peak" => ThroughputKind::Peak,
            _ => return None,
        };
        Some(Published {
            kind,
            target: next()?.parse().ok()?,
            what: next()?,
            instruction: next()?,
            ops: next()?.parse().ok()?,
            value: next()?.parse().ok()?,
            source: next()?,
        })
    }

    /// The number of operations or bytes of one instruction of a wave.
    fn work(&self) -> u64 {
        if self.kind == ThroughputKind::Matrix { self.ops } else { self.ops * self.lanes() }
    }

    /// The wave size.
    fn lanes(&self) -> u64 {
        self.target.usual_wave().lanes().into()
    }

    /// The number of instructions in the loop.
    fn unroll(&self) -> u64 {
        // On targets that issue in every cycle, the loop overhead has four times the effect.
        let more = 4 / Params::new(self.target, &[]).number("issue.interval").clamp(1, 4);
        if self.kind == ThroughputKind::Matrix {
            (MATRIX_WORK / self.ops.max(1)).clamp(16, 64) * more
        } else {
            UNROLL * more
        }
    }

    /// The throughput in the model, in operations or bytes per clock and CU; `None` for [`ThroughputKind::Peak`].
    ///
    /// # Errors
    /// [`ThroughputError`] if the target lacks the instruction or the simulator cannot run it.
    pub fn measure(&self) -> Result<Option<f64>, ThroughputError> {
        if self.kind == ThroughputKind::Peak {
            return Ok(None);
        }
        let [short, long] = [self.cycles(TRIPS[0])?, self.cycles(TRIPS[1])?];
        let waves = u64::from(ITEMS) / self.lanes();
        let work = (TRIPS[1] - TRIPS[0]) * self.unroll() * waves * self.work();
        Ok(Some(work as f64 / long.saturating_sub(short).max(1) as f64))
    }

    fn cycles(&self, trips: u64) -> Result<u64, ThroughputError> {
        let machine = self.machine(trips)?;
        let config = Config::one_cu();
        Ok(run(&machine, &mut Memory::new(), [1, 1, 1], [ITEMS, 1, 1], &[], &config)?.cycles)
    }

    fn machine(&self, trips: u64) -> Result<Machine, ThroughputError> {
        let refuse = |reason: String| ThroughputError::Program {
            instruction: self.instruction,
            target: self.target,
            reason,
        };
        let text = self.text(trips).ok_or_else(|| refuse("the target does not have it".to_owned()))?;
        let program = parse_program(&text, self.target, "benchmark").map_err(|e| refuse(e.to_string()))?;
        let code = encode_program(&program).map_err(|e| refuse(e.to_string()))?;
        // With 16 waves in a workgroup, each lane has 128 registers, including AccVGPRs if the register file is unified.
        let state = KernelState {
            wave_size: self.target.usual_wave(),
            workgroup_processors: self.target.has_workgroup_processors(),
            vgprs: 64,
            agprs: if self.target.has_agprs() { 64 } else { 0 },
            lds_bytes: 65_536,
            ..KernelState::default()
        };
        Ok(Machine::new(self.target, &code.bytes, state)?)
    }

    fn text(&self, trips: u64) -> Option<String> {
        let mut body = String::new();
        if self.kind == ThroughputKind::Matrix {
            for i in 0..self.unroll() {
                body += &matrix(self.target, self.instruction, i)?;
            }
        } else {
            (0..self.unroll()).for_each(|i| body += &vector(self.instruction, i));
        }
        // The distance between lanes is the size of the datum, so that lanes access consecutive data.
        let shift = (self.ops.max(4)).ilog2();
        let wait = if self.kind == ThroughputKind::Lds { "s_waitcnt lgkmcnt(0)\n" } else { "" };
        Some(format!(
            "v_lshlrev_b32 v1, {shift}, v0\nv_and_b32 v1, 0x3ff, v1\ns_mov_b32 s4, {trips}\nloop:\n{body}s_sub_u32 s4, s4, 1\n\
             s_cmp_lg_u32 s4, 0\n{wait}s_cbranch_scc1 loop\ns_endpgm"
        ))
    }
}

/// Instruction `i` of a vector or LDS benchmark; destinations rotate among eight register groups.
fn vector(template: &str, i: u64) -> String {
    let first = 16 + i % 8 * 4;
    let one = format!("v{first}");
    let [two, four] = [1, 3].map(|more| format!("v[{first}:{}]", first + more));
    let next = format!("v{}", first + 1);
    template.replace("{d}", &one).replace("{e}", &next).replace("{d2}", &two).replace("{d4}", &four) + "\n"
}

/// Instruction number `i` of a matrix benchmark. `instruction` is `mnemonic modifiers`; the operands come from the instruction table.
fn matrix(target: Target, instruction: &str, i: u64) -> Option<String> {
    let (mnemonic, controls) = instruction.split_once(' ').unwrap_or((instruction, ""));
    let desc = table::find(target, mnemonic).next()?;
    let operands: Vec<String> = desc
        .operands
        .iter()
        .map(|operand| register(target, desc, operand.name, operand.dwords, controls, i))
        .collect();
    Some(format!("{mnemonic} {} {controls}\n", operands.join(", ")))
}

/// The registers of a matrix operand. Instructions alternate between two accumulators.
fn register(target: Target, desc: &InstDesc, name: &str, dwords: u8, controls: &str, i: u64) -> String {
    let sparse = matches!(desc.class, table::Class::Smfmac | table::Class::Swmmac);
    let sums = if target.has_agprs() { ("a", i % 2 * 32) } else { ("v", 32 + i % 2 * 16) };
    // The table gives the operand sizes of the widest formats of f8f6f4 instructions; 4- and 6-bit formats need fewer registers.
    let dwords = match (name, controls) {
        ("src0" | "src1", "cbsz:4 blgp:4") => 4,
        ("src0" | "src1", "cbsz:2 blgp:2") => 6,
        _ => dwords,
    };
    let (file, first) = match name {
        "vdst" => sums,
        "src2" if !sparse => sums,
        "src0" => ("v", 2),
        "src1" => ("v", 10),
        _ => ("v", 18),
    };
    match dwords {
        0 | 1 => format!("{file}{first}"),
        n => format!("{file}[{first}:{}]", first + u64::from(n) - 1),
    }
}

/// All published throughputs.
pub fn published() -> impl Iterator<Item = Published> {
    include_str!("../../data/published.tsv").lines().filter_map(Published::parse)
}

/// The table of published and modelled throughputs, and the table of parameters, as Markdown.
///
/// # Errors
/// The errors of [`Published::measure`].
pub fn markdown() -> Result<String, ThroughputError> {
    let rows: Vec<Published> = published().collect();
    let measured = rows.par_iter().map(Published::measure).collect::<Result<Vec<_>, _>>()?;
    let all: Vec<_> = rows.iter().zip(measured).collect();
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_throughputs(&mut out, &all);
    let _ = write_parameters(&mut out);
    Ok(out)
}

fn write_throughputs(out: &mut String, rows: &[(&Published, Option<f64>)]) -> std::fmt::Result {
    let heads = [
        (
            ThroughputKind::Peak,
            "Matrix instructions, the best of each type",
            "operations per clock and CU, or on RDNA per clock and workgroup processor",
            "type",
        ),
        (
            ThroughputKind::Valu,
            "Vector ALU",
            "operations per clock and CU, or on RDNA per clock and workgroup processor",
            "instruction",
        ),
        (ThroughputKind::Lds, "LDS", "bytes per clock and CU", "instruction"),
        (
            ThroughputKind::Matrix,
            "Matrix instructions",
            "operations per clock and CU, or on RDNA per clock and workgroup processor",
            "instruction",
        ),
    ];
    for (kind, head, unit, subject) in heads {
        writeln!(out, "### {head}\n\nThe numbers are {unit}.\n")?;
        writeln!(out, "| target | {subject} | published | model | difference | source |")?;
        writeln!(out, "|---|---|--:|--:|--:|---|")?;
        for (row, measured) in rows.iter().filter(|(row, _)| row.kind == kind) {
            let measured = measured.unwrap_or_else(|| best(rows, row));
            let off = 100.0 * (measured / row.value - 1.0);
            let name = match kind {
                ThroughputKind::Peak => row.what.to_owned(),
                ThroughputKind::Matrix => format!("`{}`", row.instruction),
                _ => format!("{}: `{}`", row.what, row.instruction.split(' ').next().unwrap_or("")),
            };
            let off = if off.abs() < 0.05 { "0".to_owned() } else { format!("{off:+.1}%") };
            writeln!(
                out,
                "| {} | {name} | {} | {measured:.0} | {off} | {} |",
                row.target, row.value, row.source
            )?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// The highest throughput of the matrix instructions with the type of `peak`.
fn best(rows: &[(&Published, Option<f64>)], peak: &Published) -> f64 {
    let same = |row: &Published| {
        row.kind == ThroughputKind::Matrix && row.target == peak.target && row.what == peak.what
    };
    rows.iter().filter(|(row, _)| same(row)).filter_map(|(_, measured)| *measured).fold(0.0, f64::max)
}

/// The names of those targets that belong to a family, as text. If they are all targets of the family that have a model, the family's name;
/// `None` if there are none.
fn those(targets: &[Target], modelled: &[Target], family: Family) -> Option<String> {
    let of = |targets: &[Target]| -> Vec<&str> {
        targets.iter().filter(|target| target.family() == family).map(|target| target.name()).collect()
    };
    let (own, all) = (of(targets), of(modelled));
    let name = if own == all { format!("{family:?}") } else { own.join(", ") };
    (!own.is_empty()).then_some(name)
}

/// Writes one table of all parameters, with values by target if they differ.
fn write_parameters(out: &mut String) -> std::fmt::Result {
    writeln!(
        out,
        "### Parameters\n\n| parameter | targets | value | range | unit | grade | source |\n|---|---|--:|---|---|---|---|"
    )?;
    let mut rows: Vec<(super::Parameter, Vec<Target>)> = Vec::new();
    let modelled: Vec<Target> =
        Target::KNOWN.into_iter().filter(|t| t.is_first_of_its_set() && is_timed(*t)).collect();
    for target in modelled.iter().copied() {
        for parameter in parameters(target) {
            match rows.iter_mut().find(|(other, _)| *other == parameter) {
                Some((_, targets)) => targets.push(target),
                None => {
                    let after = rows.iter().rposition(|(other, _)| other.name == parameter.name);
                    rows.insert(after.map_or(rows.len(), |at| at + 1), (parameter, vec![target]));
                }
            }
        }
    }
    for (parameter, targets) in &rows {
        let names = match targets.len() == modelled.len() {
            true => "all".to_owned(),
            false => Family::ALL
                .into_iter()
                .filter_map(|family| those(targets, &modelled, family))
                .collect::<Vec<_>>()
                .join(", "),
        };
        let super::Parameter { name, value, unit, grade, source, range } = parameter;
        let range = range.as_ref().map_or_else(String::new, |[low, high]| match *unit {
            // The lower end of the range is the value itself.
            "lanes" => format!("or {high}"),
            _ => format!("{low} to {high}"),
        });
        writeln!(out, "| `{name}` | {names} | {value} | {range} | {unit} | {grade} | {source} |")?;
    }
    Ok(())
}
