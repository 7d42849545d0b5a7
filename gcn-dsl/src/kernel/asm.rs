//! Errors of kernels whose body is assembly.

use gcn_emit::text::ParseError;
use gcn_isa::Target;

/// An operation that an [`AsmProgram`](crate::AsmProgram) does not support.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AsmError {
    /// The assembly is written for other targets.
    #[error("this assembly is not written for {target}: its targets are {listed}")]
    Target {
        /// The target asked for.
        target: Target,
        /// The targets that the macro call names.
        listed: String,
    },
    /// The position is beyond the end of the program into which the assembly is spliced.
    #[error("there is no line {at} in a program of {lines} lines; give a place from 0 to {lines}")]
    Place {
        /// The place.
        at: usize,
        /// Lines of the program.
        lines: usize,
    },
    /// The waves are to have another size than the assembly is written for.
    #[error(
        "this assembly is for waves of {says} lanes, not {asked}; write it for those with `wave = {asked}` or `#[wave({asked})]`"
    )]
    Wave {
        /// Lanes of a wave that the assembly is written for.
        says: u32,
        /// Lanes asked for.
        asked: u32,
    },
    /// The output of the macro cannot be parsed: it comes from a different version than this crate.
    #[error("the assembly cannot be read, so gcn-dsl and gcn-dsl-macros are of different versions: {0}")]
    Version(#[source] ParseError),
}
