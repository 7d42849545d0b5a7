//! Variables of a kernel's source, for debug information.

use std::ops::Range;

use gcn_isa::program::SourceLoc;
use gcn_isa::reg::RegUnit;

/// A variable of the source.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// The position of its declaration.
    pub at: SourceLoc,
    /// The line and column in the same file at which its scope ends.
    pub end: (u32, u32),
    /// Its type.
    pub ty: VariableType,
    /// The variable's location before the instructions with these indices, in ascending order. A location consists of pieces, which
    /// together form the variable.
    pub locations: Vec<(Range<usize>, Vec<Piece>)>,
}

/// The type of a variable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum VariableType {
    /// A number type with this name: `f32`, `bf16`, `i8`, `u64`, `bool`.
    Scalar(&'static str),
    /// A condition for each lane: 64 bits, one for each lane.
    Lanes,
    /// This number of elements, one after the other.
    Array(Box<VariableType>, u64),
    /// Fields, one after the other.
    Struct(&'static str, Vec<(&'static str, VariableType)>),
}

/// A part of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The size of the part in bytes.
    pub bytes: u8,
    /// The location of the part: the low bytes of a register, or a constant; `None` if it is unknown.
    pub at: Option<PieceAt>,
}

/// The location of a part of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceAt {
    /// A register. In a vector register, the lane that the debugger inspects.
    Register(RegUnit),
    /// Known bits.
    Constant(u64),
}
