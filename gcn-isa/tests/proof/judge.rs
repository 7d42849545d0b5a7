//! The claims about each program with respect to wait states. The verdict of the checker equals the verdict of the specification for three
//! programs: for the program, for the inserter's result, and for that result with any single inserted wait state removed. The second of
//! these must be correct and the third must be incorrect.

use std::collections::BTreeSet;
use std::sync::Arc;

use gcn_isa::check::{self, Amount, MemoryModel, Options};
use gcn_isa::hazards::{self, Config, Link};
use gcn_isa::wait::{self, Inserted, WaitOptions};
use gcn_isa::{Inst, Operand, Program};

use super::classes::Family;
use super::program::Paths;
use super::spec::{Step, TooClose};

/// The number of wait states that an instruction provides: N + 1 for `s_nop N` with a four-bit N.
pub fn wait_states(inst: &Inst) -> u32 {
    match (inst.desc.mnemonic, inst.operands.first()) {
        ("s_nop", Some(Operand::Imm(n))) => (*n & 15) as u32 + 1,
        _ => 1,
    }
}

/// The verdict of the specification on a program.
#[derive(PartialEq, Eq, Debug)]
struct Verdict {
    /// The pairs that are too close in reachable code. Unreachable code needs no waits.
    too_close: TooClose,
    clauses: BTreeSet<usize>,
}

impl Verdict {
    fn of(family: &Family, program: &Program) -> Verdict {
        let paths = Paths::of(program);
        let put_in = family.spec.facts.len() - 1;
        let step = |inst: &Arc<Inst>| Step {
            letter: family.letters.number(inst).unwrap_or(put_in),
            states: wait_states(inst),
        };
        let steps: Vec<Step> = program.lines.iter().map(|l| step(&l.inst)).collect();
        let mut too_close = family.spec.too_close(&steps, &paths.next);
        too_close.retain(|(first, _), _| paths.reached[*first]);
        let mut clauses = match family.xnack {
            true => family.spec.unsafe_clauses(&steps, &paths.next, &paths.roots),
            false => BTreeSet::new(),
        };
        clauses.retain(|l| paths.reached[*l]);
        Verdict { too_close, clauses }
    }

    fn is_clean(&self) -> bool {
        self.too_close.is_empty() && self.clauses.is_empty()
    }

    /// True if the findings of the checker are those of the specification. If a clause is broken twice, the checker reports only the first
    /// violation.
    fn is_the_checkers(&self, program: &Program, rules: Config) -> bool {
        let options = Options { rules, memory_model: MemoryModel::Off, errata: false };
        let findings = check::check_with(program, options).findings;
        let is_clause = |id| hazards::rule(id).is_some_and(|r| matches!(r.link, Link::Clause { .. }));
        let states = findings.iter().filter(|f| hazards::rule(f.rule).is_some());
        let (clauses, pairs): (Vec<_>, Vec<_>) = states.partition(|f| is_clause(f.rule));
        let pair = |f: &check::Finding| match (f.need, f.have) {
            (Amount::States(need), Amount::States(have)) => {
                Some(((f.first?, f.second), (need, u32::from(have))))
            }
            _ => None,
        };
        let told: BTreeSet<usize> = clauses.iter().map(|f| f.second).collect();
        pairs.iter().filter_map(|f| pair(f)).collect::<TooClose>() == self.too_close
            && told.is_subset(&self.clauses)
            && told.is_empty() == self.clauses.is_empty()
    }
}

/// Judges one program. Returns the number of waits that were inserted, or a description of the error.
pub fn judge(family: &Family, program: &Program) -> Result<usize, String> {
    let rules = Config::default().with_xnack(family.xnack);
    let fail = |what: &str, program: &Program| Err(format!("{}: {what}:\n{}", family.name, text(program)));
    let before = Verdict::of(family, program);
    if !before.is_the_checkers(program, rules) {
        return fail("the checker does not agree", program);
    }
    let mut after = program.clone();
    let inserted =
        wait::insert_wait_states(&mut after, &WaitOptions { rules, notes: false, ..WaitOptions::default() });
    if let Err(what) = is_only_longer(program, &after, &inserted) {
        return fail(&what, &after);
    }
    if inserted.is_empty() {
        return if before.is_clean() { Ok(0) } else { fail("nothing was put in", program) };
    }
    let verdict = Verdict::of(family, &after);
    if !verdict.is_clean() {
        return fail(&format!("not enough was put in, {verdict:?}"), &after);
    }
    if !verdict.is_the_checkers(&after, rules) {
        return fail("the checker does not agree about the result", &after);
    }
    for wait in &inserted {
        let weaker = one_state_less(&after, wait.at + wait.count - 1);
        let verdict = Verdict::of(family, &weaker);
        if verdict.is_clean() {
            return fail(&format!("the wait at line {} is longer than necessary", wait.at), &after);
        }
        if !verdict.is_the_checkers(&weaker, rules) {
            return fail("the checker does not agree about a state less", &weaker);
        }
    }
    Ok(inserted.len())
}

/// Checks that only the reported lines were inserted, and that every label still leads to the same instruction, with at most waits in
/// between.
pub fn is_only_longer(before: &Program, after: &Program, inserted: &[Inserted]) -> Result<(), String> {
    is_only_longer_but(before, after, inserted, |line| inserted.iter().any(|i| i.count == 0 && i.at == line))
}

/// The same check, except that the lines of `changed` may have other instructions.
pub fn is_only_longer_but(
    before: &Program,
    after: &Program,
    inserted: &[Inserted],
    changed: impl Fn(usize) -> bool,
) -> Result<(), String> {
    let put_in: BTreeSet<usize> = inserted.iter().flat_map(|i| i.at..i.at + i.count).collect();
    let old: Vec<usize> = (0..after.lines.len()).filter(|l| !put_in.contains(l)).collect();
    if old.len() != before.lines.len() {
        return Err("lines were lost".to_owned());
    }
    for (line, new) in before.lines.iter().zip(&old) {
        if !Arc::ptr_eq(&line.inst, &after.lines[*new].inst) && !changed(*new) {
            return Err(format!("line {new} changed"));
        }
    }
    for (was, is) in before.labels.iter().zip(&after.labels) {
        let (Some(was), Some(is)) = (was.at, is.at) else { return Err("a label was lost".to_owned()) };
        if is > old[was] || (is..old[was]).any(|l| !put_in.contains(&l)) {
            return Err("a label leads elsewhere".to_owned());
        }
    }
    Ok(())
}

/// The program with one wait state fewer in the `s_nop` at `line`. If the line is another instruction or provides only one wait state, it
/// is removed.
pub fn one_state_less(program: &Program, line: usize) -> Program {
    let mut weaker = program.clone();
    let states = wait_states(&program.lines[line].inst);
    if states > 1 {
        weaker.lines[line].inst_mut().operands[0] = Operand::Imm(i64::from(states) - 2);
        return weaker;
    }
    weaker.lines.remove(line);
    for label in &mut weaker.labels {
        label.at = label.at.map(|at| at - usize::from(at > line));
    }
    weaker
}

/// The program as text for a message.
pub fn text(program: &Program) -> String {
    gcn_emit::text::print_program(program, gcn_emit::text::Comments::None)
}
