//! Numbers as operands: inline constant or literal, by what the operand reads.

use gcn_isa::operand::INLINE_FLOATS;
use gcn_isa::table::InstDesc;
use gcn_isa::{Inline, Operand};

use super::grammar::Number;
use crate::text::operand::{ConstType, const_type, inline_of_literal};

/// A constant source operand.
pub(super) fn source(desc: &InstDesc, position: usize, number: Number<'_>) -> Result<Operand, String> {
    let ty = const_type(desc, position);
    match number {
        Number::Int(value) => int_source(ty, value),
        Number::Float(text) => float_source(ty, text),
    }
}

fn int_source(ty: ConstType, value: i128) -> Result<Operand, String> {
    if let Ok(small @ -16..=64) = i8::try_from(value) {
        return Ok(Operand::Inline(Inline::Int(small)));
    }
    // A 64-bit pattern of an inline float, or a 32-bit literal that the operand extends.
    if matches!(ty, ConstType::B64 | ConstType::F64) {
        let inline = u64::try_from(value).ok().and_then(Inline::of_bits64);
        return inline.map_or_else(|| Ok(Operand::Literal(bits32(value)?)), |i| Ok(Operand::Inline(i)));
    }
    let bits = bits32(value)?;
    let bits = if ty == ConstType::F16 { low_half(bits)? } else { bits };
    if matches!(ty, ConstType::I16) {
        low_half(bits)?;
    }
    Ok(inline_of_literal(ty, bits).map_or(Operand::Literal(bits), Operand::Inline))
}

fn bits32(value: i128) -> Result<u32, String> {
    let bits = u32::try_from(value).ok().or_else(|| i32::try_from(value).ok().map(|v| v as u32));
    bits.ok_or_else(|| format!("{value:#x} does not fit the 32 bits of a literal"))
}

/// The low half of a literal that a 16-bit operand reads.
fn low_half(bits: u32) -> Result<u32, String> {
    match bits {
        0..=0xffff | 0xffff_8000.. => Ok(bits & 0xffff),
        _ => Err(format!("{bits:#x} does not fit 16 bits")),
    }
}

fn float_source(ty: ConstType, text: &str) -> Result<Operand, String> {
    let value: f64 = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
    // Inline floats have one name whatever the type makes of them; 1/(2π) has two, by precision.
    let wide = matches!(ty, ConstType::B64 | ConstType::F64);
    let same = |f: &(&str, u16, u32, u64)| {
        if wide { f64::from_bits(f.3) == value } else { f32_bits(text) == Ok(f.2) }
    };
    if let Some(index) = INLINE_FLOATS.iter().position(same) {
        return Ok(Operand::Inline(Inline::Float(240 + index as u8)));
    }
    let bits = match ty {
        ConstType::F16 | ConstType::PackedF16 => f16_bits(text)?,
        ConstType::F64 => return f64_literal(value),
        ConstType::B64 => return Err(format!("`{text}` is no inline constant of a 64-bit integer operand")),
        ConstType::PackedBf16 => half::bf16::from_f64(value).to_bits().into(),
        ConstType::I16 => {
            return Err(format!("`{text}` is no inline constant; write the operand's bits in hexadecimal"));
        }
        ConstType::B32 => f32_bits(text)?,
    };
    Ok(inline_of_literal(ty, bits).map_or(Operand::Literal(bits), Operand::Inline))
}

fn f32_bits(text: &str) -> Result<u32, String> {
    text.parse().map(f32::to_bits).map_err(|_| format!("`{text}` is not a number"))
}

fn f16_bits(text: &str) -> Result<u32, String> {
    let value: f64 = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
    Ok(half::f16::from_f64(value).to_bits().into())
}

/// A literal is the upper half of a 64-bit float, so the lower half has to be zero.
fn f64_literal(value: f64) -> Result<Operand, String> {
    let bits = value.to_bits();
    if bits & 0xffff_ffff != 0 {
        return Err(format!(
            "{value} needs 64 bits, but a literal gives only the upper 32 of a 64-bit float"
        ));
    }
    Ok(Operand::Literal((bits >> 32) as u32))
}

/// The dword of a number that is written as a literal whatever its value.
pub(super) fn literal(desc: &InstDesc, position: usize, number: Number<'_>) -> Result<Operand, String> {
    let half_float = desc.mnemonic.ends_with("f16");
    let bits = match number {
        Number::Int(value) => bits32(value)?,
        Number::Float(text) if half_float => f16_bits(text)?,
        Number::Float(text) if const_type(desc, position) == ConstType::F64 => {
            return f64_literal(text.parse().map_err(|_| format!("`{text}` is not a number"))?);
        }
        Number::Float(text) => f32_bits(text)?,
    };
    Ok(Operand::Literal(bits))
}
