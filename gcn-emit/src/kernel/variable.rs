//! Variables of a kernel's source, for debug information.

use std::ops::Range;

use gcn_isa::program::SourceLoc;
use gcn_isa::reg::RegUnit;

/// A variable of the source.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub at: SourceLoc,
    /// Line and column in the same file up to which it is known.
    pub end: (u32, u32),
    /// Its type.
    pub ty: VariableType,
    /// Where it is before the instructions with these numbers, in ascending order: its parts, one after the other.
    pub locations: Vec<(Range<usize>, Vec<Piece>)>,
}

/// The type of a variable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum VariableType {
    /// A number of this name: `f32`, `bf16`, `i8`, `u64`, `bool`.
    Scalar(&'static str),
    /// A condition of each lane: 64 bits, one for each lane.
    Lanes,
    /// So many elements, one after the other.
    Array(Box<VariableType>, u64),
    /// Fields, one after the other.
    Struct(&'static str, Vec<(&'static str, VariableType)>),
}

/// A part of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its size.
    pub bytes: u8,
    /// Where it is, if that is known: in the low bytes of a register, or nowhere because it is constant.
    pub at: Option<PieceAt>,
}

/// Where a part of a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceAt {
    /// A register; of vector registers, the lane that is looked at.
    Register(RegUnit),
    /// Known bits.
    Constant(u64),
}
