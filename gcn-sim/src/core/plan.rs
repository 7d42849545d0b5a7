//! How a vector instruction finds its operands and its result, as far as that is known when the code is loaded.

use crate::core::value::{Kind, Ty};
use crate::core::wave::Mode;

/// Where an operand of all lanes comes from.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum From {
    /// The register at the operand's slot.
    #[default]
    Lanes,
    /// The SGPR, or pair of SGPRs, with this number; all lanes have the same value.
    Scalar(u16),
    /// This value in all lanes.
    Same(u64),
}

/// An operand in a form in which groups of lanes can be read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ready {
    /// The first slot of the register file that contains the operand. A value that is the same in all lanes must be written to it. The
    /// vector code does that, because it writes a register in few instructions.
    pub slot: usize,
    pub from: From,
}

/// The types of an instruction's operands and of its result, and which of its sources the operands are, as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape(u32);

impl Shape {
    pub(crate) const fn of(kinds: [Kind; 4], places: [usize; 3]) -> Shape {
        let mut bits = 0;
        let mut i = 0;
        while i < 4 {
            bits = bits << 5 | (kinds[i].ty as u32) << 2 | kinds[i].words as u32;
            i += 1;
        }
        Shape(bits << 6 | (places[0] | places[1] << 2 | places[2] << 4) as u32)
    }
}

/// An operand whose signs are changed before the lanes are computed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signed {
    /// The number of registers of a lane, 1 or 2.
    pub words: u8,
    /// The operand as it is named.
    pub from: Ready,
    /// The slot for the changed operand.
    pub to: usize,
    /// The bits that stay, and then those that are inverted.
    pub keep: u64,
    pub invert: u64,
}

/// What is known of an instruction before its lanes are computed.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The shape, and the number of vector registers of the wave, for which this plan was made.
    pub shape: Shape,
    pub registers: usize,
    /// The settings of MODE with which this plan does not apply, as in [`Mode::flushes`].
    pub except: u8,
    pub operands: [Ready; 3],
    /// The operands with neg or abs.
    pub signed: Box<[Signed]>,
    /// The first slot of the result.
    pub target: usize,
    /// True if this is the destination; otherwise modifiers must still be applied to the result.
    pub in_place: bool,
}

/// The settings that flush operands of a type, as in [`Mode::flushes`].
pub(crate) const fn input_flushes(ty: Ty) -> u8 {
    match ty {
        Ty::F32 => Mode::FLUSH_IN_32,
        Ty::F16 | Ty::F64 => Mode::FLUSH_IN_16_64,
        _ => 0,
    }
}

/// The settings that flush results of a type, as in [`Mode::flushes`].
pub(crate) const fn output_flushes(ty: Ty) -> u8 {
    match ty {
        Ty::F32 => Mode::FLUSH_OUT_32,
        Ty::F16 | Ty::F64 => Mode::FLUSH_OUT_16_64,
        _ => 0,
    }
}
