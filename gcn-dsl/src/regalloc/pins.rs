//! Pinned registers: machine registers that the user chose for values.
//!
//! A pinned virtual register has its machine register from the start. Another class may be coalesced with it only if
//! that class is not longer and does not collide with another pin or with initial state. Conflicts between pins are
//! therefore found before assignment ([`check`]) and reported in terms of the user's source.

use super::classes::Classes;
use super::error::AllocError;
use super::{Job, input};
use crate::mir::{Function, Pin};

/// Rejects pins that cannot all be satisfied.
pub(super) fn check(job: &Job<'_>) -> Result<(), AllocError> {
    let f = job.f;
    if f.pins.is_empty() {
        return Ok(());
    }
    let classes = job.classes();
    for (n, pin) in f.pins.iter().enumerate() {
        let refuse = |why: String| {
            Err(AllocError::Pinned { kernel: f.name.clone(), register: pin.to, at: pin.loc, why })
        };
        let limit = job.limits.of(pin.to.file, f.target, 0);
        if pin.to.end() > limit {
            return refuse(format!(
                "the kernel may use {limit} registers of this file; see `#[max_registers]` and `#[min_occupancy]`"
            ));
        }
        for other in f.pins[..n].iter().filter(|other| other.reg != pin.reg) {
            if let Some(slot) = meeting(&classes, pin, other) {
                let there = place(f, job, slot);
                let first = other.loc.map_or("elsewhere".to_owned(), |loc| format!("at {loc}"));
                return refuse(format!(
                    "{} is taken by what was put there {first}, and both are needed{there}",
                    other.to
                ));
            }
        }
        for (reg, seg) in job.reserved.iter().filter(|(reg, _)| reg.overlaps(pin.to)) {
            let lanes = (pin.to.index..).zip(classes.lanes(pin.reg));
            if lanes.into_iter().any(|(k, segs)| k == reg.index && segs.meets(*seg)) {
                let there = place(f, job, seg.end);
                return refuse(format!("{reg} holds what the dispatcher put there, which is read{there}"));
            }
        }
    }
    Ok(())
}

/// The text ` at FILE:LINE:COLUMN`, or an empty text if the source location is not known.
fn place(f: &Function, job: &Job<'_>, slot: super::segs::Slot) -> String {
    let (block, inst) = job.numbers.locate(slot);
    input::place(f, block, inst).loc.map_or_else(|| " at once".to_owned(), |loc| format!(" at {loc}"))
}

/// The first slot at which the values of both pins are live and need the same register; `None` if there is none.
fn meeting(classes: &Classes, a: &Pin, b: &Pin) -> Option<super::segs::Slot> {
    if !a.to.overlaps(b.to) {
        return None;
    }
    let shared = a.to.index.max(b.to.index)..a.to.end().min(b.to.end());
    shared.into_iter().find_map(|index| {
        let lane = |pin: &Pin| &classes.lanes(pin.reg)[usize::from(index - pin.to.index)];
        lane(a).first_shared(lane(b))
    })
}
