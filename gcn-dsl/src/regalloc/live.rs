//! Liveness of every dword of every virtual register.
//!
//! Only a register that some block reads before writing it (an upward-exposed read) can be live across a block
//! boundary. From each such block the register is traced backwards through the predecessors, up to the blocks that
//! write it. This exploration of paths, one variable at a time (Appel and Palsberg 2002), visits only blocks in which
//! the register is live, so the cost is proportional to the size of the live-in sets. One backward scan over the code
//! then builds the segments.

use hashbrown::HashMap;

use super::access::{self, Uses, VUse};
use super::input;
use super::segs::{Seg, Segs, Slot};
use crate::mir::{Function, Op, VReg};

/// A set of dwords of virtual registers: register numbers in ascending order, each with a mask of its dwords.
pub(super) type Masks = Vec<(u32, u32)>;

/// The numbering of the dwords, instructions and slots of a function.
pub(super) struct Numbering {
    /// The number of the first dword of each virtual register; at the end, the number of all dwords.
    pub dword: Vec<u32>,
    /// The number of the first instruction of each block; at the end, the number of all instructions.
    pub inst: Vec<u32>,
    /// The virtual operands of each instruction.
    pub uses: Uses,
}

impl Numbering {
    pub fn new(f: &Function) -> Numbering {
        let sums = |counts: &mut dyn Iterator<Item = u32>| {
            let mut sum = 0;
            let mut list = vec![0];
            for n in counts {
                sum += n;
                list.push(sum);
            }
            list
        };
        Numbering {
            dword: sums(&mut f.vregs.iter().map(|v| u32::from(v.len))),
            inst: sums(&mut f.blocks.iter().map(|b| b.insts.len() as u32)),
            uses: Uses::of(f),
        }
    }

    /// The virtual operands of each instruction of a block.
    pub fn uses_of(&self, block: usize) -> impl DoubleEndedIterator<Item = &[VUse]> + ExactSizeIterator {
        (self.inst[block]..self.inst[block + 1]).map(|number| self.uses.at(number))
    }

    /// The block of a slot's instruction, and its index there.
    pub fn locate(&self, slot: Slot) -> (usize, usize) {
        let inst = (slot / 2).min(self.inst.last().map_or(0, |n| n.saturating_sub(1)));
        let block = self.inst.partition_point(|&first| first <= inst).saturating_sub(1);
        (block, (inst - self.inst[block]) as usize)
    }
}

/// The live registers at block boundaries: for each block, the register numbers in ascending order with masks of their
/// live dwords.
pub(super) struct Liveness {
    /// For each block, the registers and dwords that are live at its end.
    pub live_out: Vec<Masks>,
    /// For each block, the registers and dwords that are live at its start.
    pub live_in: Vec<Masks>,
}

/// The mask of the dwords of `v` that the set contains.
pub(super) fn mask_of(set: &Masks, v: VReg) -> u32 {
    set.binary_search_by_key(&v.0, |m| m.0).map_or(0, |i| set[i].1)
}

/// The upward-exposed reads and the writes of a block.
struct Local {
    exposed: Masks,
    written: Masks,
}

fn local_sets(f: &Function, numbers: &Numbering) -> Vec<Local> {
    let mut exposed = vec![0u32; f.vregs.len()];
    let mut written = vec![0u32; f.vregs.len()];
    let mut touched = Vec::new();
    (0..f.blocks.len())
        .map(|block| {
            for uses in numbers.uses_of(block) {
                for u in uses {
                    touched.push(u.slice.reg.0);
                    if u.read {
                        let v = u.slice.reg.0 as usize;
                        // An instruction reads all its sources before it writes: `r = r + 1` exposes `r`.
                        exposed[v] |= access::mask(u.slice) & !written[v];
                    }
                }
                for u in uses.iter().filter(|u| u.write) {
                    written[u.slice.reg.0 as usize] |= access::mask(u.slice);
                }
            }
            touched.sort_unstable();
            touched.dedup();
            let take = |masks: &mut [u32]| -> Masks {
                let set = |&v: &u32| (v, std::mem::take(&mut masks[v as usize]));
                touched.iter().map(set).filter(|m| m.1 != 0).collect()
            };
            let local = Local { exposed: take(&mut exposed), written: take(&mut written) };
            touched.clear();
            local
        })
        .collect()
}

/// Solves liveness across blocks, register by register.
pub(super) fn solve(f: &Function, numbers: &Numbering) -> Liveness {
    let mut preds = vec![Vec::new(); f.blocks.len()];
    for (b, succs) in input::successors(f).into_iter().enumerate() {
        for s in succs {
            preds[s].push(b);
        }
    }
    let (mut exposed, mut written) = (Vec::new(), Vec::new());
    for (b, local) in local_sets(f, numbers).into_iter().enumerate() {
        exposed.extend(local.exposed.into_iter().map(|(v, mask)| (v, b, mask)));
        written.extend(local.written.into_iter().map(|(v, mask)| (v, b, mask)));
    }
    // Group by register. The sorts are stable, so the blocks of each register stay in order.
    exposed.sort_by_key(|e| e.0);
    written.sort_by_key(|e| e.0);
    let mut live = Liveness {
        live_out: vec![Masks::new(); f.blocks.len()],
        live_in: vec![Masks::new(); f.blocks.len()],
    };
    let mut written = written.as_slice();
    // For the current register, the dwords that each block writes.
    let mut writes = vec![0u32; f.blocks.len()];
    let mut work: Vec<(usize, u32)> = Vec::new();
    for exposed in exposed.chunk_by(|a, b| a.0 == b.0) {
        let v = exposed[0].0;
        let first = written.partition_point(|w| w.0 < v);
        let end = first + written[first..].partition_point(|w| w.0 == v);
        written[first..end].iter().for_each(|w| writes[w.1] = w.2);
        for &(_, b, mask) in exposed {
            work.push((b, mask));
            while let Some((block, mask)) = work.pop() {
                // Only dwords that were not live here before are propagated to the predecessors. Each dword enters each
                // block once, which bounds the work and terminates on loops.
                let new = mask & !add(&mut live.live_in[block], v, mask);
                if new == 0 {
                    continue;
                }
                for &p in &preds[block] {
                    add(&mut live.live_out[p], v, new);
                    let through = new & !writes[p];
                    if through != 0 {
                        work.push((p, through));
                    }
                }
            }
        }
        written[first..end].iter().for_each(|w| writes[w.1] = 0);
        written = &written[end..];
    }
    live
}

/// Adds dwords of `v` to a set that contains no register with a larger number. Returns the mask of the dwords of `v`
/// that the set contained before.
fn add(set: &mut Masks, v: u32, mask: u32) -> u32 {
    match set.last_mut().filter(|last| last.0 == v) {
        Some(last) => {
            let had = last.1;
            last.1 |= mask;
            had
        }
        None => {
            set.push((v, mask));
            0
        }
    }
}

fn bits(mask: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |k| mask >> k & 1 == 1)
}

/// The live segments of every dword, by dword number.
pub(super) fn intervals(f: &Function, numbers: &Numbering, live: &Liveness) -> Vec<Segs> {
    let dwords = numbers.dword.last().copied().unwrap_or(0) as usize;
    let mut scan = Scan { segs: vec![Segs::default(); dwords], end: vec![0; dwords] };
    let nothing = Masks::new();
    for b in (0..f.blocks.len()).rev() {
        let first = numbers.inst[b];
        let block_end = 2 * numbers.inst[b + 1];
        // If a dword is live into the next block in layout order, its segment stays open across the boundary, so that a
        // long life is one segment instead of one for each block.
        let next = live.live_in.get(b + 1).unwrap_or(&nothing);
        for (v, mask) in difference(&live.live_out[b], next) {
            bits(mask).for_each(|k| scan.end[numbers.dword[v as usize] as usize + k] = block_end);
        }
        for (i, uses) in numbers.uses_of(b).enumerate().rev() {
            scan.step(numbers, 2 * (first + i as u32), uses);
        }
        let before = b.checked_sub(1).map_or(&nothing, |before| &live.live_out[before]);
        for (v, mask) in difference(&live.live_in[b], before) {
            bits(mask).for_each(|k| scan.close(numbers.dword[v as usize] as usize + k, 2 * first));
        }
    }
    scan.segs.iter_mut().for_each(Segs::finish);
    scan.segs
}

/// The dwords of a set that are not in `other`.
fn difference(set: &Masks, other: &Masks) -> impl Iterator<Item = (u32, u32)> {
    let mut other = other.iter().copied().peekable();
    set.iter().filter_map(move |&(v, mask)| {
        while other.next_if(|o| o.0 < v).is_some() {}
        let rest = mask & !other.peek().filter(|o| o.0 == v).map_or(0, |o| o.1);
        (rest != 0).then_some((v, rest))
    })
}

/// The state of the backward scan: for each dword, the segments found so far, and the end of the open segment (0 if
/// there is none).
struct Scan {
    segs: Vec<Segs>,
    end: Vec<Slot>,
}

impl Scan {
    fn close(&mut self, dword: usize, start: Slot) {
        let end = std::mem::take(&mut self.end[dword]);
        self.segs[dword].push_backward(Seg { start, end });
    }

    fn step(&mut self, numbers: &Numbering, slot: Slot, uses: &[VUse]) {
        let dwords = |u: &VUse| {
            let first = (numbers.dword[u.slice.reg.0 as usize] + u32::from(u.slice.start)) as usize;
            first..first + usize::from(u.slice.len)
        };
        for u in uses.iter().filter(|u| u.write) {
            for d in dwords(u) {
                // If the instruction reads and overwrites a dword, the dword occupies the early slot in any case.
                let read = uses.iter().any(|r| r.read && dwords(r).contains(&d));
                // An unused result still occupies its register for the slot of the write.
                if self.end[d] == 0 {
                    if u.undef {
                        continue;
                    }
                    self.end[d] = slot + 2;
                }
                self.close(d, if u.early && !read { slot } else { slot + 1 });
            }
        }
        for u in uses.iter().filter(|u| u.read) {
            for d in dwords(u) {
                if self.end[d] == 0 {
                    self.end[d] = slot + 1;
                }
            }
        }
    }
}

/// The registers that are live at `slot` in ascending order, with masks of their live dwords.
pub(super) fn live_at(numbers: &Numbering, live: &Liveness, slot: Slot) -> Vec<(VReg, u32)> {
    let (block, at) = numbers.locate(slot);
    let mut set: HashMap<u32, u32> = live.live_out[block].iter().copied().collect();
    for (i, uses) in numbers.uses_of(block).enumerate().skip(at).rev() {
        let add = |set: &mut HashMap<u32, u32>, u: &VUse| {
            *set.entry(u.slice.reg.0).or_insert(0) |= access::mask(u.slice);
        };
        let here = i == at;
        if here && slot % 2 == 1 {
            uses.iter().filter(|u| u.write).for_each(|u| add(&mut set, u));
            break;
        }
        for u in uses.iter().filter(|u| u.write && !(here && u.early)) {
            if let Some(mask) = set.get_mut(&u.slice.reg.0) {
                *mask &= !access::mask(u.slice);
            }
        }
        uses.iter().filter(|u| u.read || (here && u.early)).for_each(|u| add(&mut set, u));
    }
    let mut list: Masks = set.into_iter().filter(|m| m.1 != 0).collect();
    list.sort_unstable();
    list.into_iter().map(|(v, mask)| (VReg(v), mask)).collect()
}

/// The registers that may be undefined when they are read: on some path, one of their dwords is read that has neither
/// been written nor marked by [`Op::Undef`].
pub(super) fn undefined_at_entry(live: &Liveness) -> Vec<VReg> {
    live.live_in.first().map_or(Vec::new(), |set| set.iter().map(|m| VReg(m.0)).collect())
}

/// The copies of a function: for each, the block, the index in the block, and the instruction number.
pub(super) fn copies<'f>(
    f: &'f Function,
    numbers: &'f Numbering,
) -> impl Iterator<Item = (usize, usize, u32)> + 'f {
    f.blocks.iter().enumerate().flat_map(move |(b, block)| {
        let copies = block.insts.iter().enumerate().filter(|(_, inst)| inst.op == Op::Copy);
        copies.map(move |(i, _)| (b, i, numbers.inst[b] + i as u32))
    })
}
