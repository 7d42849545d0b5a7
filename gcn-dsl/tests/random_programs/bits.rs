//! The result of each operation, computed with Rust's own arithmetic on the host.

use gcn_dsl::ir::{Bin, Pred, Un};
use gcn_dsl::prelude::{bf16, f16};
use gcn_dsl::scalar::Elem;

/// The reason why a program is not usable as a test: the language leaves its result open, or it does not end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unspecified(pub &'static str);

/// Conversions between host numbers and their bits in memory.
pub trait Bits: Copy {
    fn of(bits: u64) -> Self;
    fn bits(self) -> u64;
}

macro_rules! ints {
    ($($t:ident $unsigned:ident)*) => {$(
        impl Bits for $t {
            fn of(bits: u64) -> $t { bits as $t }
            fn bits(self) -> u64 { u64::from(self as $unsigned) }
        }
    )*};
}
ints! { i8 u8 u8 u8 i16 u16 u16 u16 i32 u32 u32 u32 i64 u64 u64 u64 }

macro_rules! floats {
    ($($t:ident $bits:ident)*) => {$(
        impl Bits for $t {
            fn of(bits: u64) -> $t { $t::from_bits(bits as $bits) }
            fn bits(self) -> u64 { u64::from(self.to_bits()) }
        }
    )*};
}
floats! { f16 u16 bf16 u16 f32 u32 f64 u64 }

/// Evaluates `$body` with `$t` as the host type of `$elem`.
macro_rules! with_type {
    ($elem:expr, $t:ident => $body:expr, bool => $bool:expr) => {
        match $elem {
            Elem::Bool => $bool,
            Elem::F8E4M3 | Elem::F8E5M2 => unreachable!("not generated"),
            Elem::I8 => {
                type $t = i8;
                $body
            }
            Elem::U8 => {
                type $t = u8;
                $body
            }
            Elem::I16 => {
                type $t = i16;
                $body
            }
            Elem::U16 => {
                type $t = u16;
                $body
            }
            Elem::I32 => {
                type $t = i32;
                $body
            }
            Elem::U32 => {
                type $t = u32;
                $body
            }
            Elem::I64 => {
                type $t = i64;
                $body
            }
            Elem::U64 => {
                type $t = u64;
                $body
            }
            Elem::F16 => {
                type $t = gcn_dsl::scalar::f16;
                $body
            }
            Elem::Bf16 => {
                type $t = gcn_dsl::scalar::bf16;
                $body
            }
            Elem::F32 => {
                type $t = f32;
                $body
            }
            Elem::F64 => {
                type $t = f64;
                $body
            }
        }
    };
}
pub(super) use with_type;

/// The bits of element `k` of every table of constants.
pub fn table_bits(elem: Elem, k: u32) -> u64 {
    let hash = (k.wrapping_add(7)).wrapping_mul(0x9e37_79b9);
    let number = f64::from(hash >> 20) / 16.0 - 100.0;
    match elem {
        Elem::F16 => f16::from_f64(number).bits(),
        Elem::Bf16 => bf16::from_f64(number).bits(),
        Elem::F32 => (number as f32).bits(),
        Elem::F64 => number.bits(),
        _ => {
            let bits = u64::from(hash) << 32 | u64::from(hash.rotate_left(9));
            with_type!(elem, T => T::of(bits).bits(), bool => 0)
        }
    }
}

/// A table of 2 to the power of `log` constants.
pub fn table<T: Bits + gcn_dsl::scalar::Scalar>(log: u32) -> Vec<T> {
    (0..1 << log).map(|k| T::of(table_bits(T::ELEM, k))).collect()
}

pub fn is_nan(elem: Elem, bits: u64) -> bool {
    match elem {
        Elem::F16 => f16::of(bits).is_nan(),
        Elem::Bf16 => bf16::of(bits).is_nan(),
        Elem::F32 => f32::of(bits).is_nan(),
        Elem::F64 => f64::of(bits).is_nan(),
        _ => false,
    }
}

macro_rules! int_bin {
    ($t:ident, $op:expr, $a:expr, $b:expr) => {{
        let (a, b) = ($t::of($a), $t::of($b));
        let r = match $op {
            Bin::Add => a.wrapping_add(b),
            Bin::Sub => a.wrapping_sub(b),
            Bin::Mul => a.wrapping_mul(b),
            Bin::Div | Bin::Rem if b == 0 => return Err(Unspecified("division by zero")),
            Bin::Div => a.wrapping_div(b),
            Bin::Rem => a.wrapping_rem(b),
            Bin::And => a & b,
            Bin::Or => a | b,
            Bin::Xor => a ^ b,
            // The count is a u32, whatever the type.
            Bin::Shl => a.wrapping_shl($b as u32),
            Bin::Shr => a.wrapping_shr($b as u32),
            Bin::Min => a.min(b),
            Bin::Max => a.max(b),
            Bin::MulHi => unreachable!("not in the language"),
        };
        r.bits()
    }};
}

/// Float arithmetic in `$wide`, which is so wide that the second rounding changes nothing.
macro_rules! float_bin {
    ($t:ident, $op:expr, $a:expr, $b:expr) => {{
        let (a, b) = ($t::of($a), $t::of($b));
        let r = match $op {
            Bin::Add => a + b,
            Bin::Sub => a - b,
            Bin::Mul => a * b,
            Bin::Div => a / b,
            Bin::Min | Bin::Max if a.is_nan() => b,
            Bin::Min | Bin::Max if b.is_nan() => a,
            Bin::Min | Bin::Max if a == b && $a != $b => return Err(Unspecified("zeros of both signs")),
            Bin::Min => {
                if a < b {
                    a
                } else {
                    b
                }
            }
            Bin::Max => {
                if a > b {
                    a
                } else {
                    b
                }
            }
            _ => unreachable!("{:?} of floats", $op),
        };
        r.bits()
    }};
}

pub fn bin(op: Bin, elem: Elem, a: u64, b: u64) -> Result<u64, Unspecified> {
    Ok(match elem {
        Elem::Bool => match op {
            Bin::And => a & b,
            Bin::Or => a | b,
            Bin::Xor => a ^ b,
            _ => unreachable!("{op:?} of conditions"),
        },
        Elem::I8 => int_bin!(i8, op, a, b),
        Elem::U8 => int_bin!(u8, op, a, b),
        Elem::I16 => int_bin!(i16, op, a, b),
        Elem::U16 => int_bin!(u16, op, a, b),
        Elem::I32 => int_bin!(i32, op, a, b),
        Elem::U32 => int_bin!(u32, op, a, b),
        Elem::I64 => int_bin!(i64, op, a, b),
        Elem::U64 => int_bin!(u64, op, a, b),
        // f32 has more than twice the digits of f16 plus two, so rounding to f32 first, as `half` does, changes
        // nothing.
        Elem::F16 => float_bin!(f16, op, a, b),
        Elem::F32 => float_bin!(f32, op, a, b),
        Elem::F64 => float_bin!(f64, op, a, b),
        // Computed in f32 and rounded again, as `half` does.
        Elem::Bf16 => float_bin!(bf16, op, a, b),
        Elem::F8E4M3 | Elem::F8E5M2 => unreachable!("8-bit floats have no arithmetic"),
    })
}

macro_rules! float_un {
    ($t:ident, $op:expr, $a:expr) => {{
        let a = $t::of($a);
        let r = match $op {
            Un::Neg => -a,
            Un::Abs => a.abs(),
            Un::Floor => a.floor(),
            Un::Ceil => a.ceil(),
            Un::Trunc => a.trunc(),
            Un::Rndne => a.round_ties_even(),
            other => unreachable!("{other:?} is not exact"),
        };
        r.bits()
    }};
}

pub fn un(op: Un, elem: Elem, a: u64) -> u64 {
    match (elem, op) {
        (Elem::Bool, _) => a ^ 1,
        (Elem::F32, _) => float_un!(f32, op, a),
        (Elem::F64, _) => float_un!(f64, op, a),
        (Elem::F16 | Elem::Bf16, Un::Neg) => a ^ 0x8000,
        (Elem::F16, Un::Abs) => a & 0x7fff,
        // The integral f32 that rounding an f16 gives is exact in f16.
        (Elem::F16, _) => f16::from_f32(f32::of(un(op, Elem::F32, f16::of(a).to_f32().bits()))).bits(),
        (_, Un::Neg) => bin(Bin::Sub, elem, 0, a).unwrap_or(0),
        (_, Un::Not) => bin(Bin::Xor, elem, a, u64::MAX).unwrap_or(0),
        _ => unreachable!("{op:?} of {elem}"),
    }
}

pub fn compare(pred: Pred, elem: Elem, a: u64, b: u64) -> bool {
    macro_rules! holds {
        ($a:expr, $b:expr) => {{
            let (a, b) = ($a, $b);
            match pred {
                Pred::Lt => a < b,
                Pred::Le => a <= b,
                Pred::Gt => a > b,
                Pred::Ge => a >= b,
                Pred::Eq => a == b,
                Pred::Ne => a != b,
            }
        }};
    }
    with_type!(elem, T => holds!(T::of(a), T::of(b)), bool => holds!(a, b))
}

/// `a * b + c` with one rounding.
pub fn mul_add(elem: Elem, a: u64, b: u64, c: u64) -> u64 {
    match elem {
        Elem::F32 => f32::of(a).mul_add(f32::of(b), f32::of(c)).bits(),
        Elem::F64 => f64::of(a).mul_add(f64::of(b), f64::of(c)).bits(),
        other => unreachable!("mul_add of {other}"),
    }
}

/// `x as T` as Rust has it.
pub fn cast(from: Elem, to: Elem, x: u64) -> u64 {
    macro_rules! number {
        ($x:expr) => {{
            let x = $x;
            match to {
                Elem::I8 => (x as i8).bits(),
                Elem::U8 => (x as u8).bits(),
                Elem::I16 => (x as i16).bits(),
                Elem::U16 => (x as u16).bits(),
                Elem::I32 => (x as i32).bits(),
                Elem::U32 => (x as u32).bits(),
                Elem::I64 => (x as i64).bits(),
                Elem::U64 => (x as u64).bits(),
                Elem::F32 => (x as f32).bits(),
                Elem::F64 => (x as f64).bits(),
                Elem::Bool => unreachable!("nothing converts to bool"),
                Elem::F16 | Elem::Bf16 => unreachable!("converted below"),
                Elem::F8E4M3 | Elem::F8E5M2 => unreachable!("not generated"),
            }
        }};
    }
    if from == to {
        return x;
    }
    if matches!(to, Elem::F16 | Elem::Bf16) {
        return to_half(from, to, x);
    }
    match from {
        Elem::Bool => number!(x as u8),
        Elem::I8 => number!(i8::of(x)),
        Elem::U8 => number!(u8::of(x)),
        Elem::I16 => number!(i16::of(x)),
        Elem::U16 => number!(u16::of(x)),
        Elem::I32 => number!(i32::of(x)),
        Elem::U32 => number!(u32::of(x)),
        Elem::I64 => number!(i64::of(x)),
        Elem::U64 => number!(x),
        Elem::F16 => number!(f16::of(x).to_f32()),
        Elem::Bf16 => number!(bf16::of(x).to_f32()),
        Elem::F32 => number!(f32::of(x)),
        Elem::F64 => number!(f64::of(x)),
        Elem::F8E4M3 | Elem::F8E5M2 => unreachable!("not generated"),
    }
}

/// Converts to f16 or bf16 with one rounding: every intermediate step rounds to odd, which keeps the last rounding
/// correct. (The `half` crate's own conversions from f64 first discard 32 bits.)
fn to_half(from: Elem, to: Elem, x: u64) -> u64 {
    let wide = match from {
        Elem::I64 => int_to_odd(i64::of(x).unsigned_abs()) * if i64::of(x) < 0 { -1.0 } else { 1.0 },
        Elem::U64 => int_to_odd(x),
        _ => f64::of(cast(from, Elem::F64, x)),
    };
    let narrow = f32_to_odd(wide);
    match to {
        Elem::F16 => f16::from_f32(narrow).bits(),
        _ => bf16::from_f32(narrow).bits(),
    }
}

fn int_to_odd(x: u64) -> f64 {
    let extra = 11u32.saturating_sub(x.leading_zeros());
    let lost = x & ((1 << extra) - 1) != 0;
    (((x >> extra) | u64::from(lost)) << extra) as f64
}

fn f32_to_odd(x: f64) -> f32 {
    let near = x as f32;
    if x.is_nan() || f64::from(near) == x {
        return near;
    }
    let outward = u32::from(f64::from(near).abs() > x.abs());
    f32::from_bits((near.to_bits() - outward) | 1)
}
