//! Computes, for each wait that the user has written, the counter value that guarantees that the named operation is
//! complete.
//!
//! A user's wait is a wait instruction on the operation's counter, marked by a [`Mark::Wait`], whose value this module
//! fills in. The value is the minimum, over all paths from the operation to the wait, of the number of younger
//! operations of the same stream. (A *stream* is a kind of operation whose members complete in order, such as LDS
//! accesses.) The value is found by a forward dataflow analysis that is run once for each operation. If another stream
//! that shares the counter may be outstanding as well (LDS with scalar loads), completion is not in order, and the
//! value is 0. Before the analysis, the waits that the compiler itself would add are inserted into a copy of the
//! program, because after such a wait the other stream is no longer outstanding.
//!
//! Correctness does not depend on this analysis: the wait inserter runs afterwards and adds missing waits, and the
//! checker verifies the result.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use gcn_isa::cfg::Cfg;
use gcn_isa::counters::{Counter, Stream, WaitCnt, events};
use gcn_isa::program::SourceLoc;
use gcn_isa::table::Class;
use gcn_isa::wait::{self, WaitOptions};
use gcn_isa::{InstructionSet, Program};

use crate::ir::mark::Mark;

/// The error that a wait names a counter that the operation does not use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}what is waited for here starts nothing on {counter}; it counts on {other}: name that counter", SourceLoc::lead(*at))]
pub struct WrongCounter {
    /// The source location of the wait.
    pub at: Option<SourceLoc>,
    /// The counter that the wait names.
    pub counter: &'static str,
    /// The counter that the operation uses.
    pub other: &'static str,
}

/// Sets the value of each of the user's waits, removes waits whose operation is complete in any case, and marks
/// barriers that pending LDS reads may cross. Marks stay at their instructions.
///
/// # Errors
/// [`WrongCounter`] if a wait names a counter that its operation does not use.
pub fn resolve(program: &mut Program, marks: &mut [(usize, Mark)]) -> Result<(), WrongCounter> {
    explain(program, marks);
    let_reads_pass(program, marks);
    if !marks.iter().any(|m| matches!(m.1, Mark::Wait { .. })) {
        return Ok(());
    }
    let operations = operations(marks);
    let analysed = Analysed::of(program);
    let mut removed = BTreeSet::new();
    for (line, mark) in marks.iter() {
        let Mark::Wait { op, counter } = mark else { continue };
        let Some(lines) = operations.get(op) else { continue };
        check_counter(program, *line, lines, *counter)?;
        match analysed.limit(lines, *line, *counter) {
            None => drop(removed.insert(*line)),
            Some(value) => set(program, *line, counter.at(value), value),
        }
    }
    merge(program, marks, &mut removed);
    for (line, _) in marks {
        *line -= removed.range(..*line).count();
    }
    remove(program, &removed);
    Ok(())
}

/// Attaches to the waits that the compiler emitted the reason for each.
fn explain(program: &mut Program, marks: &[(usize, Mark)]) {
    for (line, mark) in marks {
        if let Mark::Because(why) = mark
            && WaitCnt::of(&program.lines[*line].inst).is_some()
        {
            program.lines[*line].note = Some((*why).into());
        }
    }
}

/// Marks the barriers that pending LDS reads may cross.
fn let_reads_pass(program: &mut Program, marks: &[(usize, Mark)]) {
    for (line, _) in marks.iter().filter(|m| m.1 == Mark::ReadsPass) {
        let mut after = program.lines.iter_mut().skip(*line);
        if let Some(barrier) = after.find(|l| l.inst.desc.class == Class::Barrier) {
            barrier.reads_pass = true;
        }
    }
}

/// For each operation, by its number, the range of its instructions.
fn operations(marks: &[(usize, Mark)]) -> HashMap<u32, Range<usize>> {
    let mut found: HashMap<u32, Range<usize>> = HashMap::new();
    for (line, mark) in marks {
        match mark {
            Mark::Issue(op) => drop(found.insert(*op, *line..*line)),
            Mark::Issued(op) => {
                if let Some(range) = found.get_mut(op) {
                    range.end = *line;
                }
            }
            _ => {}
        }
    }
    found
}

fn check_counter(
    program: &Program,
    at: usize,
    lines: &Range<usize>,
    counter: Counter,
) -> Result<(), WrongCounter> {
    let started = lines.clone().flat_map(|l| events(program.target, &program.lines[l].inst));
    let set = program.target.instruction_set();
    let counters: Vec<Counter> = started.map(|e| e.stream.counter(set)).collect();
    match counters.first() {
        // Dead-code elimination removed the operation, because nothing uses its result, so there is nothing to wait
        // for.
        None => Ok(()),
        Some(_) if counters.contains(&counter) => Ok(()),
        Some(other) => Err(WrongCounter {
            at: program.lines[at].loc,
            counter: counter.name(set),
            other: other.name(set),
        }),
    }
}

fn set(program: &mut Program, line: usize, wait: WaitCnt, younger: u8) {
    let what = if younger == 1 { "operation" } else { "operations" };
    let line = &mut program.lines[line];
    wait.put_into(line.inst_mut());
    line.note = Some(format!("written wait: {younger} younger {what} may be outstanding").into());
}

/// Merges waits that directly follow each other into one wait.
fn merge(program: &mut Program, marks: &[(usize, Mark)], removed: &mut BTreeSet<usize>) {
    let waits: Vec<usize> = marks
        .iter()
        .filter(|(line, mark)| matches!(mark, Mark::Wait { .. }) && !removed.contains(line))
        .map(|(line, _)| *line)
        .collect();
    let labelled: BTreeSet<usize> = program.labels.iter().filter_map(|l| l.at).collect();
    for pair in waits.windows(2) {
        let between = pair[0] + 1..pair[1];
        // Merge two waits only if every instruction between them was removed and there is no label between them: a
        // branch to the label would skip the first wait.
        if between.clone().any(|l| !removed.contains(&l))
            || labelled.range(pair[0] + 1..=pair[1]).next().is_some()
        {
            continue;
        }
        let (Some(a), Some(b)) =
            (WaitCnt::of(&program.lines[pair[0]].inst), WaitCnt::of(&program.lines[pair[1]].inst))
        else {
            continue;
        };
        let both = a.and(b);
        // If the two counters have separate wait instructions, both waits stay.
        if both.part_of(&program.lines[pair[1]].inst) != both {
            continue;
        }
        both.put_into(program.lines[pair[1]].inst_mut());
        let waits = both.on(program.target.instruction_set()).counters();
        program.lines[pair[1]].note = Some(format!("written waits: {waits}").into());
        removed.insert(pair[0]);
    }
}

/// Removes instructions. A label at a removed instruction moves to the next one.
fn remove(program: &mut Program, removed: &BTreeSet<usize>) {
    let now = |line: usize| line - removed.range(..line).count();
    for label in &mut program.labels {
        label.at = label.at.map(now);
    }
    program.entries.iter_mut().for_each(|e| e.at = now(e.at));
    program.gaps.iter_mut().for_each(|g| *g = now(*g));
    let mut line = 0;
    program.lines.retain(|_| {
        line += 1;
        !removed.contains(&(line - 1))
    });
}

/// The program with the waits that the compiler itself would add.
struct Analysed {
    program: Program,
    cfg: Cfg,
    /// The new index of each instruction of the original program.
    now: Vec<usize>,
}

/// The dataflow state at a program point.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct State {
    /// The streams of which an operation may be outstanding, as a bit set.
    pending: u16,
    /// The operation that is being analysed; `None` if it is certainly complete.
    operation: Option<Outstanding>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Outstanding {
    stream: Stream,
    /// The minimum, over all paths, of the number of younger operations of the same stream.
    younger: u8,
    /// True if an operation of another stream of the same counter may be outstanding at the same time, or if the
    /// operation's own stream completes out of order.
    mixed: bool,
}

impl Outstanding {
    fn limit(self, set: InstructionSet) -> u8 {
        if self.mixed { 0 } else { self.younger.min(self.stream.counter(set).cap(set)) }
    }
}

impl State {
    fn join(self, other: State) -> State {
        let operation = match (self.operation, other.operation) {
            (Some(a), Some(b)) => {
                Some(Outstanding { younger: a.younger.min(b.younger), mixed: a.mixed || b.mixed, ..a })
            }
            (a, b) => a.or(b),
        };
        State { pending: self.pending | other.pending, operation }
    }
}

impl Analysed {
    fn of(program: &Program) -> Analysed {
        let mut with_waits = program.clone();
        let options = WaitOptions { notes: false, ..WaitOptions::default() };
        let inserted = wait::insert_waitcnt(&mut with_waits, &options);
        let new: BTreeSet<usize> = inserted.iter().flat_map(|i| i.at..i.at + i.count).collect();
        let now = (0..with_waits.lines.len()).filter(|l| !new.contains(l)).collect();
        Analysed { cfg: Cfg::build(&with_waits), program: with_waits, now }
    }

    /// The largest value of `counter` at instruction `at` that guarantees that the operation is complete; `None` if it
    /// is complete in any case.
    fn limit(&self, lines: &Range<usize>, at: usize, counter: Counter) -> Option<u8> {
        let lines: Vec<usize> = lines.clone().map(|l| self.now[l]).collect();
        let at = self.now[at];
        let set = self.program.target.instruction_set();
        let blocks = &self.cfg.blocks;
        let mut entry: Vec<Option<State>> = vec![None; blocks.len()];
        entry[0] = Some(State::default());
        let mut work: BTreeSet<usize> = [0].into();
        let mut found = None;
        while let Some(b) = work.pop_first() {
            let Some(mut state) = entry[b] else { continue };
            for line in blocks[b].start..blocks[b].end {
                if line == at {
                    found = state.operation.map(|operation| operation.limit(set));
                }
                self.step(&mut state, line, &lines, counter);
            }
            for &next in &blocks[b].succs {
                let joined = entry[next].map_or(state, |old| old.join(state));
                if entry[next] != Some(joined) {
                    entry[next] = Some(joined);
                    work.insert(next);
                }
            }
        }
        found
    }

    fn step(&self, state: &mut State, line: usize, lines: &[usize], counter: Counter) {
        let set = self.program.target.instruction_set();
        let inst = &self.program.lines[line].inst;
        if let Some(wait) = WaitCnt::of(inst) {
            // A wait for 0 completes all streams of its counter. A wait for a larger value says nothing about the other
            // streams.
            let empty = Stream::ALL.into_iter().filter(|s| s.counter(set).of(wait) == 0);
            empty.for_each(|s| state.pending &= !(1 << s.index()));
            if state.operation.is_some_and(|o| counter.of(wait) <= o.limit(set)) {
                state.operation = None;
            }
        }
        for event in events(self.program.target, inst).iter().filter(|e| e.stream.counter(set) == counter) {
            let stream = event.stream;
            let beside =
                |s: &Stream| *s != stream && s.counter(set) == counter && state.pending >> s.index() & 1 == 1;
            if lines.binary_search(&line).is_ok() {
                let mixed = !stream.in_order() || Stream::ALL.iter().any(beside);
                state.operation = Some(Outstanding { stream, younger: 0, mixed });
            } else if let Some(operation) = &mut state.operation {
                operation.younger = operation.younger.saturating_add(event.count);
                // An operation of another stream of the same counter has started since, so the counter's value no
                // longer says which of the two streams has completed.
                operation.mixed |= operation.stream != stream;
            }
            state.pending |= 1 << stream.index();
        }
    }
}
