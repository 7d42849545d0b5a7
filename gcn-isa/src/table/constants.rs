//! The types of constants that entries specify.

/// The type in which an operand reads a constant. It determines the inline constants and their spelling.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConstType {
    /// 32 bits.
    B32,
    /// A 16-bit integer.
    I16,
    /// A 16-bit float.
    F16,
    /// A bf16.
    Bf16,
    /// Two 16-bit floats.
    PackedF16,
    /// Two bf16.
    PackedBf16,
    /// A 64-bit integer or bit pattern. A literal is zero-extended.
    B64,
    /// A 64-bit float. A literal is its high half.
    F64,
}

impl ConstType {
    /// The names used in entries.
    pub(super) const NAMES: [(&'static str, ConstType); 8] = [
        ("b32", ConstType::B32),
        ("i16", ConstType::I16),
        ("f16", ConstType::F16),
        ("bf16", ConstType::Bf16),
        ("pk_f16", ConstType::PackedF16),
        ("pk_bf16", ConstType::PackedBf16),
        ("b64", ConstType::B64),
        ("f64", ConstType::F64),
    ];
}

/// The type of constants at some operands of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Constants {
    /// True if this entry applies only to SDWA forms.
    pub sdwa: bool,
    /// The operand. It is empty if this entry applies to all operands.
    pub operand: &'static str,
    /// The type.
    pub ty: ConstType,
}
