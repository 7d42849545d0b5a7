//! A kernel's debug information: values to show, the meanings of traps, and names of values.

use gcn_isa::program::SourceLoc;

use super::Type;
use super::named::Named;

/// The literal of the first probe; the others follow. The simulator recognises the instruction of a probe, `x ^ (FIRST
/// + number)`, by this literal.
pub const FIRST: u32 = 0xdb60_0000;

/// The reason why a value is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The user shows the value by a `dbg!` in the kernel.
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
    /// The index of the scalar, if the value is an aggregate; `None` otherwise.
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
    /// For each trap: its location in the source, and the text of what it means.
    pub notes: Vec<(SourceLoc, String)>,
    /// The source locations at which the device indexes values in registers.
    pub indices: Vec<SourceLoc>,
    /// Names of values, if debug information is wanted.
    pub names: Vec<Named>,
}
