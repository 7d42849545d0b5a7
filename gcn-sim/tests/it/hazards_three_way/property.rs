//! The properties that every random program must have.

use std::collections::BTreeMap;
use std::fmt;

use gcn_isa::Program;
use gcn_isa::check::{self, CheckReport, Finding, MemoryModel};
use gcn_isa::wait::{self, WaitOptions};
use gcn_test_support::Random;

use super::mutants::mutants;
use super::path::{Early, first_early, walk};
use super::run::Runner;

/// The number of paths that are run for each program.
const PATHS: u64 = 2;

/// Counts of what was observed, to check that the tests are effective.
#[derive(Default)]
pub struct Totals {
    programs: usize,
    instructions: usize,
    mutants: usize,
    runs: usize,
    hazards: usize,
    /// The number of waits for each rule.
    rules: BTreeMap<&'static str, usize>,
}

impl Totals {
    /// Checks that the programs needed enough waits: programs that need none would prove nothing.
    pub fn are_substantial(&self, programs: usize) {
        assert_eq!(self.programs, programs);
        if programs < 100 {
            return;
        }
        assert!(self.mutants > 3 * programs && self.hazards > 5 * programs, "{self}");
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} programs of {} instructions, {} mutants, {} runs of which {} met a hazard; rules: {:?}",
            self.programs, self.instructions, self.mutants, self.runs, self.hazards, self.rules
        )
    }
}

/// Checks all properties of one program.
///
/// # Errors
/// A description of which implementations disagree.
pub fn holds(original: &Program, seed: usize, totals: &mut Totals) -> Result<(), String> {
    let options = WaitOptions::default();
    let mut program = original.clone();
    let inserted = wait::insert_waits(&mut program, &options);
    let report = checked(&program);
    if !report.is_clean() {
        return Err(format!("the checker objects to the inserter's output: {report}"));
    }
    totals.programs += 1;
    totals.instructions += original.lines.len();
    for reason in inserted.iter().flat_map(|i| &i.reasons) {
        *totals.rules.entry(reason.rule).or_default() += 1;
    }
    agree(original, seed, totals)?;
    if let Some(hazard) = agree(&program, seed, totals)? {
        return Err(format!("the simulator objects to the inserter's output: {hazard}"));
    }
    for mutant in mutants(original, &program, &inserted) {
        totals.mutants += 1;
        if checked(&mutant.program).is_clean() {
            return Err(format!("{}: the checker does not object", mutant.change));
        }
        agree(&mutant.program, seed, totals).map_err(|fault| format!("{}: {fault}", mutant.change))?;
    }
    Ok(())
}

/// The checker's report. As the inserter does, it assumes that all LDS accesses may be to the same bytes. It omits errata, for which there
/// is no wait.
fn checked(program: &Program) -> CheckReport {
    let memory_model = MemoryModel::Strict;
    check::check_with(program, check::Options { errata: false, memory_model, ..check::Options::default() })
}

/// Runs a few paths. The simulator must report a hazard exactly if an instruction of the path executes too early, and then the checker must
/// report the same instruction. Returns the last hazard.
fn agree(program: &Program, seed: usize, totals: &mut Totals) -> Result<Option<String>, String> {
    let mut runner = Runner::new(program)?;
    let mut choices = Random::new(seed as u64);
    let mut last = None;
    for _ in 0..PATHS {
        let choices = choices.next_u64() as u32;
        let path = walk(program, choices).ok_or("the program does not end")?;
        let early = first_early(program, &path);
        let met = runner.run(choices)?;
        totals.runs += 1;
        let Some((line, hazard)) = met else {
            if let Some((position, early)) = early {
                return Err(format!("the simulator overlooks line {} ({early:?})", path[position]));
            }
            continue;
        };
        totals.hazards += 1;
        let by_definition = early.map(|(position, early)| (path[position], early));
        // Only the simulator knows which bytes of LDS an access touches.
        let by_bytes = ["waitcnt.lds-dma", LATE_READ].contains(&&*hazard.rule);
        if !by_bytes && by_definition != Some((line, mechanism(&hazard.rule))) {
            return Err(format!("the simulator says {hazard}; by definition {by_definition:?}"));
        }
        // If nothing waits for an LDS DMA, the checker reports it once, at the first instruction that may access LDS. That may be a flat
        // operation, of which only the simulator knows that it does not access LDS.
        let dma = |rule: &str| rule.ends_with(".lds-dma");
        // An outstanding read that conflicts with another wave's write after a barrier: the checker reports it at the barrier.
        let same = |f: &Finding| {
            f.second == line
                || dma(f.rule) && dma(&hazard.rule)
                || f.rule == LATE_READ && hazard.rule == LATE_READ
        };
        if !checked(program).findings.iter().any(same) {
            return Err(format!("the checker overlooks line {line}: {hazard}"));
        }
        last = Some(hazard.to_string());
    }
    Ok(last)
}

/// The rule about LDS reads that are outstanding at a barrier.
const LATE_READ: &str = "barrier.lds-read";

/// The kind of violation to which a rule of the simulator belongs.
fn mechanism(rule: &str) -> Early {
    if rule.starts_with("waitcnt.") || rule.starts_with("barrier.") { Early::Counter } else { Early::States }
}
