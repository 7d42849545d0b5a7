//! The dwords of virtual registers that an instruction reads and writes, and which results must not share a
//! register with a source (early clobbers).

use gcn_isa::{Access, Class, Inst, InstDesc, Mods, RegFile};
use smallvec::SmallVec;

use crate::mir::{Function, MInst, MOperand, Op, VSlice};

/// One virtual operand of an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct VUse {
    pub slice: VSlice,
    pub read: bool,
    pub write: bool,
    /// The write happens while sources are still being read (early clobber).
    pub early: bool,
    /// The write leaves the register without a defined value, see [`Op::Undef`].
    pub undef: bool,
}

/// The virtual operands of `inst`, in operand order.
pub(super) fn uses(f: &Function, inst: &MInst) -> SmallVec<[VUse; 5]> {
    let virtuals = inst.operands.iter().enumerate().filter_map(|(i, operand)| match *operand {
        MOperand::Virt(slice) => Some((i, slice)),
        MOperand::Fixed(_) => None,
    });
    match &inst.op {
        Op::Machine(desc, mods) => {
            let keeps = inst.keeps_dst || preserves_destination(desc, mods);
            virtuals
                .map(|(i, slice)| {
                    let access = desc.operands[i].access;
                    let write = access != Access::Read;
                    // A write that keeps inactive lanes also reads its destination. EXEC does not mask scalar
                    // results, so they never keep anything.
                    let kept = keeps && f.info(slice.reg).file != RegFile::Sgpr;
                    let read = access != Access::Write || kept;
                    VUse { slice, read, write, early: write && writes_early(desc, slice.len), undef: false }
                })
                .collect()
        }
        Op::Copy => virtuals
            .map(|(i, slice)| {
                let kept = inst.keeps_dst && f.info(slice.reg).file != RegFile::Sgpr;
                VUse { slice, read: i == 1 || kept, write: i == 0, early: false, undef: false }
            })
            .collect(),
        Op::Order | Op::Mark(_) => SmallVec::new(),
        Op::Undef => virtuals
            .map(|(_, slice)| VUse { slice, read: false, write: true, early: false, undef: true })
            .collect(),
    }
}

/// True if the modifiers make the instruction keep a part of its destination.
fn preserves_destination(desc: &'static InstDesc, mods: &Mods) -> bool {
    Inst { desc, operands: SmallVec::new(), mods: *mods }.preserves_destination()
}

/// True if a result of `len` dwords must not share registers with sources that die in the instruction.
///
/// - Matrix instructions write D over several passes while they still read A and B (and C, unless it is D
///   itself).
/// - A scalar load of several dwords that is replayed after an XNACK would find its own base overwritten.
/// - Atomics with return may be replayed as well.
/// - The packed SAD instructions read their sources in several steps.
fn writes_early(desc: &InstDesc, len: u8) -> bool {
    match desc.class {
        Class::SmemLoad => len > 1,
        Class::SmemAtomicRet
        | Class::LdsAtomicRet
        | Class::VmemAtomicRet
        | Class::FlatAtomicRet
        | Class::GlobalAtomicRet => true,
        _ => desc.is_matrix() || STEPWISE.contains(&desc.mnemonic),
    }
}

/// Vector ALU instructions that write parts of their result before they have read all of their sources
/// (LLVM marks their destinations early-clobber).
const STEPWISE: [&str; 3] = ["v_mqsad_pk_u16_u8", "v_mqsad_u32_u8", "v_qsad_pk_u16_u8"];

/// The operands of a matrix instruction whose overlap matters: D, A, B and, where it is an operand of its
/// own, C.
#[derive(Clone, Copy, Debug)]
pub(super) struct MatrixOperands {
    pub d: MOperand,
    pub a: MOperand,
    pub b: MOperand,
    pub c: Option<MOperand>,
}

/// The operands of `inst` if it is a matrix instruction.
pub(super) fn matrix_operands(inst: &MInst) -> Option<MatrixOperands> {
    let Op::Machine(desc, _) = inst.op else { return None };
    if !desc.is_matrix() {
        return None;
    }
    let operand = |name| desc.operand_index(name).and_then(|i| inst.operands.get(i).copied());
    Some(MatrixOperands { d: operand("vdst")?, a: operand("src0")?, b: operand("src1")?, c: operand("src2") })
}

/// True if both slices name a common dword of one register.
pub(super) fn overlap(a: VSlice, b: VSlice) -> bool {
    a.reg == b.reg && a.start < b.start + b.len && b.start < a.start + a.len
}

/// The dwords of `slice` as a mask over its register.
pub(super) fn mask(slice: VSlice) -> u32 {
    (((1u64 << slice.len) - 1) << slice.start) as u32
}
