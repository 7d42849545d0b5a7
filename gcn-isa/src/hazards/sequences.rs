//! Tracks the hazard sequences that are in progress, and finds instructions that must not follow them.
//!
//! [`Sequences`] matches the rules with [remedies](super::remedy) against a program line by line. The inserter and the checker share no
//! other code except [`View`].
//!
//! This is a forward dataflow analysis. Its state is [`Pending`], a set of sequences in progress. Each step of a
//! sequence records *clocks*, which count the instructions of several kinds that have executed since then. A state is
//! *sealed* when its clocks are relative to the end of its block, so that states of different paths can be compared and
//! joined.

mod acts;

use std::borrow::Cow;

use smallvec::SmallVec;

use super::config::{AnyRule, Config};
use super::remedy::rule::{Unit, covers, meet, pair, register};
use super::remedy::{self, EndBy, Fix, Remedy, RemedyRule, Tie, WaitField, Within};
use super::{View, Views};
use crate::inst::Inst;
use crate::program::{EntryKind, Program};
use crate::reg::Reg;
use acts::{Act, Acts, CLOCKS, Units};

/// A sequence in progress.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Fact {
    /// The last completed step of the sequence.
    stage: u8,
    /// The register of the sequence; [`NONE`] or [`EVERY`] if the sequence does not concern a single register.
    unit: Unit,
    /// The second register, for sequences that have two.
    other: Unit,
    /// The values of the clocks at the first step or, once the last step has been taken, at the last step. In a sealed state, these are the
    /// negated times since that step. In both forms a greater value means a later step.
    at: [i32; CLOCKS],
    /// The line that took the last step; [`OUTSIDE`] if that line is not part of the program.
    line: u32,
    /// The registers with which, on every path to this sequence, other sequences of the rule have begun.
    begun: Begun,
}

/// The aligned pairs of scalar registers with which sequences have begun, one bit for each pair. It is 0 if the rule does not need these
/// pairs.
type Begun = u64;

/// The set of pairs to which these scalar registers belong.
fn begun(units: &[Unit]) -> Begun {
    units.iter().fold(0, |all, unit| all | 1 << (unit / 2 % 64))
}

/// The value for no register.
const NONE: Unit = Unit::MAX;
/// The value for any register.
const EVERY: Unit = Unit::MAX - 1;
/// The value for a line that is not part of the program.
const OUTSIDE: u32 = u32::MAX;

impl Fact {
    /// The identity of a sequence, without its time. Of several sequences with the same key, the nearest represents all.
    fn key(&self) -> (u8, Unit, Unit) {
        (self.stage, self.unit, self.other)
    }

    /// True if this is a later occurrence of the same sequence on the same path.
    fn replaces(&self, other: &Fact) -> bool {
        self.key() == other.key() && self.at.iter().zip(other.at).all(|(mine, theirs)| *mine >= theirs)
    }

    /// A rank in which smaller values are worse for the instructions that follow. A sequence is worse if it is nearer and, for rules that
    /// count vector ALU instructions, if a transcendental instruction follows it.
    fn mildness(&self, rule: &RemedyRule) -> [i32; CLOCKS] {
        let mut mildness = self.at.map(|at| -at);
        if counts_transcendentals(rule) {
            mildness[TRANSCENDENTALS] = self.at[TRANSCENDENTALS];
        }
        mildness
    }

    /// True if every violation after `other`, which is from another path, is also a violation after this sequence, and does not require a
    /// stronger remedy. Both sequences must be sealed.
    fn covers(&self, other: &Fact, rule: &RemedyRule) -> bool {
        let pairs = || self.mildness(rule).into_iter().zip(other.mildness(rule));
        self.key() == other.key() && pairs().all(|(mine, theirs)| mine <= theirs)
    }
}

/// The sequences that are in progress before an instruction, by rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Pending {
    /// For each selected rule, the sequences in progress. They are sorted in a sealed state.
    tracks: Vec<SmallVec<[Fact; 2]>>,
    /// For each rule, the registers with which sequences have begun on every path.
    begun: Vec<Begun>,
    clocks: [i32; CLOCKS],
}

impl Pending {
    /// The number of sequences in progress.
    pub fn size(&self) -> usize {
        self.tracks.iter().map(SmallVec::len).sum()
    }
}

/// A violation: an instruction that follows a sequence too early.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Danger {
    /// The rule that is broken.
    pub rule: &'static RemedyRule,
    /// The line that took the last step, if it is part of the program.
    pub first: Option<usize>,
    /// The register that links the instructions of the sequence, if there is one.
    pub reg: Option<Reg>,
    /// The required fix.
    pub fix: Fix,
}

/// The rules selected for a program, and the effect of each of the program's lines on the sequences of these rules.
#[derive(Debug)]
pub struct Sequences<'a> {
    program: Cow<'a, Program>,
    rules: Vec<&'static RemedyRule>,
    views: Views,
    /// The effect of each distinct instruction, indexed by the number of its view.
    acts: Vec<Option<Acts>>,
    /// True if sequences continue into called functions and back to the caller ([`Config::follows_calls`]).
    follows_calls: bool,
}

impl<'a> Sequences<'a> {
    /// Prepares the analysis of `program`, with `views` of its instructions. Rules whose second instruction does not
    /// occur in the program are omitted.
    pub fn of(program: impl Into<Cow<'a, Program>>, views: Views, config: Config) -> Sequences<'a> {
        let program = program.into();
        let target = program.target;
        let counting = |r: &&RemedyRule| r.waves.has(program.wave) && config.counts(*r as &dyn AnyRule);
        let all: Vec<&'static RemedyRule> = remedy::rules(target).filter(counting).collect();
        let mut kinds = vec![None; views.len()];
        for (at, line) in program.lines.iter().enumerate() {
            kinds[views.number(at) as usize].get_or_insert((&line.inst, at));
        }
        let occurs = |r: &&'static RemedyRule| {
            let seconds = kinds.iter().flatten().filter(|(_, at)| r.second.who.holds(views[*at].kinds()));
            seconds.count() > 0
        };
        let rules: Vec<_> = all.into_iter().filter(occurs).collect();
        let of = |known: &Option<(&std::sync::Arc<Inst>, usize)>| {
            known.map(|(inst, at)| Acts::of(&rules, inst, &views[at]))
        };
        let acts = kinds.iter().map(of).collect();
        Sequences { program, rules, views, acts, follows_calls: config.follows_calls }
    }

    /// True if no rule can require anything in this program.
    pub fn is_idle(&self) -> bool {
        self.rules.is_empty()
    }

    /// A state without sequences.
    fn nothing(&self) -> Pending {
        let rules = self.rules.len();
        Pending { tracks: vec![SmallVec::new(); rules], begun: vec![0; rules], clocks: [0; CLOCKS] }
    }

    /// The state at an entry where control comes from outside the program. It is sealed.
    pub fn entry(&self, kind: EntryKind) -> Pending {
        let mut pending = self.nothing();
        if kind == EntryKind::Function {
            self.come_back(&mut pending);
        }
        pending
    }

    /// The state after a return from code outside the program, which may have begun any sequence. The state must be sealed, and remains so.
    pub fn come_back(&self, pending: &mut Pending) {
        let Pending { tracks, begun, .. } = pending;
        for ((track, rule), begun) in tracks.iter_mut().zip(&self.rules).zip(begun) {
            if rule.outside {
                if counts_begun(rule) {
                    begin_all(track, begun);
                }
                let fact = Fact {
                    stage: 0,
                    unit: EVERY,
                    other: NONE,
                    at: [0; CLOCKS],
                    line: OUTSIDE,
                    begun: *begun,
                };
                if !track.iter().any(|f| f.key() == fact.key()) {
                    track.push(fact);
                    track.sort_unstable();
                }
            }
        }
    }

    /// The state at the entry of a called function. The state must be sealed, and remains so.
    ///
    /// LLVM considers each function separately and assumes that the vector ALU has read all registers before a function
    /// begins. This method assumes the same for every caller.
    pub fn enter(&self, pending: &mut Pending) {
        if !self.follows_calls {
            *pending = self.entry(EntryKind::Function);
            return;
        }
        let Pending { tracks, begun, .. } = pending;
        for ((track, rule), begun) in tracks.iter_mut().zip(&self.rules).zip(begun) {
            if counts_begun(rule) {
                begin_all(track, begun);
            }
        }
    }

    /// The state after a known function returns to its caller. `call` is the state before the call. The state must be sealed, and remains
    /// so.
    pub fn leave(&self, pending: &mut Pending, call: Option<&Pending>) {
        if !self.follows_calls {
            *pending = call.cloned().unwrap_or_else(|| self.nothing());
            self.come_back(pending);
        }
    }

    /// Joins the state of another path. Both states must be sealed, and the result is sealed.
    pub fn join(&self, into: &mut Pending, from: &Pending) {
        into.begun.iter_mut().zip(&from.begun).for_each(|(mine, theirs)| *mine &= theirs);
        for ((mine, theirs), rule) in into.tracks.iter_mut().zip(&from.tracks).zip(&self.rules) {
            if mine == theirs || theirs.is_empty() {
                continue;
            }
            if mine.is_empty() {
                mine.clone_from(theirs);
                continue;
            }
            mine.extend_from_slice(theirs);
            settle(rule, mine);
        }
    }

    /// Makes the clocks relative to the end of the block, so that states of different blocks are comparable.
    pub fn seal(&self, pending: &mut Pending) {
        let clocks = std::mem::take(&mut pending.clocks);
        for (track, rule) in pending.tracks.iter_mut().zip(&self.rules) {
            track.retain(|f| lasts(rule, f, &clocks));
            for fact in track.iter_mut() {
                for (at, clock) in fact.at.iter_mut().zip(clocks) {
                    *at -= clock;
                }
                forget(rule, fact);
            }
            settle(rule, track);
        }
    }

    /// Makes the clocks relative to this place, and makes states equal that no later instruction can tell apart. Other than in a sealed
    /// state, the order of the sequences remains, so that later violations are found in the same order as without this.
    pub fn rebase(&self, pending: &mut Pending) {
        let clocks = std::mem::take(&mut pending.clocks);
        for (track, rule) in pending.tracks.iter_mut().zip(&self.rules) {
            track.retain(|f| lasts(rule, f, &clocks));
            for (clock, now) in clocks.into_iter().enumerate() {
                rebase(rule, track, clock, now);
            }
        }
    }

    fn acts(&self, line: usize) -> Option<&Acts> {
        self.acts.get(self.views.number(line) as usize)?.as_ref()
    }

    /// Applies `line` to the state.
    pub fn step(&self, pending: &mut Pending, line: usize) {
        if let Some(acts) = self.acts(line) {
            self.take(pending, acts, line as u32);
        }
    }

    /// Applies the instructions that `fix` inserts.
    pub fn apply(&self, pending: &mut Pending, fix: Fix) {
        let target = self.program.target;
        for inst in fix.instructions(target).iter().chain(fix.field_as_wait(target).iter()) {
            self.execute(pending, inst);
        }
    }

    /// Applies an instruction that is not part of the program.
    pub fn execute(&self, pending: &mut Pending, inst: &Inst) {
        let acts = Acts::of(&self.rules, inst, &View::new(self.program.target, inst));
        self.take(pending, &acts, OUTSIDE);
    }

    fn take(&self, pending: &mut Pending, acts: &Acts, line: u32) {
        let Pending { tracks, begun, clocks } = pending;
        let before = *clocks;
        for (clock, more) in clocks.iter_mut().zip(acts.clocks) {
            *clock += more;
        }
        for act in &acts.of_rules {
            let place = usize::from(act.rule);
            advance(self.rules[place], (&mut tracks[place], &mut begun[place]), act, (before, *clocks), line);
        }
    }

    /// Calls `found` for each rule that `line` breaks, in the order of the rules, with the strongest fix that the rule
    /// requires there.
    pub fn dangers(&self, pending: &Pending, line: usize, mut found: impl FnMut(Danger)) {
        let Some(acts) = self.acts(line) else { return };
        for act in &acts.of_rules {
            let Some(used) = &act.second else { continue };
            let rule = self.rules[usize::from(act.rule)];
            let track = &pending.tracks[usize::from(act.rule)];
            let last = rule.steps.len() as u8 - 1;
            let mut worst: Option<(Fix, &Fact)> = None;
            for fact in track {
                if fact.stage == last
                    && lasts(rule, fact, &pending.clocks)
                    && completes(rule, fact, used, &act.operands)
                {
                    let fix = self.fix(rule, fact, &pending.clocks, line);
                    if worst
                        .is_none_or(|(known, f)| (fix.and(known) != known) || fix == known && f.at < fact.at)
                    {
                        worst = Some((fix, fact));
                    }
                }
            }
            if let Some((fix, fact)) = worst.filter(|(fix, _)| !fix.is_none()) {
                found(Danger {
                    rule,
                    first: (fact.line != OUTSIDE).then_some(fact.line as usize),
                    reg: (fact.unit < EVERY).then(|| register(fact.unit)),
                    fix,
                });
            }
        }
    }

    /// The combined fix that `line` needs. One remedy may resolve several violations, and an inserted instruction may
    /// itself cause a hazard.
    pub fn need(&self, pending: &Pending, line: usize) -> Fix {
        let mut need = Fix::NONE;
        self.dangers(pending, line, |danger| {
            if !self.is_ended(danger.rule, need) {
                need = need.and(danger.fix);
            }
        });
        loop {
            let mut then = pending.clone();
            self.apply(&mut then, need);
            let mut more = need;
            self.dangers(&then, line, |danger| more = more.and(danger.fix));
            if more == need || need.is_none() {
                return more;
            }
            need = more;
        }
    }

    /// True if the instructions that `fix` inserts end all sequences of `rule` that lack only the second instruction.
    fn is_ended(&self, rule: &'static RemedyRule, fix: Fix) -> bool {
        let target = self.program.target;
        let last = rule.steps.len() - 1;
        let mut passed = [0; CLOCKS];
        let ends = fix.instructions(target).iter().any(|inst| {
            let acts = Acts::of(&[rule], inst, &View::new(target, inst));
            passed.iter_mut().zip(acts.clocks).for_each(|(clock, more)| *clock += more);
            acts.of_rules.iter().any(|act| act.ends >> last & 1 == 1)
        });
        ends || passed
            .into_iter()
            .zip(reach(rule, last as u8))
            .any(|(passed, reach)| passed > i32::from(reach))
    }

    fn fix(&self, rule: &RemedyRule, fact: &Fact, clocks: &[i32; CLOCKS], line: usize) -> Fix {
        let inst = &self.program.lines[line].inst;
        let [valus, transcendentals, _, states] = passed(fact, clocks);
        match rule.remedy {
            Remedy::States(needed) => Fix::states((i32::from(needed) - states).max(0) as u8),
            Remedy::VectorNops(needed) => Fix::vector_nops((i32::from(needed) - valus).max(0) as u8),
            Remedy::Field(WaitField::Valus) if transcendentals == 0 => {
                Fix::wait_vdst(valus.clamp(0, u8::MAX.into()) as u8, inst)
            }
            Remedy::Field(WaitField::Valus | WaitField::NoValu) => Fix::wait_vdst(0, inst),
            remedy => Fix::of(remedy, inst),
        }
    }
}

/// Sorts the sequences, and removes those that another sequence covers.
fn settle(rule: &RemedyRule, track: &mut SmallVec<[Fact; 2]>) {
    track.sort_unstable_by_key(|f| (f.key(), f.mildness(rule), f.line));
    let mut kept = 0;
    for i in 0..track.len() {
        let fact = track[i];
        let mut same = track[..kept].iter_mut().rev().take_while(|f| f.key() == fact.key());
        if let Some(nearer) = same.find(|f| f.covers(&fact, rule)) {
            nearer.begun &= fact.begun;
        } else {
            track[kept] = fact;
            kept += 1;
        }
    }
    track.truncate(kept);
}

/// The time since the last step, for each clock.
fn passed(fact: &Fact, clocks: &[i32; CLOCKS]) -> [i32; CLOCKS] {
    let mut passed = *clocks;
    passed.iter_mut().zip(fact.at).for_each(|(clock, at)| *clock -= at);
    passed
}

/// The duration of a sequence after its last step, for each clock.
fn reach(rule: &RemedyRule, stage: u8) -> [u8; CLOCKS] {
    let Within { valus, transcendentals, salus, states, valus_of_steps } = rule.within;
    if usize::from(stage) + 1 == rule.steps.len() {
        [valus, transcendentals, salus, states]
    } else {
        [valus_of_steps, Within::EVER, Within::EVER, Within::EVER]
    }
}

/// True if the sequence may still be completed.
fn lasts(rule: &RemedyRule, fact: &Fact, clocks: &[i32; CLOCKS]) -> bool {
    let within = |(passed, reach): (i32, u8)| reach == Within::EVER || passed <= i32::from(reach);
    passed(fact, clocks).into_iter().zip(reach(rule, fact.stage)).all(within)
}

/// Resets the clocks that the rule does not use, so that the states reach a fixpoint.
fn forget(rule: &RemedyRule, fact: &mut Fact) {
    for (clock, (at, reach)) in fact.at.iter_mut().zip(reach(rule, fact.stage)).enumerate() {
        if reach == Within::EVER {
            let kept = counts_transcendentals(rule) && clock == TRANSCENDENTALS;
            *at = if kept { (*at).max(-1) } else { 0 };
        }
    }
}

/// Makes the times of a clock relative to `now`. Times of which only the order matters become small numbers in this order; the present
/// remains 0.
fn rebase(rule: &RemedyRule, track: &mut [Fact], clock: usize, now: i32) {
    let is_measured = |f: &Fact| reach(rule, f.stage)[clock] != Within::EVER;
    let is_remedied = match rule.remedy {
        Remedy::States(_) => clock == STATES,
        Remedy::VectorNops(_) | Remedy::Field(WaitField::Valus) => clock == VALUS,
        _ => false,
    };
    let mut earlier: SmallVec<[i32; 8]> = SmallVec::new();
    for fact in track.iter_mut().filter(|f| !has_no_time(rule, f.stage)) {
        fact.at[clock] -= now;
        if is_measured(fact) {
            continue;
        }
        if is_remedied {
            // The number of missing instructions fits into a byte.
            fact.at[clock] = fact.at[clock].max(-i32::from(u8::MAX));
        } else if fact.at[clock] < 0 {
            earlier.push(fact.at[clock]);
        }
    }
    earlier.sort_unstable_by(|a, b| b.cmp(a));
    earlier.dedup();
    for fact in track.iter_mut().filter(|f| !is_measured(f)) {
        if let Some(place) = earlier.iter().position(|at| *at == fact.at[clock]) {
            fact.at[clock] = -1 - place as i32;
        }
    }
}

/// Marks every register as one with which sequences have begun.
fn begin_all(track: &mut [Fact], begun: &mut Begun) {
    *begun = Begun::MAX;
    track.iter_mut().for_each(|f| f.begun = Begun::MAX);
}

/// True if the rule needs the registers with which sequences have begun, because one of its events ends a sequence only if another sequence
/// has begun on the same path.
fn counts_begun(rule: &RemedyRule) -> bool {
    rule.ends.iter().any(|end| matches!(end.by, EndBy::Reads(..)))
}

/// True if the rule depends on whether a transcendental instruction has executed since the last step. The number of such instructions does
/// not matter.
fn counts_transcendentals(rule: &RemedyRule) -> bool {
    matches!(rule.remedy, Remedy::Field(WaitField::Valus))
}

/// The indices of the clocks that count vector ALU instructions, transcendental instructions, and wait states.
const VALUS: usize = 0;
const TRANSCENDENTALS: usize = 1;
const STATES: usize = 3;

/// True if an instruction that uses these registers completes the sequence as its second instruction.
fn completes(rule: &RemedyRule, fact: &Fact, used: &[Unit], operands: &[Units]) -> bool {
    let has = |unit: Unit| any_meets(used, unit);
    match rule.second.tie {
        Tie::Each | Tie::Some => true,
        Tie::Same => fact.unit == EVERY || has(fact.unit),
        Tie::OfPair => fact.unit == EVERY || used.iter().any(|u| pair(*u) == pair(fact.unit)),
        Tie::Both | Tie::Another => has(fact.unit) && has(fact.other),
        Tie::Apart => operands.iter().enumerate().any(|(at, one)| {
            let others = || operands.iter().enumerate().filter(|(other, _)| *other != at);
            any_meets(one, fact.unit) && others().any(|(_, other)| any_meets(other, fact.other))
        }),
    }
}

/// Applies an instruction to the sequences of one rule.
fn advance(
    rule: &RemedyRule,
    (track, all_begun): (&mut SmallVec<[Fact; 2]>, &mut Begun),
    act: &Act,
    (before, after): ([i32; CLOCKS], [i32; CLOCKS]),
    line: u32,
) {
    if !track.is_empty() {
        track.retain(|f| {
            let of = act.ends_of.as_ref().is_some_and(|(stages, units)| {
                stages >> f.stage & 1 == 1 && (any_covers(units, f.unit) || any_covers(units, f.other))
            });
            let begun = act
                .ends_if_begun
                .as_ref()
                .is_some_and(|(stages, units)| stages >> f.stage & 1 == 1 && f.begun & begun(units) != 0);
            act.ends >> f.stage & 1 == 0 && !of && !begun && lasts(rule, f, &before)
        });
    }
    // Existing sequences are continued before new ones begin, so that one instruction does not take two steps at once, except for rules
    // that permit this.
    if rule.alone {
        begin(rule, (track, all_begun), act, after, line);
    }
    for (place, units) in act.steps.iter().rev().filter(|s| s.0 > 0) {
        let tie = rule.steps[usize::from(*place)].tie;
        let mut new: SmallVec<[Fact; 2]> = SmallVec::new();
        for fact in track.iter().filter(|f| f.stage + 1 == *place) {
            let next = |unit: Unit, other: Unit| {
                // Time is measured from the first step until the last step is taken, and then from the last step.
                let last = usize::from(*place) + 1 == rule.steps.len();
                Fact {
                    stage: *place,
                    unit,
                    other,
                    at: if last { after } else { fact.at },
                    line,
                    begun: fact.begun,
                }
            };
            match tie {
                Tie::Each | Tie::Some => new.push(next(fact.unit, fact.other)),
                Tie::Same if fact.unit == EVERY => new.extend(units.iter().map(|u| next(*u, NONE))),
                Tie::Same | Tie::Both | Tie::Apart => {
                    new.extend(any_meets(units, fact.unit).then(|| next(fact.unit, fact.other)));
                }
                Tie::OfPair => {
                    let of = units.iter().filter(|u| fact.unit == EVERY || pair(**u) == pair(fact.unit));
                    new.extend(of.map(|u| next(*u, NONE)));
                }
                Tie::Another => {
                    let others = units.iter().filter(|u| !meet(**u, fact.unit));
                    new.extend(others.map(|u| next(fact.unit, *u)));
                }
            }
        }
        new.into_iter().for_each(|fact| put(rule, track, fact));
    }
    if let Some((stages, units)) = &act.ends_then {
        track.retain(|f| stages >> f.stage & 1 == 0 || !any_covers(units, f.unit));
    }
    if !rule.alone {
        begin(rule, (track, all_begun), act, after, line);
    }
}

fn any_meets(units: &[Unit], unit: Unit) -> bool {
    units.iter().any(|u| meet(*u, unit))
}

fn any_covers(units: &[Unit], unit: Unit) -> bool {
    units.iter().any(|u| covers(*u, unit))
}

/// Begins the sequences whose first step the instruction takes.
fn begin(
    rule: &RemedyRule,
    (track, all_begun): (&mut SmallVec<[Fact; 2]>, &mut Begun),
    act: &Act,
    after: [i32; CLOCKS],
    line: u32,
) {
    let Some((_, units)) = act.steps.first().filter(|s| s.0 == 0) else { return };
    if counts_begun(rule) {
        let now = begun(units);
        *all_begun |= now;
        track.iter_mut().for_each(|f| f.begun |= now);
    }
    let begun = *all_begun;
    let fact = |unit: Unit| Fact { stage: 0, unit, other: NONE, at: after, line, begun };
    if rule.steps[0].tie == Tie::Each {
        units.iter().for_each(|u| put(rule, track, fact(*u)));
    } else {
        put(rule, track, fact(NONE));
    }
}

/// True if it does not matter when sequences have come to this stage.
fn has_no_time(rule: &RemedyRule, stage: u8) -> bool {
    reach(rule, stage) == [Within::EVER; CLOCKS]
        && !matches!(rule.remedy, Remedy::Field(_) | Remedy::States(_))
}

/// Adds a sequence, and removes an earlier occurrence of the same sequence.
fn put(rule: &RemedyRule, track: &mut SmallVec<[Fact; 2]>, mut fact: Fact) {
    if has_no_time(rule, fact.stage) {
        fact.at = [0; CLOCKS];
    }
    track.retain(|f| !fact.replaces(f));
    track.push(fact);
}
