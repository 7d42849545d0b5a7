//! Conversions between element types.

use gcn_isa::reg::RegFile;

use super::arith::{Calc, calc, raw_bits};
use super::expand::c32;
use super::{Lower, Lowered, Src, Width, mask};
use crate::ir::{Bin, Inst, Place, Value};
use crate::mir::VSlice;
use crate::scalar::Elem;

impl Lower<'_> {
    pub(super) fn bitcast(&mut self, v: Value, a: Value) -> Lowered {
        let (to, from) = (self.kernel.ty(v), self.kernel.ty(a));
        match self.operand(a) {
            // The instruction leaves the upper half of the register unchanged, but the upper half of an integer must be
            // its sign or zero extension.
            src @ Src::Reg(_)
                if self.target.writes_halves() && from.elem == Elem::F16 && to.elem.is_narrow_integer() =>
            {
                let dst = self.define(v);
                match to.place {
                    Place::Uniform => self.narrow_scalar(dst, src, 0, to.elem)?,
                    _ => self.narrow_integer(dst, src, 0, to.elem)?,
                }
            }
            Src::Reg(s) if s.start == 0 && s.len == self.func.info(s.reg).len => self.alias(v, Some(s.reg)),
            src => {
                let dst = self.define(v);
                self.copy(dst, raw_bits(src));
            }
        }
        Ok(())
    }

    pub(super) fn cast(&mut self, v: Value, a: Value) -> Lowered {
        let (to, from) = (self.kernel.ty(v), self.kernel.ty(a));
        if to.elem.is_narrow_integer() && self.ranges.fits(self.kernel, a, to) {
            let src = self.operand(a);
            let dst = self.define(v);
            self.copy(dst, src);
            return Ok(());
        }
        if to.elem.is_narrow_integer()
            && let Some((word, first)) = self.shifted_word(a, 8 * to.elem.bytes())
        {
            let src = self.operand(word);
            let dst = self.define(v);
            return match to.place {
                Place::Uniform => self.narrow_scalar(dst, src, first, to.elem),
                _ => self.narrow_integer(dst, src, first, to.elem),
            };
        }
        if to.place == Place::Uniform {
            if let Some(done) = self.cast_scalar_float(v, a) {
                return done;
            }
            let src = if from.elem == Elem::Bool && !to.elem.is_float() {
                // A uniform condition is already 0 or 1.
                self.operand(a)
            } else if from.elem == Elem::Bool {
                // Turn a uniform condition into a mask, so that the same code converts both kinds.
                self.condition_to_scc(a)?;
                let mask = self.new_mask();
                let (all, none) = (self.mask_of_all(true), self.mask_of_all(false));
                self.machine(self.mask_op(mask::SELECT), &[mask], &[all, none])?;
                Src::Reg(mask)
            } else {
                self.operand(a)
            };
            let dst = self.define(v);
            if !from.elem.is_float() && !to.elem.is_float() {
                return self.int_to_int(dst, src, [from.elem, to.elem], true);
            }
            let wide = self.new_reg(RegFile::Vgpr, dst.len);
            self.convert(wide, src, from.elem, to.elem)?;
            return self.uniform_result(dst, wide, to);
        }
        if to.elem == Elem::F32
            && let Some((word, byte)) = self.byte_of(a)
        {
            let src = self.operand(word);
            let dst = self.define(v);
            return self.machine(&format!("v_cvt_f32_ubyte{byte}"), &[dst], &[src]);
        }
        let src = self.operand(a);
        let dst = self.define(v);
        self.convert(dst, src, from.elem, to.elem)
    }

    /// If `v` is a byte of a word: the word and the index of the byte, lowest first. A byte converts to f32 four times
    /// as fast as a word.
    fn byte_of(&self, v: Value) -> Option<(Value, u32)> {
        let kernel = self.kernel;
        let ty = kernel.ty(v);
        let integer = !ty.elem.is_float() && ty.elem != Elem::Bool && ty.elem.bytes() <= 4;
        if !integer || ty.place != Place::Varying || self.ranges.get(v).max > 0xff {
            return None;
        }
        let v = kernel.resolved(v);
        let masked = match kernel.def(v).inst {
            Inst::Bin(Bin::And, x, mask) if kernel.constant(mask) == Some(0xff) => x,
            Inst::Cast(x) if ty.elem == Elem::U8 && kernel.ty(x).is_varying_word() => x,
            _ => v,
        };
        let shifted = kernel.resolved(masked);
        Some(match kernel.def(shifted).inst {
            Inst::Bin(Bin::Shr, x, count) if kernel.ty(x).is_varying_word() => {
                let elem = kernel.ty(x).elem;
                match kernel.shift_count(count, elem) {
                    // A byte of a signed word is sign-extended only if it is the highest one.
                    Some(count @ (8 | 16 | 24)) if masked != v || elem == Elem::U32 => (x, count / 8),
                    _ => (masked, 0),
                }
            }
            _ => (masked, 0),
        })
    }

    /// If `v` is a right shift of a word by a constant that leaves at least `bits` bits: the word and the shift count.
    fn shifted_word(&self, v: Value, bits: u32) -> Option<(Value, u32)> {
        let elem = self.kernel.ty(v).elem;
        let Inst::Bin(Bin::Shr, x, count) = self.kernel.def(self.kernel.resolved(v)).inst else {
            return None;
        };
        let count = self.kernel.shift_count(count, elem)?;
        (matches!(elem, Elem::I32 | Elem::U32) && count + bits <= 32).then_some((x, count))
    }

    /// Emits `dst = src as to` on the VALU.
    fn convert(&mut self, dst: VSlice, src: Src, from: Elem, to: Elem) -> Lowered {
        if from == Elem::Bool && to.is_eight_bit_float() {
            let wide = self.temp_v();
            self.convert(wide, src, from, Elem::F32)?;
            return self.f32_to_small(dst, Src::Reg(wide), to);
        }
        if from == Elem::Bool {
            let one = match to {
                Elem::F16 => 0x3c00,
                Elem::Bf16 => 0x3f80,
                Elem::F32 => u64::from(1f32.to_bits()),
                Elem::F64 => 1f64.to_bits(),
                _ => 1,
            };
            let width = if dst.len == 2 { Width::B64 } else { Width::B32 };
            return self.blend(dst, src, Src::Const(one, width), Src::Const(0, width));
        }
        match (from.is_float(), to.is_float()) {
            (false, false) => self.int_to_int(dst, src, [from, to], false),
            (false, true) => self.int_to_float(dst, src, from, to),
            (true, false) => self.float_to_int(dst, src, from, to),
            (true, true) => self.float_to_float(dst, src, from, to),
        }
    }

    /// Emits `dst = src as to` for integers and conditions; `scalar` says that they are uniform.
    fn int_to_int(&mut self, dst: VSlice, src: Src, [from, to]: [Elem; 2], scalar: bool) -> Lowered {
        let low = if from.dwords() == 2 { self.half(src, 0) } else { src };
        if to.dwords() == 1 {
            if to.is_narrow_integer() && to != from {
                return match scalar {
                    true => self.narrow_scalar(dst, low, 0, to),
                    false => self.narrow_integer(dst, low, 0, to),
                };
            }
            self.copy(dst, low);
            return Ok(());
        }
        if from.dwords() == 2 {
            self.copy(dst, src);
            return Ok(());
        }
        let lo = VSlice { reg: dst.reg, start: dst.start, len: 1 };
        let hi = VSlice { start: dst.start + 1, ..lo };
        self.assemble(dst, 0);
        self.copy(lo, low);
        let bits = Src::Const(31, Width::B32);
        match (from.is_signed(), scalar) {
            (true, true) => self.machine("s_ashr_i32", &[hi], &[Src::Reg(lo), bits]),
            (true, false) => self.machine("v_ashrrev_i32", &[hi], &[bits, Src::Reg(lo)]),
            (false, _) => {
                self.copy(hi, Src::Const(0, Width::B32));
                Ok(())
            }
        }
    }

    fn int_to_float(&mut self, dst: VSlice, src: Src, from: Elem, to: Elem) -> Lowered {
        if from.dwords() == 2 {
            return self.wide_int_to_float(dst, src, from, to);
        }
        let sign = if from.is_signed() { "i32" } else { "u32" };
        if to == Elem::F64 || to == Elem::F32 {
            return self.machine(&format!("v_cvt_{to}_{sign}"), &[dst], &[src]);
        }
        if to == Elem::Bf16 && from.bytes() == 4 {
            // If f32 would round the number, round to odd instead, so that the later rounding to bf16 is correct.
            let wide = self.new_reg(RegFile::Vgpr, 2);
            let exact = self.temp_v();
            self.machine(&format!("v_cvt_f64_{sign}"), &[wide], &[src])?;
            self.f64_to_f32_odd(exact, Src::Reg(wide))?;
            return self.f32_to_bf16(dst, Src::Reg(exact));
        }
        // f32 rounds only integers that are beyond the range of f16, so the second conversion is the only rounding that
        // matters.
        let wide = self.temp_v();
        self.machine(&format!("v_cvt_f32_{sign}"), &[wide], &[src])?;
        self.float_to_float(dst, Src::Reg(wide), Elem::F32, to)
    }

    fn wide_int_to_float(&mut self, dst: VSlice, src: Src, from: Elem, to: Elem) -> Lowered {
        if to == Elem::F64 {
            let sign = if from.is_signed() { "i32" } else { "u32" };
            // `hi * 2^32` and `lo` are exact, and their sum is rounded once.
            let [high, scaled, low] = std::array::from_fn(|_| self.new_reg(RegFile::Vgpr, 2));
            let (lo, hi) = (self.half(src, 0), self.half(src, 1));
            self.machine(&format!("v_cvt_f64_{sign}"), &[high], &[hi])?;
            self.machine("v_ldexp_f64", &[scaled], &[Src::Reg(high), c32(32)])?;
            self.machine("v_cvt_f64_u32", &[low], &[lo])?;
            return self.machine("v_add_f64", &[dst], &[Src::Reg(scaled), Src::Reg(low)]);
        }
        let x = Src::Reg(self.in_vgpr(src, 2));
        let mut magnitude = x;
        if from.is_signed() {
            let [negative, positive] = std::array::from_fn(|_| self.new_reg(RegFile::Vgpr, 2));
            let below = self.new_mask();
            self.bin_vector(Bin::Sub, Elem::I64, negative, Src::Const(0, Width::B64), x)?;
            let high = self.half(x, 1);
            self.machine("v_cmp_gt_i32", &[below], &[c32(0), high])?;
            self.blend(positive, Src::Reg(below), Src::Reg(negative), x)?;
            magnitude = Src::Reg(positive);
        }
        // Convert the leading 32 bits, the last of which is sticky for all lower bits; they round exactly like the
        // whole number. For bf16, convert the leading 24 bits, which f32 represents exactly.
        let [zeros, count, sticky, top, float] = std::array::from_fn(|_| self.temp_v());
        let shifted = self.new_reg(RegFile::Vgpr, 2);
        let lost = self.new_mask();
        let high = self.half(magnitude, 1);
        self.machine("v_ffbh_u32", &[zeros], &[high])?;
        if to == Elem::Bf16 {
            // Normalise a number whose upper half is zero as well, since its low bits are cut off below.
            let [below, most, all] = std::array::from_fn(|_| self.temp_v());
            let low = self.half(magnitude, 0);
            self.machine("v_ffbh_u32", &[below], &[low])?;
            self.machine("v_min_u32", &[most], &[c32(32), Src::Reg(below)])?;
            self.machine("v_add_u32", &[all], &[c32(32), Src::Reg(most)])?;
            self.machine("v_min_u32", &[count], &[Src::Reg(zeros), Src::Reg(all)])?;
        } else {
            self.machine("v_min_u32", &[count], &[c32(32), Src::Reg(zeros)])?;
        }
        self.machine("v_lshlrev_b64", &[shifted], &[Src::Reg(count), magnitude])?;
        let (mut low, mut leading) = (self.half(Src::Reg(shifted), 0), self.half(Src::Reg(shifted), 1));
        if to == Elem::Bf16 {
            let [rest, kept] = std::array::from_fn(|_| self.temp_v());
            self.machine("v_and_or_b32", &[rest], &[leading, c32(0xff), low])?;
            self.machine("v_and_b32", &[kept], &[c32(0xffff_ff00), leading])?;
            (low, leading) = (Src::Reg(rest), Src::Reg(kept));
        }
        self.machine("v_cmp_ne_u32", &[lost], &[c32(0), low])?;
        let unit = if to == Elem::Bf16 { 0x100 } else { 1 };
        self.blend(sticky, Src::Reg(lost), c32(unit), c32(0))?;
        self.machine("v_or_b32", &[top], &[leading, Src::Reg(sticky)])?;
        self.machine("v_cvt_f32_u32", &[float], &[Src::Reg(top)])?;
        let [exponent, mut result] = std::array::from_fn(|_| self.temp_v());
        self.machine("v_sub_u32", &[exponent], &[c32(32), Src::Reg(count)])?;
        self.machine("v_ldexp_f32", &[result], &[Src::Reg(float), Src::Reg(exponent)])?;
        if from.is_signed() {
            let signed = self.temp_v();
            let high = self.half(x, 1);
            self.machine("v_and_or_b32", &[signed], &[high, c32(0x8000_0000), Src::Reg(result)])?;
            result = signed;
        }
        if to == Elem::F32 {
            self.copy(dst, Src::Reg(result));
            return Ok(());
        }
        self.float_to_float(dst, Src::Reg(result), Elem::F32, to)
    }

    fn float_to_int(&mut self, dst: VSlice, src: Src, from: Elem, to: Elem) -> Lowered {
        let wanted = if to.dwords() == 2 || from == Elem::F64 { Elem::F64 } else { Elem::F32 };
        let (src, from) = if from == wanted {
            (src, from)
        } else {
            let wide = self.new_reg(RegFile::Vgpr, wanted.dwords());
            self.float_to_float(wide, src, from, wanted)?;
            (Src::Reg(wide), wanted)
        };
        if to.dwords() == 2 {
            return self.f64_to_wide_int(dst, src, to);
        }
        let sign = if to.is_signed() { "i32" } else { "u32" };
        self.machine(&format!("v_cvt_{sign}_{from}"), &[dst], &[src])?;
        if to.bytes() == 4 {
            return Ok(());
        }
        let bits = 8 * to.bytes();
        let (least, most) = if to.is_signed() {
            (-(1i32 << (bits - 1)), (1 << (bits - 1)) - 1)
        } else {
            (0, (1i32 << bits) - 1)
        };
        let constant = |c: i32| Src::Const(u64::from(c as u32), Width::B32);
        if to.is_signed() {
            self.machine("v_max_i32", &[dst], &[constant(least), Src::Reg(dst)])?;
        }
        self.machine(&format!("v_min_{sign}"), &[dst], &[constant(most), Src::Reg(dst)])
    }

    /// The upper half is the quotient by 2^32, rounded down, and the lower half is the remainder. Out-of-range numbers
    /// saturate; NaN gives 0.
    fn f64_to_wide_int(&mut self, dst: VSlice, src: Src, to: Elem) -> Lowered {
        let x = Src::Reg(self.in_vgpr(src, 2));
        let f64_const = |c: f64| Src::Const(c.to_bits(), Width::B64);
        let [whole, scaled, high, rest, inside, least, clamped] =
            std::array::from_fn(|_| self.new_reg(RegFile::Vgpr, 2));
        let sign = if to.is_signed() { "i32" } else { "u32" };
        let minus = Src::Reg(self.in_vgpr(f64_const(-4294967296.0), 2));
        self.machine("v_trunc_f64", &[whole], &[x])?;
        self.machine("v_ldexp_f64", &[scaled], &[Src::Reg(whole), c32(-32i32 as u32)])?;
        self.machine("v_floor_f64", &[high], &[Src::Reg(scaled)])?;
        self.machine("v_fma_f64", &[rest], &[Src::Reg(high), minus, Src::Reg(whole)])?;
        self.assemble(inside, 0);
        let lo = VSlice { reg: inside.reg, start: 0, len: 1 };
        let hi = VSlice { start: 1, ..lo };
        self.machine("v_cvt_u32_f64", &[lo], &[Src::Reg(rest)])?;
        self.machine(&format!("v_cvt_{sign}_f64"), &[hi], &[Src::Reg(high)])?;
        let (top, bottom, most, fewest) = if to.is_signed() {
            (9223372036854775808.0, -9223372036854775808.0, i64::MAX as u64, i64::MIN as u64)
        } else {
            (18446744073709551616.0, 0.0, u64::MAX, 0)
        };
        let [above, below] = std::array::from_fn(|_| self.new_mask());
        let (top, bottom) = (self.in_vgpr(f64_const(top), 2), self.in_vgpr(f64_const(bottom), 2));
        self.machine("v_cmp_ge_f64", &[above], &[x, Src::Reg(top)])?;
        self.blend(clamped, Src::Reg(above), Src::Const(most, Width::B64), Src::Reg(inside))?;
        // The comparison is true for numbers below the range, and for NaNs.
        self.machine("v_cmp_nge_f64", &[below], &[x, Src::Reg(bottom)])?;
        let end = if to.is_signed() {
            let ordered = self.new_mask();
            self.machine("v_cmp_o_f64", &[ordered], &[x, x])?;
            self.blend(least, Src::Reg(ordered), Src::Const(fewest, Width::B64), Src::Const(0, Width::B64))?;
            Src::Reg(least)
        } else {
            Src::Const(0, Width::B64)
        };
        self.blend(dst, Src::Reg(below), end, Src::Reg(clamped))
    }

    /// Converts f64 to f32, rounding to odd: the last bit of an inexact result is set, so that rounding it again to
    /// half as many bits or fewer gives the same as a single rounding.
    fn f64_to_f32_odd(&mut self, dst: VSlice, src: Src) -> Lowered {
        let x = Src::Reg(self.in_vgpr(src, 2));
        let back = self.new_reg(RegFile::Vgpr, 2);
        let [near, less, lower, odd] = std::array::from_fn(|_| self.temp_v());
        let [inexact, away] = std::array::from_fn(|_| self.new_mask());
        self.machine("v_cvt_f32_f64", &[near], &[x])?;
        self.machine("v_cvt_f64_f32", &[back], &[Src::Reg(near)])?;
        // If the f32 was rounded away from zero, subtract one from its bits to get the truncated value.
        self.machine_with("v_cmp_gt_f64", &[away], &[Src::Reg(back), x], |m| m.abs = 0b11)?;
        self.machine("v_cmp_lg_f64", &[inexact], &[Src::Reg(back), x])?;
        self.machine("v_add_u32", &[less], &[c32(u32::MAX), Src::Reg(near)])?;
        self.blend(lower, Src::Reg(away), Src::Reg(less), Src::Reg(near))?;
        self.machine("v_or_b32", &[odd], &[c32(1), Src::Reg(lower)])?;
        self.blend(dst, Src::Reg(inexact), Src::Reg(odd), Src::Reg(near))
    }

    /// Converts an 8-bit float in the low byte to f32, which represents all of them exactly.
    pub(super) fn small_to_f32(&mut self, src: Src, from: Elem) -> Lowered<Src> {
        let wide = self.temp_v();
        self.machine(&format!("v_cvt_f32_{}", isa_name(from)), &[wide], &[src])?;
        Ok(Src::Reg(wide))
    }

    /// Converts an f32 to an 8-bit float. The instruction converts a pair, of which the second number is 0, and keeps
    /// the upper half of the register.
    fn f32_to_small(&mut self, dst: VSlice, src: Src, to: Elem) -> Lowered {
        self.copy(dst, c32(0));
        self.machine(&format!("v_cvt_pk_{}_f32", isa_name(to)), &[], &[Src::Reg(dst), src, c32(0)])
    }

    fn float_to_float(&mut self, dst: VSlice, src: Src, from: Elem, to: Elem) -> Lowered {
        match (from, to) {
            _ if from == to => {
                self.copy(dst, src);
                Ok(())
            }
            (small, _) if small.is_eight_bit_float() => {
                let wide = self.small_to_f32(src, from)?;
                if to == Elem::F32 {
                    self.copy(dst, wide);
                    return Ok(());
                }
                self.float_to_float(dst, wide, Elem::F32, to)
            }
            (Elem::F32, small) if small.is_eight_bit_float() => self.f32_to_small(dst, src, to),
            (Elem::Bf16, Elem::F32) => {
                let x = self.bf16_to_f32(src)?;
                self.copy(dst, x);
                Ok(())
            }
            (Elem::F32, Elem::Bf16) => self.f32_to_bf16(dst, src),
            (Elem::F16 | Elem::Bf16, _) if to != Elem::F32 => {
                let wide = self.temp_v();
                self.float_to_float(wide, src, from, Elem::F32)?;
                self.float_to_float(dst, Src::Reg(wide), Elem::F32, to)
            }
            (Elem::F64, _) if to != Elem::F32 => {
                let wide = self.temp_v();
                self.f64_to_f32_odd(wide, src)?;
                self.float_to_float(dst, Src::Reg(wide), Elem::F32, to)
            }
            _ => {
                debug_assert!(calc(from) != Calc::Mask, "conditions are converted before");
                self.machine(&format!("v_cvt_{to}_{from}"), &[dst], &[src])
            }
        }
    }
}

/// The name of an 8-bit float type in mnemonics.
fn isa_name(elem: Elem) -> &'static str {
    if elem == Elem::F8E4M3 { "fp8" } else { "bf8" }
}
