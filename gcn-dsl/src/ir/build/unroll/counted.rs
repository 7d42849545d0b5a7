//! Partial unrolling of loops whose trip count is unknown: the unrolled loop is followed by another loop for the
//! remaining iterations.
//!
//! Each iteration increments the counter by one, so the number of remaining iterations (the remainder) is known before
//! the loop: the unrolled loop ends when the distance from the counter to the end equals the remainder. The test is for
//! equality, so it is correct even if the counter wraps around.

use super::{Loop, Trial, may_repeat, replay::Replay};
use crate::ir::build::Builder;
use crate::ir::{Bin, Effect, Inst, Memory, Place, Pred, Region, Stmt, Type, Value, Variable};
use crate::scalar::Elem;

/// The largest number of instructions in the unrolled body.
const LONGEST: u32 = 128;
/// The possible unroll factors; these are powers of two.
const AT_A_TIME: [u32; 2] = [4, 2];

/// A loop `for i in start..end` that is known to run at least one iteration.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// The counter, to which `start` has been written.
    pub counter: Variable,
    /// The first value of the counter.
    pub start: Value,
    /// The exclusive end of the counter.
    pub end: Value,
    /// The condition that another iteration follows. The body computes it.
    pub again: Value,
}

/// Appends the loop, whose body is closed.
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
    // Use a separate counter. If it starts at a multiple of the unroll factor, it remains a multiple, so addresses are
    // known to be aligned.
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

/// The unroll factor; `None` if unrolling does not pay. Only loops that load from memory gain: loads of later
/// iterations start before the results of earlier ones are used, or are merged with them.
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

/// True for a body that loads from memory and contains no control flow, no barriers and no exchanges between lanes.
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
