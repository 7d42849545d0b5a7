//! Debugging information of a kernel: values to show, and the meanings of failed assertions.

use gcn_isa::program::SourceLoc;

use super::Type;
use super::named::Named;

/// Literal of the first probe; the others follow. A probe's instruction, `x ^ (FIRST + its number)`, is recognised by
/// this literal.
pub const FIRST: u32 = 0xdb60_0000;

/// Why a value is to be shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// `dbg!` asks for it.
    Shown,
    /// An index out of bounds.
    Index,
    /// The number of elements with which the index is compared.
    Length,
}

/// A dword of a value that `dbg!` or a failed check of an index shows.
#[derive(Clone, PartialEq, Debug)]
pub struct Probe {
    /// The expression.
    pub text: &'static str,
    /// Why it is shown.
    pub role: Role,
    /// Which value of an aggregate.
    pub leaf: Option<usize>,
    /// Which dword of the value.
    pub dword: u8,
    /// The value's type.
    pub ty: Type,
    /// The user's position.
    pub loc: SourceLoc,
}

/// All of a kernel.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Debug {
    /// Values to show.
    pub probes: Vec<Probe>,
    /// The meaning of a trap at a position.
    pub notes: Vec<(SourceLoc, String)>,
    /// Indices of the device into values in registers.
    pub indices: Vec<SourceLoc>,
    /// Names of values, if debug information is wanted.
    pub names: Vec<Named>,
}
