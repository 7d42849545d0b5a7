//! Values that are made again where they are read: constants, copies of scalars in vector registers, address arithmetic.
//!
//! One instruction makes the value, out of constants and of registers that are written once, outside of loops, and live
//! wherever the value is read: they hold there what they held when the value was made.

use hashbrown::{HashMap, HashSet};

use super::super::access;
use super::super::classes::Classes;
use super::super::live::Numbering;
use super::moves::repeatable;
use super::work::{Kind, Work};
use crate::mir::{MInst, MOperand, Op, VReg};

/// What is known of a class that has been turned out.
#[derive(Default)]
struct Known {
    made: Vec<MInst>,
    read_at: Vec<u32>,
}

/// For the classes of `roots` that can be made again, the instruction.
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
            if let (Op::Copy, [MOperand::Virt(dst), MOperand::Virt(src)]) = (&inst.op, &inst.operands[..])
                && classes.same_place(*dst, *src)
            {
                writes[dst.reg.0 as usize] += 1;
                in_loop[dst.reg.0 as usize] |= block.loop_depth > 0;
                continue;
            }
            for u in access::uses(f, inst) {
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
                }
                if u.write && !u.undef && known.made.len() < 2 {
                    known.made.push(inst.clone());
                }
            }
        }
    }
    // Registers of other kinds have homes already, or none.
    let mut others: HashSet<VReg> = HashSet::new();
    for v in (0..f.vregs.len() as u32).map(VReg) {
        if work.kinds[v.0 as usize] != Kind::Value && work.gone(v).is_none() {
            others.insert(classes.find(v).0);
        }
    }
    let mut found = HashMap::new();
    for (root, known) in known {
        let [made] = &known.made[..] else { continue };
        let [MOperand::Virt(dst), sources @ ..] = &made.operands[..] else { continue };
        let whole = dst.start == 0 && dst.len == classes.info(root).len && classes.find(dst.reg) == (root, 0);
        if !whole || !repeatable(made) {
            continue;
        }
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
