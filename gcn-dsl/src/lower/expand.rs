//! Operations that take several instructions: division and 64-bit multiplication.

use gcn_isa::inst::Mods;
use gcn_isa::reg::RegFile;
use gcn_isa::table;
use smallvec::SmallVec;

use super::arith::{Calc, raw_bits, vector_op};
use super::{Lower, Lowered, Src, Width};
use crate::ir::{Bin, Inst, Value};
use crate::mir::{MOperand, VSlice};
use crate::scalar::Elem;

pub(super) fn c32(bits: u32) -> Src {
    Src::Const(u64::from(bits), Width::B32)
}

/// A dword whose bits are all set.
const ONES: u64 = 0xffff_ffff;

impl Lower<'_> {
    /// Emits a correctly rounded `a / b` with the dedicated instructions: scales, refines the reciprocal by Newton's
    /// iteration, and fixes up the special cases (MI100 ISA, V_DIV_SCALE / V_DIV_FMAS / V_DIV_FIXUP). Denormals must be
    /// enabled.
    pub(super) fn div_float(&mut self, elem: Elem, dst: VSlice, a: Src, b: Src) -> Lowered {
        let width = dst.len;
        let (a, b) = (Src::Reg(self.in_vgpr(a, width)), Src::Reg(self.in_vgpr(b, width)));
        let one = match elem {
            Elem::F64 => Src::Const(1.0f64.to_bits(), Width::B64),
            _ => c32(1.0f32.to_bits()),
        };
        let name = |stem: &str| format!("v_{stem}_{elem}");
        let mut new = || Src::Reg(self.new_reg(RegFile::Vgpr, width));
        let [den, num, rcp, e0, r1, q, e1, q1, e2, q2] = std::array::from_fn(|_| new());
        let unused = self.new_mask();
        let reg = |s: Src| match s {
            Src::Reg(r) => r,
            _ => unreachable!("made as registers above"),
        };
        // `fma(-den, rcp, 1)` is the error of the estimate, rounded only once.
        let neg0 = |m: &mut Mods| m.neg = 1;
        self.machine(&name("div_scale"), &[reg(den), unused], &[b, b, a])?;
        self.machine(&name("div_scale"), &[reg(num), unused], &[a, b, a])?;
        // `v_div_fmas` reads from VCC whether the numerator was scaled. The other `v_div_scale` writes its flag to an
        // unused register pair, so that it does not overwrite VCC.
        self.result_to_vcc();
        self.machine(&name("rcp"), &[reg(rcp)], &[den])?;
        self.machine_with(&name("fma"), &[reg(e0)], &[den, rcp, one], neg0)?;
        self.machine(&name("fma"), &[reg(r1)], &[e0, rcp, rcp])?;
        let r = if elem == Elem::F64 {
            // The first f64 estimate of the reciprocal has fewer correct bits, so it needs one more step.
            let (e, r2) = (self.new_reg(RegFile::Vgpr, 2), self.new_reg(RegFile::Vgpr, 2));
            self.machine_with(&name("fma"), &[e], &[den, r1, one], neg0)?;
            self.machine(&name("fma"), &[r2], &[r1, Src::Reg(e), r1])?;
            Src::Reg(r2)
        } else {
            r1
        };
        self.machine(&name("mul"), &[reg(q)], &[num, r])?;
        self.machine_with(&name("fma"), &[reg(e1)], &[den, q, num], neg0)?;
        let (error, quotient) = if elem == Elem::F64 {
            (e1, q)
        } else {
            self.machine(&name("fma"), &[reg(q1)], &[e1, r, q])?;
            self.machine_with(&name("fma"), &[reg(e2)], &[den, q1, num], neg0)?;
            (e2, q1)
        };
        self.machine(&name("div_fmas"), &[reg(q2)], &[error, r, quotient])?;
        self.machine(&name("div_fixup"), &[dst], &[q2, b, a])
    }

    /// Divides f16 numbers in f32. An f32 has at least 2 * 11 + 2 significant bits, so rounding the quotient a second
    /// time, to f16, gives the correctly rounded result.
    pub(super) fn div_f16(&mut self, dst: VSlice, a: Src, b: Src) -> Lowered {
        let [wide_a, wide_b, quotient] = std::array::from_fn(|_| self.temp_v());
        self.machine("v_cvt_f32_f16", &[wide_a], &[a])?;
        self.machine("v_cvt_f32_f16", &[wide_b], &[b])?;
        self.div_float(Elem::F32, quotient, Src::Reg(wide_a), Src::Reg(wide_b))?;
        self.machine("v_cvt_f16_f32", &[dst], &[Src::Reg(quotient)])
    }

    /// The reciprocal of a 32-bit integer in fixed point. The float reciprocal, scaled by slightly less than 2^32, is
    /// an estimate from below of 2^32 / b, which one integer Newton step refines.
    pub(super) fn reciprocal_u32(&mut self, dst: VSlice, b: Src) -> Lowered {
        let [f, r, scaled, z, neg, t, e] = std::array::from_fn(|_| self.temp_v());
        let src = Src::Reg;
        self.machine("v_cvt_f32_u32", &[f], &[b])?;
        self.machine("v_rcp_iflag_f32", &[r], &[src(f)])?;
        // Slightly less than 2^32, since the result of `v_rcp_iflag_f32` may be one ulp too large and the estimate must
        // not be.
        self.machine("v_mul_f32", &[scaled], &[c32(0x4f7f_fffe), src(r)])?; // 2^32 - 512
        self.machine("v_cvt_u32_f32", &[z], &[src(scaled)])?;
        self.machine("v_sub_u32", &[neg], &[c32(0), b])?;
        self.machine("v_mul_lo_u32", &[t], &[src(neg), src(z)])?;
        self.machine("v_mul_hi_u32", &[e], &[src(z), src(t)])?;
        self.machine("v_add_u32", &[dst], &[src(z), src(e)])
    }

    /// The low 64 bits of a 64-bit product: the full product of the low halves, plus both cross products, which are
    /// added to its upper half. `zero_above` says which factors have an upper half of 0.
    pub(super) fn mul_64(&mut self, dst: VSlice, factors: [Src; 2], zero_above: [bool; 2]) -> Lowered {
        self.mul_add_64(dst, factors, zero_above, Src::Const(0, Width::B64))
    }

    /// Emits `dst = a * b + c`; the instruction that multiplies the low halves also adds `c`.
    fn mul_add_64(&mut self, dst: VSlice, [a, b]: [Src; 2], zero_above: [bool; 2], c: Src) -> Lowered {
        let [a0, a1, b0, b1] = [(a, 0), (a, 1), (b, 0), (b, 1)].map(|(s, i)| self.half(s, i));
        // The other factor must be in a VGPR, because the constant bus allows these instructions one scalar.
        let b0 = Src::Reg(self.in_vgpr(b0, 1));
        // Omit a cross product if one of its factors is an upper half that is 0.
        let [with_a1, with_b1] = zero_above.map(|zero| !zero);
        let carry = self.new_mask();
        // The product of the upper halves does not affect the low 64 bits.
        let crossed = [with_b1.then_some((a0, b1)), with_a1.then_some((a1, b0))];
        let crossed: SmallVec<[(Src, Src); 2]> = crossed.into_iter().flatten().collect();
        if crossed.is_empty() {
            return self.machine("v_mad_u64_u32", &[dst, carry], &[a0, b0, c]);
        }
        let product = self.new_reg(RegFile::Vgpr, 2);
        self.machine("v_mad_u64_u32", &[product, carry], &[a0, b0, c])?;
        let (low, high) = (self.half(Src::Reg(product), 0), self.half(Src::Reg(product), 1));
        let mut sum: SmallVec<[Src; 3]> = SmallVec::from_slice(&[high]);
        for (a, b) in crossed {
            let cross = self.temp_v();
            let b = Src::Reg(self.in_vgpr(b, 1));
            self.machine("v_mul_lo_u32", &[cross], &[a, b])?;
            sum.push(Src::Reg(cross));
        }
        let lo = VSlice { reg: dst.reg, start: dst.start, len: 1 };
        let hi = VSlice { start: dst.start + 1, ..lo };
        self.assemble(dst, 0);
        self.copy(lo, low);
        self.machine(if sum.len() == 3 { "v_add3_u32" } else { "v_add_u32" }, &[hi], &sum)
    }

    /// A bitwise operation on 64-bit integers, half by half. `zero_above` says which operands have an upper half of 0.
    /// A half that is all zeros or all ones determines the result, leaves the other operand unchanged, or (XOR with ones) complements it.
    pub(super) fn bitwise_64(
        &mut self,
        op: Bin,
        dst: VSlice,
        of: [Src; 2],
        zero_above: [bool; 2],
    ) -> Lowered {
        let (mnemonic, _) = vector_op(op, Calc::U32).unwrap_or(("v_and_b32", false));
        for i in 0..2 {
            let part = VSlice { reg: dst.reg, start: dst.start + i, len: 1 };
            self.assemble(dst, i);
            let [x, y] = [0, 1].map(|k| match zero_above[k] && i == 1 {
                true => Src::Const(0, Width::B32),
                false => self.half(of[k], i),
            });
            let (known, other) = if let Src::Const(..) = x { (x, y) } else { (y, x) };
            match (op, known) {
                (Bin::And, Src::Const(0, _)) | (Bin::Or, Src::Const(ONES, _)) => self.copy(part, known),
                (Bin::And, Src::Const(ONES, _)) | (Bin::Or | Bin::Xor, Src::Const(0, _)) => {
                    self.copy(part, other);
                }
                _ if self.is_vgpr(y) => self.machine(mnemonic, &[part], &[x, y])?,
                _ => self.machine(mnemonic, &[part], &[y, x])?,
            }
        }
        Ok(())
    }

    /// Emits a sum of 64-bit integers of which one is a product that was just computed and has no other reader; `None`
    /// if neither operand is such a product.
    pub(super) fn sum_with_product(&mut self, v: Value, [x, y]: [Value; 2]) -> Option<Lowered> {
        let (product, other) = [(x, y), (y, x)].into_iter().find(|(v, _)| self.is_last_product(*v))?;
        let Inst::Bin(_, a, b) = self.kernel.def(product).inst else { return None };
        let zero_above = [a, b].map(|v| self.kernel.has_zero_above(v));
        let [a, b, c] = [a, b, other].map(|v| self.operand(v));
        let dst = self.define(v);
        Some(self.mul_add_64(dst, [a, b], zero_above, c))
    }

    fn is_last_product(&self, v: Value) -> bool {
        /// The number of preceding instructions that are searched for the product: enough for the product's own
        /// instructions and a few after them.
        const NEAR: usize = 12;
        let Inst::Bin(Bin::Mul, ..) = self.kernel.def(v).inst else { return false };
        let insts = self.func.blocks.last().into_iter().flat_map(|block| block.insts.iter().rev().take(NEAR));
        let (reg, mut insts) = (self.reg(v).reg, insts);
        // With another reader, the product would have to be computed twice.
        self.readers[v.0 as usize] == 1
            && insts.any(|inst| matches!(inst.operands.first(), Some(MOperand::Virt(dst)) if dst.reg == reg))
    }

    /// As `mul_64`, on the SALU.
    pub(super) fn mul_64_scalar(&mut self, dst: VSlice, a: Src, b: Src) -> Lowered {
        let [a0, a1, b0, b1] = [(a, 0), (a, 1), (b, 0), (b, 1)].map(|(s, i)| self.half(s, i));
        let [high, cross0, cross1, sum] = std::array::from_fn(|_| self.new_reg(RegFile::Sgpr, 1));
        let lo = VSlice { reg: dst.reg, start: dst.start, len: 1 };
        let hi = VSlice { start: dst.start + 1, ..lo };
        self.machine("s_mul_hi_u32", &[high], &[a0, b0])?;
        self.machine("s_mul_i32", &[cross0], &[a0, b1])?;
        self.machine("s_mul_i32", &[cross1], &[a1, b0])?;
        self.machine("s_add_u32", &[sum], &[Src::Reg(high), Src::Reg(cross0)])?;
        self.assemble(dst, 0);
        self.machine("s_mul_i32", &[lo], &[a0, b0])?;
        self.machine("s_add_u32", &[hi], &[Src::Reg(sum), Src::Reg(cross1)])
    }

    /// Converts bf16, which is the upper half of an f32.
    pub(super) fn bf16_to_f32(&mut self, src: Src) -> Lowered<Src> {
        let dst = self.temp_v();
        self.machine("v_lshlrev_b32", &[dst], &[c32(16), raw_bits(src)])?;
        Ok(Src::Reg(dst))
    }

    /// Rounds to nearest, ties to even: adds half an ulp minus one, plus the last bit that is kept. A NaN stays a quiet
    /// NaN.
    pub(super) fn f32_to_bf16(&mut self, dst: VSlice, src: Src) -> Lowered {
        let x = Src::Reg(self.in_vgpr(src, 1));
        if table::find_mnemonic(self.target, "v_cvt_pk_bf16_f32").next().is_some() {
            // The instruction converts a pair; the second number is +0.
            return self.machine("v_cvt_pk_bf16_f32", &[dst], &[x, c32(0)]);
        }
        let [bit, biased, rounded, quiet, chosen] = std::array::from_fn(|_| self.temp_v());
        let nan = self.new_mask();
        self.machine("v_bfe_u32", &[bit], &[x, c32(16), c32(1)])?;
        self.machine("v_add_u32", &[biased], &[c32(0x7fff), Src::Reg(bit)])?;
        self.machine("v_add_u32", &[rounded], &[x, Src::Reg(biased)])?;
        // Rounding could turn a NaN into an infinity by a carry; setting the quiet bit keeps it a NaN.
        self.machine("v_or_b32", &[quiet], &[c32(0x0040_0000), x])?;
        self.machine("v_cmp_u_f32", &[nan], &[x, x])?;
        self.blend(chosen, Src::Reg(nan), Src::Reg(quiet), Src::Reg(rounded))?;
        self.machine("v_lshrrev_b32", &[dst], &[c32(16), Src::Reg(chosen)])
    }
}
