//! Decides whether an LDS write that is outstanding at a barrier is an error, or is intentionally left to a later
//! barrier.
//!
//! A barrier *publishes* the writes that have completed before it: another wave may access the same bytes after the barrier. So a write to
//! LDS, or a load into LDS, must be waited for before the barrier that publishes it. In a program with several buffers in LDS, that need
//! not be the next barrier: the program executes barriers while the write is outstanding, waits for the write later, and publishes it by a
//! later barrier. The checker does not know addresses. It assumes that the program intends this if at least one of the following conditions
//! holds:
//!
//! - The waits of the program count operations: a wait directly before a barrier leaves operations outstanding, the write among them; or
//!   the program waits for this write when no younger operation uses its counter. A wait whose only purpose may be to complete reads that
//!   were issued after the write is not evidence.
//! - In the loop that contains both the write and the barrier, the write goes to a different address in each iteration, and no read before
//!   the later barrier is known to access the same address.
//!
//! In either case, LDS must also be read after the later barrier, before control returns to the write and overwrites the same address.
//! Without such a read, only reads between the two barriers could have been meant to see the written data.
//!
//! The same conditions apply to stores to memory before barriers that order them, for a workgroup that runs on several
//! compute units.
//!
//! Each write is judged separately for each barrier, over the paths on which the write is outstanding at the barrier.

use std::cell::Cell;
use std::collections::{HashMap, HashSet, VecDeque};

use smallvec::{SmallVec, smallvec};

use super::addresses::{Addresses, Budget, Paths, Visit};
use super::facts::{LineFacts, Shared};
use crate::cfg::Flow;
use crate::counters::{MemoryEffect, Stream, WaitCnt};
use crate::operand::Operand;
use crate::program::Program;
use crate::reg::{self, RegUnit};
use crate::table::{Behaviours, Class, MemBytes, Modifiers};

/// The verdict on a write that is outstanding at a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// A later barrier publishes the write.
    Deferred,
    /// The write comes too late: LDS may be accessed after the barrier while the write is outstanding, or before another barrier has
    /// published the write.
    Late,
    /// No LDS access is known to follow: either there is none, or it is a FLAT access, which may be to memory.
    Unknown,
    /// The search exceeded its budget.
    Undecided,
}

/// Budget of all searches together, in visited lines: the first number for each line of the program, but at least the second number.
const LOOKS: (usize, usize) = (32, 1 << 21);

/// The maximum number of states that one search visits.
const MOST_STATES: usize = 4096;

/// The search abandons a path when the number of younger operations reaches this multiple of the counter's capacity.
const MOST_FULL: u8 = 3;

/// The maximum number of earlier writes of the same block that are judged together with a write.
const MOST_TOGETHER: usize = 16;

/// The number of loops that can be compared with two blocks for the cost of one visited line.
const LOOPS_A_LOOK: usize = 16;

/// The maximum number of enclosing loops that are tried for a write.
const MOST_LOOPS: usize = 8;

/// Judges writes within a budget. The budget keeps the time of the whole check linear in the program's length.
pub(super) struct Barriers<'a> {
    program: &'a Program,
    flow: &'a Flow,
    lines: &'a [LineFacts],
    /// The loops, each approximated by the range of blocks from the target of a backward edge to its source; the
    /// shortest first.
    loops: Vec<(usize, usize)>,
    /// The address analysis of each loop, created when it is first needed.
    addresses: HashMap<(usize, usize), Addresses<'a>>,
    paths: Paths,
    looks: Cell<usize>,
}

/// The state of a path on which a search follows a write.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Stage {
    /// The write is outstanding.
    Open(Open),
    /// A wait has completed the write. `untouched` is true if that wait is no evidence of an intention by itself, so that LDS must not be
    /// accessed before the next barrier. `passed` is true if the path has executed the barrier that is judged. For `counts`, see
    /// [`Stage::Published`].
    Done { untouched: bool, passed: bool, counts: bool },
    /// A barrier after the wait has published the write. `counts` is true if the program shows its intention by its waits or addresses;
    /// false if the only evidence is that this path does not read LDS in between.
    Published { passed: bool, counts: bool },
    /// The first wait that completed the write may serve an LDS access after the barrier, so it is no evidence of an intention.
    Served,
}

/// The state of a path on which the write is outstanding.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Open {
    /// The number of younger operations of the write's stream.
    younger: u8,
    /// True if no younger operation uses the write's counter.
    alone: bool,
    /// True if the path has executed the barrier.
    passed: bool,
    /// True if LDS has been accessed since the barrier.
    accessed: bool,
    /// True if a wait directly before a barrier allowed operations, including the write, to remain outstanding.
    counted: bool,
}

/// Bytes of LDS that an instruction accesses in each lane: their number, and the address as a register plus an offset.
#[derive(Clone, Copy)]
struct Bytes {
    address: RegUnit,
    offset: i64,
    bytes: i64,
}

/// A write that may be outstanding at a barrier.
#[derive(Clone, Copy)]
struct Passing {
    stream: Stream,
    barrier: usize,
    /// True if every wait that completes the write is evidence that the program left it outstanding on purpose: the write's address changes
    /// from one iteration to the next, or LDS accesses do not use the write's counter.
    any_wait: bool,
    shared: Shared,
    /// The loop that contains both the write and the barrier, and in which the write's address changes; `None` if there is no such loop,
    /// and for memory other than LDS.
    rotates_in: Option<(usize, usize)>,
}

impl<'a> Barriers<'a> {
    pub fn new(program: &'a Program, flow: &'a Flow, lines: &'a [LineFacts]) -> Barriers<'a> {
        let blocks = &flow.cfg.blocks;
        let mut loops: Vec<(usize, usize)> = (0..blocks.len())
            .filter(|b| !flow.is_hub(*b))
            .flat_map(|b| {
                let back = blocks[b].succs.iter().filter(move |s| **s <= b && !flow.enters(b, **s));
                back.map(move |s| (*s, b))
            })
            .collect();
        loops.sort_unstable_by_key(|l| (l.1 - l.0, l.0));
        loops.dedup();
        let looks = lines.len().saturating_mul(LOOKS.0).max(LOOKS.1);
        Barriers {
            program,
            flow,
            lines,
            loops,
            addresses: HashMap::new(),
            paths: Paths::new(),
            looks: Cell::new(looks),
        }
    }

    /// The write that breaks the rule at `barrier`, and the verdict on it. The result is `write` itself, or an earlier write of the same
    /// block that the analysis represents by `write`.
    pub fn judge(&mut self, write: usize, barrier: usize, shared: Shared) -> (usize, Verdict) {
        let mut worst = (write, self.verdict(write, barrier, shared));
        if worst.1 == Verdict::Deferred {
            for older in self.hidden(write, shared) {
                let verdict = self.verdict(older, barrier, shared);
                if verdict != Verdict::Deferred {
                    worst = (older, verdict);
                    break;
                }
            }
        }
        worst
    }

    /// Earlier writes of the same memory on the same stream without a wait in between, the latest write first. The counter analysis
    /// represents several outstanding writes by the youngest, so it does not report the earlier ones.
    fn hidden(&self, write: usize, shared: Shared) -> Vec<usize> {
        let start = self.flow.cfg.blocks[self.flow.cfg.block_of(write)].start;
        let Some(stream) = self.stream(write, shared) else { return Vec::new() };
        let mut found = Vec::new();
        let set = self.program.target.instruction_set();
        let counter = stream.counter(set);
        for line in (start..write).rev().take(counter.capacity(set).into()) {
            let waits = self.lines[line].wait.is_some_and(|w| counter.is_in(w));
            if waits || self.is_barrier(line) || found.len() == MOST_TOGETHER {
                break;
            }
            if self.stream(line, shared) == Some(stream) {
                found.push(line);
            }
        }
        found
    }

    /// The stream on which `line` writes this memory, or `None` if the line does not write it.
    fn stream(&self, line: usize, shared: Shared) -> Option<Stream> {
        self.lines[line].events.iter().find(|e| e.memory.intersects(shared.writes())).map(|e| e.stream)
    }

    /// True if the line arrives at a barrier. Where waiting for the other waves is an instruction of its own, a wait before that instruction
    /// comes too late: the others may have passed the barrier.
    fn is_barrier(&self, line: usize) -> bool {
        self.program.lines[line].inst.desc.does(Behaviours::ARRIVES_AT_BARRIER)
    }

    /// True if the next instruction after `line`, other than waits and `s_nop`, is a barrier.
    fn is_before_barrier(&self, line: usize) -> bool {
        let idle = |l: &usize| matches!(self.program.lines[*l].inst.desc.class, Class::Waitcnt | Class::Nop);
        let next = (line + 1..self.program.lines.len()).find(|l| !idle(l));
        next.is_some_and(|l| self.is_barrier(l))
    }

    fn verdict(&mut self, write: usize, barrier: usize, shared: Shared) -> Verdict {
        if self.looks.get() == 0 {
            return Verdict::Undecided;
        }
        let Some(stream) = self.stream(write, shared) else { return Verdict::Unknown };
        let around = self.loops_around(write, barrier);
        let moves = around.iter().any(|stretch| self.moves_in(*stretch, write));
        // A wait for a counter that LDS does not use cannot serve LDS reads, so its purpose must be the write.
        let set = self.program.target.instruction_set();
        let any_wait = moves || shared == Shared::Lds && stream.counter(set) != Stream::Lds.counter(set);
        let contains = |l: &&(usize, usize)| (l.0..=l.1).contains(&self.flow.cfg.block_of(barrier));
        let rotates_in = around.iter().find(contains).copied().filter(|_| moves && shared == Shared::Lds);
        let how = Passing { stream, barrier, any_wait, shared, rotates_in };
        let blocks = &self.flow.cfg.blocks;
        let start = self.flow.cfg.block_of(write);
        let begin = Open { younger: 0, alone: true, passed: false, accessed: false, counted: false };
        // The search is breadth-first, because the barrier that publishes a write is usually close to the write.
        let mut open =
            VecDeque::from([(write + 1..blocks[start].end, start, Stage::Open(begin), Visit::FIRST)]);
        self.paths.begin(start);
        let mut seen: HashSet<(usize, Stage)> = HashSet::new();
        let (mut late, mut deferred, mut served) = (false, false, false);
        // True if some path publishes the write, but the only evidence is that the path has no reads in between. That path may have
        // branched around the reads.
        let mut spared = false;
        let mut decided = true;
        while let Some((range, block, mut stage, visit)) = open.pop_front() {
            if seen.len() >= MOST_STATES || self.looks.get() == 0 {
                decided = false;
                break;
            }
            self.budget().spend(range.len() + 1);
            let mut goes_on = true;
            for line in range {
                // When control returns to the write, it overwrites the same bytes unless its address moves.
                goes_on = (line != write || moves) && !self.lines[line].returns();
                let next = if goes_on { self.after(stage, line, how) } else { None };
                let touches = self.lines[line].reads(shared) || self.lines[line].writes(shared);
                late |= touches && line != write && stage.is_between();
                let reads = self.lines[line].reads(shared);
                if reads && stage.is_between() && self.reads_the_same(how, write, line, visit) {
                    return Verdict::Late;
                }
                goes_on = next.is_some();
                let Some(next) = next else { break };
                match next {
                    Stage::Published { counts: true, .. } if reads && how.rotates_in.is_none() => {
                        return Verdict::Deferred;
                    }
                    Stage::Published { counts, .. } if reads => {
                        deferred |= counts;
                        spared |= !counts;
                        goes_on = false;
                    }
                    Stage::Served => (served, goes_on) = (true, false),
                    _ => {}
                }
                if !goes_on {
                    break;
                }
                stage = next;
            }
            if goes_on {
                let next = blocks[block].succs.iter().filter(|s| !self.flow.comes_back(block, **s));
                for &next in next {
                    if seen.insert((next, stage)) {
                        let visit = self.paths.visit(next, visit);
                        open.push_back((blocks[next].start..blocks[next].end, next, stage, visit));
                    }
                }
            }
        }
        if deferred || spared && !served {
            return Verdict::Deferred;
        }
        if !decided {
            return Verdict::Undecided;
        }
        // A FLAT store may access memory instead of LDS.
        if late && stream != Stream::FlatLgkm { Verdict::Late } else { Verdict::Unknown }
    }

    /// The state of a path after `line`; `None` if the rest of the path shows nothing about the intention, so that the search need not
    /// follow it.
    fn after(&self, stage: Stage, line: usize, how: Passing) -> Option<Stage> {
        let Passing { stream, barrier, any_wait, shared, .. } = how;
        let facts = &self.lines[line];
        let touches = facts.reads(shared) || facts.writes(shared);
        match stage {
            Stage::Open(open) => {
                let set = self.program.target.instruction_set();
                let counter = stream.counter(set);
                if let Some(value) = facts.wait.filter(|w| counter.is_in(*w)).map(|w| counter.of(w)) {
                    let counts = value > 0 && self.is_before_barrier(line);
                    let counted = open.counted || counts;
                    if value > 0 && !(stream.in_order() && open.younger >= value) {
                        return Some(Stage::Open(Open { counted, ..open }));
                    }
                    let is_meant = any_wait || counted || open.alone;
                    if !is_meant && open.accessed {
                        return Some(Stage::Served);
                    }
                    let counts = any_wait || counted;
                    let done = Stage::Done { untouched: !is_meant, passed: open.passed, counts };
                    // In the last iterations of a loop that prefetches, the write may complete without another execution of the barrier. If
                    // any wait is evidence, such paths are evidence, too.
                    return (open.passed || any_wait).then_some(done);
                }
                let same = facts.events.iter().filter(|e| e.stream == stream);
                let younger = same.map(|e| e.count).fold(open.younger, u8::saturating_add);
                let others = facts.events.iter().any(|e| e.stream.counter(set) == counter);
                // The path has so many younger operations that no counter value distinguishes the write from them.
                (younger < counter.capacity(set).saturating_mul(MOST_FULL)).then_some(Stage::Open(Open {
                    younger,
                    alone: open.alone && !others,
                    passed: open.passed || line == barrier,
                    accessed: open.accessed || open.passed && touches,
                    ..open
                }))
            }
            // On this path the write completes before the barrier, so the path shows nothing about a write that is outstanding at the
            // barrier.
            Stage::Done { passed: false, .. } | Stage::Published { passed: false, .. } if line == barrier => {
                None
            }
            Stage::Done { passed, counts, .. } if self.is_barrier(line) => {
                Some(Stage::Published { passed, counts })
            }
            Stage::Done { untouched: true, .. } if touches => Some(Stage::Served),
            Stage::Done { .. } | Stage::Published { .. } | Stage::Served => Some(stage),
        }
    }

    /// An access that is certainly to bytes of the asynchronous copy at `copy` while the copy is outstanding, with the wait that it needs.
    /// `matters` selects the accesses. `None` if no such access is known: addresses are compared only if their difference is a constant.
    pub fn access_during(
        &mut self,
        copy: usize,
        matters: fn(&LineFacts) -> bool,
    ) -> Option<(usize, WaitCnt)> {
        let copied = self.place_of(copy)?;
        let stream = self.lines[copy].events.iter().find(|e| e.stream.copies())?.stream;
        let counter = stream.counter(self.program.target.instruction_set());
        let blocks = &self.flow.cfg.blocks;
        let start = self.flow.cfg.block_of(copy);
        self.paths.begin(start);
        let mut open = VecDeque::from([(copy + 1..blocks[start].end, start, 0u8, Visit::FIRST)]);
        let mut seen: HashSet<(usize, u8)> = HashSet::new();
        while let Some((range, block, mut younger, visit)) = open.pop_front() {
            if seen.len() >= MOST_STATES || self.looks.get() == 0 {
                return None;
            }
            self.budget().spend(range.len() + 1);
            let mut goes_on = true;
            for line in range {
                let facts = &self.lines[line];
                let is_done = facts.wait.is_some_and(|wait| counter.of(wait) <= younger);
                if is_done || facts.returns() {
                    goes_on = false;
                    break;
                }
                if matters(facts) && self.meet((copied, copy), (line, visit), (start, start)) {
                    return Some((line, counter.at(younger)));
                }
                let started = facts.events.iter().filter(|e| e.stream == stream);
                younger = started.map(|e| e.count).fold(younger, u8::saturating_add);
            }
            if !goes_on || younger >= counter.capacity(self.program.target.instruction_set()) {
                continue;
            }
            for &next in blocks[block].succs.iter().filter(|s| !self.flow.comes_back(block, **s)) {
                if seen.insert((next, younger)) {
                    let visit = self.paths.visit(next, visit);
                    open.push_back((blocks[next].start..blocks[next].end, next, younger, visit));
                }
            }
        }
        None
    }

    /// True if the access at `line` is certainly to bytes of the copy.
    fn meet(
        &mut self,
        (copied, copy): (Bytes, usize),
        (line, visit): (usize, Visit),
        stretch: (usize, usize),
    ) -> bool {
        let Some(accessed) = self.place_of(line) else { return false };
        let registers = ((copied.address, copy), (accessed.address, line, visit));
        let distance =
            self.ask(stretch, |addresses, budget| addresses.distance(registers.0, registers.1, budget));
        distance.is_some_and(|bytes| {
            let from = i64::from(bytes) + accessed.offset - copied.offset;
            from < copied.bytes && -from < accessed.bytes
        })
    }

    /// The bytes of LDS that each lane accesses; `None` if the instruction does not state a single address and size.
    fn place_of(&self, access: usize) -> Option<Bytes> {
        let inst = &self.program.lines[access].inst;
        let MemBytes::Bytes(bytes) = inst.desc.mem_bytes else { return None };
        let &[address] = &self.address_of(access)[..] else { return None };
        let copies = self.lines[access].events.iter().any(|e| e.stream.copies());
        let is_named = !copies || inst.operand("lds_addr").is_some();
        let is_single = inst.desc.modifiers.contains(Modifiers::OFFSET);
        let offset = inst.mods.offset.into();
        (is_named && is_single).then_some(Bytes { address, offset, bytes: bytes.into() })
    }

    /// The smallest loop that contains both lines. If there is no such loop, because the barrier comes after the write's loop, the result
    /// has the loops that contain the write: the last iterations of these loops fill buffers that are read one after the other. Code that
    /// is located far from the rest of its loop may form smaller ranges that are not loops, so the result has several.
    fn loops_around(&mut self, write: usize, barrier: usize) -> SmallVec<[(usize, usize); MOST_LOOPS]> {
        let (a, b) = (self.flow.cfg.block_of(write), self.flow.cfg.block_of(barrier));
        self.budget().spend(self.loops.len() / LOOPS_A_LOOK);
        let around =
            |first: usize, last: usize| self.loops.iter().filter(move |l| l.0 <= first && last <= l.1);
        match around(a.min(b), a.max(b)).next() {
            Some(both) => smallvec![*both],
            None => around(a, a).take(MOST_LOOPS).copied().collect(),
        }
    }

    fn budget(&self) -> Budget<'_> {
        Budget { paths: &self.paths, looks: &self.looks }
    }

    /// Calls `ask` with the address analysis of a loop.
    fn ask<R>(
        &mut self,
        stretch: (usize, usize),
        ask: impl FnOnce(&mut Addresses<'a>, Budget<'_>) -> R,
    ) -> R {
        let (program, flow, lines) = (self.program, self.flow, self.lines);
        let budget = Budget { paths: &self.paths, looks: &self.looks };
        let addresses = self.addresses.entry(stretch).or_insert_with(|| {
            let blocks = &flow.cfg.blocks;
            budget.spend(blocks[stretch.1].end - blocks[stretch.0].start);
            Addresses::of(program, flow, lines, stretch)
        });
        ask(addresses, budget)
    }

    /// True if the LDS address of `write` may change from one iteration of the loop to the next.
    fn moves_in(&mut self, stretch: (usize, usize), write: usize) -> bool {
        let units = self.address_of(write);
        self.ask(stretch, |addresses, budget| addresses.change(&units, write, budget))
    }

    /// True if `read`, which a path reaches at `visit`, is known to read the buffer that `write` writes.
    fn reads_the_same(&mut self, how: Passing, write: usize, read: usize, visit: Visit) -> bool {
        let Some(stretch) = how.rotates_in else { return false };
        let (written, read_from) = (self.address_of(write), self.address_of(read));
        let (&[written], &[read_from]) = (&written[..], &read_from[..]) else { return false };
        let (written, read_from) = ((written, write), (read_from, read, visit));
        self.ask(stretch, |addresses, budget| addresses.change_alike(written, read_from, budget))
    }

    /// The registers that determine the address of an LDS access.
    fn address_of(&self, access: usize) -> SmallVec<[RegUnit; 2]> {
        let inst = &self.program.lines[access].inst;
        if let Some(reg) = inst.operand("lds_addr").and_then(Operand::reg) {
            return reg.units().collect();
        }
        if self.lines[access].events.iter().any(|e| e.memory.contains(MemoryEffect::LDS_DMA)) {
            return reg::M0.units().collect();
        }
        let reads = inst.reads();
        let is_address = |operand: u8| !inst.desc.operands[usize::from(operand)].is_data();
        reads.iter().filter(|r| r.operand.is_some_and(is_address)).flat_map(|r| r.reg.units()).collect()
    }
}

impl Stage {
    /// True if the path has executed the barrier, but has not reached the barrier that publishes the write.
    fn is_between(self) -> bool {
        match self {
            Stage::Open(open) => open.passed,
            Stage::Done { passed, .. } => passed,
            Stage::Published { .. } | Stage::Served => false,
        }
    }
}
