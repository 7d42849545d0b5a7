//! Hoists constants, and copies of scalars to vector registers, out of loops, and shares them within blocks.
//!
//! If an instruction does not accept a constant, or a second scalar, as an operand, instruction selection copies it to
//! a register right before the instruction. In a loop this costs an instruction per iteration for each reader. This
//! pass computes the value once, at the end of the block before the outermost loop, for all readers in that loop. All
//! lanes that execute the loop also execute that block. Constants in code of a whole-wave operation, which temporarily
//! activates other lanes, are not moved.

use gcn_isa::operand::Operand;
use gcn_isa::reg::RegFile;
use gcn_isa::table::{Class, ImplicitRegs};
use hashbrown::HashMap;
use smallvec::SmallVec;

use super::{Function, MInst, MOperand, Op, VReg, VSlice};

/// The value of a constant, as one operand per dword.
type Dwords = SmallVec<[MOperand; 2]>;

/// The maximum number of registers of a file that are used for hoisted constants of one loop. Further constants are not
/// hoisted, since each of these registers is live throughout the loop.
const SHARED: usize = 12;

/// The maximum distance, in instructions, between consecutive readers of a constant in a block that share a register.
/// It is an assumed value, about a load's latency.
const NEAR: usize = 48;

/// Hoists constants out of loops, and shares equal ones within blocks.
pub fn run(f: &mut Function) {
    hoist(f);
    share(f);
}

fn share(f: &mut Function) {
    let makers = Makers::of(f);
    let mut renamed: HashMap<VReg, VReg> = HashMap::new();
    for block in &mut f.blocks {
        let mut known: HashMap<(RegFile, MOperand), (usize, VReg)> = HashMap::new();
        let mut at = 0;
        block.insts.retain(|inst| {
            at += 1;
            if exec_is_changed(inst).is_some() || writes_exec(inst) {
                known.retain(|(file, _), _| *file == RegFile::Sgpr);
            }
            let Some((reg, file, value)) = constant(&f.vregs, &makers, usize::MAX, inst) else { return true };
            match known.get_mut(&(file, value)) {
                Some((last, shared)) if at - *last <= NEAR => {
                    *last = at;
                    renamed.insert(reg, *shared);
                    false
                }
                _ => {
                    known.insert((file, value), (at, reg));
                    true
                }
            }
        });
    }
    rename(f, &renamed);
}

fn writes_exec(inst: &MInst) -> bool {
    inst.operands.first().is_some_and(MOperand::is_exec)
}

fn rename(f: &mut Function, renamed: &HashMap<VReg, VReg>) {
    for operand in f.blocks.iter_mut().flat_map(|b| &mut b.insts).flat_map(|inst| &mut inst.operands) {
        if let MOperand::Virt(slice) = operand
            && let Some(first) = renamed.get(&slice.reg)
        {
            slice.reg = *first;
        }
    }
}

fn hoist(f: &mut Function) {
    let makers = Makers::of(f);
    let mut before = 0;
    let mut renamed: HashMap<VReg, VReg> = HashMap::new();
    let mut arrivals: Vec<(usize, Vec<MInst>)> = Vec::new();
    let mut shared: HashMap<(RegFile, Dwords), VReg> = HashMap::new();
    for (block, insts) in f.blocks.iter_mut().enumerate() {
        if insts.loop_depth == 0 {
            before = block;
            shared.clear();
            continue;
        }
        let mut widened = false;
        let mut old = std::mem::take(&mut insts.insts).into_iter();
        while let [next, ..] = old.as_slice() {
            // Between `s_or_saveexec_b64` and the copy that restores EXEC, lanes are active that may be inactive in the
            // block before the loop, where a constant would not be written for them.
            widened = exec_is_changed(next).unwrap_or(widened);
            let one = constant(&f.vregs, &makers, before, next)
                .map(|(reg, file, value)| (reg, file, Dwords::from_slice(&[value])));
            let found = one.or_else(|| pair(&f.vregs, &makers, old.as_slice()));
            let length = found.as_ref().map_or(1, |(_, _, dwords)| 2 * dwords.len() - 1);
            let taken: Vec<MInst> = old.by_ref().take(length).collect();
            let Some((reg, file, value)) = found.filter(|(_, file, _)| !widened || *file != RegFile::Vgpr)
            else {
                insts.insts.extend(taken);
                continue;
            };
            // The same constant is already hoisted out of this loop nest, so its readers use that register.
            if let Some(first) = shared.get(&(file, value.clone())) {
                renamed.insert(reg, *first);
                continue;
            }
            let dwords = |(of, value): &(RegFile, Dwords)| if *of == file { value.len() } else { 0 };
            if shared.keys().map(dwords).sum::<usize>() + value.len() > SHARED {
                insts.insts.extend(taken);
                continue;
            }
            shared.insert((file, value), reg);
            arrivals.push((before, taken));
        }
    }
    for (block, made) in arrivals {
        let insts = &mut f.blocks[block].insts;
        // Insert the constants before the branches that end the block.
        let branches = insts.iter().rev().take_while(|i| is_branch(i)).count();
        let end = insts.len() - branches;
        insts.splice(end..end, made);
    }
    rename(f, &renamed);
}

/// The definitions of each register.
struct Makers {
    /// The number of instructions that write the register.
    count: Vec<u32>,
    /// The last block that writes the register; `u32::MAX` if a block in a loop writes it.
    block: Vec<u32>,
}

impl Makers {
    fn of(f: &Function) -> Makers {
        let mut writers = vec![0u32; f.vregs.len()];
        let mut block = vec![0; f.vregs.len()];
        for (number, insts) in f.blocks.iter().enumerate() {
            let place = if insts.loop_depth == 0 { number as u32 } else { u32::MAX };
            for inst in &insts.insts {
                for (slot, operand) in inst.operands.iter().enumerate() {
                    if let MOperand::Virt(slice) = operand
                        && super::dce::writes(inst, slot)
                    {
                        let reg = slice.reg.0 as usize;
                        // A write that keeps some lanes depends on the previous value, so count it as two writes.
                        writers[reg] += 1 + u32::from(inst.keeps_dst);
                        block[reg] = place;
                    }
                }
            }
        }
        let fixed = f.kept.iter().chain(f.pins.iter().map(|pin| &pin.reg));
        fixed.for_each(|reg| writers[reg.0 as usize] = 2);
        Makers { count: writers, block }
    }

    fn is_single(&self, reg: VReg) -> bool {
        self.count[reg.0 as usize] == 1
    }
}

/// If `inst` sets a one-dword register to a constant, or to a scalar that is available at the end of block `before`:
/// the register, its file and the value.
fn constant(
    vregs: &[super::VRegInfo],
    makers: &Makers,
    before: usize,
    inst: &MInst,
) -> Option<(VReg, RegFile, MOperand)> {
    let (Op::Copy, [MOperand::Virt(VSlice { reg, start: 0, len: 1 }), value]) =
        (&inst.op, &inst.operands[..])
    else {
        return None;
    };
    let info = vregs[reg.0 as usize];
    let known = match value {
        MOperand::Fixed(value) => matches!(value, Operand::Inline(_) | Operand::Literal(_)),
        MOperand::Virt(from) => {
            let scalar = vregs[from.reg.0 as usize];
            let into_vector = scalar.file == RegFile::Sgpr && scalar.len == 1 && info.file == RegFile::Vgpr;
            let here = makers.block[from.reg.0 as usize] as usize <= before;
            into_vector && makers.is_single(from.reg) && here
        }
    };
    let single = info.len == 1 && info.file != RegFile::Agpr && makers.is_single(*reg);
    (known && single).then_some((*reg, info.file, *value))
}

/// If the next three instructions set a register pair to a constant of 64 bits (an `Undef`, then a copy to each half):
/// the pair, its file and the value.
fn pair(vregs: &[super::VRegInfo], makers: &Makers, insts: &[MInst]) -> Option<(VReg, RegFile, Dwords)> {
    let [begin, halves @ ..] = insts.get(..3)? else { return None };
    let (Op::Undef, [MOperand::Virt(VSlice { reg, start: 0, len: 2 })]) = (&begin.op, &begin.operands[..])
    else {
        return None;
    };
    let info = vregs[reg.0 as usize];
    let dwords = halves.iter().enumerate().map(|(half, inst)| match (&inst.op, &inst.operands[..]) {
        (
            Op::Copy,
            [MOperand::Virt(to), value @ MOperand::Fixed(Operand::Inline(_) | Operand::Literal(_))],
        ) if *to == (VSlice { reg: *reg, start: half as u8, len: 1 }) => Some(*value),
        _ => None,
    });
    let dwords: Dwords = dwords.collect::<Option<_>>()?;
    let alone = info.len == 2 && info.file != RegFile::Agpr && makers.count[reg.0 as usize] == 3;
    alone.then_some((*reg, info.file, dwords))
}

/// `Some(true)` if `inst` changes the set of active lanes as a side effect, `Some(false)` if it restores EXEC from a
/// copy, `None` otherwise.
fn exec_is_changed(inst: &MInst) -> Option<bool> {
    match (&inst.op, inst.operands.first()) {
        (Op::Machine(row, _), _) if row.implicit_writes.contains(ImplicitRegs::EXEC) => Some(true),
        (Op::Copy, Some(to)) if to.is_exec() => Some(false),
        _ => None,
    }
}

fn is_branch(inst: &MInst) -> bool {
    matches!(&inst.op, Op::Machine(row, _) if row.class == Class::Branch)
}
