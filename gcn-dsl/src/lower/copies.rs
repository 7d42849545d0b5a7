//! Removes copies of elements from and to tuples. An element of a tuple that stays live is read in the tuple. A value
//! that stays live beside a tuple that contains it is computed in the tuple (`parts.rs`).
//!
//! Instruction selection copies an element out of a tuple. If the tuple dies at the copy, register allocation coalesces
//! the two; otherwise both would occupy registers. Within a block, instructions that read the copy are made to read the
//! element instead, as long as the tuple has not been written since. This is done only if the tuple is read later
//! anyway, so that its live range does not grow.

mod parts;

use gcn_isa::reg::RegFile;
use hashbrown::{HashMap, HashSet};

use super::combine::accesses;
use crate::mir::{Function, MInst, MOperand, Op, VReg, VSlice};

pub(super) fn run(f: &mut Function) {
    parts::run(f, &Known::free(f));
    let known = Known::free(f);
    for block in 0..f.blocks.len() {
        let insts = &f.blocks[block].insts;
        let copies: Vec<(usize, VSlice, VSlice)> = (0..insts.len())
            .filter_map(|at| element(f, &known, &insts[at]).map(|(to, from)| (at, to, from)))
            .filter(|(at, to, from)| readers_are_here(&known, insts, block, *at, *to, *from))
            .collect();
        let mut gone = HashSet::new();
        for (at, to, from) in copies {
            let insts = &mut f.blocks[block].insts;
            for operand in insts[at + 1..].iter_mut().flat_map(|inst| &mut inst.operands) {
                if let MOperand::Virt(slice) = operand
                    && slice.reg == to.reg
                {
                    *slice = VSlice { reg: from.reg, start: from.start + slice.start, len: slice.len };
                }
            }
            gone.insert(at);
        }
        let mut at = 0;
        f.blocks[block].insts.retain(|_| {
            at += 1;
            !gone.contains(&(at - 1))
        });
    }
}

/// The reads and writes of registers.
struct Known {
    /// The registers with a single writer.
    single: HashSet<VReg>,
    /// For each register that is read: the block of the reads and the number of reads. `None` if several blocks read
    /// it.
    readers: HashMap<VReg, Option<(usize, usize)>>,
}

impl Known {
    /// As `of`, but without the registers that must not be changed.
    fn free(f: &Function) -> Known {
        let mut known = Known::of(f);
        // Debuggers look for named registers, and instructions emitted later read the kept ones.
        known.single.retain(|reg| !f.named.contains(reg) && !f.kept.contains(reg));
        for pin in &f.pins {
            known.single.remove(&pin.reg);
        }
        known
    }

    fn of(f: &Function) -> Known {
        let mut known = Known { single: HashSet::new(), readers: HashMap::new() };
        let mut several = HashSet::new();
        for (block, insts) in f.blocks.iter().enumerate() {
            for (reg, (reads, writes)) in insts.insts.iter().flat_map(operands) {
                if writes && !known.single.insert(reg) {
                    several.insert(reg);
                }
                if reads {
                    let readers = known.readers.entry(reg).or_insert(Some((block, 0)));
                    *readers = readers.filter(|(of, _)| *of == block).map(|(of, n)| (of, n + 1));
                }
            }
        }
        known.single.retain(|reg| !several.contains(reg));
        known
    }
}

/// The virtual registers of an instruction. The two flags say whether the instruction reads the register and whether it
/// writes it.
fn operands(inst: &MInst) -> impl Iterator<Item = (VReg, (bool, bool))> + '_ {
    inst.operands.iter().enumerate().filter_map(|(slot, operand)| match operand {
        MOperand::Virt(slice) => Some((slice.reg, accesses(inst, slot))),
        MOperand::Fixed(_) => None,
    })
}

/// If the instruction copies one or two registers out of a longer tuple: destination and source. Two registers must
/// start at an even number, as some instructions require.
fn element(f: &Function, known: &Known, inst: &MInst) -> Option<(VSlice, VSlice)> {
    let (Op::Copy, false, [MOperand::Virt(to), MOperand::Virt(from)]) =
        (&inst.op, inst.keeps_dst, &inst.operands[..])
    else {
        return None;
    };
    let (whole, tuple) = (f.info(to.reg), f.info(from.reg));
    let alike = whole.file == tuple.file && matches!(tuple.file, RegFile::Vgpr | RegFile::Sgpr);
    // In scalar registers, longer parts would have to start at a multiple of four.
    let part = whole.len < tuple.len && (whole.len == 1 || whole.len == 2 && from.start % 2 == 0);
    (alike && part && known.single.contains(&to.reg)).then_some((*to, *from))
}

/// True if all readers of `to` are in this block, before any write of the tuple, and the tuple is read after them.
fn readers_are_here(
    known: &Known,
    insts: &[MInst],
    block: usize,
    at: usize,
    to: VSlice,
    from: VSlice,
) -> bool {
    let Some(Some((reader, count))) = known.readers.get(&to.reg) else { return false };
    if *reader != block {
        return false;
    }
    // It pays only if the tuple stays live anyway; otherwise register allocation coalesces the copy with the tuple.
    let elsewhere = known.readers.get(&from.reg).is_some_and(Option::is_none);
    let (mut left, mut read_later) = (*count, elsewhere);
    for inst in &insts[at + 1..] {
        let machine = matches!(inst.op, Op::Machine(..));
        for (reg, (reads, writes)) in operands(inst) {
            if reg == to.reg {
                if writes || !machine || !reads {
                    return false;
                }
                left -= 1;
            }
            read_later |= reg == from.reg && reads && left == 0;
        }
        // An instruction reads all its operands before it writes.
        let written = operands(inst).any(|(reg, (_, writes))| reg == from.reg && writes);
        if written || left == 0 && read_later {
            break;
        }
    }
    left == 0 && read_later
}
