//! What a wave has executed before, as far as wait states and sequences depend on it.
//!
//! Both depend on nothing but the instructions of the wave's path, and look back a short way only, so waves come to the same few states again
//! and again. A program therefore remembers its states and the transitions between them: a wave that executes an instruction in a state in
//! which it, or another wave, has executed it before only looks up the next state.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use gcn_isa::table::NameHasher;

use super::sequences::{Sequences, UnderWay};
use super::states::{Pairs, Recent};
use super::{Current, Program};
use crate::core::machine::Machine;
use crate::core::site::Hazard;

/// A state of a wave.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct State {
    recent: Recent,
    under_way: Option<UnderWay>,
}

impl State {
    fn start(sequences: Option<&Sequences>) -> State {
        State { recent: Recent::default(), under_way: sequences.map(UnderWay::start) }.rebased(sequences)
    }

    /// The same state for all later instructions; those that are the same become equal.
    fn rebased(mut self, sequences: Option<&Sequences>) -> State {
        self.recent.rebase();
        if let Some((under_way, rules)) = self.under_way.as_mut().zip(sequences) {
            under_way.rebase(rules);
        }
        self
    }

    fn check(
        &mut self,
        (pairs, sequences): (&Pairs, Option<&Sequences>),
        machine: &Machine,
        now: &Current<'_>,
    ) -> Result<(), Box<Hazard>> {
        self.recent.check(pairs, machine, now)?;
        match self.under_way.as_mut().zip(sequences) {
            Some((under_way, rules)) => under_way.check(rules, machine, now.at),
            None => Ok(()),
        }
    }

    fn push(
        &mut self,
        (pairs, sequences): (&Pairs, Option<&Sequences>),
        machine: &Machine,
        now: &Current<'_>,
    ) {
        self.recent.push(pairs, now);
        if let Some((under_way, rules)) = self.under_way.as_mut().zip(sequences) {
            under_way.push(rules, machine, now.at);
        }
    }
}

/// The number of a state that is not known.
const UNKNOWN: u32 = 0;
/// The number of the state before the first instruction.
const START: u32 = 1;

/// The number of transitions of an instruction that are kept.
const KEPT: usize = 4;

/// The largest number of states that are kept.
const MOST: usize = 1 << 14;

/// The known states of a program, which waves on all threads share.
pub(crate) struct Known {
    /// Transitions of each instruction: the number of the state before it in the upper half, and of the state after it in the lower half.
    steps: Vec<[AtomicU64; KEPT]>,
    states: Mutex<States>,
    is_full: AtomicBool,
}

#[derive(Default)]
struct States {
    /// The states by number, from [`START`] on.
    all: Vec<Arc<State>>,
    numbers: HashMap<Arc<State>, u32, BuildHasherDefault<NameHasher>>,
}

impl States {
    /// The number of a state.
    fn number(&mut self, state: State) -> u32 {
        if let Some(number) = self.numbers.get(&state) {
            return *number;
        }
        let (state, number) = (Arc::new(state), START + self.all.len() as u32);
        self.all.push(Arc::clone(&state));
        self.numbers.insert(state, number);
        number
    }
}

impl Known {
    pub(crate) fn new(machine: &Machine, sequences: Option<&Sequences>) -> Known {
        let mut states = States::default();
        states.number(State::start(sequences));
        Known {
            steps: machine.steps().iter().map(|_| Default::default()).collect(),
            states: Mutex::new(states),
            is_full: AtomicBool::new(false),
        }
    }

    /// The state after the instruction `at`, which obeys all rules in the state `from`; [`UNKNOWN`] if this is not known.
    #[inline]
    fn after(&self, from: u32, at: usize) -> u32 {
        let transitions = self.steps[at].iter().map(|known| known.load(Relaxed));
        transitions.into_iter().find(|known| (known >> 32) as u32 == from).unwrap_or(0) as u32
    }

    fn state(&self, number: u32) -> Option<Arc<State>> {
        let states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        states.all.get(number.checked_sub(START)? as usize).cloned()
    }

    /// The number of a state; [`UNKNOWN`] if there are too many.
    fn number(&self, state: &State, sequences: Option<&Sequences>) -> u32 {
        if self.is_full.load(Relaxed) {
            return UNKNOWN;
        }
        let state = state.clone().rebased(sequences);
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        let number = states.number(state);
        self.is_full.store(states.all.len() >= MOST, Relaxed);
        number
    }

    fn add(&self, from: u32, at: usize, to: u32) {
        if from != UNKNOWN && to != UNKNOWN {
            let known = &self.steps[at];
            let free = known.iter().find(|known| known.load(Relaxed) == 0);
            let place = free.unwrap_or(&known[from as usize % KEPT]);
            place.store(u64::from(from) << 32 | u64::from(to), Relaxed);
        }
    }
}

/// The history of a wave.
pub(crate) struct History {
    /// The number of its state, and of its state after the instruction that is about to execute.
    now: u32,
    next: u32,
    /// The state itself if a number is not known.
    state: State,
}

impl Default for History {
    fn default() -> History {
        History { now: START, next: UNKNOWN, state: State::default() }
    }
}

impl History {
    pub(crate) fn reset(&mut self) {
        self.now = START;
    }

    /// Checks an instruction before it executes.
    #[inline]
    pub(crate) fn check(
        &mut self,
        program: &Program,
        machine: &Machine,
        now: &Current<'_>,
    ) -> Result<(), Box<Hazard>> {
        self.next = if now.moved.is_none() { program.known.after(self.now, now.at) } else { UNKNOWN };
        if self.next == UNKNOWN { self.check_in_state(program, machine, now) } else { Ok(()) }
    }

    #[inline(never)]
    fn check_in_state(
        &mut self,
        program: &Program,
        machine: &Machine,
        now: &Current<'_>,
    ) -> Result<(), Box<Hazard>> {
        if let Some(state) = program.known.state(self.now) {
            self.state.clone_from(&state);
        }
        self.state.check(program.rules(), machine, now)
    }

    /// Records an instruction that has been checked and executed.
    #[inline]
    pub(crate) fn push(&mut self, program: &Program, machine: &Machine, now: &Current<'_>) {
        if self.next == UNKNOWN {
            self.next = self.pushed(program, machine, now);
        }
        self.now = self.next;
    }

    #[inline(never)]
    fn pushed(&mut self, program: &Program, machine: &Machine, now: &Current<'_>) -> u32 {
        let rules = program.rules();
        self.state.push(rules, machine, now);
        if self.state.recent.has_moved() {
            return UNKNOWN;
        }
        let next = program.known.number(&self.state, rules.1);
        if now.moved.is_none() {
            program.known.add(self.now, now.at, next);
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use gcn_emit::{encode::encode_program, text::parse_program};
    use gcn_isa::Target;
    use gcn_isa::hazards::Config;

    use super::*;
    use crate::core::kernel::KernelState;

    /// On a random path, states that are replaced by simpler ones after each instruction lead to the same findings as those that never are.
    #[test]
    fn rebased_states_have_the_same_findings() {
        let rdna4 = "v_add_nc_u32 v1, s2, v3\ns_mov_b32 s2, s4\nv_cmp_eq_u32_e64 s3, v1, v2\ns_mov_b32 vcc_lo, 0\n\
                     v_cndmask_b32_e32 v1, v2, v3, vcc_lo\nv_readfirstlane_b32 s2, v1\nv_exp_f32 v1, v2\nv_add_f32 v4, v1, v5\n\
                     s_add_co_i32 s5, s2, s3\nv_mov_b32 v6, s5\ns_nop 0\ns_load_b32 s6, s[0:1], 0x0\nv_writelane_b32 v7, s2, 3";
        let rdna3 = "v_cndmask_b32_e64 v1, v2, v3, s2\ns_mov_b32 s2, 0\ns_mov_b32 s3, s2\nv_mov_b32 v1, s2\nv_exp_f32 v1, v2\n\
                     v_mov_b32 v3, v1\nlds_direct_load v1 wait_vdst:15\nlds_direct_load v3 wait_vdst:3\nv_add_f32 v2, v1, v3\n\
                     v_readlane_b32 s4, v1, s2\ns_nop 1\nv_cmp_eq_u32_e64 s2, v1, v2\nds_load_b32 v3, v4\nv_add_f32 v4, v1, v1";
        let cdna = "v_mfma_f32_32x32x8_f16 v[0:15], v[16:17], v[18:19], v[0:15]\nv_mov_b32 v3, v4\nv_add_f32 v20, v3, v16\n\
                    v_readlane_b32 s2, v3, s3\nv_mov_b32 v16, s2\ns_nop 3\nv_cmp_eq_u32_e64 vcc, v3, v20\n\
                    v_div_fmas_f32 v21, v3, v4, v20\nds_write_b32 v22, v3\nv_readfirstlane_b32 s3, v20\ns_mov_b32 m0, s3";
        for (target, text) in [(Target::GFX1201, rdna4), (Target::GFX1100, rdna3), (Target::GFX942, cdna)] {
            let parsed = parse_program(&format!("{text}\ns_endpgm"), target, "test").unwrap();
            let code = encode_program(&parsed).unwrap().bytes;
            let state = KernelState { wave_size: parsed.wave, ..KernelState::default() };
            let machine = Machine::new(target, &code, state).unwrap();
            let program = Program::new(&machine, Config::default());
            let rules = program.rules();
            let mut kept = State::start(rules.1);
            let (mut rebased, mut random, mut findings) = (kept.clone(), 1u64, 0);
            let count = machine.steps().len() - 1;
            for _ in 0..2000 {
                for at in 0..count {
                    let now = program.current(at, None);
                    let check = |state: &mut State| {
                        state.check(rules, &machine, &now).err().map(|hazard| format!("{hazard:?}"))
                    };
                    let found = check(&mut kept);
                    assert_eq!(found, check(&mut rebased), "{target} at {at}");
                    findings += usize::from(found.is_some());
                }
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let now = program.current(random as usize % count, None);
                kept.push(rules, &machine, &now);
                rebased.push(rules, &machine, &now);
                rebased = rebased.rebased(rules.1);
            }
            assert!(findings > 100, "{target}: {findings}");
        }
    }
}
