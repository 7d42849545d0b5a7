//! Coalescing: virtual registers that can share a machine register are merged into one class, and the copies between
//! them disappear.
//!
//! A class is a tuple as wide as its widest member, the root; every other member has an offset in that tuple. Two
//! classes merge if one can contain the other, their alignments agree, and no dword of the result would have to contain
//! two values at once. The interference test uses exact live segments, so coalescing never creates a conflict within a
//! class. It may make a class harder to assign, because the class then lives longer; therefore there is the mode
//! [`Coalesce::Whole`].
//!
//! Copies are tried from the innermost loops outwards. A matrix instruction whose D and C are different virtual
//! registers counts as a copy from C to D: if the two are merged, D and C are the same tuple, otherwise they are
//! assigned disjoint registers.

mod pinned;

use gcn_isa::{Operand, Reg, RegFile};

use super::live::{self, Numbering};
use super::segs::{Seg, Segs};
use super::{access, two_address};
use crate::mir::{Function, MOperand, Pin, VReg, VRegInfo, VSlice};
use pinned::Pinned;

/// The choice of the copies that are coalesced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Coalesce {
    /// All copies.
    All,
    /// Only copies between whole registers. Merging a register with a part of a tuple constrains both, which is harder
    /// to satisfy in a fragmented file.
    Whole,
}

/// A preferred machine register of a class. Ignoring a hint costs a move but is always correct.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Hint {
    /// The class should start at this register.
    At(u16),
    /// The class should start where the class of this register starts, plus an offset.
    Near(VReg, i32),
}

/// A merge to try, in which both slices become the same registers.
struct Candidate {
    dst: VSlice,
    src: VSlice,
    /// Slots at which both slices may be live although they are merged: the early slot of a matrix instruction, at
    /// which D is already live while C is still read.
    exempt: Seg,
}

const NO_SLOT: Seg = Seg { start: u32::MAX, end: u32::MAX };

/// The equivalence classes of virtual registers.
pub(super) struct Classes {
    infos: Vec<VRegInfo>,
    /// Union-find: for each register, its parent and its offset in the parent. A root is its own parent.
    parent: Vec<(u32, u8)>,
    /// For each root: the alignment, and the remainder of the first machine register's number divided by the alignment.
    align: Vec<(u8, u8)>,
    /// Pinned registers, and initial state.
    pins: Pinned,
    first_dword: Vec<u32>,
    segs: Vec<Segs>,
    hints: Vec<(u32, Hint)>,
}

impl Classes {
    /// Puts every register in a class of its own.
    pub fn new(infos: Vec<VRegInfo>, first_dword: Vec<u32>, segs: Vec<Segs>) -> Classes {
        Classes {
            parent: (0..infos.len() as u32).map(|v| (v, 0)).collect(),
            align: infos.iter().map(|i| (i.align, 0)).collect(),
            pins: Pinned::default(),
            infos,
            first_dword,
            segs,
            hints: Vec::new(),
        }
    }

    /// The class's root and the offset of `reg` in it.
    pub fn find(&mut self, reg: VReg) -> (VReg, u8) {
        let mut path = Vec::new();
        let mut at = reg.0;
        while self.parent[at as usize].0 != at {
            path.push(at);
            at = self.parent[at as usize].0;
        }
        // Offsets are relative to the parent, so compress the path from the root's end.
        let mut offset = 0;
        for v in path.into_iter().rev() {
            offset += self.parent[v as usize].1;
            self.parent[v as usize] = (at, offset);
        }
        (VReg(at), offset)
    }

    /// The roots in ascending order.
    pub fn roots(&self) -> impl Iterator<Item = VReg> + '_ {
        self.parent.iter().enumerate().filter(|(v, p)| p.0 == *v as u32).map(|(v, _)| VReg(v as u32))
    }

    /// The register file and the length of the class.
    pub fn info(&self, root: VReg) -> VRegInfo {
        self.infos[root.0 as usize]
    }

    /// The alignment of the class, and the remainder that its first machine register's number must have when divided by
    /// the alignment.
    pub fn align(&self, root: VReg) -> (u8, u8) {
        self.align[root.0 as usize]
    }

    /// The segments of each dword of the class, up to the last one that is ever live. Later dwords need no register.
    pub fn live_lanes(&self, root: VReg) -> &[Segs] {
        let lanes = self.lanes(root);
        &lanes[..lanes.iter().rposition(|l| l.len() > 0).map_or(0, |last| last + 1)]
    }

    /// The segments of each dword of the class.
    pub fn lanes(&self, root: VReg) -> &[Segs] {
        let first = self.first_dword[root.0 as usize] as usize;
        &self.segs[first..first + usize::from(self.infos[root.0 as usize].len)]
    }

    fn lanes_mut(&mut self, root: VReg) -> &mut [Segs] {
        let first = self.first_dword[root.0 as usize] as usize;
        &mut self.segs[first..first + usize::from(self.infos[root.0 as usize].len)]
    }

    /// Removes the life of a register that is not needed.
    pub fn discard(&mut self, reg: VReg) {
        self.lanes_mut(reg).iter_mut().for_each(Segs::clear);
    }

    /// Records the pinned registers, before coalescing. `reserved` are registers that contain initial state.
    pub fn pin(&mut self, pins: &[Pin], reserved: &[(Reg, Seg)]) {
        self.pins = Pinned::new(pins, reserved);
    }

    /// The pinned classes, with their first machine registers.
    pub fn pinned(&self) -> impl Iterator<Item = (VReg, u16)> + '_ {
        self.pins.classes()
    }

    /// The hints, sorted by root.
    pub fn hints(&mut self) -> Vec<(VReg, Hint)> {
        let mut list = Vec::new();
        for (v, hint) in std::mem::take(&mut self.hints) {
            let (root, offset) = self.find(VReg(v));
            let offset = i32::from(offset);
            list.push(match hint {
                Hint::At(index) => match u16::try_from(i32::from(index) - offset) {
                    Ok(index) => (root, Hint::At(index)),
                    Err(_) => continue,
                },
                Hint::Near(other, delta) => {
                    let (other_root, other_offset) = self.find(other);
                    (root, Hint::Near(other_root, delta + i32::from(other_offset) - offset))
                }
            });
        }
        list.sort_by_key(|h| h.0);
        list
    }

    /// Merges the classes of the two slices so that the slices coincide. Returns true if they coincide afterwards, and
    /// false if that is impossible.
    fn merge(&mut self, candidate: &Candidate) -> bool {
        let Candidate { dst, src, exempt } = *candidate;
        let ((dst_root, dst_offset), (src_root, src_offset)) = (self.find(dst.reg), self.find(src.reg));
        let dst_at = i32::from(dst_offset) + i32::from(dst.start);
        let src_at = i32::from(src_offset) + i32::from(src.start);
        // Both are in one class already: the copy disappears only if both slices are at the same offset.
        if dst_root == src_root {
            return dst_at == src_at;
        }
        let (dst_info, src_info) = (self.info(dst_root), self.info(src_root));
        if dst_info.file != src_info.file {
            return false;
        }
        // Decide which class contains the other. If both are possible, the class with fewer segments becomes the inner
        // one, because merging its segments into those of the outer class takes time for each segment.
        let inside = |at: i32, inner: u8, outer: u8| at >= 0 && at + i32::from(inner) <= i32::from(outer);
        let by_size = self.lanes(dst_root)[0].len() <= self.lanes(src_root)[0].len();
        let (inner, outer, at) = if inside(src_at - dst_at, dst_info.len, src_info.len)
            && (by_size || dst_info.len < src_info.len)
        {
            (dst_root, src_root, src_at - dst_at)
        } else if inside(dst_at - src_at, src_info.len, dst_info.len) {
            (src_root, dst_root, dst_at - src_at)
        } else {
            return false;
        };
        let at = at as u8;
        if !self.pins.allow(self, inner, outer, at) {
            return false;
        }
        let Some(align) = self.merged_align(inner, outer, at) else { return false };
        let inner_at = if inner == dst_root { dst_at } else { src_at } as usize;
        // The exemption applies only to the dwords of the accumulator. Other dwords of the two classes must be disjoint
        // at every slot.
        let exempted = inner_at..inner_at + usize::from(dst.len);
        let free =
            self.lanes(inner).iter().zip(&self.lanes(outer)[usize::from(at)..]).enumerate().all(
                |(k, (a, b))| a.disjoint_except(b, if exempted.contains(&k) { exempt } else { NO_SLOT }),
            );
        if free {
            self.unite(inner, outer, at, align);
        }
        free
    }

    /// The alignment of `outer` if `inner` is merged into it at offset `at`; `None` if the two alignments are
    /// incompatible.
    fn merged_align(&self, inner: VReg, outer: VReg, at: u8) -> Option<(u8, u8)> {
        let (n, r) = self.align(inner);
        // inner base = outer base + at, so outer base ≡ r - at (mod n).
        let inner = (n, (i32::from(r) - i32::from(at)).rem_euclid(i32::from(n)) as u8);
        let outer = self.align(outer);
        let (strong, weak) = if inner.0 > outer.0 { (inner, outer) } else { (outer, inner) };
        // Both alignments are powers of two, so the congruences `base ≡ r1 (mod n1)` and `base ≡ r2 (mod n2)` have a
        // common solution if and only if they agree modulo the smaller one, and then the larger one implies both.
        (strong.1 % weak.0 == weak.1).then_some(strong)
    }

    fn unite(&mut self, inner: VReg, outer: VReg, at: u8, align: (u8, u8)) {
        let moved: Vec<Segs> = self.lanes_mut(inner).iter_mut().map(std::mem::take).collect();
        for (lane, segs) in self.lanes_mut(outer)[usize::from(at)..].iter_mut().zip(moved) {
            lane.absorb(segs);
        }
        self.parent[inner.0 as usize] = (outer.0, at);
        self.align[outer.0 as usize] = align;
        self.pins.unite(inner, outer);
    }

    /// Coalesces the copies and the matrix accumulators of `f`.
    pub fn coalesce(&mut self, f: &Function, numbers: &Numbering, mode: Coalesce) {
        self.hint_initial_state(f, numbers);
        for candidate in candidates(f, numbers) {
            let whole = |s: VSlice| s.len == self.infos[s.reg.0 as usize].len;
            let wanted = mode == Coalesce::All || whole(candidate.dst) && whole(candidate.src);
            if wanted && self.merge(&candidate) {
                continue;
            }
            let Candidate { dst, src, .. } = candidate;
            if f.info(dst.reg).file == f.info(src.reg).file {
                let delta = i32::from(src.start) - i32::from(dst.start);
                self.hints.push((dst.reg.0, Hint::Near(src.reg, delta)));
                self.hints.push((src.reg.0, Hint::Near(dst.reg, -delta)));
            }
        }
        self.hint_two_addresses(f);
    }

    /// Hints that the result and the addend of an instruction should be in one register if the instruction then has a
    /// shorter form. Hints for copies take precedence, because a copy costs more.
    fn hint_two_addresses(&mut self, f: &Function) {
        for [to, addend] in
            f.blocks.iter().flat_map(|b| &b.insts).filter_map(|inst| two_address::tied(f, inst))
        {
            let delta = i32::from(addend.start) - i32::from(to.start);
            self.hints.push((to.reg.0, Hint::Near(addend.reg, delta)));
            self.hints.push((addend.reg.0, Hint::Near(to.reg, -delta)));
        }
    }

    fn hint_initial_state(&mut self, f: &Function, numbers: &Numbering) {
        for (b, i, _) in live::copies(f, numbers) {
            if let [MOperand::Virt(dst), MOperand::Fixed(Operand::Reg(reg))] =
                f.blocks[b].insts[i].operands[..]
                && f.info(dst.reg).file == reg.file
                && let Some(index) = reg.index.checked_sub(u16::from(dst.start))
            {
                self.hints.push((dst.reg.0, Hint::At(index)));
            }
        }
    }

    /// True if the two slices are in the same registers, so that a copy between them needs no move.
    pub fn same_place(&mut self, a: VSlice, b: VSlice) -> bool {
        let (root_a, offset_a) = self.find(a.reg);
        let (root_b, offset_b) = self.find(b.reg);
        root_a == root_b && offset_a + a.start == offset_b + b.start
    }

    /// The segments of all live dwords of `file`, in no particular order.
    pub fn file_segments(&self, file: RegFile) -> impl Iterator<Item = Seg> + '_ {
        let roots = self.roots().filter(move |&r| self.info(r).file == file);
        roots.flat_map(|r| self.lanes(r).iter().flat_map(|l| l.as_slice().iter().copied()))
    }
}

/// The merges to try: innermost loops first, and in program order for each loop depth, so that the moves that execute
/// most often get the first choice.
fn candidates(f: &Function, numbers: &Numbering) -> Vec<Candidate> {
    let mut list = Vec::new();
    for (b, block) in f.blocks.iter().enumerate() {
        for (i, inst) in block.insts.iter().enumerate() {
            let slot = 2 * (numbers.inst[b] + i as u32);
            if let Some(m) = access::matrix_operands(inst)
                && let (MOperand::Virt(dst), Some(MOperand::Virt(src))) = (m.d, m.c)
            {
                // If C is also A or B, D must not be merged with C, since D must be disjoint from A and B.
                let clash = |o| matches!(o, MOperand::Virt(s) if access::overlap(src, s));
                if dst != src && dst.len == src.len && !clash(m.a) && !clash(m.b) {
                    let exempt = Seg { start: slot, end: slot + 1 };
                    list.push((block.loop_depth, Candidate { dst, src, exempt }));
                }
            } else if inst.op == crate::mir::Op::Copy
                && let [MOperand::Virt(dst), MOperand::Virt(src)] = inst.operands[..]
            {
                list.push((block.loop_depth, Candidate { dst, src, exempt: NO_SLOT }));
            }
        }
    }
    list.sort_by_key(|c| std::cmp::Reverse(c.0));
    list.into_iter().map(|c| c.1).collect()
}
