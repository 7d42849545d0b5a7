//! The claims about each program with respect to counters. They are the claims for wait states ([`super::judge`]), with one difference:
//! instead of removing a wait state, the value of a counter is raised by one.

use std::collections::{BTreeMap, BTreeSet};

use gcn_emit::text::parse_inst;
use gcn_isa::Program;
use gcn_isa::check::{self, MemoryModel, Options};
use gcn_isa::hazards::counter;
use gcn_isa::wait::{self, Inserted, WaitOptions};

use super::judge::{is_only_longer, text};
use super::program::{Letters, Paths};
use super::queues::{Alphabet, COUNTERS, Model, NO_WAIT, waits, with_waits};

/// An alphabet of memory instructions and waits.
pub struct Family {
    pub name: String,
    pub letters: Letters,
}

/// A family for each of `alphabets`, with only the first `most` instructions of each.
pub fn families(alphabets: &[Alphabet], most: usize) -> Vec<Family> {
    let family = |(target, name, texts): &Alphabet| {
        let inst =
            |text: &&str| parse_inst(text, *target).unwrap_or_else(|e| panic!("{target}: {text}: {e}"));
        let letters = Letters::new(*target, texts.iter().take(most).map(inst).collect());
        Family { name: format!("{target}:counters:{name}"), letters }
    };
    alphabets.iter().map(family).collect()
}

/// The reachable lines that the model rejects, and the reachable lines that the checker rejects.
fn verdicts(program: &Program) -> (BTreeSet<usize>, BTreeSet<usize>) {
    let paths = Paths::of(program);
    let wrong = Model::new(program).wrong(&paths);
    let options = Options { memory_model: MemoryModel::Strict, errata: false, ..Options::default() };
    let findings = check::check_with(program, options).findings;
    let told = findings.iter().filter(|f| counter::rule(f.rule).is_some()).map(|f| f.second).collect();
    (wrong.into_iter().filter(|l| paths.reached[*l]).collect(), told)
}

/// Judges one program. Returns the number of waits that were inserted or strengthened, or a description of the error.
pub fn judge(family: &Family, program: &Program) -> Result<usize, String> {
    let fail = |what: &str, program: &Program| Err(format!("{}: {what}:\n{}", family.name, text(program)));
    let (wrong, told) = verdicts(program);
    if wrong.is_empty() != told.is_empty() || !told.is_subset(&wrong) {
        return fail(&format!("the checker finds {told:?}, the model {wrong:?}"), program);
    }
    let mut after = program.clone();
    let inserted = wait::insert_waitcnt(&mut after, &WaitOptions { notes: false, ..WaitOptions::default() });
    if let Err(what) = is_only_longer(program, &after, &inserted) {
        return fail(&what, &after);
    }
    if inserted.is_empty() {
        return if wrong.is_empty() { Ok(0) } else { fail("nothing was put in", program) };
    }
    let (wrong, told) = verdicts(&after);
    if !wrong.is_empty() || !told.is_empty() {
        return fail(&format!("not enough was put in, {wrong:?}; the checker says {told:?}"), &after);
    }
    let mut new = 0;
    for (at, was) in changed(program, &inserted) {
        let is = waits(&after.lines[at].inst).unwrap_or(NO_WAIT);
        for counter in (0..COUNTERS).filter(|c| is[*c] < was[*c]) {
            let mut weaker = after.clone();
            let mut raised = is;
            raised[counter] += 1;
            *weaker.lines[at].inst_mut() = with_waits((*after.lines[at].inst).clone(), raised);
            let (wrong, told) = verdicts(&weaker);
            if wrong.is_empty() {
                return fail(&format!("the wait at line {at} may be weaker"), &after);
            }
            if wrong.is_empty() != told.is_empty() {
                return fail(
                    &format!("the checker finds {told:?}, the model {wrong:?} with a weaker wait"),
                    &weaker,
                );
            }
            new += 1;
        }
    }
    Ok(new)
}

/// The `s_waitcnt` instructions of `after` that are new or stronger, with the wait that was there before.
fn changed(before: &Program, inserted: &[Inserted]) -> BTreeMap<usize, [usize; COUNTERS]> {
    let new: BTreeSet<usize> = inserted.iter().flat_map(|i| i.at..i.at + i.count).collect();
    let stronger = inserted.iter().filter(|i| i.count == 0).map(|i| {
        let old = &before.lines[i.at - new.range(..i.at).count()];
        (i.at, waits(&old.inst).unwrap_or(NO_WAIT))
    });
    new.iter().map(|at| (*at, NO_WAIT)).chain(stronger).collect()
}
