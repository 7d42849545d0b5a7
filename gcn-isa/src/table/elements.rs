//! Types of elements, which the names of instructions say: entries do not repeat them.

use super::{Entry, Format, InstDesc};

impl Entry {
    fn ends_in(&self, types: &[&str]) -> bool {
        types.iter().any(|t| self.mnemonic.ends_with(t))
    }

    /// True if operands have several narrow elements to a dword.
    pub fn is_packed(&self) -> bool {
        self.mnemonic.contains("_pk")
    }

    /// True if the name has a type of 16 bits.
    pub fn has_words(&self) -> bool {
        self.mnemonic.contains("16")
    }

    /// True if the last type in the name, that of the sources, is an integer of 16 bits.
    pub fn has_integer_words(&self) -> bool {
        self.ends_in(&["i16", "u16", "b16"])
    }

    /// True if the name has the type f64.
    pub fn has_doubles(&self) -> bool {
        self.mnemonic.contains("_f64")
    }

    /// True if the last type in the name, that of the sources, is an integer of 64 bits, or the name is that of a shift of 64 bits.
    pub fn has_long_integers(&self) -> bool {
        self.ends_in(&["_i64", "_u64", "rev_b64"])
    }

    /// True if the last type in the name, that of the sources, is a float of 16 bits.
    pub fn has_half_floats(&self) -> bool {
        self.ends_in(&["f16"])
    }
}

/// How an operand reads a constant, which decides what is an inline constant and how it is spelled.
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
    /// A 64-bit integer or bit pattern: literals are zero-extended.
    B64,
    /// A 64-bit float: a literal is the high half.
    F64,
}

impl InstDesc {
    /// The constant type of an operand: what LLVM's assembler takes each integer for, probed on every constant operand of the
    /// table with the bits of 1.0 in each type.
    ///
    /// The last type in the mnemonic is that of the sources, with the exceptions that stand here: operands that are shift
    /// counts, scales, class masks or accumulators, and pairs that are read as one dword.
    pub fn constant_type(&self, position: usize) -> ConstType {
        let Some(operand) = self.operands.get(position) else { return ConstType::B32 };
        let name = self.mnemonic;
        match operand.dwords {
            1 if self.format.is_vop() => dword_type(self, operand.name),
            // Packed 32-bit pairs read the same 32-bit constant twice.
            2 if name.starts_with("v_pk_") => ConstType::B32,
            2 if name.ends_with("f64") && !self.is_matrix() => ConstType::F64,
            2 => ConstType::B64,
            8 if name.contains("_f64_") => ConstType::B64,
            _ => ConstType::B32,
        }
    }
}

/// The type of a constant in a 32-bit operand of a vector instruction.
fn dword_type(desc: &InstDesc, slot: &str) -> ConstType {
    let name = desc.mnemonic;
    let last = name.rsplit('_').next().unwrap_or_default();
    let starts = |prefixes: &[&str]| prefixes.iter().any(|p| name.starts_with(p));
    match last {
        "f32" if name.contains("_mix_") => ConstType::F16,
        "f16" | "bf16" if desc.is_matrix() || starts(&["v_cmp_class", "v_cmpx_class"]) && slot == "src1" => {
            ConstType::B32
        }
        "f16" | "bf16" if starts(&["v_pk_", "v_dot2", "v_cvt_scalef32"]) => {
            let scale = slot != "src0" && name.starts_with("v_cvt_scalef32");
            let accumulator = slot == "src2" && name.starts_with("v_dot2");
            match last {
                _ if scale || accumulator || desc.format == Format::Vop2Sdwa => ConstType::B32,
                "f16" => ConstType::PackedF16,
                _ => ConstType::PackedBf16,
            }
        }
        "f16" if name.starts_with("v_ldexp") && slot == "src1" && desc.format == Format::Vop2Sdwa => {
            ConstType::I16
        }
        "bf16" if desc.format != Format::Vop1Sdwa => ConstType::Bf16,
        "f16" | "bf16" => ConstType::F16,
        "i16" | "u16" | "b16" if starts(&["v_pk_", "v_dot2", "v_sat_pk", "v_sad"]) => ConstType::B32,
        "i16" | "u16" if slot == "src2" && starts(&["v_mad_i32", "v_mad_u32"]) => ConstType::B32,
        "i16" | "u16" | "b16" => ConstType::I16,
        _ => ConstType::B32,
    }
}
