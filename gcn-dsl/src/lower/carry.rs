//! Folds a condition that is added or subtracted as 0 or 1 into the carry operand of an addition or subtraction.

use super::{Lower, Lowered, Src, Width};
use crate::ir::{Bin, Inst, Value};
use crate::scalar::Elem;

/// A condition used as the number 0 or 1.
struct Bit {
    mask: Value,
    /// True if the number is 1 where the condition is true and 0 elsewhere; false if it is 0 where the condition is
    /// true and 1 elsewhere.
    where_it_holds: bool,
}

impl Lower<'_> {
    /// The condition that `v` converts to 0 or 1. `None` if `v` is not such a conversion, or if it has another reader.
    fn bit(&self, v: Value) -> Option<Bit> {
        let kernel = self.kernel;
        let bit = match kernel.def(v).inst {
            Inst::Select(mask, x, y) => match (kernel.constant(x)?, kernel.constant(y)?) {
                (1, 0) => Bit { mask, where_it_holds: true },
                (0, 1) => Bit { mask, where_it_holds: false },
                _ => return None,
            },
            Inst::Cast(mask) if kernel.ty(mask).elem == Elem::Bool => Bit { mask, where_it_holds: true },
            _ => return None,
        };
        (self.readers[v.0 as usize] == 1 && kernel.constant(bit.mask).is_none()).then_some(bit)
    }

    /// Emits `x + c` or `x - c` for a condition `c` without first selecting 0 or 1. `None` if neither operand is a
    /// condition, or if the other operand is in scalar registers: the instruction may read one scalar, and the carry is
    /// one.
    pub(super) fn sum_with_condition(&mut self, v: Value, op: Bin, [x, y]: [Value; 2]) -> Option<Lowered> {
        if !self.kernel.ty(v).is_varying_word() {
            return None;
        }
        let orders = match op {
            Bin::Add => &[(x, y), (y, x)][..],
            Bin::Sub => &[(x, y)][..],
            _ => return None,
        };
        let (other, bit) = orders.iter().find_map(|(other, c)| Some((*other, self.bit(*c)?)))?;
        let (other, mask) = (self.operand(other), self.operand(bit.mask));
        if !self.is_vgpr(other) {
            return None;
        }
        // If the number is 1 where the condition c is false, it is 1 - c: x + (1 - c) = x - (-1) - c, and x - (1 - c) =
        // x + (-1) + c.
        let mnemonic =
            if (op == Bin::Add) == bit.where_it_holds { "v_addc_co_u32" } else { "v_subbrev_co_u32" };
        let constant = if bit.where_it_holds { 0 } else { u64::from(u32::MAX) };
        let (dst, ignored) = (self.define(v), self.new_mask());
        Some(self.machine(mnemonic, &[dst, ignored], &[Src::Const(constant, Width::B32), other, mask]))
    }
}
