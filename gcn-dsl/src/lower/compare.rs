//! Comparisons, selects, and conditions in SCC and VCC.

use gcn_isa::table::ImplicitRegs;

use super::arith::{Calc, calc, raw_bits};
use super::{Lower, Lowered, Src, Width, mask};
use crate::ir::{Bin, Inst, Place, Pred, Value};
use crate::mir::{MOperand, Op, VSlice};
use crate::scalar::Elem;

/// The number of preceding instructions that are searched for the writer of SCC.
const FARTHEST: usize = 16;

impl Lower<'_> {
    pub(super) fn cmp(&mut self, v: Value, pred: Pred, a: Value, b: Value) -> Lowered {
        let (ty, elem) = (self.kernel.ty(v), self.kernel.ty(a).elem);
        if ty.place == Place::Uniform {
            self.compare_to_scc(pred, a, b)?;
            let dst = self.define(v);
            return self.select_scc(dst);
        }
        let (x, y) = (self.operand(a), self.operand(b));
        let dst = self.define(v);
        self.cmp_vector(pred, elem, dst, x, y)
    }

    /// Emits `dst = SCC`.
    pub(super) fn select_scc(&mut self, dst: VSlice) -> Lowered {
        let bit = |b| Src::Const(b, Width::B32);
        self.machine("s_cselect_b32", &[dst], &[bit(1), bit(0)])
    }

    /// Emits `SCC = a pred b` for uniform operands.
    pub(super) fn compare_to_scc(&mut self, pred: Pred, a: Value, b: Value) -> Lowered {
        let elem = self.kernel.ty(a).elem;
        let (x, y) = (self.operand(a), self.operand(b));
        if let Some(done) = self.compare_scalar_floats(pred, elem, [x, y]) {
            return done;
        }
        let suffix = match (calc(elem), pred) {
            _ if elem.is_eight_bit_float() => return self.compare_by_vector(pred, elem, x, y),
            (Calc::I32, _) => "i32",
            (Calc::U32 | Calc::Mask, _) => "u32",
            // The SALU compares 64-bit values only for equality.
            (Calc::I64 | Calc::U64, Pred::Eq | Pred::Ne) => "u64",
            _ => return self.compare_by_vector(pred, elem, x, y),
        };
        let name = if pred == Pred::Ne { "lg" } else { name(pred) };
        self.machine(&format!("s_cmp_{name}_{suffix}"), &[], &[x, y])
    }

    /// Emits `SCC = x pred y` for uniform operands that only the VALU can compare.
    fn compare_by_vector(&mut self, pred: Pred, elem: Elem, x: Src, y: Src) -> Lowered {
        let mask = self.new_mask();
        self.cmp_vector(pred, elem, mask, x, y)?;
        // The mask is 0 for inactive lanes, and all active lanes compute the same.
        let none = self.mask_of_all(false);
        self.machine(self.mask_op(mask::IS_ANY), &[], &[Src::Reg(mask), none])
    }

    pub(super) fn cmp_vector(&mut self, pred: Pred, elem: Elem, dst: VSlice, x: Src, y: Src) -> Lowered {
        if elem == Elem::Bool {
            return match pred {
                Pred::Eq => self.machine(self.mask_op(mask::XNOR), &[dst], &[x, y]),
                Pred::Ne => self.machine(self.mask_op(mask::XOR), &[dst], &[x, y]),
                _ => Err(self.unsupported("an order", elem, "compare with `==` or `!=`")),
            };
        }
        let (x, y, elem) = if elem == Elem::Bf16 {
            (self.bf16_to_f32(x)?, self.bf16_to_f32(y)?, Elem::F32)
        } else if elem.is_eight_bit_float() {
            (self.small_to_f32(x, elem)?, self.small_to_f32(y, elem)?, Elem::F32)
        } else {
            (x, y, elem)
        };
        let suffix = match calc(elem) {
            Calc::I32 => "i32",
            Calc::U32 | Calc::Mask => "u32",
            Calc::I64 => "i64",
            Calc::U64 => "u64",
            Calc::F16 => "f16",
            Calc::F32 => "f32",
            Calc::F64 => "f64",
        };
        // Unordered floats compare as unequal.
        let name = if pred == Pred::Ne && elem.is_float() { "neq" } else { name(pred) };
        self.machine(&format!("v_cmp_{name}_{suffix}"), &[dst], &[x, y])
    }

    pub(super) fn select(&mut self, v: Value, c: Value, a: Value, b: Value) -> Lowered {
        let ty = self.kernel.ty(v);
        if ty.place == Place::Uniform {
            self.condition_to_scc(c)?;
            let (x, y) = (self.operand(a), self.operand(b));
            let dst = self.define(v);
            let mnemonic = if dst.len == 2 { "s_cselect_b64" } else { "s_cselect_b32" };
            return self.machine(mnemonic, &[dst], &[x, y]);
        }
        let (mask, x, y) = (self.operand(c), self.operand(a), self.operand(b));
        let dst = self.define(v);
        if ty.elem == Elem::Bool {
            let (p, q) = (self.new_mask(), self.new_mask());
            self.machine(self.mask_op(mask::AND), &[p], &[x, mask])?;
            self.machine(self.mask_op(mask::AND_NOT), &[q], &[y, mask])?;
            return self.machine(self.mask_op(mask::OR), &[dst], &[Src::Reg(p), Src::Reg(q)]);
        }
        self.blend(dst, mask, x, y)
    }

    /// Emits `dst = mask ? x : y`, dword by dword.
    pub(super) fn blend(&mut self, dst: VSlice, mask: Src, x: Src, y: Src) -> Lowered {
        if dst.len == 1 {
            return self.machine("v_cndmask_b32", &[dst], &[raw_bits(y), raw_bits(x), mask]);
        }
        for i in 0..dst.len {
            self.assemble(dst, i);
            let d = VSlice { reg: dst.reg, start: dst.start + i, len: 1 };
            let (p, q) = (self.half(x, i), self.half(y, i));
            self.machine("v_cndmask_b32", &[d], &[q, p, mask])?;
        }
        Ok(())
    }

    pub(super) fn splat(&mut self, v: Value, a: Value) -> Lowered {
        let ty = self.kernel.ty(v);
        if ty.elem != Elem::Bool {
            // A vector instruction can read a scalar register directly.
            let Src::Reg(slice) = self.for_vector(Src::Reg(self.reg(a))) else { return Ok(()) };
            self.alias(v, Some(slice.reg));
            return Ok(());
        }
        self.condition_to_scc(a)?;
        let dst = self.define(v);
        self.machine(self.mask_op(mask::SELECT), &[dst], &[self.mask_of_all(true), self.mask_of_all(false)])
    }

    /// Emits `SCC = c` for a uniform condition.
    pub(super) fn condition_to_scc(&mut self, c: Value) -> Lowered {
        if let Inst::Cmp(pred, a, b) = self.kernel.def(c).inst
            && self.cmp_at_use[c.0 as usize]
        {
            if pred == Pred::Ne && self.is_in_scc(a, b) {
                return Ok(());
            }
            return self.compare_to_scc(pred, a, b);
        }
        let bit = self.operand(c);
        self.machine("s_cmp_lg_u32", &[], &[bit, Src::Const(0, Width::B32)])
    }

    /// True if `b` is 0 and SCC already tells whether `a` is nonzero, because no instruction after the one that
    /// computed `a` has written SCC.
    fn is_in_scc(&self, a: Value, b: Value) -> bool {
        let [made, zero] = [a, b].map(|v| &self.kernel.def(v).inst);
        let leaves_it = match made {
            Inst::Ballot(_) => true,
            Inst::Bin(Bin::And | Bin::Or | Bin::Xor | Bin::Shl | Bin::Shr, ..) => {
                let ty = self.kernel.ty(a);
                ty.place == Place::Uniform && matches!(ty.elem, Elem::I32 | Elem::U32)
            }
            _ => false,
        };
        if !leaves_it || *zero != Inst::Const(0) {
            return false;
        }
        let insts = self.func.blocks.last().into_iter().flat_map(|block| block.insts.iter().rev());
        let last = insts.take(FARTHEST).find(|inst| match &inst.op {
            Op::Machine(row, _) => row.implicit_writes.contains(ImplicitRegs::SCC),
            _ => false,
        });
        last.is_some_and(|inst| inst.operands.first() == Some(&MOperand::Virt(self.reg(a))))
    }

    /// Changes the second result of the last instruction to VCC. Only one instruction may read that result.
    pub(super) fn result_to_vcc(&mut self) {
        let vcc = self.vcc();
        if let Some(inst) = self.func.blocks.last_mut().and_then(|block| block.insts.last_mut()) {
            inst.operands[1] = MOperand::Fixed(vcc.into());
        }
    }
}

/// The predicate's name in mnemonics. For "not equal" of floats the caller must use another name.
fn name(pred: Pred) -> &'static str {
    match pred {
        Pred::Lt => "lt",
        Pred::Le => "le",
        Pred::Gt => "gt",
        Pred::Ge => "ge",
        Pred::Eq => "eq",
        Pred::Ne => "ne",
    }
}
