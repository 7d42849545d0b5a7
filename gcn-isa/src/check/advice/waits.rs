//! Finds waits for counters that could be weaker. Each wait is weakened, and the program is analysed from there until the states with the
//! two waits are equal again.

use std::collections::HashMap;

use super::Advice;
use crate::check::counters::CounterCheck;
use crate::check::outstanding::Outstanding;
use crate::check::report::Amount;
use crate::counters::{Counter, WaitCnt};

/// Budget of all walks together, in visited lines: the first number for each line of the program, but at least the second number. A wait
/// whose walk exceeds the budget gets no advice.
const LOOKS: (usize, usize) = (64, 1 << 20);

pub(in crate::check) fn advise(check: &CounterCheck<'_>) -> Vec<Advice> {
    let looks = check.lines.len().saturating_mul(LOOKS.0).max(LOOKS.1);
    let set = check.set();
    let mut walk = Walk { check, looks };
    let mut advice = Vec::new();
    for (index, block) in check.flow.cfg.blocks.iter().enumerate() {
        let Some(mut state) = check.states[index].clone() else { continue };
        for line in block.start..block.end {
            if let Some(have) = check.lines[line].wait {
                let enough = walk.weakest(index, line, &state, have);
                if enough != have {
                    let may_order = may_order(&state, have, enough);
                    advice.push(Advice {
                        line,
                        have: Amount::Wait(have.on(set)),
                        enough: Amount::Wait(enough.on(set)),
                        may_order,
                    });
                }
            }
            check.lines[line].step(&mut state, line);
        }
    }
    advice
}

/// True if operations without a result register (stores and atomics) are outstanding on the counters whose wait could be weaker.
fn may_order(state: &Outstanding<'_>, have: WaitCnt, enough: WaitCnt) -> bool {
    Counter::ALL.into_iter().filter(|c| c.of(have) != c.of(enough)).any(|c| state.any_silent_on(c))
}

/// A rule that is broken if the program has the weaker wait.
struct Broken {
    /// The largest value of the counter that proves the operation complete, if the operation was outstanding before the wait.
    limit: Option<u8>,
}

struct Walk<'a, 'c> {
    check: &'a CounterCheck<'c>,
    looks: usize,
}

impl<'c> Walk<'_, 'c> {
    /// The weakest wait that can replace `have` without breaking a further rule. The counters are weakened one after the other.
    fn weakest(&mut self, block: usize, line: usize, before: &Outstanding<'c>, have: WaitCnt) -> WaitCnt {
        let mut enough = have;
        for counter in Counter::ALL {
            let value = counter.of(have);
            if !counter.is_in(have) {
                continue;
            }
            // Binary search between a value that is known to be sufficient and a value that is known to be insufficient: the more
            // operations a wait leaves outstanding, the more rules are broken.
            let most = counter.capacity(self.check.set());
            let at = |value: u8| if value == most { u8::MAX } else { value };
            let (mut good, mut bad) = (value, most + 1);
            let mut guess = bad - 1;
            while good + 1 < bad {
                let broken =
                    self.breaks(block, line, before, (have, counter.set(enough, at(guess))), counter);
                guess = match broken {
                    None => {
                        good = guess;
                        good + (bad - good) / 2
                    }
                    // The broken rule tells which value would be sufficient for it.
                    Some(Broken { limit: Some(limit) }) if limit < guess => {
                        bad = limit.max(good) + 1;
                        bad - 1
                    }
                    Some(_) => {
                        bad = guess;
                        good + (bad - good) / 2
                    }
                };
            }
            enough = counter.set(enough, at(good));
        }
        enough
    }

    /// The first rule that is broken at `line` with the second of `waits` but not with the first; `None` if there is none.
    fn breaks(
        &mut self,
        block: usize,
        line: usize,
        before: &Outstanding<'c>,
        waits: (WaitCnt, WaitCnt),
        counter: Counter,
    ) -> Option<Broken> {
        let (mut kept, mut weak) = (before.clone(), before.clone());
        kept.wait(waits.0);
        weak.wait(waits.1);
        let mut entries: HashMap<usize, Outstanding<'c>> = HashMap::new();
        let mut open = vec![(block, line + 1, kept, weak)];
        while let Some((block, start, mut kept, mut weak)) = open.pop() {
            for line in start..self.check.flow.cfg.blocks[block].end {
                if kept == weak {
                    break;
                }
                match self.looks.checked_sub(1) {
                    Some(looks) => self.looks = looks,
                    None => return Some(Broken { limit: None }),
                }
                if let Some(first) = self.newly_broken(&kept, &weak, line) {
                    let guess = counter.of(waits.1);
                    return Some(Broken { limit: first.and_then(|f| before.needed_of(f, counter, guess)) });
                }
                self.check.lines[line].step(&mut kept, line);
                self.check.lines[line].step(&mut weak, line);
            }
            if kept == weak {
                continue;
            }
            for &succ in &self.check.flow.cfg.blocks[block].succs {
                if self.check.flow.comes_back(block, succ) {
                    continue;
                }
                let Some(known) = &self.check.states[succ] else { continue };
                let entry = entries.entry(succ).or_insert_with(|| known.clone());
                if entry.join(&weak) {
                    open.push((succ, self.check.flow.cfg.blocks[succ].start, known.clone(), entry.clone()));
                }
            }
        }
        None
    }

    /// The earlier instruction of a rule that `line` breaks in the state `weak` but not in the state `kept`. The inner option is `None` if
    /// the earlier instruction is outside the program.
    fn newly_broken(
        &self,
        kept: &Outstanding<'_>,
        weak: &Outstanding<'_>,
        line: usize,
    ) -> Option<Option<usize>> {
        let with_less = self.check.broken(weak, line);
        if with_less.is_empty() {
            return None;
        }
        let before = self.check.broken(kept, line);
        let is_new = |b: &&crate::check::counters::Broken| {
            !before.iter().any(|k| k.first == b.first && k.rule == b.rule && k.need == b.need)
        };
        with_less.iter().find(is_new).map(|b| b.first)
    }
}
