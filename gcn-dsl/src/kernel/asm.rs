//! Errors of kernels whose body is assembly.

use gcn_emit::text::ParseError;
use gcn_isa::Target;

/// The reason why an [`AsmProgram`](crate::AsmProgram) cannot be used as requested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AsmError {
    /// The assembly is not written for the requested target.
    #[error("this assembly is not written for {target}: its targets are {listed}")]
    Target {
        /// The requested target.
        target: Target,
        /// The targets that the macro call lists.
        listed: String,
    },
    /// The line before which the assembly should be inserted is beyond the end of the program.
    #[error("there is no line {at} in a program of {lines} lines; give a place from 0 to {lines}")]
    Place {
        /// The requested line.
        at: usize,
        /// Number of lines of the program.
        lines: usize,
    },
    /// The requested wave size differs from the one for which the assembly is written.
    #[error(
        "this assembly is for waves of {says} lanes, not {asked}; write it for those with `wave = {asked}` or `#[wave({asked})]`"
    )]
    Wave {
        /// The wave size of the assembly in lanes.
        says: u32,
        /// The requested wave size in lanes.
        asked: u32,
    },
    /// The macro's output cannot be parsed, because the macro crate has a different version.
    #[error("the assembly cannot be read, so gcn-dsl and gcn-dsl-macros are of different versions: {0}")]
    Version(#[source] ParseError),
}
