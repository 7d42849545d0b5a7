//! Counts, for each rule, the sites in a program to which the rule applies, and the sites that satisfy it.
//!
//! A rule that is in the manuals, but that working code breaks without harm, is weaker than a rule that all code satisfies. Counted over
//! many programs by expert authors, these numbers are the evidence for a rule's [`Grade`](crate::hazards::Grade).
//!
//! # What is counted
//! Wait states: a *site* is an instruction and a register (or none) for which a rule requires a distance from an earlier instruction, if
//! the actual distance on the shortest path is less than twice the required one. If there are several such earlier instructions, the one
//! with the largest shortfall counts; those whose result is overwritten in between do not count. A site breaks the rule if its distance is
//! less than required, and otherwise satisfies it. The two ranges of distances are equally wide, so code by authors who do not know the
//! rule would break it about as often as it satisfies it.
//!
//! Counters: a site is a memory operation and the first instruction of the same block that depends on it. Broken sites
//! are the findings of the [checker](crate::check), on any path, under its strictest assumptions about memory.
//!
//! ```
//! use gcn_isa::{Inst, Program, Reg, Target, evidence, hazards, table};
//!
//! let target = Target::GFX942;
//! let mut program = Program::new(target, "example");
//! let rcp = table::find_form(target, "v_rcp_f32_e32", "").unwrap();
//! let mov = table::find_form(target, "v_mov_b32_e32", "").unwrap();
//! program.push(Inst::new(rcp, [Reg::v(0, 1).into(), Reg::v(1, 1).into()]));
//! program.push(Inst::new(mov, [Reg::v(2, 1).into(), Reg::v(0, 1).into()]));
//! let evidence = evidence::of(&program, hazards::Config::default());
//! assert_eq!(evidence["cdna3.21"].broken, 1);
//! ```

mod counters;
mod states;

use std::collections::BTreeMap;

use crate::hazards::{Config, Counts};
use crate::program::Program;

/// Counts by rule ID. If the program breaks a rule, [`Counts::objects`] is 1, because each program counts as one code object.
pub type Evidence = BTreeMap<&'static str, Counts>;

/// Counts the sites in `program` of every rule that `config` enables. The time is linear in the program's length.
pub fn of(program: &Program, config: Config) -> Evidence {
    let mut evidence = Evidence::new();
    states::count(program, config, &mut evidence);
    counters::count(program, config, &mut evidence);
    for counts in evidence.values_mut() {
        counts.objects = u64::from(counts.broken > 0);
    }
    evidence
}

/// Adds the counts of another program.
pub fn add(sum: &mut Evidence, other: &Evidence) {
    for (rule, counts) in other {
        let known = sum.entry(rule).or_default();
        *known = known.plus(*counts);
    }
}
