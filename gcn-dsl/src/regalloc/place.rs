//! Places in a function, for errors and reports.

use std::fmt;

use gcn_isa::program::SourceLoc;

/// A place in the function: block and instruction number, and the nearest known source position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InstPlace {
    /// Block number.
    pub block: usize,
    /// Instruction number in the block.
    pub inst: usize,
    /// The user's source position of the instruction or, if it has none, of one near it in the block.
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
