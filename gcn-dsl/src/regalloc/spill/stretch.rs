//! Stretches: nearby instructions of a block that share one register for a spilled value, so that it is loaded only
//! once.

use gcn_isa::RegFile;
use hashbrown::HashMap;

use super::super::access;
use super::exec::writes_exec;
use super::work::{Home, Role, TaggedInst, Work};
use crate::mir::{MInst, Op, VReg};

/// Instructions close to each other that name the same spilled register and share the register into which it is loaded.
pub(super) struct Stretch {
    /// The indices, in the block, of the stretch's first and last instruction.
    pub first: usize,
    pub last: usize,
    /// The level of the stretch: an index into [`super::work::MAX_GAPS`].
    pub level: usize,
    /// The shared register, once it has been created.
    pub piece: Option<VReg>,
    /// The dwords of the shared register that have been loaded or written.
    pub valid: u32,
    /// In program order: the instruction, the dwords, and the kind of change: the instruction writes the dwords, or it
    /// is a move that stores them to their home.
    changes: Vec<(usize, u32, Change)>,
    /// For each change, accumulated over this change and all later ones: the dwords that are written, and the dwords
    /// that are stored before they are written again.
    from: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Written,
    Stored,
}

impl Stretch {
    /// The dwords that are overwritten after instruction `i`, and those that are stored to their home before being
    /// overwritten.
    pub fn after(&self, i: usize) -> (u32, u32) {
        let from = self.changes.partition_point(|c| c.0 <= i);
        self.from.get(from).copied().unwrap_or((0, 0))
    }

    fn finish(&mut self) {
        let (mut written, mut stored) = (0, 0);
        let before = |&(_, mask, change): &(usize, u32, Change)| {
            (written, stored) = match change {
                Change::Written => (written | mask, stored & !mask),
                Change::Stored => (written, stored | mask),
            };
            (written, stored)
        };
        self.from = self.changes.iter().rev().map(before).collect();
        self.from.reverse();
    }
}

impl Work {
    /// The stretches of a block, by spilled register.
    pub fn stretches(&self, code: &[TaggedInst]) -> HashMap<VReg, Vec<Stretch>> {
        let mut found: HashMap<VReg, Vec<Stretch>> = HashMap::new();
        let mut exec = 0;
        for (i, (inst, role)) in code.iter().enumerate() {
            for operand in &inst.operands {
                let Some((slice, home, _)) = self.homed(*operand) else { continue };
                let Some((level, near)) = self.kinds[slice.reg.0 as usize].stretch_level(self.skip_levels)
                else {
                    continue;
                };
                if inst.op == Op::Undef || matches!(self.homes[home as usize], Home::Remat(_)) {
                    continue;
                }
                let list = found.entry(slice.reg).or_default();
                // A move between the register and its home will be removed. But a store shows that the home must have
                // the value from that point on.
                if role.home() == Some(home) {
                    let stored = access::uses(&self.f, inst).iter().any(|u| u.read && u.slice == slice);
                    if stored && let Some(s) = list.last_mut() {
                        s.changes.push((i, access::mask(slice), Change::Stored));
                    }
                    continue;
                }
                // A vector value that was loaded under one EXEC lacks lanes that a later EXEC activates, so a stretch
                // of a vector register ends where EXEC changes.
                let masked = self.f.info(slice.reg).file != RegFile::Sgpr;
                match list.last_mut() {
                    Some(s) if i - s.last <= near && (!masked || s.first >= exec) => s.last = i,
                    _ => list.push(Stretch {
                        first: i,
                        last: i,
                        level,
                        piece: None,
                        valid: 0,
                        changes: Vec::new(),
                        from: Vec::new(),
                    }),
                }
            }
            // A copy of a register to itself writes no new value.
            let to_itself = inst.op == Op::Copy && inst.operands.first() == inst.operands.get(1);
            if !to_itself && inst.operands.iter().any(|o| self.homed(*o).is_some()) {
                self.note_writes((i, inst, *role), &mut found);
            }
            if writes_exec(inst) {
                exec = i + 1;
            }
        }
        for list in found.values_mut() {
            // A stretch of a single instruction saves nothing.
            list.retain(|s| s.last > s.first);
            list.iter_mut().for_each(Stretch::finish);
        }
        found
    }

    /// Records what instruction `i` writes to spilled registers whose stretch contains it.
    fn note_writes(&self, (i, inst, role): (usize, &MInst, Role), found: &mut HashMap<VReg, Vec<Stretch>>) {
        for u in access::uses(&self.f, inst).iter().filter(|u| u.write && !u.undef) {
            if self.spilled(u.slice.reg).is_some_and(|(home, _)| role.home() != Some(home))
                && let Some(s) = found.get_mut(&u.slice.reg).and_then(|list| list.last_mut())
            {
                s.changes.push((i, access::mask(u.slice), Change::Written));
            }
        }
    }
}
