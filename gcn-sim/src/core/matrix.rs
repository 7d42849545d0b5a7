//! The arithmetic of matrix instructions.

use std::fmt;
use std::str::FromStr;

/// How matrix instructions add products.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MatrixArithmetic {
    /// Bit-exactly as the hardware does, for instructions whose model was validated on hardware ([`fidelity()`](crate::fidelity()) lists
    /// them). For other instructions, as [`MatrixArithmetic::Chain`].
    #[default]
    Hardware,
    /// A chain of fused multiply-adds in ascending order of k, starting from C. This is faster, but for formats of less than 32 bits the
    /// results differ from the hardware's.
    Chain,
}

impl MatrixArithmetic {
    /// The name: `hardware` or `chain`.
    pub const fn name(self) -> &'static str {
        match self {
            MatrixArithmetic::Hardware => "hardware",
            MatrixArithmetic::Chain => "chain",
        }
    }
}

impl fmt::Display for MatrixArithmetic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for MatrixArithmetic {
    type Err = UnknownMatrixArithmetic;

    fn from_str(name: &str) -> Result<MatrixArithmetic, UnknownMatrixArithmetic> {
        let all = [MatrixArithmetic::Hardware, MatrixArithmetic::Chain];
        all.into_iter().find(|arithmetic| arithmetic.name() == name).ok_or(UnknownMatrixArithmetic)
    }
}

/// An unknown name of an arithmetic; the message lists the names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the arithmetics of matrix instructions are hardware and chain")]
pub struct UnknownMatrixArithmetic;
