//! The operands, registers and memory of a row.

use bitflags::bitflags;

use super::msb::MsbField;
use crate::target::{Family, InstructionSet, TargetSet, WaveSize};

/// An operand slot of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperandDesc {
    /// The field name: `vdst`, `src0`, `sdata`, `srsrc` …
    pub name: &'static str,
    /// Whether the operand is read, written or both.
    pub access: Access,
    /// The values that the operand accepts.
    pub kinds: OperandKinds,
    /// The width in dwords; 0 if the operand is not a register. f8f6f4 operands whose width depends on `cbsz` or `blgp` have their largest
    /// width. The width is 1 if a half of a register is named ([`OperandKinds::HALF_VGPR`]).
    pub dwords: u8,
    /// The number of the last VGPR that the field can name: 255, or less if a bit of the field selects the half of a register.
    pub last_vgpr: u8,
    /// The named special registers that the operand accepts, separated by commas. 32-bit operands list them by their `_lo` half, and `ttmp`
    /// stands for the trap temporaries.
    pub specials: &'static str,
    /// The field of `s_set_vgpr_msb` that has the upper bits of the VGPR's number; see [`InstDesc::msb_field`](super::InstDesc::msb_field).
    pub msb: Option<MsbField>,
}

impl OperandDesc {
    /// True for a half of a VGPR, which the text or a bit of `op_sel` selects.
    pub fn is_half(&self) -> bool {
        self.kinds.contains(OperandKinds::HALF_VGPR)
    }

    /// True for a literal that is always present.
    pub fn is_literal(&self) -> bool {
        (OperandKinds::LITERAL | OperandKinds::LITERAL16 | OperandKinds::LITERAL64).contains(self.kinds)
    }

    /// True for an operand in a source field of a vector instruction. Such an operand has a bit in modifiers. The second register of a swap
    /// is in the field of source 0.
    pub fn is_source(&self) -> bool {
        self.name.starts_with("src") || self.name == "vdst1"
    }

    /// True for the data that a memory instruction transfers to or from memory.
    pub fn is_data(&self) -> bool {
        self.name.contains("data")
    }

    /// True if the operand accepts the special register `name` (as listed in the table: `vcc_lo`, `exec`, `m0`,
    /// `src_scc` …).
    pub fn allows_special(&self, name: &str) -> bool {
        self.specials.split(',').any(|s| s == name)
    }
}

/// The way in which an instruction accesses an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read.
    Read,
    /// Written.
    Write,
    /// Read and written.
    ReadWrite,
}

/// Two operands that must be in the same vector register file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SameFile {
    /// The index of one operand.
    pub a: u8,
    /// The index of the other operand.
    pub b: u8,
}

bitflags! {
    /// The values that an operand slot accepts.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct OperandKinds: u16 {
        /// VGPR.
        const VGPR = 1;
        /// AGPR.
        const AGPR = 2;
        /// SGPR.
        const SGPR = 4;
        /// Integer inline constant.
        const INLINE_INT = 8;
        /// Float inline constant.
        const INLINE_FLOAT = 16;
        /// 32-bit literal.
        const LITERAL = 32;
        /// Literal of which only 16 bits are used.
        const LITERAL16 = 64;
        /// A named special register; see [`OperandDesc::specials`].
        const SPECIAL = 128;
        /// Immediate field.
        const IMM = 256;
        /// The keyword `off`.
        const OFF = 512;
        /// A half of a VGPR that is named as such (`v5.h`).
        const HALF_VGPR = 1024;
        /// 64-bit literal.
        const LITERAL64 = 2048;
    }

    /// A set of wave sizes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct WaveSizes: u8 {
        /// 32 lanes.
        const W32 = 1;
        /// 64 lanes.
        const W64 = 2;
    }

    /// Implicit registers. EXEC and VCC are as wide as the wave.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct ImplicitRegs: u8 {
        /// EXEC.
        const EXEC = 1;
        /// VCC.
        const VCC = 2;
        /// SCC.
        const SCC = 4;
        /// M0.
        const M0 = 8;
        /// FLAT_SCRATCH.
        const FLAT_SCRATCH = 16;
        /// MODE.
        const MODE = 32;
    }
}

impl WaveSizes {
    /// True if the set contains this size.
    pub const fn has(self, wave: WaveSize) -> bool {
        self.contains(WaveSizes::of(wave))
    }

    /// The wave sizes in the set, the smallest first.
    pub fn sizes(self) -> impl Iterator<Item = WaveSize> {
        [WaveSize::W32, WaveSize::W64].into_iter().filter(move |wave| self.has(*wave))
    }

    /// The set with only this wave size.
    pub const fn of(wave: WaveSize) -> WaveSizes {
        match wave {
            WaveSize::W32 => WaveSizes::W32,
            WaveSize::W64 => WaveSizes::W64,
        }
    }

    /// The wave sizes that the instruction sets of a family support.
    pub(crate) fn of_family(family: Family) -> WaveSizes {
        let sets = TargetSet::of_family(family);
        sets.iter().flat_map(InstructionSet::wave_sizes).map(|wave| WaveSizes::of(*wave)).collect()
    }
}

/// The effect on the destination if the last bit of `op_sel`, or the text, selects a half of the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DstHalf {
    /// The result is written to the selected half, and the other half is preserved.
    Kept,
    /// The bit exists, but the result fills the register.
    Filled,
}

/// The number of memory bytes for each lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemBytes {
    /// The instruction does not transfer data, or the number is not fixed.
    None,
    /// This number of bytes.
    Bytes(u8),
    /// This number of components of the buffer's format.
    FormatComponents(u8),
}

macro_rules! operand_bits {
    ($($at_source:literal $field:ident: $doc:literal;)*) => {
        /// For a modifier with one bit for each operand, the operands that the modifier may change. Bit i stands for source i. In `op_sel`,
        /// the bit after those of the sources stands for the destination.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct OperandBits {
            $(#[doc = $doc] pub $field: u8,)*
        }

        impl OperandBits {
            /// The bits of the modifier with the name `name`. `at_source` is true if the modifier is written at the source instead of after
            /// the operands. `None` for modifiers without such bits.
            pub fn named(&mut self, name: &str, at_source: bool) -> Option<&mut u8> {
                match (name, at_source) {
                    $((stringify!($field), $at_source) => Some(&mut self.$field),)*
                    _ => None,
                }
            }

            /// Adds the bits of `more`.
            pub(super) fn extend(&mut self, more: OperandBits) {
                $(self.$field |= more.$field;)*
            }
        }
    };
}

operand_bits! {
    true neg: "Negation, written at the source.";
    true abs: "Absolute value, written at the source.";
    true sext: "Sign extension, written at the source.";
    false op_sel: "`op_sel`.";
    false op_sel_hi: "`op_sel_hi`.";
    false neg_lo: "`neg_lo`.";
    false neg_hi: "`neg_hi`.";
}
