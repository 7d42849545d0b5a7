//! Values, the cells that contain them, and the lanes in which they do.

use gcn_isa::RegFile;
use gcn_isa::reg::RegUnit;

/// A value that a cell may contain. Most are names, whose values change.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum Value {
    /// The current value of a dword of a virtual register; the number is that of the dword.
    Dword(u32),
    /// The current value of a machine register that the allocator does not assign, or the initial state of a register.
    Own(RegUnit),
    /// A constant.
    Const(u32),
    /// A special hardware value, by its source encoding. It is tracked only during the copy that reads it.
    Special(u8),
    /// A half of the initial EXEC.
    InitialExec(u8),
}

/// A location that contains values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum Cell {
    /// A register.
    Unit(RegUnit),
    /// A lane of a VGPR.
    Lane(RegUnit, u8),
    /// A dword of the scratch frame. Each lane has its own.
    Frame(u32),
    /// A slot of LDS. Each lane has its own dword in it.
    Lds(u32),
}

impl Cell {
    /// True if EXEC masks writes to the cell.
    pub fn is_masked(self) -> bool {
        match self {
            Cell::Unit(unit) => unit.reg().file != RegFile::Sgpr,
            Cell::Lane(..) => false,
            Cell::Frame(_) | Cell::Lds(_) => true,
        }
    }
}

/// The lanes in which a cell contains a value: a set of the two bits [`ACTIVE`] and [`INACTIVE`].
pub(super) type Lanes = u8;
/// The active lanes.
pub(super) const ACTIVE: Lanes = 1;
/// The inactive lanes in which the value is defined.
pub(super) const INACTIVE: Lanes = 2;
/// All lanes in which the value is defined.
pub(super) const ALL: Lanes = 3;
