//! Register files.

/// A register file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RegFile {
    /// Scalar registers, including named ones, by their encoding number 0..=127.
    Sgpr,
    /// Vector registers 0..=255.
    Vgpr,
    /// Accumulation vector registers (AccVGPR, AGPR) 0..=255.
    Agpr,
}
