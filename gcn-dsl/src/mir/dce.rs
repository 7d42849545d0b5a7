//! Dead-code elimination on machine instructions: drops arithmetic whose results are unused because selection
//! folded it into other instructions.

use gcn_isa::operand::Operand;
use gcn_isa::table::{Access, Format, ImplicitRegs};

use super::{Function, MInst, MOperand, Op};

/// Removes dead instructions from `f`: those whose results only dead instructions read.
pub fn run(f: &mut Function) {
    let mut reads = reads(f);
    let insts: Vec<&MInst> = f.blocks.iter().flat_map(|b| &b.insts).collect();
    let makers = Makers::of(f, &insts);
    let mut dead = vec![false; insts.len()];
    let mut found = false;
    let mut work: Vec<u32> = (0..insts.len() as u32).filter(|&i| makers.removable[i as usize]).collect();
    // Worklist: an instruction that dies may be the last reader of another one's result.
    while let Some(i) = work.pop() {
        let inst = insts[i as usize];
        if dead[i as usize] || results(inst).any(|r| reads[r as usize] > 0) {
            continue;
        }
        dead[i as usize] = true;
        found = true;
        for reg in read_by(inst) {
            reads[reg as usize] -= 1;
            if reads[reg as usize] == 0 {
                work.extend_from_slice(makers.of_reg(reg));
            }
        }
    }
    if found {
        let mut dead = dead.into_iter();
        f.blocks.iter_mut().for_each(|b| b.insts.retain(|_| dead.next() != Some(true)));
    }
}

/// The removable instructions, by the registers that they write.
struct Makers {
    /// Where the list of each register begins.
    first: Vec<u32>,
    insts: Vec<u32>,
    /// By instruction: it does nothing but write virtual registers.
    removable: Vec<bool>,
}

impl Makers {
    fn of(f: &Function, insts: &[&MInst]) -> Makers {
        let scc_is_read = scc_is_read(f);
        let removable: Vec<bool> =
            insts.iter().zip(scc_is_read).map(|(inst, read)| is_removable(inst, read)).collect();
        let each = |visit: &mut dyn FnMut(u32, u32)| {
            let removable = insts.iter().enumerate().filter(|(i, _)| removable[*i]);
            removable.for_each(|(i, inst)| results(inst).for_each(|reg| visit(reg, i as u32)));
        };
        // Counted, summed up, and filled from the back of each list.
        let mut first = vec![0u32; f.vregs.len() + 1];
        each(&mut |reg, _| first[reg as usize] += 1);
        let mut sum = 0;
        for end in &mut first {
            sum += *end;
            *end = sum;
        }
        let mut list = vec![0; sum as usize];
        each(&mut |reg, i| {
            first[reg as usize] -= 1;
            list[first[reg as usize] as usize] = i;
        });
        Makers { first, insts: list, removable }
    }

    fn of_reg(&self, reg: u32) -> &[u32] {
        let reg = reg as usize;
        &self.insts[self.first[reg] as usize..self.first[reg + 1] as usize]
    }
}

/// How often each register is read, not counting reads that only keep a part of a result.
fn reads(f: &Function) -> Vec<u32> {
    let mut reads = vec![0; f.vregs.len()];
    f.kept.iter().for_each(|reg| reads[reg.0 as usize] += 1);
    let insts = f.blocks.iter().flat_map(|b| &b.insts);
    insts.flat_map(read_by).for_each(|reg| reads[reg as usize] += 1);
    reads
}

/// The registers that an instruction reads, one for each operand that does.
fn read_by(inst: &MInst) -> impl Iterator<Item = u32> {
    inst.operands.iter().enumerate().filter_map(|(i, operand)| match operand {
        MOperand::Virt(slice) if access(inst, i) != Access::Write => Some(slice.reg.0),
        _ => None,
    })
}

/// True if `inst` writes its operand of this number.
pub(super) fn writes(inst: &MInst, operand: usize) -> bool {
    access(inst, operand) != Access::Read
}

fn access(inst: &MInst, operand: usize) -> Access {
    match &inst.op {
        Op::Machine(row, _) => row.operands.get(operand).map_or(Access::Read, |slot| slot.access),
        Op::Copy | Op::Undef if operand == 0 => Access::Write,
        _ => Access::Read,
    }
}

fn results(inst: &MInst) -> impl Iterator<Item = u32> {
    inst.operands.iter().enumerate().filter_map(|(i, operand)| match operand {
        MOperand::Virt(slice) if access(inst, i) != Access::Read => Some(slice.reg.0),
        _ => None,
    })
}

/// For each instruction in order, whether the SCC that it leaves is read. Writer and reader of SCC are in one
/// block.
fn scc_is_read(f: &Function) -> Vec<bool> {
    let mut all = Vec::new();
    for block in &f.blocks {
        let (begin, mut read) = (all.len(), false);
        for inst in block.insts.iter().rev() {
            all.push(read);
            let Op::Machine(row, _) = &inst.op else { continue };
            read &= !row.implicit_writes.contains(ImplicitRegs::SCC);
            let by_name = |o: &MOperand| matches!(o, MOperand::Fixed(Operand::Special(_)));
            read |= row.implicit_reads.contains(ImplicitRegs::SCC) || inst.operands.iter().any(by_name);
        }
        all[begin..].reverse();
    }
    all
}

/// True if the instruction only writes virtual registers.
fn is_removable(inst: &MInst, scc_is_read: bool) -> bool {
    let written = |i: usize| access(inst, i) != Access::Read;
    let plain = match &inst.op {
        Op::Copy | Op::Undef => true,
        Op::Machine(row, _) => {
            let arithmetic =
                row.format.is_vop() || matches!(row.format, Format::Sop1 | Format::Sop2 | Format::Sopk);
            // Scalar arithmetic writes SCC as a by-product; it is removable if that is not read either.
            let spare = if scc_is_read { ImplicitRegs::empty() } else { ImplicitRegs::SCC };
            arithmetic && spare.contains(row.implicit_writes)
        }
        _ => false,
    };
    let virt = |(i, operand): (usize, &MOperand)| !written(i) || matches!(operand, MOperand::Virt(_));
    plain && inst.operands.iter().enumerate().all(virt) && results(inst).next().is_some()
}
