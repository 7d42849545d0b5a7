//! How matrix instructions add products.

use std::fmt;
use std::str::FromStr;

/// How matrix instructions add products.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MatrixArithmetic {
    /// As the hardware does, where a model of it was validated on the hardware; [`fidelity()`](crate::fidelity()) says where. Otherwise
    /// as [`MatrixArithmetic::Chain`].
    #[default]
    Hardware,
    /// A chain of fused multiply-adds, for ascending k, starting from C: faster, but different from the hardware for
    /// formats of less than 32 bits.
    Chain,
}

impl MatrixArithmetic {
    /// `hardware` or `chain`.
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

/// A name that no arithmetic has; the message lists those that exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the arithmetics of matrix instructions are hardware and chain")]
pub struct UnknownMatrixArithmetic;
