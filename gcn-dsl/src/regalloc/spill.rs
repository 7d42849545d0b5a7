//! Allocation where registers do not suffice: values that go to other registers, to lanes or to memory, or that are
//! made again where they are needed.
//!
//! # How
//! Rounds. Each assigns all classes as [`super::assign`] does, but a class that finds no place turns out cheaper ones
//! (`price`: loads and stores it would need by how often they run, for each slot of its life), or is turned out itself. `insert`
//! then rewrites the function so that what was turned out is loaded before its readers and stored after its writers;
//! the new registers in between live for a part of its life. The next round starts from that. It ends when all have a
//! place; every round turns out at least one value of those that are left, so it does end.
//!
//! # Where to
//! - SGPRs go to the lanes of a VGPR (`v_writelane_b32`, `v_readlane_b32`), which EXEC has no part in.
//! - VGPRs go to AGPRs and AGPRs to VGPRs while the limits leave some (`v_accvgpr_write_b32`, `v_accvgpr_read_b32`). The
//!   registers they go to are virtual ones as any other, shared by values that live at different times; where they do
//!   not suffice, they are turned out in their turn:
//! - the rest goes to LDS if that was asked for and while there is room, and then to scratch memory. Where AGPRs are a file of
//!   their own, memory instructions cannot name them: there AGPRs go to memory through a VGPR.
//! - A value that one instruction makes out of constants and registers that never change is not stored at all.
//!
//! # Splitting
//! What is turned out gets registers of its own for parts of its life: for the loops that name it and for the code between
//! two loops (`split`), and within those for the instructions of a block (`stretch`). A part that finds no register in a
//! later round is divided further, down to single instructions.
//!
//! # EXEC
//! All of these moves but those of lanes move active lanes only. See `insert` for why that is right, and `exec` for the
//! instructions that look at other lanes too.

mod again;
mod exec;
mod insert;
mod moves;
mod price;
mod regions;
mod share;
mod split;
mod stretch;
mod work;

use gcn_isa::{RegFile, Target};
use hashbrown::HashMap;

use super::assign::{File, Order, Places};
use super::classes::{Classes, Coalesce};
use super::error::AllocError;
use super::live::{Liveness, Numbering};
use super::segs::Segs;
use super::{Allocated, FILES, Job, Limits, Span, Spills, input};
use crate::mir::{Function, Op, VReg};
use exec::InitialExec;
use insert::Round;
use price::Prices;
use regions::Regions;
use share::Clock;
use split::{Facts, Split};
use work::{Home, HomeId, Kind, Role, Work};

/// More rounds than any function takes.
const ROUNDS: usize = 200;

/// After so many rounds, parts of lives that find no register are divided in larger steps, so that deep nesting does not
/// take a round for each loop.
const PATIENCE: usize = 8;

/// Levels to skip in a round: twice as many after every few.
fn haste(round: usize) -> usize {
    match round.checked_sub(PATIENCE) {
        None => 0,
        Some(late) => 1 << (late / 4).min(16),
    }
}

/// Orders and coalescing to try.
const ATTEMPTS: [(Coalesce, Order); 2] = [(Coalesce::All, Order::Start), (Coalesce::Whole, Order::Size)];

/// Allocates `f`, which does not fit `limits` otherwise.
///
/// What saves instructions (values made again where they are read, registers that several readers share) is left out if
/// `plain`.
pub(super) fn allocate(f: &Function, limits: &Limits, plain: bool) -> Result<Allocated, AllocError> {
    let mut failure = None;
    for (coalesce, order) in ATTEMPTS {
        let mut spiller = Spiller::new(f, limits);
        spiller.work.plain = plain;
        match spiller.run(coalesce, order) {
            Ok(done) => return Ok(done),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    Err(failure.unwrap_or_else(|| malformed(f, "no allocation was tried")))
}

fn malformed(f: &Function, rule: &str) -> AllocError {
    AllocError::Malformed { kernel: f.name.clone(), at: input::place(f, 0, 0), rule: rule.into() }
}

impl Work {
    /// What is in a slot lives as long as the registers that parts of it have: where these go, the parts are loaded from where
    /// the slot has gone.
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

    /// True if there is a place for `reg` outside its registers.
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

struct Spiller<'f> {
    f: &'f Function,
    work: Work,
    /// Its loops, and what is between them.
    regions: Regions,
    /// Registers of each file, AGPRs and VGPRs divided.
    limits: Limits,
}

impl<'f> Spiller<'f> {
    fn new(f: &'f Function, limits: &Limits) -> Spiller<'f> {
        Spiller { f, work: Work::new(f, limits), regions: Regions::of(f), limits: *limits }
    }

    fn run(mut self, coalesce: Coalesce, order: Order) -> Result<Allocated, AllocError> {
        let mut pressure = None;
        for round in 0..ROUNDS {
            self.work.haste = haste(round);
            let limits = self.limits;
            let function = &self.work.f;
            let job = Job::new(function, &limits);
            let mut classes = job.classes();
            classes.coalesce(function, &job.numbers, coalesce);
            job.discard_scratch(&mut classes);
            if pressure.is_none() {
                let peaks = job.pressure(&classes);
                divide(function.target, &mut self.limits, peaks.vgpr.peak, peaks.agpr.peak);
                let has = |file| self.limits.of(file, function.target, 0) > 0;
                let room = [has(RegFile::Agpr), has(RegFile::Vgpr)].map(|has| has && limits.spill.agprs);
                self.work.room = room;
                pressure = Some(peaks);
            }
            let hints = classes.hints();
            let exec = InitialExec::of(function, &job.live);
            let prices = Prices::of_round(&self.work, &mut classes, &exec);
            let mut places = Places::new(function.vregs.len() + job.scratch.len());
            let mut turned_out = Vec::new();
            for file in FILES {
                let limit = self.limits.of(file, function.target, 0);
                let (classes, hints, reserved) = (&classes, &hints[..], &job.reserved[..]);
                let file_of = File { classes, hints, file, limit, reserved, order };
                let out = file_of.assign_dearest(&prices, &mut places).map_err(|no| {
                    let (block, inst) = job.numbers.locate(no.start);
                    AllocError::DoesNotFit {
                        kernel: function.name.clone(),
                        file,
                        peak: pressure.as_ref().map_or(0, |p| p.of(file).peak),
                        limit: u32::from(limit),
                        tuple: Some(no.len),
                        at: Some(input::place(function, block, inst)),
                        live: job.live_at(file, no.start),
                    }
                })?;
                turned_out.extend(out);
            }
            if turned_out.is_empty() {
                let Some(pressure) = pressure else { break };
                let mut done = job.finish(&mut classes, &places, pressure)?;
                self.as_original(&mut done);
                return Ok(done);
            }
            let Job { numbers, live, .. } = job;
            self.turn_out((&numbers, &live), &mut classes, &exec, &turned_out);
        }
        Err(malformed(self.f, "spilling does not end"))
    }

    /// Gives the classes homes, and rewrites the function for it.
    fn turn_out(
        &mut self,
        (numbers, live): (&Numbering, &Liveness),
        classes: &mut Classes,
        exec: &InitialExec,
        roots: &[VReg],
    ) {
        let mut homes: HashMap<VReg, Option<HomeId>> = roots.iter().map(|&r| (r, None)).collect();
        let regs: Vec<VReg> = (0..self.work.f.vregs.len() as u32).map(VReg).collect();
        // Slots that are turned out, by root: their values go to memory.
        let mut in_memory: HashMap<VReg, Vec<VReg>> = HashMap::new();
        for &reg in regs.iter().filter(|r| self.work.kinds[r.0 as usize] == Kind::Slot) {
            let (root, _) = classes.find(reg);
            if homes.contains_key(&root) {
                in_memory.entry(root).or_default().push(reg);
            }
        }
        let mut members: HashMap<VReg, u32> = HashMap::new();
        for &reg in &regs {
            *members.entry(classes.find(reg).0).or_default() += 1;
        }
        let mut again = match self.work.plain {
            true => HashMap::new(),
            false => again::find(&self.work, numbers, classes, roots),
        };
        let clock = Clock::of(&self.work.roles);
        // Of the homes that are turned out themselves.
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
        let mut gone = Vec::new();
        for &reg in &regs {
            let (root, offset) = classes.find(reg);
            let Some(home) = homes.get_mut(&root) else { continue };
            if self.work.gone(reg).is_some() {
                continue;
            }
            gone.push(reg);
            match self.work.kinds[reg.0 as usize] {
                Kind::Temp | Kind::Lanes => {}
                Kind::Piece(home, at, _) => self.work.send(reg, home, at),
                Kind::Value | Kind::Slot => {
                    let info = classes.info(root);
                    let slots = in_memory.get(&root);
                    let work = &mut self.work;
                    let home = *home.get_or_insert_with(|| match again.remove(&root) {
                        Some(how) => work.add_home(Home::Again(how.into())),
                        None => {
                            let mut life = clock.life(classes.lanes(root));
                            let slots = slots.into_iter().flatten();
                            slots.for_each(|&slot| {
                                work.add_lives_of_pieces(slot, &pieces, (&mut *classes, &clock), &mut life);
                            });
                            work.new_home(info, &life, in_memory.contains_key(&root))
                        }
                    });
                    self.work.send(reg, home, offset);
                }
            }
        }
        let facts = Facts { regions: &self.regions, exec, live };
        let split = match self.work.plain {
            true => Split::default(),
            false => Split::of_round(&mut self.work, &facts, classes, &gone),
        };
        self.work.rewrite_all(&mut Round { numbers, split, classes, stretches: HashMap::new(), members });
    }

    /// The program of the working function as one of the original function.
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

/// Divides the registers of a unified file: the VGPRs get what the AGPRs of the function itself leave, and the rest
/// is for what is turned out.
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
