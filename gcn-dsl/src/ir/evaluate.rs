//! Evaluation of operations on 32-bit constants.

use super::{Bin, Pred};
use crate::scalar::Elem;

/// The result of an operation on 32-bit integers; `None` for a division that has no result, as by 0.
pub(super) fn eval(op: Bin, x: u32, y: u32, elem: Elem) -> Option<u32> {
    let signed = elem == Elem::I32;
    let (ix, iy) = (x as i32, y as i32);
    Some(match op {
        Bin::Add => x.wrapping_add(y),
        Bin::Sub => x.wrapping_sub(y),
        Bin::Mul => x.wrapping_mul(y),
        Bin::MulHi if signed => ((i64::from(ix) * i64::from(iy)) >> 32) as u32,
        Bin::MulHi => ((u64::from(x) * u64::from(y)) >> 32) as u32,
        Bin::Div if signed => ix.checked_div(iy)? as u32,
        Bin::Div => x.checked_div(y)?,
        Bin::Rem if signed => ix.checked_rem(iy)? as u32,
        Bin::Rem => x.checked_rem(y)?,
        Bin::And => x & y,
        Bin::Or => x | y,
        Bin::Xor => x ^ y,
        Bin::Shl => x.wrapping_shl(y),
        Bin::Shr if signed => ix.wrapping_shr(y) as u32,
        Bin::Shr => x.wrapping_shr(y),
        Bin::Min if signed => ix.min(iy) as u32,
        Bin::Min => x.min(y),
        Bin::Max if signed => ix.max(iy) as u32,
        Bin::Max => x.max(y),
    })
}

/// True if the comparison of two 32-bit integers holds.
pub(super) fn holds(pred: Pred, elem: Elem, x: u32, y: u32) -> bool {
    let order = if elem == Elem::I32 { x.cast_signed().cmp(&y.cast_signed()) } else { x.cmp(&y) };
    match pred {
        Pred::Lt => order.is_lt(),
        Pred::Le => order.is_le(),
        Pred::Gt => order.is_gt(),
        Pred::Ge => order.is_ge(),
        Pred::Eq => order.is_eq(),
        Pred::Ne => order.is_ne(),
    }
}
