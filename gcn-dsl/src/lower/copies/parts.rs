//! Removes copies of values into tuples if the value stays live after the copy.
//!
//! A tuple is assembled by copies. Register allocation coalesces such a copy if the copied value dies there. If the
//! value stays live, it is computed directly in the tuple, and its readers read the tuple's element; this is correct
//! because neither the value nor the tuple changes afterwards.

use gcn_isa::reg::RegFile;
use hashbrown::{HashMap, HashSet};

use super::super::combine::accesses;
use super::Known;
use crate::mir::{Function, MInst, MOperand, Op, VReg, VSlice};

pub(super) fn run(f: &mut Function, known: &Known) {
    let writes = writes(f);
    let mut renamed: HashMap<VReg, VSlice> = HashMap::new();
    for block in 0..f.blocks.len() {
        let insts = &f.blocks[block].insts;
        let mut defined: HashSet<VReg> = HashSet::new();
        let mut gone: HashSet<usize> = HashSet::new();
        let mut begins: HashMap<usize, Vec<VSlice>> = HashMap::new();
        for (at, inst) in insts.iter().enumerate() {
            let tuple = match (&inst.op, &inst.operands[..]) {
                (Op::Undef, [MOperand::Virt(tuple)]) if is_tuple(f, *tuple) => *tuple,
                _ => {
                    defined.extend(written(inst));
                    continue;
                }
            };
            let copies: Vec<VSlice> =
                insts[at + 1..].iter().map_while(|inst| part(inst, tuple.reg)).collect();
            // If another instruction writes the tuple, its elements may change while they are read.
            if writes[tuple.reg.0 as usize] != copies.len() as u32 + 1 {
                continue;
            }
            let mut rest = Vec::new();
            for dword in 0..tuple.len {
                let copy = insts[at + 1..].iter().take(copies.len()).position(
                    |inst| matches!(inst.operands[0], MOperand::Virt(to) if to.start == tuple.start + dword),
                );
                let from = copy.and_then(|copy| match insts[at + 1 + copy].operands[1] {
                    MOperand::Virt(from) => Some((copy, from)),
                    MOperand::Fixed(_) => None,
                });
                let place = VSlice { reg: tuple.reg, start: tuple.start + dword, len: 1 };
                match from {
                    Some((copy, from))
                        if lives_on(f, known, from)
                            && defined.contains(&from.reg)
                            && !renamed.contains_key(&from.reg) =>
                    {
                        renamed.insert(from.reg, place);
                        gone.insert(at + 1 + copy);
                    }
                    _ => rest.push(place),
                }
            }
            // The dwords that are still copied get a separate `Op::Undef`.
            if rest.len() < usize::from(tuple.len) {
                begins.insert(at, rest);
            }
        }
        if begins.is_empty() {
            continue;
        }
        let insts = std::mem::take(&mut f.blocks[block].insts);
        for (at, inst) in insts.into_iter().enumerate() {
            match begins.remove(&at) {
                Some(rest) => f.blocks[block].insts.extend(rest.into_iter().map(|slice| {
                    let operands = [MOperand::Virt(slice)].into_iter().collect();
                    MInst { op: Op::Undef, operands, keeps_dst: false, loc: inst.loc }
                })),
                None if gone.contains(&at) => {}
                None => f.blocks[block].insts.push(inst),
            }
        }
    }
    for inst in f.blocks.iter_mut().flat_map(|block| &mut block.insts) {
        for operand in &mut inst.operands {
            if let MOperand::Virt(slice) = operand
                && let Some(place) = renamed.get(&slice.reg)
            {
                *slice = *place;
            }
        }
    }
}

/// For each register, the number of its writes.
fn writes(f: &Function) -> Vec<u32> {
    let mut writes = vec![0; f.vregs.len()];
    for reg in f.blocks.iter().flat_map(|block| &block.insts).flat_map(written) {
        writes[reg.0 as usize] += 1;
    }
    writes
}

fn written(inst: &MInst) -> impl Iterator<Item = VReg> + '_ {
    inst.operands.iter().enumerate().filter_map(|(slot, operand)| match operand {
        MOperand::Virt(slice) if accesses(inst, slot).1 => Some(slice.reg),
        _ => None,
    })
}

fn is_tuple(f: &Function, slice: VSlice) -> bool {
    let info = f.info(slice.reg);
    info.file == RegFile::Vgpr && info.len > 1 && info.len == slice.len
}

/// The dword of `tuple` to which the instruction copies; `None` if the instruction is not such a copy.
fn part(inst: &MInst, tuple: VReg) -> Option<VSlice> {
    match (&inst.op, inst.keeps_dst, &inst.operands[..]) {
        (Op::Copy, false, [MOperand::Virt(to), _]) if to.reg == tuple && to.len == 1 => Some(*to),
        _ => None,
    }
}

/// True for a whole register with one writer and more than one reader.
fn lives_on(f: &Function, known: &Known, from: VSlice) -> bool {
    let info = f.info(from.reg);
    let alone = info.file == RegFile::Vgpr && info.len == 1 && known.single.contains(&from.reg);
    alone && known.readers.get(&from.reg).is_some_and(|readers| readers.is_none_or(|(_, count)| count > 1))
}
