//! Dead-code elimination on machine instructions: removes arithmetic whose results are unused, for example because
//! selection folded it into other instructions. Liveness is tracked by dword, since often only one half of a 64-bit
//! value is used.

use std::ops::Range;

use gcn_isa::operand::Operand;
use gcn_isa::table::{Access, Format, ImplicitRegs};

use super::{Function, MInst, MOperand, Op, VSlice};

/// Removes dead instructions from `f`: those whose results only dead instructions read.
pub fn run(f: &mut Function) {
    let dwords = Dwords::of(f);
    let mut reads = reads(f, &dwords);
    let insts: Vec<&MInst> = f.blocks.iter().flat_map(|b| &b.insts).collect();
    let makers = Makers::of(f, &insts, &dwords);
    let mut dead = vec![false; insts.len()];
    let mut found = false;
    let mut work: Vec<u32> = (0..insts.len() as u32).filter(|&i| makers.removable[i as usize]).collect();
    // The worklist is needed because an instruction that dies may be the last reader of another one's result.
    while let Some(i) = work.pop() {
        let inst = insts[i as usize];
        // An instruction can be in the worklist several times, once for each dword that it writes.
        if dead[i as usize] || dwords.written(inst).any(|dword| reads[dword] > 0) {
            continue;
        }
        dead[i as usize] = true;
        found = true;
        for dword in dwords.read(inst) {
            reads[dword] -= 1;
            if reads[dword] == 0 {
                work.extend_from_slice(makers.writing(dword));
            }
        }
    }
    if found {
        let mut dead = dead.into_iter();
        f.blocks.iter_mut().for_each(|b| b.insts.retain(|_| dead.next() != Some(true)));
    }
}

/// A numbering of the dwords of all virtual registers.
struct Dwords {
    /// The number of the first dword of each register, followed by the total number of dwords.
    first: Vec<usize>,
}

impl Dwords {
    fn of(f: &Function) -> Dwords {
        let lengths = f.vregs.iter().map(|info| usize::from(info.len));
        let next = |sum: &mut usize, len: usize| Some(std::mem::replace(sum, *sum + len));
        Dwords { first: lengths.chain([0]).scan(0, next).collect() }
    }

    fn count(&self) -> usize {
        self.first.last().copied().unwrap_or(0)
    }

    fn of_slice(&self, slice: &VSlice) -> Range<usize> {
        let first = self.first[slice.reg.0 as usize] + usize::from(slice.start);
        first..first + usize::from(slice.len)
    }

    fn of_operands(&self, inst: &MInst, access_is: impl Fn(Access) -> bool) -> impl Iterator<Item = usize> {
        inst.operands.iter().enumerate().flat_map(move |(i, operand)| match operand {
            MOperand::Virt(slice) if access_is(access(inst, i)) => self.of_slice(slice),
            _ => 0..0,
        })
    }

    /// The dwords that an instruction reads, except those that it reads only because it writes a part of a register and
    /// keeps the rest.
    fn read(&self, inst: &MInst) -> impl Iterator<Item = usize> {
        self.of_operands(inst, |access| access != Access::Write)
    }

    fn written(&self, inst: &MInst) -> impl Iterator<Item = usize> {
        self.of_operands(inst, |access| access != Access::Read)
    }
}

/// For each dword, the list of the removable instructions that write it.
struct Makers {
    /// The start of each dword's list in `insts`.
    first: Vec<u32>,
    insts: Vec<u32>,
    /// For each instruction: true if it does nothing but write virtual registers.
    removable: Vec<bool>,
}

impl Makers {
    fn of(f: &Function, insts: &[&MInst], dwords: &Dwords) -> Makers {
        let scc_is_read = scc_is_read(f);
        let removable: Vec<bool> =
            insts.iter().zip(scc_is_read).map(|(inst, read)| is_removable(inst, read)).collect();
        let each = |visit: &mut dyn FnMut(usize, u32)| {
            let removable = insts.iter().enumerate().filter(|(i, _)| removable[*i]);
            removable.for_each(|(i, inst)| dwords.written(inst).for_each(|dword| visit(dword, i as u32)));
        };
        // A counting sort: the sizes of the lists, their ends, then the lists, filled from the back.
        let mut first = vec![0u32; dwords.count() + 1];
        each(&mut |dword, _| first[dword] += 1);
        let mut sum = 0;
        for end in &mut first {
            sum += *end;
            *end = sum;
        }
        let mut list = vec![0; sum as usize];
        each(&mut |dword, i| {
            first[dword] -= 1;
            list[first[dword] as usize] = i;
        });
        Makers { first, insts: list, removable }
    }

    fn writing(&self, dword: usize) -> &[u32] {
        &self.insts[self.first[dword] as usize..self.first[dword + 1] as usize]
    }
}

/// The number of reads of each dword. Reads that only keep the rest of a partly written register do not count.
fn reads(f: &Function, dwords: &Dwords) -> Vec<u32> {
    let mut reads = vec![0; dwords.count()];
    // Registers that are observed from outside the function count as read.
    let kept = f.kept.iter().flat_map(|reg| dwords.of_slice(&reg.all(f.info(*reg))));
    let insts = f.blocks.iter().flat_map(|b| &b.insts);
    kept.chain(insts.flat_map(|inst| dwords.read(inst))).for_each(|dword| reads[dword] += 1);
    reads
}

/// True if `inst` writes its operand with this index.
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

/// For each instruction in order, true if the SCC that it writes is read. The writer and the reader of SCC are always
/// in the same block.
fn scc_is_read(f: &Function) -> Vec<bool> {
    let mut all = Vec::new();
    for block in &f.blocks {
        let (begin, mut read) = (all.len(), false);
        for inst in block.insts.iter().rev() {
            all.push(read);
            let Op::Machine(row, _) = &inst.op else { continue };
            read &= !row.implicit_writes.contains(ImplicitRegs::SCC);
            // Operands such as `src_scc` read SCC explicitly.
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
            // Scalar arithmetic also writes SCC; it is removable only if that SCC is not read either.
            let spare = if scc_is_read { ImplicitRegs::empty() } else { ImplicitRegs::SCC };
            arithmetic && spare.contains(row.implicit_writes)
        }
        _ => false,
    };
    let virt = |(i, operand): (usize, &MOperand)| !written(i) || matches!(operand, MOperand::Virt(_));
    let writes = (0..inst.operands.len()).any(written);
    plain && writes && inst.operands.iter().enumerate().all(virt)
}
