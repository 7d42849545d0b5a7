//! Assembly text: printing and parsing.
//!
//! Printing gives LLVM's canonical text, which its disassembler prints for the same bytes. Parsing accepts that text and the usual variants
//! (mnemonics without an encoding suffix, other number bases, counters joined by `&`).

mod modifiers;
pub(crate) mod operand;
mod parse;
mod print;
pub(crate) mod source;
mod symbols;

pub use gcn_isa::table::ConstType;
#[cfg(feature = "tools")]
pub(crate) use modifiers::hint;
#[cfg(feature = "tools")]
pub(crate) use parse::nearest;
pub use parse::{
    ExprValue, Fixup, ParseError, ParseFault, ParsedInst, Scope, SourceLine, TextError, modifier, parse_inst,
    parse_inst_in, parse_program, source_lines,
};
pub(crate) use print::print_lines;
pub use print::{Comments, InstText, print_program};
pub use symbols::whole_hwreg;
