//! The independent checker: does every path through a program keep every rule?
//!
//! It shares the rule table ([`crate::hazards`]) and the counter facts ([`crate::counters::events`]) with whoever puts
//! waits into programs, but no algorithm: wait states are checked by walking *backwards* from each instruction until no
//! rule reaches farther; counters by following forward, over all paths, which operations may be outstanding and how many
//! younger ones each path has at least put behind them.
//!
//! ```
//! use gcn_isa::{Inst, Operand, Program, Reg, Target, check, table};
//!
//! let target = Target::GFX942;
//! let find = |name, form| table::find_form(target, name, form).unwrap();
//! let mut program = Program::new(target, "example");
//! let load = find("global_load_dword", "vaddr");
//! program.push(Inst::new(load, [Reg::v(0, 1).into(), Reg::v(2, 2).into(), Operand::Off]));
//! program.push(Inst::new(find("v_mov_b32_e32", ""), [Reg::v(1, 1).into(), Reg::v(0, 1).into()]));
//! let report = check::check(&program);
//! assert_eq!(report.findings.len(), 1);
//! assert_eq!(report.findings[0].rule, "waitcnt.raw");
//! ```

mod advice;
mod counters;
mod distance;
mod errata;
mod outstanding;
mod path;
mod report;

pub use advice::Advice;
pub use report::{Amount, Finding, Report};

use crate::cfg::Cfg;
use crate::hazards::Config;
use crate::program::Program;
use counters::CounterCheck;
use distance::Distances;
use report::Findings;

/// What is checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Which rules count. The grade holds for the counter rules, too.
    pub rules: Config,
    /// Check what the program means by its barriers and cache instructions as well, not only registers: LDS writes before
    /// a barrier, LDS accesses after an LDS DMA, outstanding accesses before a cache invalidation.
    pub memory_model: bool,
    /// Check for instructions that need a workaround by themselves.
    pub errata: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { rules: Config::default(), memory_model: true, errata: true }
    }
}

/// How many findings a report lists at most: a program of a million instructions without any wait has far more than anybody
/// reads.
pub const MOST_FINDINGS: usize = 100_000;

/// Checks `program` against every rule.
pub fn check(program: &Program) -> Report {
    check_with(program, Options::default())
}

/// Checks `program` against the rules that `options` choose.
pub fn check_with(program: &Program, options: Options) -> Report {
    let cfg = Cfg::build(program);
    let entries = entries(&cfg);
    let mut found = Findings::default();
    Distances::new(program, &cfg, &reachable(&cfg, &entries), options.rules).findings(&mut found);
    CounterCheck::new(program, &cfg, &entries, options).findings(&mut found);
    if options.errata {
        errata::check(program).into_iter().for_each(|f| found.push(|| f));
    }
    let Findings { list: mut findings, omitted } = found;
    findings.sort_by_key(|f| (f.second, f.first));
    let unknown_exits = cfg.blocks.iter().filter(|b| b.unknown_exit).map(|b| b.end - 1).collect();
    Report { target: program.target, instructions: program.lines.len(), findings, omitted, unknown_exits }
}

/// What `program` waits for without need: see [`Advice`]. In order of line.
pub fn advice(program: &Program, options: Options) -> Vec<Advice> {
    let cfg = Cfg::build(program);
    let entries = entries(&cfg);
    let reachable = reachable(&cfg, &entries);
    let mut advice = advice::states(program, &Distances::new(program, &cfg, &reachable, options.rules));
    advice.extend(advice::waits(&CounterCheck::new(program, &cfg, &entries, options)));
    advice.sort_by_key(|a| a.line);
    advice
}

/// The blocks at which control may come in from outside: the first, and if control leaves to unknown places also those
/// that nothing in the program leads to. Otherwise such blocks are dead code.
fn entries(cfg: &Cfg) -> Vec<usize> {
    let computed_jumps = cfg.blocks.iter().any(|b| b.unknown_exit);
    let entered = |b: &usize| *b == 0 || (computed_jumps && cfg.blocks[*b].preds.is_empty());
    (0..cfg.blocks.len()).filter(entered).collect()
}

/// For each block whether a path leads to it.
fn reachable(cfg: &Cfg, entries: &[usize]) -> Vec<bool> {
    let mut reached = vec![false; cfg.blocks.len()];
    let mut open = entries.to_vec();
    while let Some(block) = open.pop() {
        if !std::mem::replace(&mut reached[block], true) {
            open.extend(&cfg.blocks[block].succs);
        }
    }
    reached
}
