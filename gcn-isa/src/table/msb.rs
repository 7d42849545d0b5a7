//! The fields of `s_set_vgpr_msb`, which have the upper bits of the numbers of VGPRs on gfx12.5.

/// A field of the operand of `s_set_vgpr_msb`: two bits, which become the upper bits of the numbers of certain VGPRs of the instructions
/// that follow.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MsbField {
    /// Bits 1:0: the first source; the address of a memory instruction.
    Src0,
    /// Bits 3:2: the second source; the data that a memory instruction stores.
    Src1,
    /// Bits 5:4: the third source; the second data of an LDS instruction.
    Src2,
    /// Bits 7:6: the destination; all data of a buffer instruction.
    Dst,
}

impl MsbField {
    /// Every field, the lowest first.
    pub const ALL: [MsbField; 4] = [MsbField::Src0, MsbField::Src1, MsbField::Src2, MsbField::Dst];

    /// The number of VGPRs that share the same upper bits.
    pub const REGISTERS: u16 = 256;

    /// The value of the field in an operand of `s_set_vgpr_msb`.
    pub const fn of(self, operand: u8) -> u8 {
        operand >> (2 * self as u8) & 3
    }

    /// The field of source `position`, counted from 0.
    pub(super) fn source(position: usize) -> MsbField {
        MsbField::ALL[position.min(2)]
    }
}

/// The field of an operand, as a declaration gives it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MsbOf {
    /// Always the same field.
    Field(MsbField),
    /// The field of the operand's position among the sources.
    Position,
}

impl MsbOf {
    /// The meaning of a word of a declaration; `None` for other words.
    pub(super) fn named(word: &str) -> Option<MsbOf> {
        Some(match word {
            "src0" => MsbOf::Field(MsbField::Src0),
            "src1" => MsbOf::Field(MsbField::Src1),
            "src2" => MsbOf::Field(MsbField::Src2),
            "dst" => MsbOf::Field(MsbField::Dst),
            "position" => MsbOf::Position,
            _ => return None,
        })
    }
}
