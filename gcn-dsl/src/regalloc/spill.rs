//! Allocation when registers run out: values are spilled to other registers, to lanes or to memory, or are
//! rematerialised where they are read.
//!
//! # How
//! The allocator works in rounds, like Chaitin's and Briggs's allocators. A round assigns all classes like
//! [`super::assign`], except that a class that does not fit evicts cheaper ones, or is evicted itself. The cost
//! (`cost`) is the execution-weighted cost of the spill code that the class would need, divided by the length of its
//! life. `insert` then rewrites the function: an evicted value is loaded before its readers and stored after its
//! writers, and the new registers are live only in between. The next round allocates the rewritten function, until
//! every class has registers. Each round evicts at least one value that was still in a register, and pieces only become
//! smaller, so this terminates.
//!
//! # Homes
//! Where a spilled value is kept is its *home*:
//! - SGPRs go to lanes of VGPRs (`v_writelane_b32`, `v_readlane_b32`), which ignore EXEC.
//! - VGPRs go to AGPRs, and AGPRs to VGPRs, while the limits leave some (`v_accvgpr_write_b32`, `v_accvgpr_read_b32`).
//!   These homes are virtual registers like any other (called *slots*): values with disjoint lives share them, and they
//!   can be evicted in turn.
//! - The remaining values go to LDS, if that is permitted and has room, and then to scratch memory. Where AGPRs are a
//!   separate file, memory instructions cannot access them, so an AGPR reaches memory through a VGPR.
//! - A value that one instruction computes from constants and unchanging registers is not stored at all but
//!   rematerialised (Briggs, Cooper and Torczon 1992; `remat`).
//!
//! # Live-range splitting
//! An evicted value gets a new register (a *piece*) for parts of its life: for each loop that uses it and for the code
//! between two loops (`split`), and within those for instructions of one block that are near each other (`stretch`). A
//! piece that gets no register in a later round is split further, down to single instructions.
//!
//! # EXEC
//! All spill moves except those of lanes move active lanes only. `insert` explains why that is correct, and `exec`
//! finds the instructions that also access inactive lanes.

mod cost;
mod exec;
mod insert;
mod moves;
mod regions;
mod remat;
mod role;
mod share;
mod split;
mod stretch;
mod work;

use gcn_isa::{RegFile, Target};
use hashbrown::HashMap;

use super::assign::{File, Order, Pairs, Places};
use super::classes::{Classes, Coalesce};
use super::error::AllocError;
use super::live::{Liveness, Numbering};
use super::segs::Segs;
use super::{Allocated, Coalesced, FILES, Job, Limits, Pressure, Span, Spills, input};
use crate::mir::{Function, Op, VReg};
use cost::Costs;
use exec::InitialExec;
use insert::Round;
use regions::Regions;
use share::Clock;
use split::{Facts, Split};
use work::{Home, HomeId, Kind, Role, Work};

/// The largest number of rounds. It turns a bug into an error instead of an endless loop.
const ROUNDS: usize = 200;

/// The number of rounds before the backoff starts. Normally each round splits a piece without a register by one level;
/// in a deep loop nest that would take one round for each loop.
const BACKOFF_AFTER: usize = 8;

/// The number of levels to skip in a round: exponential backoff, in which the number doubles every four rounds.
fn backoff(round: usize) -> usize {
    match round.checked_sub(BACKOFF_AFTER) {
        None => 0,
        Some(late) => 1 << (late / 4).min(16),
    }
}

/// The coalescing modes and orders to try.
const ATTEMPTS: [(Coalesce, Order); 2] = [(Coalesce::All, Order::Start), (Coalesce::Whole, Order::Size)];

/// Facts about a function that does not fit, from which the first round starts.
pub(super) struct Start<'f> {
    pub job: Job<'f>,
    /// The classes that result from [`Coalesce::All`].
    pub coalesced: Coalesced,
    pub pressure: Pressure,
}

/// Allocates `f`, which does not fit `limits` without spilling.
pub(super) fn allocate<'f>(
    f: &'f Function,
    limits: &'f Limits,
    start: Start<'f>,
) -> Result<Allocated, AllocError> {
    attempts(f, limits, Some(start), false)
}

/// As `allocate`, but without techniques that only save instructions: rematerialisation, shared homes, and registers
/// that several readers share.
pub fn conservatively(f: &Function, limits: &Limits) -> Result<Allocated, AllocError> {
    attempts(f, limits, None, true)
}

fn attempts<'f>(
    f: &'f Function,
    limits: &'f Limits,
    mut start: Option<Start<'f>>,
    conservative: bool,
) -> Result<Allocated, AllocError> {
    let mut failure = None;
    for (coalesce, order) in ATTEMPTS {
        let mut spiller = Spiller::new(f, limits);
        spiller.work.conservative = conservative;
        match spiller.run(coalesce, order, start.take()) {
            Ok(done) => return Ok(done),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    Err(failure.unwrap_or_else(|| malformed(f, "no allocation was tried")))
}

pub(super) fn malformed(f: &Function, rule: &str) -> AllocError {
    AllocError::Malformed { kernel: f.name.clone(), at: input::place(f, 0, 0), rule: rule.into() }
}

impl Work {
    /// Extends the life of an evicted slot by the lives of the pieces that were loaded from the slot. The slot's own
    /// register may be dead where a piece is still live, but a piece that is evicted later is loaded from the slot's
    /// new home, which must keep the value until then.
    fn add_lives_of_pieces(
        &self,
        slot: VReg,
        pieces: &HashMap<HomeId, Vec<VReg>>,
        (classes, clock): (&mut Classes, &Clock),
        life: &mut [Segs],
    ) {
        let Some(&home) = self.slots.get(&slot) else { return };
        let (_, first) = classes.find(slot);
        for &reg in pieces.get(&home).into_iter().flatten() {
            let Kind::Piece(_, at, _) = self.kinds[reg.0 as usize] else { continue };
            let (root, offset) = classes.find(reg);
            let lanes = &classes.lanes(root)[usize::from(offset)..][..usize::from(self.f.info(reg).len)];
            let lives = clock.life(lanes);
            life[usize::from(first + at)..].iter_mut().zip(lives).for_each(|(a, b)| a.absorb(b));
        }
    }

    /// True if `reg` may be spilled.
    fn can_spill(&self, reg: VReg) -> bool {
        if self.f.pins.iter().any(|pin| pin.reg == reg) {
            return false;
        }
        let spill = &self.limits.spill;
        let memory = spill.frame.is_some();
        match (self.kinds[reg.0 as usize], self.f.info(reg).file) {
            (Kind::Temp | Kind::Lanes, _) => false,
            (Kind::Piece(..), _) => true,
            (Kind::Value, RegFile::Sgpr) => spill.lanes,
            (Kind::Slot, _) => memory,
            (Kind::Value, file) => memory || self.has_room(file),
        }
    }
}

/// The state that all rounds share.
struct Spiller<'f> {
    f: &'f Function,
    work: Work,
    /// The loops of the function, and the code between them. Rewriting adds instructions but no blocks, so the regions
    /// are the same in all rounds.
    regions: Regions,
    /// The register limits, with a unified file divided between AGPRs and VGPRs.
    limits: Limits,
}

impl<'f> Spiller<'f> {
    fn new(f: &'f Function, limits: &Limits) -> Spiller<'f> {
        Spiller { f, work: Work::new(f, limits), regions: Regions::of(f), limits: *limits }
    }

    fn run(
        mut self,
        coalesce: Coalesce,
        order: Order,
        mut start: Option<Start<'_>>,
    ) -> Result<Allocated, AllocError> {
        let mut pressure = None;
        for round in 0..ROUNDS {
            self.work.skip_levels = backoff(round);
            let limits = self.limits;
            let function = &self.work.f;
            let (job, Coalesced { mut classes, hints }, known) = match start.take() {
                Some(Start { job, coalesced, pressure }) => (job, coalesced, Some(pressure)),
                None => {
                    let job = Job::new(function, &limits);
                    let coalesced = job.coalesced(coalesce);
                    (job, coalesced, None)
                }
            };
            // Measure the pressure of the function itself in the first round; in later rounds the function contains
            // spill code.
            if pressure.is_none() {
                let peaks = known.unwrap_or_else(|| job.pressure(&classes));
                divide(function.target, &mut self.limits, peaks.vgpr.peak, peaks.agpr.peak);
                let has = |file| self.limits.of(file, function.target, 0) > 0;
                let room = [has(RegFile::Agpr), has(RegFile::Vgpr)].map(|has| has && limits.spill.agprs);
                self.work.room = room;
                pressure = Some(peaks);
            }
            let exec = InitialExec::of(function, &job.live);
            let costs = Costs::of_round(&self.work, &job.numbers, &mut classes, &exec);
            let mut places = Places::new(function.vregs.len() + job.scratch.len());
            let mut evicted = Vec::new();
            for file in FILES {
                let limit = self.limits.of(file, function.target, 0);
                let (classes, hints, reserved) = (&classes, &hints[..], &job.reserved[..]);
                let pairs = Pairs::of(function, file);
                let file_of = File { classes, hints, file, limit, reserved, order, pairs };
                let out = file_of.assign_or_evict(&costs, &mut places).map_err(|no| {
                    let (block, inst) = job.numbers.locate(no.start);
                    AllocError::DoesNotFit {
                        kernel: function.name.clone(),
                        file,
                        peak: pressure.as_ref().map_or(0, |p| p.of(file).peak),
                        limit: u32::from(limit),
                        limited: u32::from(limit) < function.target.registers(file),
                        tuple: Some(no.len),
                        at: Some(input::place(function, block, inst)),
                        live: job.live_at(file, no.start),
                    }
                })?;
                evicted.extend(out);
            }
            if evicted.is_empty() {
                let Some(pressure) = pressure else { break };
                let mut done = job.finish(&mut classes, &places, pressure)?;
                self.as_original(&mut done);
                return Ok(done);
            }
            let Job { numbers, live, .. } = job;
            self.evict((&numbers, &live), &mut classes, &exec, &evicted);
        }
        Err(malformed(self.f, "spilling does not end"))
    }

    /// Gives homes to the evicted classes, and rewrites the function accordingly.
    fn evict(
        &mut self,
        (numbers, live): (&Numbering, &Liveness),
        classes: &mut Classes,
        exec: &InitialExec,
        roots: &[VReg],
    ) {
        let mut homes: HashMap<VReg, Option<HomeId>> = roots.iter().map(|&r| (r, None)).collect();
        let regs: Vec<VReg> = (0..self.work.f.vregs.len() as u32).map(VReg).collect();
        // For each root, the slots of its class that are evicted. The values in them go to memory.
        let mut in_memory: HashMap<VReg, Vec<VReg>> = HashMap::new();
        for &reg in regs.iter().filter(|r| self.work.kinds[r.0 as usize] == Kind::Slot) {
            let (root, _) = classes.find(reg);
            // The evicted register is a slot, which is a home itself: the values in it go to memory.
            if homes.contains_key(&root) {
                in_memory.entry(root).or_default().push(reg);
            }
        }
        let mut members: HashMap<VReg, u32> = HashMap::new();
        for &reg in &regs {
            *members.entry(classes.find(reg).0).or_default() += 1;
        }
        let mut remat = match self.work.conservative {
            true => HashMap::new(),
            false => remat::find(&self.work, numbers, classes, roots),
        };
        let clock = Clock::of(&self.work.roles);
        // For each home that is a slot and is evicted now, the pieces of the values in it.
        let mut pieces: HashMap<HomeId, Vec<VReg>> = in_memory
            .values()
            .flatten()
            .filter_map(|slot| Some((*self.work.slots.get(slot)?, Vec::new())))
            .collect();
        for &reg in &regs {
            if let Kind::Piece(home, ..) = self.work.kinds[reg.0 as usize]
                && let Some(list) = pieces.get_mut(&home)
            {
                list.push(reg);
            }
        }
        let mut spilled = Vec::new();
        for &reg in &regs {
            let (root, offset) = classes.find(reg);
            let Some(home) = homes.get_mut(&root) else { continue };
            if self.work.spilled(reg).is_some() {
                continue;
            }
            spilled.push(reg);
            match self.work.kinds[reg.0 as usize] {
                Kind::Temp | Kind::Lanes => {}
                Kind::Piece(home, at, _) => self.work.assign_home(reg, home, at),
                Kind::Value | Kind::Slot => {
                    let info = classes.info(root);
                    let slots = in_memory.get(&root);
                    let work = &mut self.work;
                    let home = *home.get_or_insert_with(|| match remat.remove(&root) {
                        Some(how) => work.add_home(Home::Remat(how.into())),
                        // All registers of the class share one home, whose life is that of the class.
                        None => {
                            let mut life = clock.life(classes.lanes(root));
                            let slots = slots.into_iter().flatten();
                            slots.for_each(|&slot| {
                                work.add_lives_of_pieces(slot, &pieces, (&mut *classes, &clock), &mut life);
                            });
                            work.new_home(info, &life, in_memory.contains_key(&root))
                        }
                    });
                    self.work.assign_home(reg, home, offset);
                }
            }
        }
        let facts = Facts { regions: &self.regions, numbers, exec, live };
        let split = match self.work.conservative {
            true => Split::default(),
            false => Split::of_round(&mut self.work, &facts, classes, &spilled),
        };
        self.work.rewrite_all(&mut Round { numbers, split, classes, stretches: HashMap::new(), members });
    }

    /// Relates the allocated program to the original function instead of the working function: spill code counts as
    /// part of the original instruction to which it belongs.
    fn as_original(&self, done: &mut Allocated) {
        let mut spans = Vec::with_capacity(done.spans.len());
        let mut all = std::mem::take(&mut done.spans).into_iter();
        let mut spills = Spills {
            frame_bytes: 4 * self.work.frame_dwords(),
            first_byte: self.limits.spill.frame.unwrap_or(0).next_multiple_of(4),
            lds: self.limits.spill.lds.map(|mut lds| {
                lds.room.slots = self.work.lds.len();
                lds
            }),
            ..Spills::default()
        };
        for (roles, &start) in self.work.roles.iter().zip(&done.block_line) {
            let mut cursor = start;
            for role in roles {
                let Some(span) = all.next() else { return };
                match role {
                    Role::Own => {
                        spans.push(Span { start: cursor, ..span });
                        cursor = span.end;
                    }
                    Role::Before(_) => {}
                    Role::After(_) => {
                        cursor = span.end;
                        if let Some(last) = spans.last_mut() {
                            last.end = span.end;
                        }
                    }
                }
                if *role != Role::Own {
                    let lines = &done.program.lines[span.main as usize..span.main_end as usize];
                    lines.iter().for_each(|line| spills.count(line));
                }
            }
        }
        let own = |v: &VReg| (v.0 as usize) < self.f.vregs.len();
        done.undefined.retain(own);
        done.spans = spans;
        done.spills = spills;
        let machine = self.f.blocks.iter().flat_map(|b| &b.insts);
        let machine = machine.filter(|i| matches!(i.op, Op::Machine(..))).count();
        done.moves = done.program.lines.len().saturating_sub(machine + done.spills.total());
    }
}

/// Divides a unified file: the VGPRs get the registers that the function's own AGPRs leave free, and the AGPRs, which
/// include slots for spilled VGPRs, get the rest.
fn divide(target: Target, limits: &mut Limits, vgprs: u32, agprs: u32) {
    if !target.has_unified_agprs() {
        return;
    }
    let total = u32::from(limits.total_vector);
    let wanted = total.saturating_sub(agprs.min(u32::from(limits.agprs)));
    let least = vgprs.min(total / 2).min(u32::from(limits.vgprs));
    let vgprs = wanted.max(least).min(256).min(u32::from(limits.vgprs));
    let rounded = vgprs.next_multiple_of(u32::from(super::limits::ACCUM_OFFSET_GRANULE));
    let (vgprs, rounded) = if rounded > total { (vgprs / 4 * 4, vgprs / 4 * 4) } else { (vgprs, rounded) };
    let agprs = total.saturating_sub(rounded).min(u32::from(limits.agprs)).min(256);
    *limits = Limits { vgprs: vgprs as u16, agprs: agprs as u16, total_vector: 512, ..*limits };
}
