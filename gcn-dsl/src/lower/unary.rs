//! Operations with one operand, and fused multiply-adds.

use gcn_isa::reg::RegFile;

use super::arith::{Calc, calc, raw_bits};
use super::{Lower, Lowered, Src, Width, mask};
use crate::ir::{Bin, Place, Un, Value};
use crate::mir::VSlice;
use crate::scalar::Elem;

impl Lower<'_> {
    pub(super) fn un(&mut self, v: Value, op: Un, a: Value) -> Lowered {
        let ty = self.kernel.ty(v);
        let a = self.operand(a);
        let dst = self.define(v);
        let uniform = ty.place == Place::Uniform;
        let constant = |c: u32| Src::Const(u64::from(c), Width::B32);
        match (op, calc(ty.elem)) {
            (Un::Not, Calc::Mask) if uniform => self.machine("s_xor_b32", &[dst], &[a, constant(1)]),
            (Un::Not, Calc::Mask) => self.machine(self.mask_op(mask::NOT), &[dst], &[a]),
            (Un::Not, Calc::I32 | Calc::U32) if uniform => {
                self.machine("s_not_b32", &[dst], &[a])?;
                self.wrap_scalar(dst, ty.elem)
            }
            (Un::Not, Calc::I64 | Calc::U64) if uniform => self.machine("s_not_b64", &[dst], &[a]),
            (Un::Neg, Calc::I32 | Calc::U32) if uniform => {
                self.machine("s_sub_u32", &[dst], &[constant(0), a])?;
                self.wrap_scalar(dst, ty.elem)
            }
            (Un::Neg, Calc::I64 | Calc::U64) if uniform => {
                self.add_sub_64_scalar(Bin::Sub, dst, Src::Const(0, Width::B64), a)
            }
            // The scalar ALU cannot compute this uniform float, so all lanes compute it and one lane is read back.
            _ if uniform => {
                if let Some(done) = self.by_scalars(v, dst, &[a]) {
                    return done;
                }
                let wide = self.new_reg(RegFile::Vgpr, dst.len);
                self.un_vector(op, ty.elem, wide, a)?;
                self.uniform_result(dst, wide, ty)
            }
            _ => self.un_vector(op, ty.elem, dst, a),
        }
    }

    fn un_vector(&mut self, op: Un, elem: Elem, dst: VSlice, a: Src) -> Lowered {
        let calc = calc(elem);
        let constant = |c: u32| Src::Const(u64::from(c), Width::B32);
        match (op, calc) {
            (Un::Not, Calc::I32 | Calc::U32) => {
                self.machine("v_not_b32", &[dst], &[a])?;
                self.wrap_vector(dst, elem)
            }
            (Un::Not, Calc::I64 | Calc::U64) => {
                self.assemble(dst, 0);
                for i in 0..2 {
                    let d = VSlice { reg: dst.reg, start: dst.start + i, len: 1 };
                    let x = self.half(a, i);
                    self.machine("v_not_b32", &[d], &[x])?;
                }
                Ok(())
            }
            (Un::Neg, Calc::I32 | Calc::U32) => {
                self.machine("v_sub_u32", &[dst], &[constant(0), a])?;
                self.wrap_vector(dst, elem)
            }
            (Un::Neg, Calc::I64 | Calc::U64) => {
                self.add_sub_64_vector(Bin::Sub, dst, Src::Const(0, Width::B64), a)
            }
            (Un::Reciprocal, Calc::U32) => self.reciprocal_u32(dst, a),
            (Un::Neg | Un::Abs, Calc::F16 | Calc::F32 | Calc::F64) => self.sign_bit(op, elem, dst, a),
            _ if elem == Elem::Bf16 => {
                let (a, wide) = (self.bf16_to_f32(a)?, self.temp_v());
                self.un_vector(op, Elem::F32, wide, a)?;
                let exact = matches!(op, Un::Floor | Un::Ceil | Un::Trunc | Un::Rndne);
                self.bf16_result(dst, wide, exact)
            }
            _ => {
                let stem = match op {
                    Un::Sqrt => "sqrt",
                    Un::Floor => "floor",
                    Un::Ceil => "ceil",
                    Un::Trunc => "trunc",
                    Un::Rndne => "rndne",
                    Un::Rcp => "rcp",
                    Un::Exp2 => "exp",
                    Un::Log2 => "log",
                    Un::Rsq => "rsq",
                    Un::Sin => "sin",
                    Un::Cos => "cos",
                    Un::Neg | Un::Abs | Un::Not | Un::Reciprocal => {
                        return Err(self.unsupported("this operator", elem, "convert with `as` first"));
                    }
                };
                self.machine(&format!("v_{stem}_{elem}"), &[dst], &[a])
            }
        }
    }

    /// Flips or clears the sign bit, which is exact for every float, including NaNs.
    fn sign_bit(&mut self, op: Un, elem: Elem, dst: VSlice, a: Src) -> Lowered {
        // Use integer instructions: `0 - x` and multiplication would quiet NaNs and lose the sign of zero.
        let sign = if elem.bytes() == 2 { 0x8000u32 } else { 0x8000_0000 };
        let (mnemonic, mask) = match op {
            Un::Neg => ("v_xor_b32", sign),
            _ => ("v_and_b32", if elem.bytes() == 2 { sign - 1 } else { !sign }),
        };
        let mask = Src::Const(u64::from(mask), Width::B32);
        let top = dst.len - 1;
        let d = VSlice { reg: dst.reg, start: dst.start + top, len: 1 };
        if dst.len == 2 {
            self.assemble(dst, 0);
            let low = VSlice { reg: dst.reg, start: dst.start, len: 1 };
            let x = self.half(a, 0);
            self.copy(low, x);
        }
        let x = if dst.len == 2 { self.half(a, 1) } else { raw_bits(a) };
        self.machine(mnemonic, &[d], &[mask, x])
    }

    pub(super) fn fma(&mut self, v: Value, a: Value, b: Value, c: Value) -> Lowered {
        let ty = self.kernel.ty(v);
        let srcs = [self.operand(a), self.operand(b), self.operand(c)];
        let dst = self.define(v);
        if ty.place == Place::Uniform {
            if let Some(done) = self.by_scalars(v, dst, &srcs) {
                return done;
            }
            let wide = self.new_reg(RegFile::Vgpr, dst.len);
            self.fma_vector(ty.elem, wide, srcs)?;
            return self.uniform_result(dst, wide, ty);
        }
        self.fma_vector(ty.elem, dst, srcs)
    }

    fn fma_vector(&mut self, elem: Elem, dst: VSlice, srcs: [Src; 3]) -> Lowered {
        if elem == Elem::Bf16 {
            let wide = self.temp_v();
            let [a, b, c] = srcs;
            let srcs = [self.bf16_to_f32(a)?, self.bf16_to_f32(b)?, self.bf16_to_f32(c)?];
            self.machine("v_fma_f32", &[wide], &srcs)?;
            return self.bf16_result(dst, wide, false);
        }
        self.machine(&format!("v_fma_{elem}"), &[dst], &srcs)
    }

    /// Converts an f32 to bf16: by truncation if `exact` (the result is known to be representable), otherwise with
    /// rounding.
    pub(super) fn bf16_result(&mut self, dst: VSlice, wide: VSlice, exact: bool) -> Lowered {
        if exact {
            return self.machine("v_lshrrev_b32", &[dst], &[Src::Const(16, Width::B32), Src::Reg(wide)]);
        }
        self.f32_to_bf16(dst, Src::Reg(wide))
    }
}
