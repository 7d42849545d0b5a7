//! Text to instructions.
//!
//! [`grammar`] splits a line into mnemonic, operands and modifiers without knowing any instruction. [`resolve`] tries
//! the table rows of that mnemonic, shortest encoding first, and takes the first that accepts everything and encodes.
//! [`program`] adds labels, comments and line numbers.

mod constant;
mod error;
mod grammar;
mod modifier;
mod names;
mod program;
mod resolve;

use gcn_isa::{Inst, Target};

pub use error::{ParseError, ParseFault};
pub use program::parse_program;

/// Parses one instruction.
///
/// A mnemonic without `_e32`, `_e64`, `_dpp` or `_sdwa` takes the shortest encoding that holds what is written.
///
/// ```
/// use gcn_emit::text::parse_inst;
/// use gcn_isa::Target;
///
/// let inst = parse_inst("v_add_f32 v0, |v1|, 0x3f800000", Target::GFX942).unwrap();
/// assert_eq!(inst.desc.printed, "v_add_f32_e64");
/// let error = parse_inst("v_ad_f32 v0, v1, v2", Target::GFX942).unwrap_err();
/// assert_eq!(error.to_string(), "1:1: gfx942 has no instruction `v_ad_f32`; the nearest name is `v_add_f32`");
/// ```
pub fn parse_inst(text: &str, target: Target) -> Result<Inst, ParseError> {
    let located = |(at, fault)| ParseError::at(text, at, fault);
    let raw = grammar::instruction(text).map_err(located)?;
    resolve::resolve(&raw, target, &mut |_| None).map_err(located)
}
