//! Evaluation of operations on 32-bit constants, and of comparisons of constants.

use std::num::FpCategory;

use super::{Bin, Pred};
use crate::scalar::{Elem, bf16, f16};

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

/// The result of a comparison of two numbers given by their bits. `None` for types that it does not know, and for
/// subnormal floats, which compare as zeros in kernels that set the mode to flush them.
pub(super) fn holds(pred: Pred, elem: Elem, x: u64, y: u64) -> Option<bool> {
    let order = match elem {
        Elem::I32 => Some((x as i32).cmp(&(y as i32))),
        Elem::U32 => Some((x as u32).cmp(&(y as u32))),
        _ => float(elem, x)?.partial_cmp(&float(elem, y)?),
    };
    // A NaN is unequal to everything, and no other comparison with it holds.
    let Some(order) = order else { return Some(pred == Pred::Ne) };
    Some(match pred {
        Pred::Lt => order.is_lt(),
        Pred::Le => order.is_le(),
        Pred::Gt => order.is_gt(),
        Pred::Ge => order.is_ge(),
        Pred::Eq => order.is_eq(),
        Pred::Ne => order.is_ne(),
    })
}

/// The float with these bits; `None` for a subnormal, and for other types.
fn float(elem: Elem, bits: u64) -> Option<f64> {
    let (value, is_subnormal) = match elem {
        Elem::F16 => {
            let x = f16::from_bits(bits as u16);
            (x.to_f64(), x.classify() == FpCategory::Subnormal)
        }
        Elem::Bf16 => {
            let x = bf16::from_bits(bits as u16);
            (x.to_f64(), x.classify() == FpCategory::Subnormal)
        }
        Elem::F32 => {
            let x = f32::from_bits(bits as u32);
            (x.into(), x.is_subnormal())
        }
        Elem::F64 => {
            let x = f64::from_bits(bits);
            (x, x.is_subnormal())
        }
        _ => return None,
    };
    (!is_subnormal).then_some(value)
}
