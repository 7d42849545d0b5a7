//! Locations in a function, for errors and reports.

use std::fmt;

use gcn_isa::program::SourceLoc;

/// An instruction of the function, with the nearest known source location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InstPlace {
    /// The block's number.
    pub block: usize,
    /// The instruction's index in the block.
    pub inst: usize,
    /// The source location of the instruction or, if it has none, of one near it in the block.
    pub loc: Option<SourceLoc>,
}

impl fmt::Display for InstPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.loc {
            Some(loc) => write!(f, "{loc} (block {}, instruction {})", self.block, self.inst),
            None => write!(f, "block {}, instruction {}", self.block, self.inst),
        }
    }
}
