//! Numbers as operands: encodes them as inline constants or literals, depending on the operand's type.
//!
//! The rules are those of LLVM's assembler. An integer gives the operand's bits. A float is converted to the operand's type; it may lose
//! precision, but must neither overflow nor underflow.

use std::fmt;

use gcn_isa::operand::INLINE_FLOATS;
use gcn_isa::table::{InstDesc, OperandDesc, OperandKinds};
use gcn_isa::{Inline, Operand};

use super::number::Number;
use crate::text::ConstType;
use crate::text::source::inline_of_literal;

/// The reason why a number is not accepted as an operand.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Unfit {
    Bits32(i64),
    Bits16(i64),
    /// A float outside the range of the 16-, 32- or 64-bit type.
    Range(f64, u8),
    /// A 64-bit float with a nonzero low half.
    LowHalf(f64),
    NoFloat(f64),
    /// 1/(2π) for a 16-bit integer in SDWA.
    Sdwa(f64),
    Modifier,
    Absolute,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::Bits32(value) => write!(f, "{} does not fit the 32 bits of a literal", hex(*value)),
            Unfit::Bits16(value) => write!(f, "{} does not fit 16 bits", hex(*value)),
            Unfit::Range(value, bits) => write!(f, "{value} is outside the range of a {bits}-bit float"),
            Unfit::LowHalf(value) => {
                write!(f, "{value} needs 64 bits, but a literal gives only the upper 32 of a 64-bit float")
            }
            Unfit::NoFloat(value) => {
                write!(f, "{value} is not an inline constant; write the operand's bits in hexadecimal")
            }
            Unfit::Sdwa(value) => {
                write!(f, "{value} is no constant of a 16-bit integer in SDWA; load its bits into a register")
            }
            Unfit::Modifier => f.write_str("a source modifier does not go with this constant here"),
            Unfit::Absolute => f.write_str("an absolute expression is wanted: its value must be known here"),
        }
    }
}

fn hex(value: i64) -> String {
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}{:#x}", value.unsigned_abs())
}

/// A number as a source operand.
pub(super) fn source(desc: &InstDesc, position: usize, number: Number) -> Result<Operand, Unfit> {
    let ty = desc.constant_type(position);
    match number {
        Number::Int(value) => int_source(desc, position, ty, value),
        Number::Float(value) => match float_source(desc, position, ty, value)? {
            Operand::Inline(inline) if !desc.spells_inline(position, inline) => Err(Unfit::Sdwa(value)),
            operand => Ok(operand),
        },
        Number::Later(..) => Err(Unfit::Absolute),
    }
}

/// The operand that an integer stands for; `None` if the operand does not accept it.
pub(crate) fn of_integer(desc: &InstDesc, position: usize, value: i64) -> Option<Operand> {
    let only = desc.operands.get(position).is_some_and(OperandDesc::is_literal);
    let read = if only { always } else { source };
    read(desc, position, Number::Int(value)).ok()
}

/// The operand that `lit(…)` around an integer stands for; `None` if the operand does not accept it.
pub(crate) fn of_literal(desc: &InstDesc, position: usize, value: i64) -> Option<Operand> {
    literal(desc, position, Number::Int(value)).ok()
}

/// The literal of an operand whose value is known only later; `None` if the operand does not accept one. 32-bit operands accept the address
/// of a symbol; LLVM 22 accepts it for 64-bit operands of scalar instructions only.
pub(super) fn later(desc: &InstDesc, position: usize) -> Option<Operand> {
    desc.operands.get(position).filter(|o| !o.is_literal())?;
    match desc.constant_type(position) {
        ConstType::B32 => Some(Operand::Literal(0)),
        ConstType::B64 if !desc.format.is_vop() && takes_long(desc, position) => Some(Operand::Literal64(0)),
        _ => None,
    }
}

/// The constant with source modifiers applied to it, for a form that has no source modifiers.
pub(super) fn folded(
    desc: &InstDesc,
    position: usize,
    number: Number,
    neg: bool,
    abs: bool,
) -> Result<Number, Unfit> {
    if !neg && !abs {
        return Ok(number);
    }
    // The number of bits of the constant, and the sign bit. In a pair, only the low half is changed, as in LLVM.
    let (bits, sign) = match desc.constant_type(position) {
        ConstType::F64 | ConstType::B64 => (64, 0),
        ConstType::I16 | ConstType::F16 | ConstType::Bf16 => (16, 0x8000),
        ConstType::PackedF16 | ConstType::PackedBf16 => (32, 0x8000),
        ConstType::B32 => (32, 0x8000_0000),
    };
    match (number, bits) {
        (Number::Float(value), _) => {
            let value = if abs { value.abs() } else { value };
            Ok(Number::Float(if neg { -value } else { value }))
        }
        (Number::Int(value), 16 | 32) => {
            let value = if bits == 16 { bits16(value)? & 0xffff } else { bits32(value)? };
            let value = if abs { value & !sign } else { value };
            Ok(Number::Int((if neg { value ^ sign } else { value }).into()))
        }
        _ => Err(Unfit::Modifier),
    }
}

/// True if the operand can be a 64-bit literal: its own, or that of another operand that is always a literal.
fn takes_long(desc: &InstDesc, position: usize) -> bool {
    let Some(slot) = desc.operands.get(position) else { return false };
    let shared = || desc.operands.iter().any(|other| other.kinds == OperandKinds::LITERAL64);
    slot.kinds.contains(OperandKinds::LITERAL64) || slot.kinds.contains(OperandKinds::INLINE_INT) && shared()
}

/// True if the literal of the operand is an f16.
fn takes_half(desc: &InstDesc, position: usize) -> bool {
    let kinds = desc.operands.get(position).map_or(OperandKinds::empty(), |slot| slot.kinds);
    desc.entry.has_half_floats() && kinds.contains(OperandKinds::LITERAL16)
}

/// True if the operand cannot be a 32-bit literal.
fn takes_long_alone(desc: &InstDesc, position: usize) -> bool {
    takes_long(desc, position) && !desc.operands[position].kinds.contains(OperandKinds::LITERAL)
}

/// The shorter of the literals that represent a number, as in LLVM 22. A 32-bit literal gives the upper half of a float, or the lower half
/// of a non-negative integer.
fn long(ty: ConstType, value: i64) -> Operand {
    match (ty, u32::try_from(value), i32::try_from(value)) {
        (ConstType::F64, Ok(bits), _) => Operand::Literal(bits),
        (ConstType::F64, _, Ok(bits)) => Operand::Literal(bits as u32),
        (ConstType::F64, ..) if value as u32 == 0 => Operand::Literal((value >> 32) as u32),
        (_, _, Ok(bits @ 0..)) => Operand::Literal(bits as u32),
        _ => Operand::Literal64(value as u64),
    }
}

fn int_source(desc: &InstDesc, position: usize, ty: ConstType, value: i64) -> Result<Operand, Unfit> {
    if let Ok(small @ -16..=64) = i8::try_from(value) {
        return Ok(Operand::Inline(Inline::Int(small)));
    }
    let bits = match ty {
        ConstType::I16 | ConstType::F16 | ConstType::Bf16 => bits16(value)?,
        ConstType::B64 | ConstType::F64 => match Inline::of_bits64(value as u64) {
            Some(inline) => return Ok(Operand::Inline(inline)),
            None if takes_long_alone(desc, position) => return always(desc, position, Number::Int(value)),
            None if takes_long(desc, position) => return Ok(long(ty, value)),
            // All 64 bits of a float whose lower half is zero: the literal gives the upper half.
            None if ty == ConstType::F64
                && desc.instruction_set().has_long_literals()
                && value as u32 == 0 =>
            {
                return Ok(Operand::Literal((value >> 32) as u32));
            }
            None => bits32(value)?,
        },
        _ => bits32(value)?,
    };
    let inline = match ty {
        ConstType::F16 | ConstType::Bf16 => inline_of_literal(ty, bits & 0xffff),
        ConstType::B64 | ConstType::I16 => None,
        _ => inline_of_literal(ty, bits),
    };
    let literal = if matches!(ty, ConstType::F16 | ConstType::Bf16) { bits & 0xffff } else { bits };
    Ok(inline.map_or(Operand::Literal(literal), Operand::Inline))
}

fn bits32(value: i64) -> Result<u32, Unfit> {
    let fits = (i64::from(i32::MIN)..=i64::from(u32::MAX)).contains(&value);
    if fits { Ok(value as u32) } else { Err(Unfit::Bits32(value)) }
}

/// A 16-bit value as the dword that assemblers emit: negative values are sign-extended.
fn bits16(value: i64) -> Result<u32, Unfit> {
    if (-0x8000..=0xffff).contains(&value) { Ok(value as u32) } else { Err(Unfit::Bits16(value)) }
}

fn float_source(desc: &InstDesc, position: usize, ty: ConstType, value: f64) -> Result<Operand, Unfit> {
    let bits = match ty {
        ConstType::F16 | ConstType::PackedF16 => f16_bits(value)?,
        ConstType::Bf16 | ConstType::PackedBf16 => bf16_bits(value)?,
        ConstType::B32 => match f32_bits(value)? {
            // The scalar compares of f16 have the inline constants of 32 bits, but their literals are f16.
            bits if Inline::of_bits32(bits).is_none() && takes_half(desc, position) => f16_bits(value)?,
            bits => bits,
        },
        ConstType::I16 => {
            let inline = Inline::of_bits32(f32_bits(value)?);
            return inline.map(Operand::Inline).ok_or(Unfit::NoFloat(value));
        }
        ConstType::B64 | ConstType::F64 => {
            return match (Inline::of_bits64(value.to_bits()), ty) {
                (Some(inline), _) => Ok(Operand::Inline(inline)),
                (None, ConstType::F64) => f64_literal(desc, position, value),
                (None, _) => Err(Unfit::NoFloat(value)),
            };
        }
    };
    Ok(inline_of_literal(ty, bits).map_or(Operand::Literal(bits), Operand::Inline))
}

/// Fails if the value overflows the narrower type, or underflows and loses bits.
fn in_range(value: f64, narrow: f64, smallest_normal: f64, bits: u8) -> Result<(), Unfit> {
    let overflow = narrow.is_infinite() && value.is_finite();
    let underflow = narrow != value && narrow.abs() < smallest_normal;
    if overflow || underflow { Err(Unfit::Range(value, bits)) } else { Ok(()) }
}

fn f32_bits(value: f64) -> Result<u32, Unfit> {
    let narrow = value as f32;
    in_range(value, narrow.into(), f32::MIN_POSITIVE.into(), 32)?;
    Ok(narrow.to_bits())
}

fn f16_bits(value: f64) -> Result<u32, Unfit> {
    let narrow = half::f16::from_f64(value);
    in_range(value, narrow.to_f64(), half::f16::MIN_POSITIVE.to_f64(), 16)?;
    Ok(narrow.to_bits().into())
}

fn bf16_bits(value: f64) -> Result<u32, Unfit> {
    // The hardware's bf16 value of 1/(2π) is truncated, where a conversion would round up. The canonical notation of that number denotes
    // the hardware's constant.
    if let Some((_, _, bits, _)) = INLINE_FLOATS.iter().find(|f| f.0.parse() == Ok(value)) {
        return Ok(bits >> 16);
    }
    let narrow = half::bf16::from_f64(value);
    in_range(value, narrow.to_f64(), half::bf16::MIN_POSITIVE.to_f64(), 16)?;
    Ok(narrow.to_bits().into())
}

/// A 32-bit literal is the upper half of a 64-bit float, so the lower half must be zero.
fn f64_literal(desc: &InstDesc, position: usize, value: f64) -> Result<Operand, Unfit> {
    let bits = value.to_bits();
    if takes_long(desc, position) && bits & 0xffff_ffff != 0 {
        Ok(Operand::Literal64(bits))
    } else if bits & 0xffff_ffff != 0 {
        Err(Unfit::LowHalf(value))
    } else {
        Ok(Operand::Literal((bits >> 32) as u32))
    }
}

/// The literal of an operand that accepts nothing else. If the operand is 64 bits wide, a value that fits into 32 bits gives the upper
/// half.
pub(super) fn always(desc: &InstDesc, position: usize, number: Number) -> Result<Operand, Unfit> {
    match number {
        Number::Int(value @ 0..=0xffff_ffff) if takes_long_alone(desc, position) => {
            Ok(Operand::Literal64((value as u64) << 32))
        }
        _ => literal(desc, position, number),
    }
}

/// A 64-bit literal.
fn long_literal(number: Number) -> Result<Operand, Unfit> {
    match number {
        Number::Int(value) => Ok(Operand::Literal64(value as u64)),
        Number::Float(value) => Ok(Operand::Literal64(value.to_bits())),
        Number::Later(..) => Err(Unfit::Absolute),
    }
}

/// The literal for a number, without considering inline constants.
pub(super) fn literal(desc: &InstDesc, position: usize, number: Number) -> Result<Operand, Unfit> {
    if takes_long(desc, position) {
        return long_literal(number);
    }
    // Each half of a dual instruction (VOPD) has a type of its own.
    let half_float = desc.entry.has_half_floats() && !desc.format.is_pair();
    let bits = match number {
        Number::Int(value) if half_float => bits16(value)?,
        Number::Int(value) => bits32(value)?,
        Number::Float(value) if half_float => f16_bits(value)?,
        Number::Float(value) => match desc.constant_type(position) {
            ConstType::F64 => return f64_literal(desc, position, value),
            ConstType::B64 | ConstType::I16 => return Err(Unfit::NoFloat(value)),
            ConstType::F16 | ConstType::PackedF16 if desc.format.is_pair() => f16_bits(value)?,
            ConstType::Bf16 | ConstType::PackedBf16 if desc.format.is_pair() => bf16_bits(value)?,
            _ if desc.format == gcn_isa::Format::Sopk => return Err(Unfit::NoFloat(value)),
            _ => f32_bits(value)?,
        },
        Number::Later(..) => return Err(Unfit::Absolute),
    };
    Ok(Operand::Literal(bits))
}
