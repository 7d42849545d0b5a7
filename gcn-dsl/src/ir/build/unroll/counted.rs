//! Loops whose end is known only when they run: several trips at a time, and then the rest one by one.
//!
//! What is left over is known before the loop, as a trip moves the counter by one: the loop of several trips ends where the distance
//! to the end is the remainder. Its test compares for equality, so nothing depends on whether the counter may wrap.

use super::{Loop, Trial, may_repeat, replay::Replay};
use crate::ir::build::Builder;
use crate::ir::{Bin, Effect, Inst, Memory, Place, Pred, Region, Stmt, Type, Value, Variable};
use crate::scalar::Elem;

/// The most instructions of the trips that are made at a time.
const LONGEST: u32 = 128;
/// How many trips may be made at a time: powers of two.
const AT_A_TIME: [u32; 2] = [4, 2];

/// `for i in start..end` of which it is known that it makes a trip.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// The counter, which holds `start`.
    pub counter: Variable,
    /// The first value of the counter.
    pub start: Value,
    /// The counter does not get there.
    pub end: Value,
    /// Computed by the body: another trip follows.
    pub again: Value,
}

/// Appends the loop of a closed body.
pub fn run(b: &mut Builder, counted: Counted, body: Region) {
    let Counted { counter, start, end, again } = counted;
    let plain = |body| Stmt::DoWhile { body, cond: again };
    let Some(count) = trips(b, counted, &body) else { return b.stmt(plain(body)) };
    let ty = b.kernel().ty(end);
    let (word, condition) = (Type { elem: Elem::U32, ..ty }, b.kernel().ty(again));
    let distance = b.value(Inst::Bin(Bin::Sub, end, start), ty, None);
    let distance = b.value(Inst::Cast(distance), word, None);
    let mask = b.constant(u64::from(count - 1), word);
    let rest = b.value(Inst::Bin(Bin::And, distance, mask), word, None);
    let rest = b.value(Inst::Cast(rest), ty, None);
    let stop = b.value(Inst::Bin(Bin::Sub, end, rest), ty, None);
    let several = b.value(Inst::Cmp(Pred::Ne, stop, start), condition, None);
    b.open(false);
    // A counter of its own, which stays a multiple of the trips if it starts at one: addresses are aligned then.
    let own = b.declare(ty);
    b.write(own, start, None);
    b.open(false);
    let mut replay = Replay::with(counter, own);
    (0..count).for_each(|_| replay.region(b, &body));
    let next = b.read(own, None);
    let cond = b.value(Inst::Cmp(Pred::Ne, next, stop), condition, None);
    let trips = b.close(false);
    b.stmt(Stmt::DoWhile { body: trips, cond });
    b.write(counter, stop, None);
    let then = b.close(false);
    b.branch(several, false, then, Region::default());
    let one = b.value(Inst::Cmp(Pred::Ne, stop, end), condition, None);
    b.open(false);
    b.stmt(plain(body));
    let then = b.close(false);
    b.branch(one, false, then, Region::default());
}

/// How many trips to make at a time, if more than one. Only loops gain that load: later loads start before earlier ones are used, or
/// merge with them.
fn trips(b: &Builder, counted: Counted, body: &Region) -> Option<u32> {
    let looped = Loop { head: None, cond: counted.again, body };
    let ty = b.kernel().ty(counted.end);
    let counts = ty.place == Place::Uniform && matches!(ty.elem, Elem::I32 | Elem::U32);
    if !counts || !may_repeat(b, looped) || !is_straight(b, body) {
        return None;
    }
    let mut once = Trial::new(b, LONGEST);
    once.region(body)?;
    let length = LONGEST.saturating_sub(once.left).max(1);
    AT_A_TIME.into_iter().find(|n| n * length <= LONGEST)
}

/// True for a body without control flow that loads from memory, and in which the lanes and waves do not meet.
fn is_straight(b: &Builder, body: &Region) -> bool {
    let mut loads = false;
    let repeats = |stmt: &Stmt| {
        let Stmt::Inst(v) = stmt else { return false };
        match &b.kernel().def(*v).inst {
            Inst::Load { memory, .. } => loads |= !matches!(memory, Memory::Private(_)),
            Inst::LoadUniform { .. } => loads = true,
            Inst::Barrier | Inst::Atomic(_) | Inst::Fence { .. } | Inst::Schedule(_) => return false,
            Inst::Wave(_) | Inst::Ballot(_) | Inst::Permute { .. } => return false,
            Inst::ReadLane(..) => return false,
            Inst::Machine(call) => {
                return call.effect == Effect::Pure && call.results.iter().all(|ty| ty.count == 1);
            }
            _ => {}
        }
        true
    };
    body.stmts.iter().all(repeats) && loads
}
