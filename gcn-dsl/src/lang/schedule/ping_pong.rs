//! `#[ping_pong]`: two groups of waves that take turns between memory and matrix instructions.
//!
//! The waves of a workgroup are assigned to the SIMDs in order, so in a workgroup of eight waves each SIMD has one of
//! the first four and one of the last four. The second group starts half an iteration later: before the loop it waits
//! at an additional barrier, for which the first group has a counterpart after the loop. `s_barrier` matches waves by
//! the number of barriers that they have reached, so one group is always in a phase of matrix instructions while the
//! other is not.

use std::panic::Location;

use super::pending::mark;
use crate::ir::mark::Mark;
use crate::ir::{Inst, Region, Schedule, Stmt};
use crate::lang::values::flow::Convergent;
use crate::lang::{S, ge, lt, wave_id, with};

/// The smallest number of waves in a workgroup with which each SIMD has one wave of each group.
const WAVES: u32 = 8;

/// The guard of a `#[ping_pong]` loop.
#[derive(Debug)]
pub struct PingPong {
    loc: &'static Location<'static>,
    wave: S<u32>,
    half: u32,
}

/// The expansion of the code before a `#[ping_pong]` loop.
#[track_caller]
pub fn ping_pong_begin<F: Convergent>(_flow: &F) -> PingPong {
    let loc = Location::caller();
    let waves = with(|c| {
        let items: u32 = c.workgroup.iter().product();
        if items == 0 || !items.is_multiple_of(c.wave.lanes() * WAVES) {
            let what = format!(
                "`#[ping_pong]` needs workgroups of a multiple of {} work-items, so that each SIMD has waves of both groups; this \
                 one has {items}",
                c.wave.lanes() * WAVES
            );
            c.fail(loc, what);
        }
        items / c.wave.lanes()
    });
    let pair = PingPong { loc, wave: wave_id(), half: waves / 2 };
    // Every wave's accesses before the loop happen before any wave's accesses in it.
    turn(Mark::Stagger, loc);
    with(|c| c.effect(mark(Mark::PingPong), loc));
    pair.turn_of(ge(pair.wave, pair.half));
    pair
}

impl PingPong {
    /// Ends the loop; emits the code after it.
    #[track_caller]
    pub fn end(self) {
        priority(0, self.loc);
        self.turn_of(lt(self.wave, self.half));
        with(|c| c.effect(mark(Mark::PingPongEnd), self.loc));
    }

    /// Emits a barrier that only the waves for which `group` is true execute.
    fn turn_of(&self, group: S<bool>) {
        with(|c| c.builder.open(false));
        turn(Mark::Stagger, self.loc);
        with(|c| {
            let then = c.builder.close(false);
            c.builder.stmt(Stmt::If { cond: group.value, then, els: Region::default() });
        });
    }
}

/// The guard of a `#[matrix]` block.
#[derive(Debug)]
pub struct MatrixPhase(&'static Location<'static>);

/// The expansion of the beginning of a `#[matrix]` block.
#[track_caller]
pub fn matrix_phase_begin() -> MatrixPhase {
    let loc = Location::caller();
    turn(Mark::Phase, loc);
    // Raise the priority, because the other group's loads and address arithmetic would take issue slots from the matrix
    // instructions. `ir::ping_pong` changes that for matrix instructions that delay all other instructions.
    priority(1, loc);
    MatrixPhase(loc)
}

impl MatrixPhase {
    /// Ends the block.
    pub fn end(self) {
        priority(0, self.0);
        turn(Mark::Phase, self.0);
    }
}

fn priority(level: u8, loc: &'static Location<'static>) {
    with(|c| c.effect(Inst::Schedule(Box::new(Schedule::Priority(level))), loc));
}

fn turn(as_: Mark, loc: &'static Location<'static>) {
    with(|c| {
        c.effect(mark(as_), loc);
        c.effect(Inst::Barrier, loc);
    });
}
