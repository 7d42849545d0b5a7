//! The checks that run along with the instructions: strict and faithful mode, sanitizers.

pub(crate) mod faithful;
pub(crate) mod sanitize;
pub(crate) mod strict;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use gcn_isa::hazards::Config;

use crate::core::fault::{Fault, Ran};
use crate::core::finding::{Finding, Stale};
use crate::core::grid::Geometry;
use crate::core::gws::Queued;
use crate::core::late::When;
use crate::core::machine::{Cx, Machine, Step};
use crate::core::options::{Mode, Options};
use crate::core::place::site;
use crate::core::site::Hazard;
use crate::core::trace::Trace;
use crate::core::wave::Wave;
use crate::semantics::execute::execute;
use crate::semantics::indexed;
use strict::Moved;
use strict::outstanding::{self, Late};

/// The state that the workgroups of a launch share.
pub(crate) struct Shared {
    mode: Watched,
    rules: Config,
    sanitize: Option<sanitize::Shared>,
    results: Mutex<Results>,
}

enum Watched {
    Functional,
    Strict(Arc<(Config, strict::Program)>),
    Faithful(Box<faithful::Program>),
}

/// The findings of all workgroups.
#[derive(Default)]
pub(crate) struct Results {
    stale: BTreeMap<(u32, u32, String), Stale>,
    findings: Vec<Finding>,
}

impl Shared {
    /// The state for a launch; `None` if the options request functional execution only.
    pub(crate) fn new(machine: &Machine, options: &Options) -> Option<Shared> {
        let mode = match options.mode {
            Mode::Functional => Watched::Functional,
            Mode::Strict => {
                let rules = options.rules;
                Watched::Strict(machine.derived(rules, || strict::Program::new(machine, rules)))
            }
            Mode::Faithful => Watched::Faithful(Box::new(faithful::Program::new(machine, options.rules))),
        };
        let sanitize = sanitize::Shared::new(machine, options);
        if matches!(mode, Watched::Functional) && sanitize.is_none() && machine.probes().is_none() {
            return None;
        }
        Some(Shared { mode, rules: options.rules, sanitize, results: Mutex::default() })
    }

    /// True if all workgroups must run on one host thread.
    pub(crate) fn is_sequential(&self) -> bool {
        self.sanitize.is_some()
    }

    /// True if it is an error that a wave ends without reaching a barrier at which others wait.
    pub(crate) fn is_strict(&self) -> bool {
        matches!(self.mode, Watched::Strict(_))
    }

    /// The time at which loads to LDS write LDS.
    pub(crate) fn copies_to_lds(&self) -> When {
        if matches!(self.mode, Watched::Faithful(_)) { When::Waited } else { When::Issued }
    }

    /// The stale accesses and findings, in code order.
    pub(crate) fn results(&self) -> (Vec<Stale>, Vec<Finding>) {
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        let mut results = std::mem::take(&mut *results);
        self.sanitize.iter().for_each(|sanitize| sanitize.end(&mut results.findings));
        (results.stale.into_values().collect(), results.findings)
    }
}

/// The state of one workgroup.
#[derive(Default)]
pub(crate) struct Group {
    trace: Trace,
    strict: Vec<strict::WaveState>,
    faithful: Vec<faithful::WaveState>,
    sanitize: Option<sanitize::Group>,
    /// The accesses to LDS that were outstanding when their waves arrived at the last barrier.
    late: Vec<Late>,
    results: Results,
    id: [u32; 3],
    alone: bool,
    /// True if only the rules of strict mode are checked.
    only_strict: bool,
}

impl Group {
    pub(crate) fn new(shared: &Shared, machine: &Machine, waves: usize) -> Group {
        let mut group = Group::default();
        match shared.mode {
            Watched::Functional => {}
            Watched::Strict(_) => group.strict.resize_with(waves, Default::default),
            Watched::Faithful(_) => group.faithful.resize_with(waves, Default::default),
        }
        group.sanitize = shared.sanitize.as_ref().map(|s| sanitize::Group::new(s, machine, waves));
        group.only_strict = shared.is_strict() && group.sanitize.is_none() && machine.probes().is_none();
        group
    }

    /// Prepares for workgroup `id`, whose waves have their initial state, with `sgprs` initialised SGPRs.
    pub(crate) fn start(
        &mut self,
        machine: &Machine,
        geometry: &Geometry,
        id: [u32; 3],
        waves: &[Wave],
        sgprs: usize,
    ) {
        if let Some(sanitize) = &mut self.sanitize {
            sanitize.start(machine, geometry, id, waves, sgprs);
        }
        (self.id, self.alone) = (id, waves.len() == 1);
        self.late.clear();
        self.strict.iter_mut().for_each(strict::WaveState::reset);
        self.faithful.iter_mut().for_each(faithful::WaveState::reset);
    }

    /// Called when all waves that have not ended are at a barrier and continue. `absent` is a wave that ended and never reached it.
    pub(crate) fn barrier(
        &mut self,
        shared: &Shared,
        machine: &Machine,
        waves: &[Wave],
        absent: Option<usize>,
    ) -> Result<(), Fault> {
        self.late.clear();
        // Other targets require every counter to be 0 at a barrier, so nothing is outstanding there.
        if machine.target().has_back_off_barrier() {
            for (wave, state) in (0..).zip(&mut self.strict) {
                self.late.extend(state.meet().filter_map(|a| Late::of(wave, shared.rules, a)));
            }
            for (wave, state) in (0..).zip(&mut self.faithful) {
                self.late.extend(state.meet().filter_map(|a| Late::of(wave, shared.rules, a)));
            }
        }
        let Some((state, program)) = self.sanitize.as_mut().zip(shared.sanitize.as_ref()) else {
            return Ok(());
        };
        state.barrier(program);
        state.divergent(program, machine, waves, absent)
    }

    /// Called after each wave has had a turn. Returns the finding if no wave can continue.
    pub(crate) fn deadlock(
        &mut self,
        shared: &Shared,
        machine: &Machine,
        waves: &[Wave],
    ) -> Option<Box<Finding>> {
        self.sanitize.as_mut()?.deadlock(shared.sanitize.as_ref()?, machine, waves)
    }

    /// Called when a wave that waited for a resource of global wave sync continues.
    pub(crate) fn released(&mut self, shared: &Shared, number: usize, queued: Queued) {
        if let Some((state, program)) = self.sanitize.as_mut().zip(shared.sanitize.as_ref()) {
            state.released(program, number, queued);
        }
    }

    pub(crate) fn trace(&mut self, shared: &Shared, machine: &Machine) -> Trace {
        let mut trace = std::mem::take(&mut self.trace);
        trace.keep = matches!(shared.mode, Watched::Faithful(_))
            || shared.sanitize.as_ref().is_some_and(sanitize::Shared::keeps);
        // Only with TgSplit do barriers order stores to memory.
        trace.only_lds = shared.is_strict() && shared.sanitize.is_none() && !machine.state().tg_split;
        trace.at_once = !matches!(shared.mode, Watched::Faithful(_));
        trace.lenient = shared.sanitize.as_ref().is_some_and(sanitize::Shared::is_lenient);
        trace
    }

    pub(crate) fn put_trace(&mut self, trace: Trace) {
        self.trace = trace;
    }

    /// Called when a wave's turn starts.
    pub(crate) fn resume(&mut self, shared: &Shared, cx: &mut Cx<'_>) {
        if let (Watched::Faithful(program), Some(state)) =
            (&shared.mode, self.faithful.get_mut(cx.w.id as usize))
        {
            state.resume(program, cx);
        }
    }

    /// True if the wave should run after the others, because its outstanding reads of LDS may see their writes.
    pub(crate) fn goes_last(&self, number: usize) -> bool {
        self.faithful.get(number).is_some_and(faithful::WaveState::reads_late)
    }

    /// Called when a wave's turn is over.
    pub(crate) fn suspend(&mut self, cx: &mut Cx<'_>, at_barrier: bool) {
        if let Some(state) = self.faithful.get_mut(cx.w.id as usize) {
            state.suspend(cx, at_barrier);
        }
    }

    /// Executes an instruction with all checks.
    #[inline]
    pub(crate) fn step(&mut self, shared: &Shared, cx: &mut Cx<'_>, step: &Step) -> Ran {
        if let Some(trace) = cx.trace.as_deref_mut()
            && !trace.is_clear()
        {
            trace.clear();
        }
        if let Watched::Strict(program) = &shared.mode
            && self.only_strict
            && self.late.is_empty()
            && !indexed::may_be_moved(cx, step)
        {
            let (program, now) = (&program.1, program.1.current(cx.w.pc, None));
            return checked(&mut self.strict[cx.w.id as usize], program, cx, step, &now, self.alone);
        }
        self.step_with_all(shared, cx, step)
    }

    #[inline(never)]
    fn step_with_all(&mut self, shared: &Shared, cx: &mut Cx<'_>, step: &Step) -> Ran {
        let sanitize = self.sanitize.as_mut().zip(shared.sanitize.as_ref());
        let (at, number) = (cx.w.pc, cx.w.id as usize);
        let (id, alone) = (self.id, self.alone);
        if let Some((state, program)) = sanitize {
            state.before(program, cx, step)?;
        }
        let next = match &shared.mode {
            Watched::Functional => execute(cx, step)?,
            Watched::Strict(program) => {
                let (program, state) = (&program.1, &mut self.strict[number]);
                let next = if indexed::may_be_moved(cx, step) {
                    let moved = indexed::moved(cx, step)?
                        .map(|inst| Moved::of(cx.machine.target(), &inst, program.pairs.rules));
                    checked(state, program, cx, step, &program.current(at, moved.as_ref()), alone)?
                } else {
                    checked(state, program, cx, step, &program.current(at, None), alone)?
                };
                match self.overtaken(cx) {
                    Some(hazard) => return Err(Fault::Hazard(hazard).into()),
                    None => next,
                }
            }
            Watched::Faithful(program) => {
                let stale = &mut self.results.stale;
                let mut report = |cx: &Cx<'_>, hazard: Box<Hazard>| keep(stale, cx, id, step, *hazard);
                let next = self.faithful[number].step(program, cx, step, alone, &mut report)?;
                if let Some(hazard) = self.overtaken(cx) {
                    keep(&mut self.results.stale, cx, id, step, *hazard);
                }
                next
            }
        };
        if let Some((state, program)) = self.sanitize.as_mut().zip(shared.sanitize.as_ref()) {
            state.after(program, cx, step, next)?;
        }
        if let Some(probes) = cx.machine.probes() {
            probes.after(cx.w, step.offset, id);
        }
        Ok(next)
    }

    /// The hazard, if this access is to data that another wave may still have to read or write.
    fn overtaken(&self, cx: &Cx<'_>) -> Option<Box<Hazard>> {
        let trace = cx.trace.as_deref().filter(|_| !self.late.is_empty())?;
        outstanding::overtaken(&self.late, cx.machine, cx.w.id, &trace.touches)
    }

    /// Adds the workgroup's findings to those of the launch.
    pub(crate) fn publish(&mut self, shared: &Shared) {
        let mut mine = std::mem::take(&mut self.results);
        if let Some(sanitize) = &mut self.sanitize {
            mine.findings.append(&mut sanitize.take());
        }
        if mine.stale.is_empty() && mine.findings.is_empty() {
            return;
        }
        let mut all = shared.results.lock().unwrap_or_else(PoisonError::into_inner);
        for (key, stale) in mine.stale {
            merge(&mut all.stale, key, stale);
        }
        all.findings.append(&mut mine.findings);
    }
}

/// Executes an instruction in strict mode.
#[inline]
fn checked(
    state: &mut strict::WaveState,
    program: &strict::Program,
    cx: &mut Cx<'_>,
    step: &Step,
    now: &strict::Current<'_>,
    alone: bool,
) -> Ran {
    state.before(program, cx.machine, now, alone).map_err(Fault::Hazard)?;
    let next = execute(cx, step)?;
    if let Some(trace) = cx.trace.as_deref() {
        state.after(program, cx.machine, now, trace, alone).map_err(Fault::Hazard)?;
    }
    Ok(next)
}

fn keep(
    all: &mut BTreeMap<(u32, u32, String), Stale>,
    cx: &Cx<'_>,
    id: [u32; 3],
    step: &Step,
    mut hazard: Hazard,
) {
    let key = (hazard.first.offset, step.offset, hazard.rule.clone());
    if let Some(known) = all.get_mut(&key) {
        known.count += 1;
        return;
    }
    hazard.second = site(cx, id, step);
    all.insert(key, Stale { hazard, count: 1 });
}

/// The occurrence that is reported is that of the first workgroup, regardless of which workgroup ran first.
fn merge(all: &mut BTreeMap<(u32, u32, String), Stale>, key: (u32, u32, String), stale: Stale) {
    let order = |s: &Stale| {
        let [x, y, z] = s.hazard.second.workgroup;
        (z, y, x, s.hazard.second.wave)
    };
    match all.get_mut(&key) {
        Some(known) => {
            let count = known.count + stale.count;
            if order(&stale) < order(known) {
                *known = stale;
            }
            known.count = count;
        }
        None => {
            all.insert(key, stale);
        }
    }
}
