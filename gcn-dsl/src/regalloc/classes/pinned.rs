//! Pinned classes, whose machine registers are fixed from the start.

use gcn_isa::Reg;
use smallvec::SmallVec;

use super::super::segs::Seg;
use super::Classes;
use crate::mir::{Pin, VReg};

/// The fixed registers.
#[derive(Default)]
pub(super) struct Pinned {
    /// Each pinned class with its machine registers.
    classes: SmallVec<[(VReg, Reg); 4]>,
    /// Registers that contain initial state.
    reserved: Vec<(Reg, Seg)>,
}

impl Pinned {
    pub fn new(pins: &[Pin], reserved: &[(Reg, Seg)]) -> Pinned {
        let classes: SmallVec<[(VReg, Reg); 4]> = pins.iter().map(|pin| (pin.reg, pin.to)).collect();
        let reserved = if classes.is_empty() { Vec::new() } else { reserved.to_vec() };
        Pinned { classes, reserved }
    }

    /// The pinned classes, with their first machine registers.
    pub fn classes(&self) -> impl Iterator<Item = (VReg, u16)> + '_ {
        self.classes.iter().map(|(root, reg)| (*root, reg.index))
    }

    fn of(&self, root: VReg) -> Option<Reg> {
        self.classes.iter().find(|c| c.0 == root).map(|c| c.1)
    }

    /// True if the pins allow `inner` to be merged into `outer` at offset `at`.
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

    /// True if `class` can be in the registers from number `index` on: they contain no initial state, and no pinned
    /// class except `partner` occupies them.
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

    /// Records that `inner` was merged into `outer`.
    pub fn unite(&mut self, inner: VReg, outer: VReg) {
        let Some(place) = self.classes.iter().position(|c| c.0 == inner) else { return };
        match self.of(outer) {
            Some(_) => drop(self.classes.remove(place)),
            // `allow` has ensured that both have the same length, so the pin covers all of `outer`.
            None => self.classes[place].0 = outer,
        }
    }
}
