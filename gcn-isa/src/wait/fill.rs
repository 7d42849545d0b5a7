//! Moves instructions to positions where the program would otherwise have idle wait states.
//!
//! Each block is walked once, starting with the state of the wait-state pass at the block's entry. Before an instruction that would have to
//! wait, two kinds of moves are tried: moving a later instruction before it, or moving an instruction from before the producer to after the
//! producer. A move is made if it reduces the block's wait states and if the following blocks do not need more than before. Only moves
//! within [`LOOK`] instructions are tried, so the time is linear in the length of the program. Every move removes at least one wait state,
//! so the process terminates.
//!
//! The `s_waitcnt` have already been inserted, and stay before the instructions that need them. The instructions before such a wait hide
//! latency, so none of them is moved to a position after the wait. An instruction after the wait may be moved before it only if it uses no
//! register that an outstanding operation may still own (`pending`). Memory operations keep their order among themselves and relative to
//! the waits, so no counter value changes its meaning. Dependencies come from `order`.

mod pending;

use std::collections::{BTreeSet, VecDeque};

use crate::cfg::Block;
use crate::table::{Behaviours, Class};
use crate::{Inst, Program};

use super::distance::{DistancePass, Window};
use super::polish::DEEPEST;
use super::solve::{Pass, Solver};
use super::{Inserted, LOOP_WEIGHT};
use crate::order::Touched;
use pending::Pending;

/// The number of instructions in which an instruction to fill a wait state is searched. It exceeds the requirement of every rule.
const LOOK: usize = 32;

/// The number of instructions after a move for which the move's effect is computed. It is twice the reach of the longest rule, because
/// later wait states may also change.
const SETTLE: usize = 64;

/// The maximum number of moves that are evaluated for a wait.
const TRIES: usize = 8;

/// The number of issue slots that a transcendental instruction or a conversion takes (LLVM 22 scheduling model: four times the latency of
/// other instructions).
const SLOW_SLOTS: u32 = 4;

/// The number of issue slots until the scalar ALU can read an SGPR that the VALU wrote. During this time, the hardware stalls an
/// instruction that reads the SGPR. The number is the distance that software has to keep before vector memory reads such an SGPR (CDNA3 ISA
/// 4.5).
const SGPR_SLOTS: usize = 5;

fn is_slow(inst: &Inst) -> bool {
    inst.desc.class == Class::Trans || inst.desc.does(Behaviours::CONVERTS)
}

/// The fences and the waits of a program, which restrict movement.
pub(super) struct Movable {
    /// The lines that have a fence before them.
    fences: BTreeSet<usize>,
    /// The lines of the inserted `s_waitcnt`.
    waits: BTreeSet<usize>,
}

impl Movable {
    /// The restrictions for a program after the insertion of `inserted`. `fences` has line numbers from before the insertion.
    pub fn new(program: &Program, fences: &[usize], inserted: &[Inserted]) -> Movable {
        let waits: BTreeSet<usize> = inserted.iter().flat_map(|i| i.at..i.at + i.count).collect();
        let mut wanted = fences.iter().copied().peekable();
        let old = (0..program.lines.len()).filter(|line| !waits.contains(line));
        let is_fence = |(old, _): &(usize, usize)| {
            while wanted.next_if(|w| w < old).is_some() {}
            wanted.peek() == Some(old)
        };
        Movable { fences: old.enumerate().filter(is_fence).map(|(_, line)| line).collect(), waits }
    }
}

/// A better order of a program's lines, if there is one. Each line is given by its old number.
pub(super) fn plan<'p>(solved: &Solver<'p, DistancePass<'p>>, movable: &Movable) -> Option<Vec<usize>> {
    let pending = Pending::before(&movable.waits, solved.program, solved.flow, &solved.pass.indexing);
    let filler = Filler { solved, movable, pending };
    let mut whole: Option<Vec<usize>> = None;
    for (block, waits) in solved.waits.lines.iter().enumerate() {
        if waits.iter().all(|w| w.1 == 0) {
            continue;
        }
        if let Some(order) = filler.block(block) {
            let start = solved.cfg.blocks[block].start;
            let all = whole.get_or_insert_with(|| (0..solved.program.lines.len()).collect());
            all[start..start + order.len()].copy_from_slice(&order);
        }
    }
    whole
}

/// Reorders a program's lines, and updates the line numbers in `inserted`.
pub(super) fn apply(program: &mut Program, order: &[usize], inserted: &mut [Inserted]) {
    let now = inverse(order);
    let old = std::mem::take(&mut program.lines);
    program.lines = order.iter().map(|&line| old[line].clone()).collect();
    for inserted in inserted.iter_mut() {
        inserted.at = now.get(inserted.at).copied().unwrap_or(inserted.at);
        for reason in &mut inserted.reasons {
            reason.producer = reason.producer.map(|p| now[p]);
            reason.consumer = now[reason.consumer];
        }
    }
    inserted.sort_by_key(|i| i.at);
}

/// The order that undoes `order`; it is also the map from old line numbers to new ones.
pub(super) fn inverse(order: &[usize]) -> Vec<usize> {
    let mut now = vec![0; order.len()];
    for (new, &old) in order.iter().enumerate() {
        now[old] = new;
    }
    now
}

/// The total cost of a solution's wait states, weighted by loop depth.
pub(super) fn cost<'p>(solved: &Solver<'p, DistancePass<'p>>) -> u64 {
    let weight = |block: usize| LOOP_WEIGHT.pow(solved.shape.nest(block).take(DEEPEST).count() as u32);
    let lines = solved.waits.lines.iter().enumerate();
    let in_blocks = lines.map(|(b, waits)| weight(b) * waits.iter().map(|w| u64::from(w.1)).sum::<u64>());
    let on_edges = solved.waits.edges.iter().map(|(edge, states)| weight(edge.from) * u64::from(*states));
    in_blocks.chain(on_edges).sum()
}

struct Filler<'a, 'p> {
    solved: &'a Solver<'p, DistancePass<'p>>,
    movable: &'a Movable,
    pending: Pending,
}

/// Moves an instruction from one position of the block to another; the instructions in between shift by one.
#[derive(Clone, Copy, Debug)]
struct Move {
    from: usize,
    to: usize,
}

impl Move {
    /// The line at position `place` of `order` after the move.
    fn at(self, order: &[usize], place: usize) -> usize {
        let Move { from, to } = self;
        order[match place {
            _ if place == to => from,
            _ if to <= place && place <= from => place - 1,
            _ if from <= place && place <= to => place + 1,
            _ => place,
        }]
    }

    fn apply(self, order: &mut [usize]) {
        let Move { from, to } = self;
        if from > to {
            order[to..=from].rotate_right(1);
        } else {
            order[from..=to].rotate_left(1);
        }
    }
}

impl Filler<'_, '_> {
    /// A better order of a block's lines, if there is one.
    fn block(&self, block: usize) -> Option<Vec<usize>> {
        let entry = self.solved.ins[block].as_ref()?;
        let range = self.solved.cfg.blocks[block].start..self.solved.cfg.blocks[block].end;
        let mut walk = Walk {
            filler: self,
            region: self.regions(range.clone()),
            order: range.collect(),
            before: VecDeque::from([entry.clone()]),
            block,
            at: 0,
        };
        let mut moved = false;
        while walk.at < walk.order.len() {
            match walk.better() {
                Some(better) => {
                    better.apply(&mut walk.order);
                    walk.go_back(better.from.min(better.to));
                    moved = true;
                }
                None => walk.advance(),
            }
        }
        moved.then_some(walk.order)
    }

    /// The region of each line. Instructions are moved only within their region.
    fn regions(&self, lines: std::ops::Range<usize>) -> Vec<u32> {
        let mut region = 0;
        let mut alone = false;
        let of_line = |line: usize| {
            let stays = self.stays(line);
            region += u32::from(stays || alone || self.movable.fences.contains(&line));
            alone = stays;
            region
        };
        lines.map(of_line).collect()
    }

    fn inst(&self, line: usize) -> &Inst {
        &self.solved.program.lines[line].inst
    }

    /// True if the line is fixed and no other line may move across it.
    fn stays(&self, line: usize) -> bool {
        crate::order::is_boundary(self.inst(line)) && !self.is_wait(line)
    }

    fn is_wait(&self, line: usize) -> bool {
        self.movable.waits.contains(&line)
    }

    fn touched(&self, line: usize) -> Touched {
        let mut touched = Touched::of(self.solved.program, &self.solved.pass.indexing, line);
        if let Some(pending) = self.pending.at(line) {
            touched.writes.add_all(pending);
        }
        touched
    }

    /// True if the code after the block needs no more wait states from the state `new` than from the state `old`.
    fn continues_as_well(&self, block: usize, old: &Window, new: &Window) -> bool {
        let block = &self.solved.cfg.blocks[block];
        let next = |next: &usize| {
            let next = &self.solved.cfg.blocks[*next];
            let (mut old, mut new) = (old.clone(), new.clone());
            let (mut idle, mut idle_then) = (0, 0);
            for line in next.start..next.end.min(next.start + SETTLE) {
                if new.asks_no_more_than(&old) {
                    break;
                }
                idle += self.step(&mut old, line);
                idle_then += self.step(&mut new, line);
            }
            idle_then <= idle && (new.asks_no_more_than(&old) || self.ends(next))
        };
        new.asks_no_more_than(old) || !block.unknown_exit && block.succs.iter().all(next)
    }

    /// True if the program ends here.
    fn ends(&self, block: &Block) -> bool {
        block.succs.is_empty() && !block.unknown_exit
    }

    /// Waits as long as `line` requires, applies the line, and returns the length of the wait.
    fn step(&self, state: &mut Window, line: usize) -> u32 {
        let pass = &self.solved.pass;
        let need = pass.need(state, line, &|_| true);
        if need > 0 {
            pass.wait(state, need);
        }
        pass.step(state, line);
        need
    }
}

/// The walk over a block during which its order is improved.
struct Walk<'a, 'p> {
    filler: &'a Filler<'a, 'p>,
    order: Vec<usize>,
    /// The region of each position. Moves do not change it.
    region: Vec<u32>,
    /// The states before the most recent positions, the last of which is `at`.
    before: VecDeque<Window>,
    block: usize,
    at: usize,
}

impl Walk<'_, '_> {
    fn advance(&mut self) {
        if let Some(mut state) = self.before.back().cloned() {
            self.filler.step(&mut state, self.order[self.at]);
            self.before.push_back(state);
        }
        if self.before.len() > 2 * LOOK {
            self.before.pop_front();
        }
        self.at += 1;
    }

    fn go_back(&mut self, to: usize) {
        self.before.truncate(self.before.len() - (self.at - to));
        self.at = to;
    }

    /// The state before position `place`, which must be at most `at`; `None` if that state is no longer stored.
    fn state(&self, place: usize) -> Option<&Window> {
        self.before.get((self.before.len() - 1).checked_sub(self.at - place)?)
    }

    /// A move that shortens the wait at the current position; `None` if there is no wait or no such move.
    fn better(&self) -> Option<Move> {
        let state = self.state(self.at)?;
        let waits = self.order[self.at..].iter().take_while(|line| self.filler.is_wait(**line)).count();
        let consumer = *self.order.get(self.at + waits)?;
        // Each `s_waitcnt` is also a wait state.
        let idle = self.filler.solved.pass.need(state, consumer, &|_| true).saturating_sub(waits as u32);
        if idle == 0 {
            return None;
        }
        let later = self.later(state, idle);
        let earlier = self.earlier(state, consumer);
        later.into_iter().chain(earlier).take(TRIES).find(|m| self.pays(*m))
    }

    /// Moves of later instructions to the current position, the nearest first.
    fn later(&self, state: &Window, idle: u32) -> Vec<Move> {
        let (at, region) = (self.at, self.region[self.at]);
        let mut found = Vec::new();
        let mut passed = Touched::default();
        let mut matrix = false;
        for from in at + 1..self.order.len().min(at + 1 + LOOK) {
            if self.region[from] != region || found.len() == TRIES {
                break;
            }
            passed.add(&self.filler.touched(self.order[from - 1]));
            matrix |= self.filler.inst(self.order[from - 1]).desc.is_matrix();
            let line = self.order[from];
            let free = !self.filler.is_wait(line)
                && self.issues_at_once(line, idle, matrix)
                && passed.may_swap_with(&self.filler.touched(line))
                && self.filler.solved.pass.need(state, line, &|_| true) == 0;
            if free {
                found.push(Move { from, to: at });
            }
        }
        found
    }

    /// True if `line`, moved to this position, takes no longer than the wait states that it fills. Some vector instructions take several
    /// slots. A scalar instruction stalls on a register that the VALU has just written. A matrix instruction stalls while the matrix pipe
    /// is busy, and delays a matrix instruction before which it is moved.
    fn issues_at_once(&self, line: usize, idle: u32, overtakes_matrix: bool) -> bool {
        let inst = self.filler.inst(line);
        let above = || self.order[..self.at].iter().rev().take(LOOK).copied().enumerate();
        if is_slow(inst) && idle < SLOW_SLOTS {
            return false;
        }
        if inst.desc.is_salu() || inst.desc.is_smem() {
            let reads = self.filler.touched(line).reads;
            let fresh = |line: usize| {
                self.filler.inst(line).desc.is_valu() && self.filler.touched(line).writes.meets(&reads)
            };
            return !above().take(SGPR_SLOTS).any(|(_, line)| fresh(line));
        }
        let passes = |line: usize| usize::from(self.filler.solved.pass.passes(line));
        !inst.desc.is_matrix() || !overtakes_matrix && !above().any(|(slots, line)| passes(line) > slots)
    }

    /// Moves of instructions from before the producer that causes the wait to after that producer.
    fn earlier(&self, state: &Window, consumer: usize) -> Vec<Move> {
        let causes = self.filler.solved.pass.strictest(state, consumer);
        let Some(producer) = causes.first().map(|c| c.producer) else { return Vec::new() };
        let nearest = self.at.saturating_sub(LOOK);
        let place = self.order[nearest..self.at].iter().rposition(|line| *line == producer);
        let Some(to) = place.map(|p| nearest + p) else { return Vec::new() };
        let mut found = Vec::new();
        let mut passed = self.filler.touched(producer);
        for from in (nearest..to).rev() {
            let line = self.order[from];
            // A move across a wait would start latency later or wait for it earlier.
            if self.region[from] != self.region[to] || self.filler.is_wait(line) || found.len() == TRIES {
                break;
            }
            let mine = self.filler.touched(line);
            let waited = from > 0 && self.filler.is_wait(self.order[from - 1]);
            let plain = !mine.is_memory() && !self.filler.inst(line).desc.is_matrix();
            if plain && !waited && mine.may_swap_with(&passed) && self.state(from).is_some() {
                found.push(Move { from, to });
            }
            passed.add(&mine);
        }
        found
    }

    /// True if the move reduces the number of wait states and the following code does not need more than before.
    fn pays(&self, tried: Move) -> bool {
        let (low, high) = (tried.from.min(tried.to), tried.from.max(tried.to));
        let Some(mut old) = self.state(low).cloned() else { return false };
        let mut new = old.clone();
        let (mut idle, mut idle_then) = (0, 0);
        let end = self.order.len().min(high + 1 + SETTLE);
        for place in low..end {
            idle += self.filler.step(&mut old, self.order[place]);
            idle_then += self.filler.step(&mut new, tried.at(&self.order, place));
            if place >= high && new.asks_no_more_than(&old) && old.asks_no_more_than(&new) {
                return idle_then < idle;
            }
        }
        end == self.order.len() && idle_then < idle && self.filler.continues_as_well(self.block, &old, &new)
    }
}
