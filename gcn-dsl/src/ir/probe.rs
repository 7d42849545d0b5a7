//! A kernel's debug information: values to show, and the meanings of traps.

use gcn_isa::program::SourceLoc;

use super::Type;
use super::named::Named;

/// The literal of the first probe; the others follow. The simulator recognises the instruction of a probe, `x ^ (FIRST
/// + number)`, by this literal.
pub const FIRST: u32 = 0xdb60_0000;

/// The reason why a value is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// A `dbg!` in the kernel.
    Shown,
    /// The value is an index that is out of bounds.
    Index,
    /// The value is the length with which an index was compared.
    Length,
}

/// A dword of a value to show, for `dbg!` or for a failed bounds check.
#[derive(Clone, PartialEq, Debug)]
pub struct Probe {
    /// The expression in the source.
    pub text: &'static str,
    /// The reason why it is shown.
    pub role: Role,
    /// The number of the scalar, if the value is an aggregate.
    pub leaf: Option<usize>,
    /// The number of the dword in the value.
    pub dword: u8,
    /// The value's type.
    pub ty: Type,
    /// The location in the user's source.
    pub loc: SourceLoc,
}

/// All debug information of a kernel.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Debug {
    /// Values to show.
    pub probes: Vec<Probe>,
    /// For traps: the location, and what the trap means.
    pub notes: Vec<(SourceLoc, String)>,
    /// Indices of the device into values in registers.
    pub indices: Vec<SourceLoc>,
    /// Names of values, if debug information is wanted.
    pub names: Vec<Named>,
}
