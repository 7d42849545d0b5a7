//! Checks wait states between dependent instructions.
//!
//! The rules are those of [`gcn_isa::hazards`]; this module only measures distances. A wave remembers its recent instructions, as far back
//! as any rule reaches. Each new instruction is checked against each of them, given the distance between them. A register that a matrix
//! instruction has written matters only until a later instruction overwrites it.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use gcn_isa::Reg;
use gcn_isa::hazards::{self, Config, Need, Since, View};

use super::{Current, hazard};
use crate::core::machine::Machine;
use crate::core::site::Hazard;

/// The memoised results of the rule table for pairs of a program's instructions.
pub(crate) struct Pairs {
    pub views: Vec<View>,
    /// The rules to apply.
    pub rules: Config,
    /// The number of wait states that each instruction provides by itself.
    pub own: Vec<u32>,
    /// For each second instruction, a value for each first one: [`UNKNOWN`], or [`KNOWN`] plus the number of required wait states.
    rows: Vec<OnceLock<Box<[AtomicU8]>>>,
}

const UNKNOWN: u8 = 0;
const KNOWN: u8 = 1;

impl Pairs {
    pub(crate) fn new(machine: &Machine, rules: Config) -> Pairs {
        let steps = machine.steps();
        Pairs {
            rules,
            views: steps.iter().map(|s| View::new(machine.target(), &s.inst)).collect(),
            own: steps.iter().map(|s| hazards::wait_states(&s.inst)).collect(),
            rows: steps.iter().map(|_| OnceLock::new()).collect(),
        }
    }

    /// The number of wait states that are required between `past` and `second`.
    fn needed(&self, past: &Past, second: &Current<'_>) -> u64 {
        if past.since != Since::NOTHING || past.moved.is_some() || second.moved.is_some() {
            return self.required(past, second).map_or(0, |n| u64::from(n.states));
        }
        self.between(past.at, second.at)
    }

    /// The number of wait states that are required between `first` and `second` if no result of `first` has been overwritten.
    pub(crate) fn between(&self, first: usize, second: usize) -> u64 {
        let row = self.rows[second].get_or_init(|| self.own.iter().map(|_| AtomicU8::new(UNKNOWN)).collect());
        let cached = row[first].load(Relaxed);
        if cached != UNKNOWN {
            return u64::from(cached - KNOWN);
        }
        let need = self.views[first].required(&self.views[second], self.rules).map_or(0, |n| n.states);
        row[first].store(KNOWN + need, Relaxed);
        u64::from(need)
    }

    /// What is required between `past` and `second`, considering only results of `past` that have not been overwritten.
    fn required(&self, past: &Past, second: &Current<'_>) -> Option<Need> {
        past.view(self).required_since(second.view, self.rules, past.since)
    }
}

/// An instruction that a wave executed recently.
#[derive(Clone)]
struct Past {
    at: usize,
    /// The instruction's view with the actual registers, if an index changed them.
    moved: Option<Arc<View>>,
    /// The wait states issued up to and including this instruction.
    position: u64,
    /// The number of issued wait states from which on no rule requires more.
    until: u64,
    /// Facts about the instructions executed since this one.
    since: Since,
}

impl Past {
    fn key(&self) -> (usize, u64, u64, Since) {
        (self.at, self.position, self.until, self.since)
    }

    fn view<'a>(&'a self, pairs: &'a Pairs) -> &'a View {
        self.moved.as_deref().unwrap_or(&pairs.views[self.at])
    }
}

/// Instructions with registers that an index has changed ([`Recent::has_moved`]) are not compared.
impl PartialEq for Past {
    fn eq(&self, other: &Past) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Past {}

impl Hash for Past {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

/// The recent instructions of a wave, as far back as any rule reaches, oldest first.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Recent {
    past: VecDeque<Past>,
    /// The number of wait states issued so far.
    position: u64,
    /// The largest [`Past::until`].
    until: u64,
}

/// The position of a wave after [`Recent::rebase`], which is greater than the reach of any rule.
const HERE: u64 = 1 << 16;

impl Recent {
    /// True if an index has changed registers of a recent instruction.
    pub(crate) fn has_moved(&self) -> bool {
        self.past.iter().any(|past| past.moved.is_some())
    }

    /// Makes positions relative to that of the wave, and forgets instructions from which no rule reaches to here, so that those are equal
    /// between which no later instruction makes a difference.
    pub(crate) fn rebase(&mut self) {
        let (past, here) = (&mut self.past, self.position);
        past.retain(|past| past.until > here);
        for at in past.iter_mut().flat_map(|past| [&mut past.position, &mut past.until]) {
            *at = HERE + *at - here;
        }
        (self.position, self.until) = (HERE, past.iter().map(|past| past.until).max().unwrap_or(HERE));
    }

    #[inline]
    pub(crate) fn check(
        &mut self,
        pairs: &Pairs,
        machine: &Machine,
        now: &Current<'_>,
    ) -> Result<(), Box<Hazard>> {
        if self.position < self.until {
            return self.check_all(pairs, machine, now);
        }
        self.past.clear();
        Ok(())
    }

    #[inline(never)]
    fn check_all(&mut self, pairs: &Pairs, machine: &Machine, now: &Current<'_>) -> Result<(), Box<Hazard>> {
        while self.past.front().is_some_and(|past| past.until <= self.position) {
            self.past.pop_front();
        }
        for past in self.past.iter().filter(|past| self.position < past.until) {
            let distance = self.position - past.position;
            if distance < pairs.needed(past, now) {
                return Err(report(pairs, machine, past, now, distance));
            }
        }
        Ok(())
    }

    pub(crate) fn push(&mut self, pairs: &Pairs, now: &Current<'_>) {
        self.position += u64::from(pairs.own[now.at]);
        let view = now.view;
        if !self.past.is_empty() && view.matters_between() {
            let position = self.position;
            for past in self.past.iter_mut().filter(|past| position < past.until) {
                past.since = past.since.past(past.view(pairs), view);
            }
        }
        if view.reach() > 0 {
            let (moved, position) = (now.moved.cloned(), self.position);
            let until = position + u64::from(view.reach());
            self.until = self.until.max(until);
            self.past.push_back(Past { at: now.at, moved, position, until, since: Since::NOTHING });
        }
    }
}

fn report(pairs: &Pairs, machine: &Machine, past: &Past, second: &Current<'_>, distance: u64) -> Box<Hazard> {
    let need = pairs.required(past, second);
    let (rule, states) = need.map_or(("", 0), |n| (n.rule.id, n.states));
    too_close(machine, past.at, rule, states, distance, need.and_then(|n| n.reg))
}

/// The hazard of an instruction that executes `distance` wait states after instruction `first`, although `rule` requires `states` of them.
pub(crate) fn too_close(
    machine: &Machine,
    first: usize,
    rule: &str,
    states: u8,
    distance: u64,
    reg: Option<Reg>,
) -> Box<Hazard> {
    let missing = u64::from(states).saturating_sub(distance);
    let remedy = format!(
        "place {missing} independent wait states before it, for example `s_nop {}`",
        missing.saturating_sub(1)
    );
    let need = format!("{states} wait states");
    let mut hazard = hazard(machine, rule, first, None, (need, distance.to_string(), remedy));
    hazard.register = reg.map(|reg| reg.to_string());
    hazard
}
