//! Instructions of a block that share a register for a value that is taken out of registers.

use gcn_isa::RegFile;
use hashbrown::HashMap;

use super::super::access;
use super::exec::writes_exec;
use super::work::{Home, Piece, Work};
use crate::mir::{Op, VReg};

/// Instructions that follow each other closely and name the same register: they share the one it is loaded to.
pub(super) struct Stretch {
    /// Its first and last instruction in the block.
    pub first: usize,
    pub last: usize,
    /// How near its instructions are to each other.
    pub level: usize,
    /// The register, once it is needed.
    pub piece: Option<VReg>,
    /// Dwords of it that have been loaded or written.
    pub valid: u32,
    /// In order: dwords that an instruction writes, and dwords that a move takes to their home.
    changes: Vec<(usize, u32, Change)>,
    /// From each change on: dwords that are written, and those that are stored before that.
    from: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Written,
    Stored,
}

impl Stretch {
    /// Dwords that are written again after instruction `i`, and those that are stored before that.
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
    /// Where registers that are gone are named by instructions near each other, under the same EXEC.
    pub fn stretches(&self, code: &[Piece]) -> HashMap<VReg, Vec<Stretch>> {
        let mut found: HashMap<VReg, Vec<Stretch>> = HashMap::new();
        let mut exec = 0;
        for (i, (inst, role)) in code.iter().enumerate() {
            for operand in &inst.operands {
                let Some((slice, home, _)) = self.homed(*operand) else { continue };
                let Some((level, near)) = self.kinds[slice.reg.0 as usize].near(self.haste) else { continue };
                if inst.op == Op::Undef || matches!(self.homes[home as usize], Home::Again(_)) {
                    continue;
                }
                let list = found.entry(slice.reg).or_default();
                // The moves between it and its home will be gone.
                if role.home() == Some(home) {
                    let stored = access::uses(&self.f, inst).iter().any(|u| u.read && u.slice == slice);
                    if stored && let Some(s) = list.last_mut() {
                        s.changes.push((i, access::mask(slice), Change::Stored));
                    }
                    continue;
                }
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
            let to_itself = inst.op == Op::Copy && inst.operands.first() == inst.operands.get(1);
            for u in access::uses(&self.f, inst).iter().filter(|u| u.write && !u.undef && !to_itself) {
                if self.gone(u.slice.reg).is_some_and(|(home, _)| role.home() != Some(home))
                    && let Some(s) = found.get_mut(&u.slice.reg).and_then(|list| list.last_mut())
                {
                    s.changes.push((i, access::mask(u.slice), Change::Written));
                }
            }
            if writes_exec(inst) {
                exec = i + 1;
            }
        }
        for list in found.values_mut() {
            list.retain(|s| s.last > s.first);
            list.iter_mut().for_each(Stretch::finish);
        }
        found
    }
}
