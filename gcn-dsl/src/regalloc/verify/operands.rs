//! Checks the registers of one instruction: their file, width and alignment. Also checks that results do not overlap
//! sources where the hardware forbids it.

use gcn_isa::{Inst, Operand, Reg, RegFile, Target};

use super::super::error::VerifyError;
use super::super::input;
use super::{At, Checker};
use crate::mir::MOperand;

impl Checker<'_> {
    /// Checks that the operand `have` has the file, width and alignment that `want` requires. A fixed operand must be
    /// identical.
    pub(super) fn operand(&self, at: At, want: MOperand, have: Operand) -> Result<(), VerifyError> {
        match (want, have) {
            (MOperand::Virt(slice), Operand::Reg(reg)) => {
                let info = self.f.info(slice.reg);
                let file_end = if reg.file == RegFile::Sgpr { input::FIRST_NAMED_SGPR } else { 256 };
                let natural = match (reg.file, reg.len) {
                    (_, 1) => 1,
                    (RegFile::Sgpr, 2) => 2,
                    (RegFile::Sgpr, _) => 4,
                    _ if self.f.target.needs_even_vgpr_tuples() => 2,
                    _ => 1,
                };
                let aligned = reg.index.is_multiple_of(natural);
                if (reg.file, reg.len) != (info.file, slice.len) || !aligned || reg.end() > file_end {
                    return self.fail(at, format!("{reg} cannot hold {slice:?} of {info:?}"));
                }
                Ok(())
            }
            // `labels` checks the labels.
            (MOperand::Fixed(Operand::Label(_)), Operand::Label(_)) => Ok(()),
            (MOperand::Fixed(fixed), have) if fixed == have => Ok(()),
            _ => self.fail(at, format!("operand {have:?} stands for {want:?}")),
        }
    }

    /// True for instructions that may write a result before they have read all sources: atomics that return a value are
    /// replayed after an XNACK, SADs of several bytes read in steps, sparse matrix instructions read their index
    /// late, and multiply-adds of 64 bits forward wrongly on RDNA 3.
    fn writes_while_reading(target: Target, out: &Inst) -> bool {
        use gcn_isa::Class as C;
        let replayed = matches!(
            out.desc.class,
            C::SmemAtomicRet | C::LdsAtomicRet | C::VmemAtomicRet | C::FlatAtomicRet | C::GlobalAtomicRet
        );
        replayed || out.desc.class == C::Smfmac || out.desc.writes_early(target)
    }

    /// Checks that results do not overlap sources where the hardware forbids it.
    pub(super) fn overlaps(&self, at: At, out: &Inst) -> Result<(), VerifyError> {
        let reg = |name: &str| out.operand(name).and_then(Operand::reg);
        let clash = |a: Option<Reg>, b: Option<Reg>| matches!((a, b), (Some(a), Some(b)) if a.overlaps(b));
        if out.desc.multiplies_matrices() {
            let d = reg("vdst");
            let small = out.desc.is_matrix() && d.is_some_and(|d| d.len <= 4);
            let sources = !small && (clash(d, reg("src0")) || clash(d, reg("src1")));
            if sources || (d != reg("src2") && clash(d, reg("src2"))) {
                return self.fail(at, "the result of a matrix instruction overlaps a source".into());
            }
        }
        if Self::writes_while_reading(self.f.target, out) {
            let reads = |i: usize| out.desc.operands[i].access == gcn_isa::Access::Read;
            let at_operand = |i: usize| out.operands[i].reg();
            let results = (0..out.operands.len()).filter(|&i| !reads(i));
            for result in results {
                if (0..out.operands.len()).any(|i| reads(i) && clash(at_operand(result), at_operand(i))) {
                    return self.fail(at, format!("a result of {} overlaps a source", out.desc.printed));
                }
            }
        }
        if out.desc.class == gcn_isa::Class::SmemLoad {
            let d = reg("sdata");
            if d.is_some_and(|d| d.len > 1) && (clash(d, reg("sbase")) || clash(d, reg("soffset"))) {
                return self.fail(at, "a scalar load overwrites its own address".into());
            }
        }
        Ok(())
    }
}
