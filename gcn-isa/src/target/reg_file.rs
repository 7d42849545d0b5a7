//! The files of registers that processors have.

/// A register file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RegFile {
    /// Scalar registers, named ones included, by encoding number 0..=127.
    Sgpr,
    /// Vector registers 0..=255.
    Vgpr,
    /// Accumulation vector registers (AccVGPR, AGPR) 0..=255.
    Agpr,
}
