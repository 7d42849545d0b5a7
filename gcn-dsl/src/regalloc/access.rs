//! The dwords of virtual registers that an instruction reads and writes, and which results must not share a
//! register with a source (early clobbers).

use gcn_isa::{Access, Class, InstDesc, RegFile, Target};
use smallvec::SmallVec;

use crate::mir::{Function, MInst, MOperand, Op, VSlice};

/// A virtual operand of an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct VUse {
    pub slice: VSlice,
    pub read: bool,
    pub write: bool,
    /// True if the register is written while sources of the instruction are still being read (early clobber).
    pub early: bool,
    /// True if the write leaves the register undefined, see [`Op::Undef`].
    pub undef: bool,
}

/// The virtual operands of `inst`, in operand order.
pub(super) fn uses(f: &Function, inst: &MInst) -> SmallVec<[VUse; 5]> {
    let mut uses = SmallVec::new();
    // A write that keeps inactive lanes also reads its destination. EXEC does not mask scalar results, so a scalar
    // result never keeps inactive lanes.
    let masked = |slice: VSlice| f.info(slice.reg).file != RegFile::Sgpr;
    let keeps =
        inst.keeps_dst || matches!(&inst.op, Op::Machine(desc, mods) if desc.preserves_destination(mods));
    for (i, operand) in inst.operands.iter().enumerate() {
        let MOperand::Virt(slice) = *operand else { continue };
        let (read, write, early, undef) = match &inst.op {
            Op::Machine(desc, _) => {
                let access = desc.operands[i].access;
                (
                    access != Access::Write,
                    access != Access::Read,
                    writes_early(f.target, desc, slice.len),
                    false,
                )
            }
            Op::Copy => (i == 1, i == 0, false, false),
            Op::Undef => (false, true, false, true),
            Op::Order | Op::Mark(_) => continue,
        };
        let kept = write && keeps && !undef && masked(slice);
        uses.push(VUse { slice, read: read || kept, write, early: write && early, undef });
    }
    uses
}

/// The virtual operands of all instructions of a function, cached because an allocation reads them several times.
pub(super) struct Uses {
    list: Vec<VUse>,
    /// For each instruction, the index in `list` of its first operand, followed by the length of `list`.
    from: Vec<u32>,
}

impl Uses {
    pub fn of(f: &Function) -> Uses {
        let mut all = Uses { list: Vec::new(), from: vec![0] };
        for inst in f.blocks.iter().flat_map(|b| &b.insts) {
            all.list.extend(uses(f, inst));
            all.from.push(all.list.len() as u32);
        }
        all
    }

    /// The virtual operands of instruction `number`, in operand order.
    pub fn at(&self, number: u32) -> &[VUse] {
        let number = number as usize;
        &self.list[self.from[number] as usize..self.from[number + 1] as usize]
    }
}

/// True if a result of `len` dwords must not share registers with sources that die in the same instruction. These are
/// the cases:
///
/// - Matrix instructions write D over several passes while they still read A and B (and C, unless it is D itself).
/// - A scalar load of several dwords that is replayed after an XNACK would find its own base overwritten.
/// - Atomics with return may be replayed as well.
/// - The packed SAD instructions read their sources in several steps, and multiply-adds of 64 bits forward wrongly on RDNA 3
///   ([`InstDesc::writes_early`]).
fn writes_early(target: Target, desc: &InstDesc, len: u8) -> bool {
    match desc.class {
        Class::SmemLoad => len > 1,
        Class::SmemAtomicRet
        | Class::LdsAtomicRet
        | Class::VmemAtomicRet
        | Class::FlatAtomicRet
        | Class::GlobalAtomicRet => true,
        _ => desc.multiplies_matrices() || desc.writes_early(target),
    }
}

/// The operands of a matrix instruction whose overlap matters: D, A, B and, where it is a separate operand, C.
#[derive(Clone, Copy, Debug)]
pub(super) struct MatrixOperands {
    pub d: MOperand,
    pub a: MOperand,
    pub b: MOperand,
    pub c: Option<MOperand>,
}

/// The operands of `inst` if it is a matrix instruction; `None` otherwise.
pub(super) fn matrix_operands(inst: &MInst) -> Option<MatrixOperands> {
    let Op::Machine(desc, _) = inst.op else { return None };
    if !desc.multiplies_matrices() {
        return None;
    }
    let operand = |name| desc.operand_index(name).and_then(|i| inst.operands.get(i).copied());
    Some(MatrixOperands { d: operand("vdst")?, a: operand("src0")?, b: operand("src1")?, c: operand("src2") })
}

/// True if the two slices have a common dword of one register.
pub(super) fn overlap(a: VSlice, b: VSlice) -> bool {
    a.reg == b.reg && a.start < b.start + b.len && b.start < a.start + a.len
}

/// The dwords of `slice` as a bit mask over the dwords of its register.
pub(super) fn mask(slice: VSlice) -> u32 {
    (((1u64 << slice.len) - 1) << slice.start) as u32
}
