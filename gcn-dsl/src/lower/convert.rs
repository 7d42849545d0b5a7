//! Conversions.

use gcn_isa::reg::RegFile;

use super::arith::{Calc, calc, raw_bits};
use super::{Lower, Lowered, Src, Width};
use crate::ir::{Place, Value};
use crate::mir::VSlice;
use crate::scalar::Elem;

impl Lower<'_> {
    pub(super) fn bitcast(&mut self, v: Value, a: Value) {
        match self.operand(a) {
            Src::Reg(s) if s.start == 0 && s.len == self.func.info(s.reg).len => self.alias(v, Some(s.reg)),
            src => {
                let dst = self.define(v);
                self.copy(dst, raw_bits(src));
            }
        }
    }

    pub(super) fn cast(&mut self, v: Value, a: Value) -> Lowered {
        let (to, from) = (self.kernel.ty(v), self.kernel.ty(a));
        if to.place == Place::Uniform {
            let src = if from.elem == Elem::Bool {
                // A uniform condition as a mask, so that there is one conversion only.
                self.condition_to_scc(a)?;
                let mask = self.new_reg(RegFile::Sgpr, 2);
                let (ones, zeros) = (Src::Const(u64::MAX, Width::B64), Src::Const(0, Width::B64));
                self.machine("s_cselect_b64", &[mask], &[ones, zeros])?;
                Src::Reg(mask)
            } else {
                self.operand(a)
            };
            let dst = self.define(v);
            let wide = self.new_reg(RegFile::Vgpr, dst.len);
            self.convert(wide, src, from.elem, to.elem)?;
            return self.read_first_lane(dst, Src::Reg(wide), to);
        }
        let src = self.operand(a);
        let dst = self.define(v);
        self.convert(dst, src, from.elem, to.elem)
    }

    /// `dst = src as to` on the VALU.
    fn convert(&mut self, dst: VSlice, src: Src, from: Elem, to: Elem) -> Lowered {
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
            (false, false) => self.int_to_int(dst, src, from, to),
            (false, true) => self.int_to_float(dst, src, from, to),
            (true, false) => self.float_to_int(dst, src, from, to),
            (true, true) => self.float_to_float(dst, src, from, to),
        }
    }

    fn int_to_int(&mut self, dst: VSlice, src: Src, from: Elem, to: Elem) -> Lowered {
        let low = if from.dwords() == 2 { self.half(src, 0) } else { src };
        if to.dwords() == 1 {
            self.copy(dst, low);
            return if to.bytes() < from.bytes() || (to.bytes() == from.bytes() && to != from) {
                self.wrap_vector(dst, to)
            } else if to.bytes() < 4 {
                // Widening within a dword keeps the extension of the source, unless the sign rules differ.
                self.wrap_vector(dst, to)
            } else {
                Ok(())
            };
        }
        if from.dwords() == 2 {
            self.copy(dst, src);
            return Ok(());
        }
        let lo = VSlice { reg: dst.reg, start: dst.start, len: 1 };
        let hi = VSlice { start: dst.start + 1, ..lo };
        self.assemble(dst, 0);
        self.copy(lo, low);
        if from.is_signed() {
            return self.machine("v_ashrrev_i32", &[hi], &[Src::Const(31, Width::B32), Src::Reg(lo)]);
        }
        self.copy(hi, Src::Const(0, Width::B32));
        Ok(())
    }

    fn int_to_float(&mut self, dst: VSlice, src: Src, from: Elem, to: Elem) -> Lowered {
        let sign = if from.is_signed() { "i32" } else { "u32" };
        if from.dwords() == 2 {
            if to != Elem::F64 {
                return Err(self.unsupported(
                    &format!("conversion to `{to}`"),
                    from,
                    "convert to f64 first: `x as f64`",
                ));
            }
            // hi * 2^32 is exact, lo is exact, and their sum is rounded once.
            let [high, scaled, low] = std::array::from_fn(|_| self.new_reg(RegFile::Vgpr, 2));
            let (lo, hi) = (self.half(src, 0), self.half(src, 1));
            self.machine(&format!("v_cvt_f64_{sign}"), &[high], &[hi])?;
            self.machine("v_ldexp_f64", &[scaled], &[Src::Reg(high), Src::Const(32, Width::B32)])?;
            self.machine("v_cvt_f64_u32", &[low], &[lo])?;
            return self.machine("v_add_f64", &[dst], &[Src::Reg(scaled), Src::Reg(low)]);
        }
        if to == Elem::F64 || to == Elem::F32 {
            return self.machine(&format!("v_cvt_{to}_{sign}"), &[dst], &[src]);
        }
        // Integers that f32 rounds are beyond f16's range, so one rounding decides.
        let wide = self.temp_v();
        self.machine(&format!("v_cvt_f32_{sign}"), &[wide], &[src])?;
        self.float_to_float(dst, Src::Reg(wide), Elem::F32, to)
    }

    fn float_to_int(&mut self, dst: VSlice, src: Src, from: Elem, to: Elem) -> Lowered {
        if to.dwords() == 2 {
            let remedy = "convert to a 32-bit integer instead";
            return Err(self.unsupported(&format!("conversion to `{to}`"), from, remedy));
        }
        let (src, from) = match from {
            Elem::F64 => (src, Elem::F64),
            Elem::F32 => (src, Elem::F32),
            _ => {
                let wide = self.temp_v();
                self.float_to_float(wide, src, from, Elem::F32)?;
                (Src::Reg(wide), Elem::F32)
            }
        };
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

    fn float_to_float(&mut self, dst: VSlice, src: Src, from: Elem, to: Elem) -> Lowered {
        match (from, to) {
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
            (Elem::F64, Elem::F16 | Elem::Bf16) => Err(self.unsupported(
                &format!("conversion to `{to}`"),
                from,
                "convert to f32 first, which rounds twice: `x as f32`",
            )),
            _ => {
                debug_assert!(calc(from) != Calc::Mask, "conditions are converted before");
                self.machine(&format!("v_cvt_{to}_{from}"), &[dst], &[src])
            }
        }
    }
}
