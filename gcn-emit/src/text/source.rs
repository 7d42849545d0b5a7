//! The number of a source operand, and the inline constants that its type has.

use gcn_isa::Inline;
use gcn_isa::operand::INLINE_FLOATS;
use gcn_isa::table::ConstType;

/// The inline constant that an operand of this type reads as `bits` (the 32 bits of a literal); `None` if there is none.
pub(crate) fn inline_of_literal(ty: ConstType, bits: u32) -> Option<Inline> {
    let float = |bits_of: fn(&(&str, u16, u32, u64)) -> u32, bits: u32| {
        let found = INLINE_FLOATS.iter().position(|f| bits_of(f) == bits);
        found.map(|i| Inline::Float(240 + i as u8))
    };
    let f16 = |bits| float(|f| f.1.into(), bits);
    let int = |value: i32| (-16..=64).contains(&value).then_some(Inline::Int(value as i8));
    match ty {
        ConstType::B32 => Inline::of_bits32(bits),
        ConstType::I16 => int(bits as i32),
        ConstType::F16 => int((bits as i16).into()).or_else(|| f16(bits & 0xffff)),
        ConstType::Bf16 => int((bits as i16).into()).or_else(|| float(|f| f.2 >> 16, bits & 0xffff)),
        ConstType::PackedF16 => int(bits as i32).or_else(|| f16(bits)),
        // bf16 is the upper half of an f32.
        ConstType::PackedBf16 => int(bits as i32).or_else(|| float(|f| f.2 >> 16, bits)),
        ConstType::B64 => Inline::of_bits64(bits.into()),
        ConstType::F64 => Inline::of_bits64(u64::from(bits) << 32),
    }
}

/// The number of a source operand, which is also its bit in the source modifiers; `None` for other operands.
pub(crate) fn source_number(name: &str) -> Option<u8> {
    // In a dual instruction, the sources of the second instruction are numbered after those of the first.
    let (name, before) = match name.strip_suffix('y') {
        Some(name) => (name, 3),
        None => (name.strip_suffix('x').unwrap_or(name), 0),
    };
    let number: u8 = name.strip_prefix('v').unwrap_or(name).strip_prefix("src")?.parse().ok()?;
    Some(before + number)
}
