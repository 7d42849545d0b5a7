//! Registers that the user chose (pins).
//!
//! A pinned virtual register has its machine register from the start. Another class may be coalesced with it
//! only if it is not longer, and if neither another pin nor initial state is in the way. Conflicts between
//! pins are therefore found before assignment ([`check`]) and reported in terms of the user's source.

use gcn_isa::Reg;
use smallvec::SmallVec;

use super::classes::Classes;
use super::error::AllocError;
use super::segs::Seg;
use super::{Job, input};
use crate::mir::{Function, Pin, VReg};

/// Fixed places.
#[derive(Default)]
pub(super) struct Pinned {
    /// Class and first register.
    classes: SmallVec<[(VReg, Reg); 4]>,
    /// Initial state.
    reserved: Vec<(Reg, Seg)>,
}

impl Pinned {
    pub fn new(pins: &[Pin], reserved: &[(Reg, Seg)]) -> Pinned {
        let classes: SmallVec<[(VReg, Reg); 4]> = pins.iter().map(|pin| (pin.reg, pin.to)).collect();
        let reserved = if classes.is_empty() { Vec::new() } else { reserved.to_vec() };
        Pinned { classes, reserved }
    }

    /// The classes with their first registers.
    pub fn classes(&self) -> impl Iterator<Item = (VReg, u16)> + '_ {
        self.classes.iter().map(|(root, reg)| (*root, reg.index))
    }

    fn of(&self, root: VReg) -> Option<Reg> {
        self.classes.iter().find(|c| c.0 == root).map(|c| c.1)
    }

    /// True if the pins permit `inner` to lie in `outer` at offset `at`.
    pub fn allow(&self, classes: &Classes, inner: VReg, outer: VReg, at: u8) -> bool {
        match (self.of(inner), self.of(outer)) {
            (None, None) => true,
            (Some(inner), Some(outer)) => inner.index == outer.index + u16::from(at),
            (None, Some(there)) => self.free(classes, inner, outer, there.index + u16::from(at)),
            (Some(there), None) => {
                classes.info(inner).len == classes.info(outer).len
                    && self.free(classes, outer, inner, there.index)
            }
        }
    }

    /// True if `class` can live in the registers from `index` on: no pin except `partner` and no initial
    /// state occupies them.
    fn free(&self, classes: &Classes, class: VReg, partner: VReg, index: u16) -> bool {
        let file = classes.info(class).file;
        let lanes = || (index..).zip(classes.lanes(class));
        let pinned = self.classes.iter().filter(|(root, reg)| *root != partner && reg.file == file);
        let clash = |(root, reg): &(VReg, Reg)| {
            let theirs = (reg.index..).zip(classes.lanes(*root));
            theirs.into_iter().any(|(i, segs)| lanes().any(|(k, mine)| i == k && !mine.disjoint(segs)))
        };
        let taken = |(reg, seg): &(Reg, Seg)| {
            let covers = |k: u16| reg.file == file && (reg.index..reg.end()).contains(&k);
            lanes().any(|(k, mine)| covers(k) && mine.meets(*seg))
        };
        !pinned.into_iter().any(clash) && !self.reserved.iter().any(taken)
    }

    /// Records that `inner` became a part of `outer`.
    pub fn unite(&mut self, inner: VReg, outer: VReg) {
        let Some(place) = self.classes.iter().position(|c| c.0 == inner) else { return };
        match self.of(outer) {
            Some(_) => drop(self.classes.remove(place)),
            // `allow` has made sure that both are equally long, so the pin covers all of `outer`.
            None => self.classes[place].0 = outer,
        }
    }
}

/// Rejects pins that cannot all be honoured.
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

/// ` at FILE:LINE:COLUMN`, if the position is known.
fn place(f: &Function, job: &Job<'_>, slot: super::segs::Slot) -> String {
    let (block, inst) = job.numbers.locate(slot);
    input::place(f, block, inst).loc.map_or_else(|| " at once".to_owned(), |loc| format!(" at {loc}"))
}

/// The first slot at which two pins need the same register.
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
