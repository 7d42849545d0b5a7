//! Runs one workgroup: its waves take turns until all have ended.

use crate::core::error::SimError;
use crate::core::fault::{Fault, Next, Ran};
use crate::core::late::When;
use crate::core::machine::{Cx, Machine, Step};
use crate::core::memory::Memory;
use crate::core::place::{end_of_code, explain, ran_off, site};
use crate::core::value::LANES;
use crate::core::wave::{Lanes, Snapshot, Status, Wave};
use crate::run::launch::Launch;
use crate::semantics::execute::execute;
use crate::watch::{Group, Shared};

/// The number of executions of each instruction, by its index.
#[derive(Clone, Default)]
pub(crate) struct Counts(pub Vec<u64>);

impl Counts {
    pub(crate) fn plus(mut self, other: Counts) -> Counts {
        if self.0.is_empty() {
            return other;
        }
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a += b);
        self
    }
}

/// The state of one workgroup, whose allocations are reused for the next one.
pub(crate) struct Unit {
    pub waves: Vec<Wave>,
    /// Waves that a partial workgroup does not need.
    spare: Vec<Wave>,
    watch: Option<Group>,
    /// The length of a turn in the next round, in instructions.
    turn: u64,
    pub lds: Vec<u8>,
    pub counts: Counts,
    /// The number of split barriers (with separate instructions for arriving and waiting) that the waves have passed.
    met: u64,
}

impl Unit {
    pub(crate) fn new(launch: &Launch<'_>) -> Unit {
        let state = launch.machine.state();
        let count = launch.geometry.waves() as usize;
        let late = launch.watch.as_ref().map_or(When::Issued, Shared::copies_to_lds);
        let wave = || {
            let mut wave =
                Wave::new(launch.machine.vector_registers(), state.private_bytes as usize, state.wave_size);
            wave.late.when = late;
            wave
        };
        let mut workgroup: Vec<Wave> = (0..count).map(|_| wave()).collect();
        if let [first, others @ ..] = &mut workgroup[..] {
            others.iter_mut().for_each(|other| other.arrivals.join(&first.arrivals));
        }
        let watch = launch.watch.as_ref().map(|shared| Group::new(shared, launch.machine, count));
        Unit {
            waves: workgroup,
            spare: Vec::new(),
            watch,
            turn: launch.options.first_turn,
            lds: vec![0; state.lds_bytes as usize],
            counts: Counts(vec![0; launch.machine.steps().len()]),
            met: 0,
        }
    }

    /// Runs workgroup `id` to its end, without running others concurrently.
    pub(crate) fn run(&mut self, launch: &Launch<'_>, memory: &Memory, id: [u32; 3]) -> Result<(), SimError> {
        self.start(launch, id)?;
        loop {
            match self.round(launch, memory, id, launch.options.turn)? {
                Round::Ended => return Ok(()),
                Round::Went | Round::Waits => {}
                Round::Stuck(error) => return Err(*error),
            }
        }
    }

    /// Gives each wave that is not waiting a turn of at most `turn` instructions.
    pub(crate) fn round(
        &mut self,
        launch: &Launch<'_>,
        memory: &Memory,
        id: [u32; 3],
        turn: u64,
    ) -> Result<Round, SimError> {
        let result = self.go_round(launch, memory, id, turn);
        if matches!(result, Ok(Round::Ended) | Err(_))
            && let Some((watch, shared)) = self.watch.as_mut().zip(launch.watch.as_ref())
        {
            watch.publish(shared);
        }
        result
    }

    fn go_round(
        &mut self,
        launch: &Launch<'_>,
        memory: &Memory,
        id: [u32; 3],
        turn: u64,
    ) -> Result<Round, SimError> {
        let mut idle = true;
        let turn = turn.min(self.turn);
        self.turn = self.turn.saturating_mul(2);
        let waves = self.waves.len();
        for (last, number) in [false, true].into_iter().flat_map(|last| (0..waves).map(move |n| (last, n))) {
            if self.watch.as_ref().is_some_and(|w| w.goes_last(number)) != last {
                continue;
            }
            if let Status::Queued(_, queued) = self.waves[number].status
                && memory.gws().lets_go(queued)
            {
                self.waves[number].status = Status::Running;
                idle = false;
                if let Some((watch, shared)) = self.watch.as_mut().zip(launch.watch.as_ref()) {
                    watch.released(shared, number, queued);
                }
            }
            if let Status::AtWait(_) = self.waves[number].status
                && self.has_met(number)
            {
                self.waves[number].arrivals.go_on();
                let meeting = self.waves[number].arrivals.waits();
                if meeting > self.met {
                    self.met = meeting;
                    self.tell_barrier(launch, id, |w| w.arrivals.has_missed(meeting))?;
                }
                self.waves[number].status = Status::Running;
                idle = false;
            }
            if self.waves[number].status == Status::Running {
                idle &= self.turn(launch, memory, id, number, turn)?;
            }
        }
        if self.waves.iter().any(|w| w.status == Status::Running) {
            let watched = self.watch.as_mut().zip(launch.watch.as_ref());
            let stuck =
                watched.and_then(|(watch, shared)| watch.deadlock(shared, launch.machine, &self.waves));
            return Ok(match stuck {
                Some(finding) => Round::Stuck(Box::new(SimError::Finding(finding))),
                None if idle => Round::Waits,
                None => Round::Went,
            });
        }
        if self.waves.iter().all(|w| w.status == Status::Ended) {
            return Ok(Round::Ended);
        }
        if self.waves.iter().any(|w| matches!(w.status, Status::Queued(..) | Status::AtWait(_))) {
            let place = |wave: &Wave| place_of(launch.machine, wave);
            let waves = self.waves.iter().map(place).collect();
            return Ok(if idle {
                Round::Stuck(Box::new(SimError::Deadlock { workgroup: id, waves }))
            } else {
                Round::Went
            });
        }
        self.release_barrier(launch, id)?;
        Ok(Round::Went)
    }

    /// True if every wave that has not ended has arrived at the barrier where this one waits.
    pub(crate) fn has_met(&self, number: usize) -> bool {
        let waiting = &self.waves[number].arrivals;
        self.waves.iter().all(|w| w.status == Status::Ended || w.arrivals.has_met(waiting))
    }

    /// Writes the data of those loads to LDS that complete by this cycle.
    pub(crate) fn finish_copies(&mut self, memory: &Memory, machine: &Machine, cycle: u64) {
        for w in &mut self.waves {
            Cx { w, lds: &mut self.lds, memory, machine, trace: None, next: Next::Fall }
                .finish_copies_until(cycle);
        }
    }

    /// Sets the initial state of every wave (LLVM AMDGPU guide, "Initial Kernel Execution State").
    pub(crate) fn start(&mut self, launch: &Launch<'_>, id: [u32; 3]) -> Result<(), SimError> {
        let state = launch.machine.state();
        let waves = launch.geometry.waves_of(id);
        let sgprs = state.initial_sgprs(&launch.inputs, id, waves)?;
        self.lds.fill(0);
        self.turn = launch.options.first_turn;
        self.met = 0;
        self.waves.append(&mut self.spare);
        self.spare = self.waves.split_off(self.waves.len().min(waves as usize));
        let size = launch.geometry.size_of(id);
        for (number, wave) in self.waves.iter_mut().enumerate() {
            wave.reset(number as u32, state.mode());
            wave.pc = launch.machine.entry();
            wave.s[..sgprs.len()].copy_from_slice(&sgprs);
            if launch.machine.target().has_ids_in_ttmps() {
                put_ids(wave, id);
            }
            let exec = work_items(wave, launch, size, number);
            wave.set_exec(exec);
        }
        if let Some(watch) = &mut self.watch {
            watch.start(launch.machine, &launch.geometry, id, &self.waves, sgprs.len());
        }
        Ok(())
    }

    /// Notifies the checks that all waves that have not ended have reached a barrier; `missed` tells whether an ended wave did not reach it.
    /// In strict mode, that is an error. At a split barrier this happens when the first wave
    /// passes it: the instructions that other waves have executed after their arrival then count as before the barrier.
    fn tell_barrier(
        &mut self,
        launch: &Launch<'_>,
        id: [u32; 3],
        missed: impl Fn(&Wave) -> bool,
    ) -> Result<(), SimError> {
        let absent = self.waves.iter().position(|w| w.status == Status::Ended && missed(w));
        if absent.is_some() && launch.watch.as_ref().is_some_and(Shared::is_strict) {
            return Err(self.divergent_barrier(launch, id));
        }
        if let Some((watch, shared)) = self.watch.as_mut().zip(launch.watch.as_ref())
            && let Err(Fault::Finding(finding)) = watch.barrier(shared, launch.machine, &self.waves, absent)
        {
            return Err(SimError::Finding(finding));
        }
        Ok(())
    }

    /// Releases the barrier at which all waves that have not ended are waiting. Ended waves do not count, as on hardware.
    fn release_barrier(&mut self, launch: &Launch<'_>, id: [u32; 3]) -> Result<(), SimError> {
        // Waves may be at different `s_barrier` instructions, as on hardware: a barrier is complete when every wave waits at any of them.
        self.tell_barrier(launch, id, |_| true)?;
        self.turn = launch.options.first_turn;
        for wave in &mut self.waves {
            if let Status::AtBarrier(_) = wave.status {
                wave.status = Status::Running;
            }
        }
        Ok(())
    }

    fn divergent_barrier(&self, launch: &Launch<'_>, id: [u32; 3]) -> SimError {
        let place = |wave: &Wave| place_of(launch.machine, wave);
        SimError::DivergentBarrier { workgroup: id, waves: self.waves.iter().map(place).collect() }
    }

    /// Runs a wave until it waits, ends, or its turn is over. Returns true if the wave seems to wait for others.
    fn turn(
        &mut self,
        launch: &Launch<'_>,
        memory: &Memory,
        id: [u32; 3],
        number: usize,
        turn: u64,
    ) -> Result<bool, SimError> {
        let Unit { waves, watch, lds, counts, .. } = self;
        let mut cx =
            Cx { w: &mut waves[number], lds, memory, machine: launch.machine, trace: None, next: Next::Fall };
        let Some((watch, shared)) = watch.as_mut().zip(launch.watch.as_ref()) else {
            return go_on(&mut cx, launch, id, counts, turn, execute);
        };
        let mut trace = watch.trace(shared, launch.machine);
        cx.trace = Some(&mut trace);
        watch.resume(shared, &mut cx);
        let result = go_on(&mut cx, launch, id, counts, turn, |cx, step| watch.step(shared, cx, step));
        let at_barrier = matches!(cx.w.status, Status::AtBarrier(_) | Status::AtWait(_));
        watch.suspend(&mut cx, at_barrier);
        watch.put_trace(trace);
        result
    }
}

/// The state of a workgroup after a round of turns.
pub(crate) enum Round {
    Ended,
    /// The workgroup has made progress.
    Went,
    /// The workgroup has made progress, but seems to wait for other workgroups.
    Waits,
    /// The workgroup cannot continue unless another workgroup makes progress; with the error to report otherwise.
    Stuck(Box<SimError>),
}

fn place_of(machine: &Machine, wave: &Wave) -> String {
    match wave.status {
        Status::AtBarrier(at) | Status::AtWait(at) | Status::Queued(at, _) => {
            format!("wave {} waits at {}", wave.id, machine.named(at))
        }
        Status::Running | Status::Ended => format!("wave {} has ended", wave.id),
    }
}

/// The number of instructions at the end of a turn in which a waiting loop is searched for.
const LOOK: u64 = 512;

/// Runs a wave until it waits, ends, or its turn is over; `run` executes an instruction. Returns true if the wave seems to wait for others:
/// it sleeps, or it has returned to exactly the same state within the last instructions of its turn.
fn go_on(
    cx: &mut Cx<'_>,
    launch: &Launch<'_>,
    id: [u32; 3],
    counts: &mut Counts,
    turn: u64,
    mut run: impl FnMut(&mut Cx<'_>, &Step) -> Ran,
) -> Result<bool, SimError> {
    let steps = launch.machine.steps();
    let counts = &mut counts.0[..steps.len()];
    let limit = launch.options.max_instructions;
    let end = cx.w.count.saturating_add(turn.max(1)).min(limit);
    // Search only at the end of a turn, because saving the state costs as much as many instructions.
    let look = if turn > LOOK { end.saturating_sub(LOOK) } else { u64::MAX };
    let mut seen: Option<Snapshot> = None;
    while cx.w.count < end {
        let (at, left) = (cx.w.pc, end - cx.w.count);
        // The instructions until the next jump are executed by a loop of their own.
        let line = steps.get(at..).unwrap_or_default();
        let line = &line[..line.len().min(usize::try_from(left).unwrap_or(usize::MAX))];
        if line.is_empty() {
            return Err(ran_off(cx, id));
        }
        let mut last = Next::Fall;
        for (step, count) in line.iter().zip(&mut counts[at..]) {
            let next = run(cx, step).map_err(|fault| explain(cx, id, step, *fault))?;
            *count += 1;
            cx.w.count += 1;
            if next != Next::Fall {
                last = next;
                break;
            }
            cx.w.pc += 1;
        }
        match last {
            Next::Fall => {}
            Next::Jump(to) => {
                let to = to as usize;
                let back = to <= cx.w.pc;
                cx.w.pc = to;
                if back && cx.w.count >= look {
                    match &seen {
                        Some(seen) if seen.is(cx.w, to) => return Ok(true),
                        Some(_) => {}
                        None => seen = Some(Snapshot::of(cx.w, to)),
                    }
                }
            }
            Next::Yield => {
                cx.w.pc += 1;
                return Ok(true);
            }
            Next::Barrier => {
                cx.w.status = Status::AtBarrier(cx.w.pc);
                cx.w.pc += 1;
                return Ok(false);
            }
            Next::Signals => {
                cx.w.status = Status::AtWait(cx.w.pc);
                cx.w.pc += 1;
                return Ok(false);
            }
            Next::Queue(queued) => {
                cx.w.status = Status::Queued(cx.w.pc, queued);
                cx.w.pc += 1;
                return Ok(false);
            }
            Next::End => {
                cx.w.status = Status::Ended;
                return Ok(false);
            }
        }
    }
    if cx.w.count < limit {
        return Ok(false);
    }
    let site = steps.get(cx.w.pc).map_or_else(|| end_of_code(cx, id), |step| site(cx, id, step));
    Err(SimError::InstructionLimit { site, limit })
}

/// Writes the workgroup ID and the wave ID to the trap temporaries: x to `ttmp9`, y and z to the halves of `ttmp7`, and the wave to bits
/// 29:25 of `ttmp8` (as LLVM 22 compiles `llvm.amdgcn.workgroup.id` and `llvm.amdgcn.wave.id`).
fn put_ids(wave: &mut Wave, [x, y, z]: [u32; 3]) {
    let first = usize::from(gcn_isa::reg::TTMP.index);
    (wave.s[first + 9], wave.s[first + 7]) = (x, y & 0xffff | z << 16);
    wave.s[first + 8] = wave.id << 25;
}

/// Writes the work-item IDs of a wave to its first VGPRs, for a workgroup of the given size; returns the wave's initial EXEC.
fn work_items(wave: &mut Wave, launch: &Launch<'_>, [sx, sy, sz]: [u32; 3], number: usize) -> u64 {
    let dimensions = launch.machine.state().workitem_id;
    let lanes = launch.geometry.wave;
    let first = number as u32 * lanes;
    let count = (sx * sy * sz).saturating_sub(first).min(lanes) as usize;
    if count == 0 {
        return 0;
    }
    // The IDs are incremented from lane to lane: with a division for each lane, this took a fifth of the time of short kernels.
    let [mut x, mut y, mut z] = [first % sx, first / sx % sy, first / (sx * sy)];
    let mut ids = [[0; LANES]; 3];
    let mut lane = 0;
    while lane < count {
        // A row of the workgroup, or the part of it that belongs to this wave.
        let row = lane..count.min(lane + (sx - x) as usize);
        lane = row.end;
        for (n, at) in row.clone().enumerate() {
            ids[0][at] = x + n as u32;
        }
        ids[1][row.clone()].fill(y);
        ids[2][row].fill(z);
        (x, y) = (0, y + 1);
        if y == sy {
            (y, z) = (0, z + 1);
        }
    }
    let given = usize::from(dimensions) + 1;
    if launch.machine.target().has_packed_tid() {
        let [mut packed, y, z] = ids;
        for lane in 0..LANES {
            packed[lane] |=
                if given > 1 { y[lane] << 10 } else { 0 } | if given > 2 { z[lane] << 20 } else { 0 };
        }
        put(wave, 0, packed);
    } else {
        ids.into_iter().take(given).enumerate().for_each(|(register, ids)| put(wave, register, ids));
    }
    u64::MAX >> (64 - count)
}

/// Writes IDs to a register if the kernel allocates it: a kernel may allocate fewer VGPRs than there are IDs.
fn put(wave: &mut Wave, register: usize, ids: Lanes) {
    let registers = wave.room();
    if let Some(lanes) = wave.v[..registers].get_mut(register) {
        *lanes = ids;
    }
}
