//! Rematerialisation: values that are recomputed where they are read instead of being stored and reloaded; typically
//! constants, scalars copied to vector registers, and address arithmetic.
//!
//! A class qualifies if a single instruction defines it, and if the sources of that instruction are constants or
//! registers that are written once, outside of loops, and are live at every reader of the class. Such a source has the
//! same value at the reader as at the definition, so recomputing gives the same result. This is a simple form of
//! Briggs, Cooper and Torczon's method, with one defining instruction for the whole class instead of a lattice of tags.

use hashbrown::{HashMap, HashSet};

use super::super::classes::Classes;
use super::super::live::Numbering;
use super::moves::repeatable;
use super::work::{Kind, Work};
use crate::mir::{MInst, MOperand, Op, VReg};

/// The definitions and readers of an evicted class.
#[derive(Default)]
struct Known {
    made: Vec<MInst>,
    read_at: Vec<u32>,
    /// True if some reader reads only a part of the value.
    in_parts: bool,
}

/// For each class of `roots` that can be rematerialised, the defining instruction.
pub(super) fn find(
    work: &Work,
    numbers: &Numbering,
    classes: &mut Classes,
    roots: &[VReg],
) -> HashMap<VReg, MInst> {
    let f = &work.f;
    let wanted: HashSet<VReg> = roots.iter().copied().collect();
    let mut known: HashMap<VReg, Known> = HashMap::new();
    let mut writes = vec![0u32; f.vregs.len()];
    let mut in_loop = vec![false; f.vregs.len()];
    for (b, block) in f.blocks.iter().enumerate() {
        for (i, inst) in block.insts.iter().enumerate() {
            let number = numbers.inst[b] + i as u32;
            // A coalesced copy emits no instruction, so it neither reads the class nor defines it a second time.
            if let (Op::Copy, [MOperand::Virt(dst), MOperand::Virt(src)]) = (&inst.op, &inst.operands[..])
                && classes.same_place(*dst, *src)
            {
                writes[dst.reg.0 as usize] += 1;
                in_loop[dst.reg.0 as usize] |= block.loop_depth > 0;
                continue;
            }
            for u in numbers.uses.at(number) {
                let v = u.slice.reg.0 as usize;
                writes[v] += u32::from(u.write && !u.undef);
                in_loop[v] |= u.write && block.loop_depth > 0;
                let (root, _) = classes.find(u.slice.reg);
                if !wanted.contains(&root) {
                    continue;
                }
                let known = known.entry(root).or_default();
                if u.read {
                    known.read_at.push(2 * number);
                    known.in_parts |= u.slice.len < classes.info(root).len;
                }
                // More than one definition disqualifies the class, so two are enough to record.
                if u.write && !u.undef && known.made.len() < 2 {
                    known.made.push(inst.clone());
                }
            }
        }
    }
    // Classes that contain other registers than plain values do not qualify: a piece already has a home, slots and lane
    // registers are homes, and temporaries must be in registers.
    let mut others: HashSet<VReg> = HashSet::new();
    for v in (0..f.vregs.len() as u32).map(VReg) {
        if work.kinds[v.0 as usize] != Kind::Value && work.spilled(v).is_none() {
            others.insert(classes.find(v).0);
        }
    }
    let mut found = HashMap::new();
    for (root, known) in known {
        let [made] = &known.made[..] else { continue };
        let [MOperand::Virt(dst), sources @ ..] = &made.operands[..] else { continue };
        let whole = dst.start == 0 && dst.len == classes.info(root).len && classes.find(dst.reg) == (root, 0);
        // The instruction computes the whole value, but a reader of a part has a register only for that part. A copy of
        // a constant, however, can be made for single dwords.
        let of_dwords = made.op == Op::Copy && matches!(sources, [MOperand::Fixed(_)]);
        if !whole || !repeatable(made) || known.in_parts && !of_dwords {
            continue;
        }
        // A source that is evicted in the same round does not count as stable. Its home keeps the value, but its reload
        // would need a register at every reader.
        let stable = |o: &MOperand, classes: &mut Classes| match o {
            MOperand::Fixed(_) => true,
            MOperand::Virt(s) => {
                let v = s.reg.0 as usize;
                let (of, offset) = classes.find(s.reg);
                let live_at = |slot: &u32| {
                    let lanes = &classes.lanes(of)[usize::from(offset + s.start)..][..usize::from(s.len)];
                    lanes.iter().all(|lane| lane.at(*slot).is_some())
                };
                work.kinds[v] == Kind::Value
                    && !wanted.contains(&of)
                    && writes[v] == 1
                    && !in_loop[v]
                    && known.read_at.iter().all(live_at)
            }
        };
        if sources.iter().all(|o| stable(o, classes)) && !others.contains(&root) {
            found.insert(root, made.clone());
        }
    }
    found
}
