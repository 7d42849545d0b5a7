//! Division and remainder by a constant for dividends of at most 24 bits, by full-rate 24-bit multiplications.

use super::{Lower, Lowered, Src, Width};
use crate::ir::{Bin, Inst, Value, division};
use crate::scalar::Elem;

impl Lower<'_> {
    /// Emits `a op b` of varying 32-bit integers; `None` if `op` and its operands are not such a division, or the
    /// ranges are too large.
    pub(super) fn small_division(&mut self, v: Value, op: Bin, [a, b]: [Value; 2]) -> Option<Lowered> {
        match (op, self.kernel.ty(v).elem) {
            (Bin::Shr, Elem::U32) => {
                let Inst::Bin(Bin::MulHi, x, multiplier) = self.kernel.def(a).inst else { return None };
                self.quotient(v, x, multiplier, self.kernel.shift_count(b, Elem::U32)?)
            }
            (Bin::MulHi, Elem::U32) => self.quotient(v, a, b, 0),
            (Bin::Sub, _) => self.rest(v, a, b),
            _ => None,
        }
    }

    fn quotient(&mut self, v: Value, x: Value, multiplier: Value, shift: u32) -> Option<Lowered> {
        let multiplier = self.kernel.constant(multiplier)? as u32;
        let (factor, shift) = division::in_24_bits(self.ranges.get(x).max, multiplier, shift)?;
        let (x, product, dst) = (self.operand(x), self.temp_v(), self.define(v));
        let [factor, shift] = [factor, shift].map(|c| Src::Const(u64::from(c), Width::B32));
        let multiplied = self.machine("v_mul_u32_u24", &[product], &[factor, x]);
        Some(multiplied.and_then(|()| self.machine("v_lshrrev_b32", &[dst], &[shift, Src::Reg(product)])))
    }

    /// Emits the remainder `a - x * c`, where `x` and `c` are below 2^23.
    fn rest(&mut self, v: Value, a: Value, product: Value) -> Option<Lowered> {
        let Inst::Bin(Bin::Mul, x, c) = self.kernel.def(product).inst else { return None };
        let c = self.kernel.constant(c).map(|c| c as u32).filter(|c| *c < 1 << 23)?;
        if self.ranges.get(x).max >= 1 << 23 || !self.is_word(x) {
            return None;
        }
        let (a, x, dst) = (self.operand(a), self.operand(x), self.define(v));
        let minus = Src::Const(u64::from(c.wrapping_neg()), Width::B32);
        Some(self.machine("v_mad_i32_i24", &[dst], &[x, minus, a]))
    }

    fn is_word(&self, v: Value) -> bool {
        matches!(self.kernel.ty(v).elem, Elem::I32 | Elem::U32)
    }
}
