//! The independent checker, which decides whether every path through a program satisfies every rule.
//!
//! The checker uses the same rule table ([`crate::hazards`]) and the same facts about counters ([`crate::counters::events`]) as the
//! inserter of waits, but none of its algorithms. Wait states are checked by walking *backwards* from each instruction until no rule
//! reaches farther. Counters are checked by a forward dataflow analysis over all paths. It computes the operations that may be outstanding
//! and, for each of them, a lower bound on the number of younger operations that every path has issued since.
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

mod access;
mod addresses;
mod advice;
mod barriers;
mod calls;
mod choices;
mod counters;
mod distance;
mod errata;
mod facts;
mod msb;
mod node;
mod operation;
mod outstanding;
mod path;
mod phases;
mod remedies;
mod report;
mod vccz;

pub use advice::Advice;
pub use report::{Amount, Caveat, CheckReport, Finding, NotListed};

use std::collections::BTreeSet;

use crate::cfg::Flow;
use crate::counters::{self as events, MemoryEffect};
use crate::hazards::Config;
use crate::hazards::counter::{VCCZ_HALF, VGPR_MSB};
use crate::indexing::Indexing;
use crate::inst::Inst;
use crate::program::Program;
use crate::table::Class;
use counters::CounterCheck;
use distance::Distances;
use facts::Facts;
use report::Findings;

/// Options of the checker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// The rules to check. The minimum grade also applies to the counter rules.
    pub rules: Config,
    /// The order of memory accesses that the program's barriers and cache instructions are assumed to ensure, in addition to the order of
    /// accesses to registers.
    pub memory_model: MemoryModel,
    /// True to check for instructions that need a workaround regardless of the surrounding code.
    pub errata: bool,
}

/// What the checker assumes about the addresses of memory accesses, which it does not know. The assumption decides whether it reports LDS
/// accesses before a barrier and after an LDS DMA, and accesses that are outstanding at a cache invalidation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryModel {
    /// No assumption: only registers are checked.
    Off,
    /// A program may have several buffers in LDS: while data arrive in one buffer, the program uses others and executes barriers. Therefore
    /// only the following is reported:
    ///
    /// - An LDS DMA, once, if LDS is read before the DMA has completed, and no LDS read follows a wait for the DMA.
    /// - An asynchronous copy, once, for the same reason; also if an access before the wait is known to be to bytes of the copy.
    /// - An LDS write or LDS DMA that is outstanding at a barrier, for each such barrier, unless the program shows that a later barrier
    ///   publishes the data.
    /// - An LDS read that is outstanding at a barrier, once, if LDS is written between that barrier and the next.
    Sure,
    /// Any two LDS accesses may be to the same bytes, and every barrier orders all accesses before it.
    Strict,
}

impl MemoryModel {
    /// The LDS accesses that require that loads into LDS are done.
    fn lds_accesses(self) -> MemoryEffect {
        match self {
            MemoryModel::Off => MemoryEffect::empty(),
            MemoryModel::Sure => MemoryEffect::LDS_READ,
            MemoryModel::Strict => MemoryEffect::LDS_READ.union(MemoryEffect::LDS_WRITE),
        }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options { rules: Config::default(), memory_model: MemoryModel::Sure, errata: true }
    }
}

/// The maximum number of findings of each grade that a report lists. A program of a million instructions without any wait has far more
/// findings than anybody would read. Further findings are only counted ([`CheckReport::not_listed`]).
pub const MOST_FINDINGS: usize = 100_000;

/// Checks `program` against every rule.
pub fn check(program: &Program) -> CheckReport {
    check_with(program, Options::default())
}

/// Checks `program` against the rules that `options` choose.
pub fn check_with(program: &Program, options: Options) -> CheckReport {
    let flow = options.rules.flow(program);
    let mut found = Findings::default();
    Distances::new(program, &flow, options.rules).findings(&mut found);
    counters(program, &flow, options, &mut found);
    remedies::findings(program, &flow, options.rules, &mut found);
    if options.errata {
        errata::check(program, options.rules).into_iter().for_each(|f| found.push(f));
        if VCCZ_HALF.holds_on(program.target) && options.rules.counts(&VCCZ_HALF) {
            vccz::check(program, &flow).into_iter().for_each(|f| found.push(f));
        }
        if VGPR_MSB.holds_on(program.target) && options.rules.counts(&VGPR_MSB) {
            msb::check(program, &Indexing::of(program, &flow)).into_iter().for_each(|f| found.push(f));
        }
    }
    let Findings { list: mut findings, not_listed, undecided, .. } = found;
    findings.sort_by_key(|f| (f.second, f.first));
    let unknown_exits = flow.unknown_exits().collect();
    CheckReport {
        target: program.target,
        instructions: program.lines.len(),
        findings,
        not_listed,
        undecided,
        unknown_exits,
    }
}

/// Findings of the rules that forbid certain sequences of instructions. Only RDNA targets have such rules ([`crate::hazards::remedy`]).
///
/// ```
/// use gcn_isa::check;
/// use gcn_isa::hazards::Config;
/// use gcn_isa::{Inst, Program, Reg, Target, table};
///
/// let mut program = Program::new(Target::GFX1100, "f");
/// let find = |name| table::find(Target::GFX1100, name).next().unwrap();
/// program.push(Inst::new(find("v_exp_f32_e32"), [Reg::v(0, 1).into(), Reg::v(1, 1).into()]));
/// program.push(Inst::new(find("v_mov_b32_e32"), [Reg::v(2, 1).into(), Reg::v(0, 1).into()]));
/// let found = check::remedies(&program, Config::default());
/// assert_eq!((found[0].rule, found[0].first, found[0].second), ("rdna3.trans-use", Some(0), 1));
/// ```
pub fn remedies(program: &Program, rules: Config) -> Vec<Finding> {
    let mut found = Findings::default();
    remedies::findings(program, &rules.flow(program), rules, &mut found);
    found.list.sort_by_key(|f| (f.second, f.first));
    found.list
}

/// Findings of the counter rules: first those on paths that the program shows, then those on paths through jumps with
/// unknown targets.
fn counters(program: &Program, flow: &Flow, options: Options, found: &mut Findings) {
    let facts = Facts::of(program, flow, options);
    let check = CounterCheck::new(program, flow, &facts, options);
    if !flow.has_guesses() {
        check.findings(found);
        return;
    }
    let sure = without_guesses(program, flow);
    let facts = Facts::of(program, &sure, options);
    let known = CounterCheck::new(program, &sure, &facts, options).findings(found);
    check.findings_beyond(&known, found);
}

/// The control flow of `program` without edges for jumps with unknown targets. Instead, control is assumed to enter from outside at all
/// possible targets of these jumps, except at targets that only unreachable jumps have.
fn without_guesses(program: &Program, flow: &Flow) -> Flow {
    let (mut sure, reachable) = (Flow::sure(program), flow.reachable());
    sure.roots.retain(|root| reachable[root.block]);
    sure
}

/// Instructions that are wrong on some machines because of their own registers, independent of the surrounding code:
/// the part of the check that needs no control flow.
///
/// ```
/// use gcn_isa::hazards::Config;
/// use gcn_isa::{Inst, Program, Reg, Target, check, table};
///
/// // From gfx90a on, the last VGPR of the allocation must not have the amount of a 64-bit shift.
/// let mut program = Program::new(Target::GFX90A, "example");
/// let shift = table::find_form(program.target, "v_lshlrev_b64", "").unwrap();
/// program.push(Inst::new(shift, [Reg::v(0, 2).into(), Reg::v(7, 1).into(), Reg::v(0, 2).into()]));
/// assert_eq!(check::register_errata(&program, Config::default()).len(), 1);
/// program.target = Target::GFX908;
/// assert!(check::register_errata(&program, Config::default()).is_empty());
/// ```
pub fn register_errata(program: &Program, rules: Config) -> Vec<Finding> {
    errata::check(program, rules)
}

/// The lines with LDS accesses for which `program` lacks a wait that [`MemoryModel::Sure`] requires, in ascending order. Direct loads from
/// memory to LDS are included. The result is meant for [`crate::wait::LdsOrder`].
pub fn unordered_lds_accesses(program: &Program) -> Vec<usize> {
    let copies = |inst: &Inst| {
        let events = events::events(program.target, inst);
        events.iter().any(|e| e.memory.contains(MemoryEffect::LDS_DMA) || e.stream.copies())
    };
    let matters = |inst: &Inst| inst.desc.class == Class::Barrier || copies(inst);
    if !program.lines.iter().any(|l| matters(&l.inst)) {
        return Vec::new();
    }
    let flow = Flow::of(program);
    let mut lines = BTreeSet::new();
    let sure = flow.has_guesses().then(|| without_guesses(program, &flow));
    for flow in std::iter::once(&flow).chain(&sure) {
        let facts = Facts::of(program, flow, Options::default());
        CounterCheck::new(program, flow, &facts, Options::default()).unordered_lds_accesses(&mut lines);
    }
    lines.into_iter().collect()
}

/// The unnecessary waits of `program` (see [`Advice`]), ordered by line. Every wait is assumed to serve all possible purposes, so
/// [`MemoryModel::Sure`] is treated as [`MemoryModel::Strict`].
pub fn advice(program: &Program, options: Options) -> Vec<Advice> {
    let memory_model = match options.memory_model {
        MemoryModel::Off => MemoryModel::Off,
        MemoryModel::Sure | MemoryModel::Strict => MemoryModel::Strict,
    };
    let options = Options { memory_model, ..options };
    let flow = options.rules.flow(program);
    let mut advice = advice::states(program, &Distances::new(program, &flow, options.rules));
    let facts = Facts::of(program, &flow, options);
    advice.extend(advice::waits(&CounterCheck::new(program, &flow, &facts, options)));
    remedies::with_search(program, &flow, options.rules, |search| advice::remedies(search, &mut advice));
    advice.sort_by_key(|a| a.line);
    advice
}
