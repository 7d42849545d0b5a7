//! Operands of a machine instruction.

use std::fmt;

use crate::reg::Reg;

/// A label of a [`Program`](crate::Program), by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Label(pub u32);

/// An operand of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// A register or register tuple.
    Reg(Reg),
    /// A constant that is part of the encoding, without a literal dword.
    Inline(Inline),
    /// A 32-bit literal that follows the instruction word.
    Literal(u32),
    /// A 64-bit literal that follows the instruction word (gfx12.5).
    Literal64(u64),
    /// An immediate field of the instruction (`simm16`, SMEM offset, `hwreg`, message), as the field's value.
    Imm(i64),
    /// A read-only hardware value.
    Special(SrcSpecial),
    /// A branch target inside the program.
    Label(Label),
    /// The keyword `off`: no register.
    Off,
}

/// An inline constant (source encodings 128 to 208 and 240 to 248).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Inline {
    /// An integer from -16 to 64.
    Int(i8),
    /// One of the float constants, by source encoding 240..=248:
    /// 0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0, 1/(2π).
    Float(u8),
}

/// The float inline constants from encoding 240 on: text, and bits as f16, f32 and f64.
pub const INLINE_FLOATS: [(&str, u16, u32, u64); 9] = [
    ("0.5", 0x3800, 0x3f00_0000, 0x3fe0_0000_0000_0000),
    ("-0.5", 0xb800, 0xbf00_0000, 0xbfe0_0000_0000_0000),
    ("1.0", 0x3c00, 0x3f80_0000, 0x3ff0_0000_0000_0000),
    ("-1.0", 0xbc00, 0xbf80_0000, 0xbff0_0000_0000_0000),
    ("2.0", 0x4000, 0x4000_0000, 0x4000_0000_0000_0000),
    ("-2.0", 0xc000, 0xc000_0000, 0xc000_0000_0000_0000),
    ("4.0", 0x4400, 0x4080_0000, 0x4010_0000_0000_0000),
    ("-4.0", 0xc400, 0xc080_0000, 0xc010_0000_0000_0000),
    ("0.15915494", 0x3118, 0x3e22_f983, 0x3fc4_5f30_6dc9_c882),
];

impl Inline {
    /// 1/(2π).
    pub const INVERSE_TAU: Inline = Inline::Float(248);

    /// The inline constant with the source encoding `code`, if there is one.
    pub fn from_code(code: u16) -> Option<Inline> {
        match code {
            128..=192 => Some(Inline::Int((code - 128) as i8)),
            193..=208 => Some(Inline::Int(-((code - 192) as i8))),
            240..=248 => Some(Inline::Float(code as u8)),
            _ => None,
        }
    }

    /// The source encoding.
    pub fn code(self) -> u16 {
        match self {
            Inline::Int(i) if i >= 0 => 128 + i as u16,
            Inline::Int(i) => 192 + i.unsigned_abs() as u16,
            Inline::Float(code) => code as u16,
        }
    }

    /// The value that a 32-bit operand reads.
    pub fn bits32(self) -> u32 {
        match self {
            Inline::Int(i) => i as i32 as u32,
            Inline::Float(code) => INLINE_FLOATS[(code - 240) as usize].2,
        }
    }

    /// The value that a 64-bit operand reads: a double, or a sign-extended integer.
    pub fn bits64(self) -> u64 {
        match self {
            Inline::Int(i) => i as i64 as u64,
            Inline::Float(code) => INLINE_FLOATS[(code - 240) as usize].3,
        }
    }

    /// The value that a 16-bit operand reads.
    pub fn bits16(self) -> u16 {
        match self {
            Inline::Int(i) => i as i16 as u16,
            Inline::Float(code) => INLINE_FLOATS[(code - 240) as usize].1,
        }
    }

    /// The inline constant that a 32-bit operand reads as these bits, if there is one.
    pub fn of_bits32(bits: u32) -> Option<Inline> {
        if (-16..=64).contains(&(bits as i32)) {
            return Some(Inline::Int(bits as i32 as i8));
        }
        INLINE_FLOATS.iter().position(|f| f.2 == bits).map(|i| Inline::Float(240 + i as u8))
    }

    /// The inline constant that a 64-bit operand reads as these bits, if there is one.
    pub fn of_bits64(bits: u64) -> Option<Inline> {
        if (-16..=64).contains(&(bits as i64)) {
            return Some(Inline::Int(bits as i64 as i8));
        }
        INLINE_FLOATS.iter().position(|f| f.3 == bits).map(|i| Inline::Float(240 + i as u8))
    }
}

impl fmt::Display for Inline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Inline::Int(i) => write!(f, "{i}"),
            Inline::Float(code) => f.write_str(INLINE_FLOATS[(code - 240) as usize].0),
        }
    }
}

/// A read-only hardware value that can be a source, with its encoding.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum SrcSpecial {
    /// `src_flat_scratch_base_lo`.
    FlatScratchBaseLo = 230,
    /// `src_flat_scratch_base_hi`.
    FlatScratchBaseHi = 231,
    /// `src_shared_base`.
    SharedBase = 235,
    /// `src_shared_limit`.
    SharedLimit = 236,
    /// `src_private_base`.
    PrivateBase = 237,
    /// `src_private_limit`.
    PrivateLimit = 238,
    /// `src_pops_exiting_wave_id`.
    PopsExitingWaveId = 239,
    /// `src_vccz`.
    Vccz = 251,
    /// `src_execz`.
    Execz = 252,
    /// `src_scc`.
    Scc = 253,
    /// `src_lds_direct`.
    LdsDirect = 254,
}

impl SrcSpecial {
    /// All special sources.
    pub const ALL: [SrcSpecial; 11] = [
        SrcSpecial::FlatScratchBaseLo,
        SrcSpecial::FlatScratchBaseHi,
        SrcSpecial::SharedBase,
        SrcSpecial::SharedLimit,
        SrcSpecial::PrivateBase,
        SrcSpecial::PrivateLimit,
        SrcSpecial::PopsExitingWaveId,
        SrcSpecial::Vccz,
        SrcSpecial::Execz,
        SrcSpecial::Scc,
        SrcSpecial::LdsDirect,
    ];

    /// The special source with the encoding `code`; `None` if there is none.
    pub fn from_code(code: u16) -> Option<SrcSpecial> {
        SrcSpecial::ALL.into_iter().find(|s| *s as u16 == code)
    }

    /// LLVM's spelling.
    pub fn name(self) -> &'static str {
        match self {
            SrcSpecial::FlatScratchBaseLo => "src_flat_scratch_base_lo",
            SrcSpecial::FlatScratchBaseHi => "src_flat_scratch_base_hi",
            SrcSpecial::SharedBase => "src_shared_base",
            SrcSpecial::SharedLimit => "src_shared_limit",
            SrcSpecial::PrivateBase => "src_private_base",
            SrcSpecial::PrivateLimit => "src_private_limit",
            SrcSpecial::PopsExitingWaveId => "src_pops_exiting_wave_id",
            SrcSpecial::Vccz => "src_vccz",
            SrcSpecial::Execz => "src_execz",
            SrcSpecial::Scc => "src_scc",
            SrcSpecial::LdsDirect => "src_lds_direct",
        }
    }
}

impl From<Reg> for Operand {
    fn from(reg: Reg) -> Operand {
        Operand::Reg(reg)
    }
}

impl From<Inline> for Operand {
    fn from(inline: Inline) -> Operand {
        Operand::Inline(inline)
    }
}

impl Operand {
    /// True if the value depends on more than registers, as for `lds_direct` and `pops_exiting_wave_id`.
    pub const fn is_opaque(&self) -> bool {
        matches!(self, Operand::Special(SrcSpecial::LdsDirect | SrcSpecial::PopsExitingWaveId))
    }

    /// The register, if the operand is a register; otherwise `None`.
    pub fn reg(self) -> Option<Reg> {
        match self {
            Operand::Reg(reg) => Some(reg),
            _ => None,
        }
    }

    /// The low 32 bits of a constant; `None` for other operands.
    pub fn constant32(self) -> Option<u32> {
        match self {
            Operand::Inline(inline) => Some(inline.bits32()),
            Operand::Literal(bits) => Some(bits),
            Operand::Literal64(bits) => Some(bits as u32),
            Operand::Imm(imm) => Some(imm as u32),
            Operand::Reg(_) | Operand::Special(_) | Operand::Label(_) | Operand::Off => None,
        }
    }

    /// The constant that a signed 64-bit operand reads; `None` for other operands.
    pub fn constant64(self) -> Option<i64> {
        match self {
            Operand::Inline(inline) => Some(inline.bits64() as i64),
            Operand::Literal(bits) => Some((bits as i32).into()),
            Operand::Literal64(bits) => Some(bits as i64),
            Operand::Reg(_) | Operand::Special(_) | Operand::Imm(_) | Operand::Label(_) | Operand::Off => {
                None
            }
        }
    }

    /// A 32-bit constant: an inline constant if there is one for it, otherwise a literal.
    pub fn const32(bits: u32) -> Operand {
        Inline::of_bits32(bits).map_or(Operand::Literal(bits), Operand::Inline)
    }
}
