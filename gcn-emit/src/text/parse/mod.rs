//! Parses instructions.
//!
//! [`names`] finds the table rows that a mnemonic may denote, [`grammar`] parses the rest of the line, and [`resolve`]
//! chooses the first row that accepts everything and encodes the instruction. [`program`] adds labels, comments and
//! line numbers.

mod calls;
mod constant;
mod context;
mod cursor;
mod error;
mod expression;
mod grammar;
mod implied;
mod modifier;
mod names;
mod number;
mod program;
mod register;
mod resolve;
mod scope;
mod syntax;
mod words;

use gcn_isa::Inst;
use gcn_isa::target::Subtarget;

#[cfg(feature = "tools")]
pub(crate) use error::nearest;
pub use error::{ParseError, ParseFault};
pub use program::{SourceLine, parse_program, source_lines};
pub use scope::{ExprValue, Fixup, ParsedInst, Scope, TextError};
pub use words::modifier;

pub(crate) use constant::{of_integer, of_literal};
use cursor::{Cursor, Located, Span};
use syntax::Raw;

/// Parses one instruction.
///
/// If the mnemonic has no `_e32`, `_e64`, `_dpp` or `_sdwa`, the shortest encoding that can represent the text is selected.
///
/// # Errors
/// The column, and what is wrong there.
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
pub fn parse_inst(text: &str, on: impl Into<Subtarget>) -> Result<Inst, ParseError> {
    let parsed = statement(text, on.into(), &mut NoScope);
    parsed.map(|p| p.inst).map_err(|(span, fault)| ParseError::at(text, span.at(), fault))
}

/// Parses one instruction of a file, whose symbols are in `scope`. The text contains no comment and no label
/// definition.
///
/// # Errors
/// The bytes that cause the error, and the reason.
///
/// ```
/// use gcn_emit::text::{ExprValue, Scope, parse_inst_in};
/// use gcn_isa::{Inline, Operand, Target};
///
/// struct Constants;
/// impl Scope for Constants {
///     fn value(&mut self, expr: &str) -> Result<ExprValue, (usize, String)> {
///         if expr == "seven" { Ok(ExprValue::Known(7)) } else { Err((0, format!("`{expr}` is unknown"))) }
///     }
/// }
///
/// let parsed = parse_inst_in("s_mov_b32 s0, seven", Target::GFX90A, &mut Constants).unwrap();
/// assert_eq!(parsed.inst.operands[1], Operand::Inline(Inline::Int(7)));
/// assert_eq!(parsed.code.as_slice(), [0x87, 0x00, 0x80, 0xbe]);
///
/// let error = parse_inst_in("s_mov_b32 s0, eight", Target::GFX90A, &mut Constants).unwrap_err();
/// assert_eq!((error.at, error.len), (14, 5));
/// assert_eq!(error.to_string(), "`eight` is unknown");
/// ```
pub fn parse_inst_in(
    text: &str,
    on: impl Into<Subtarget>,
    scope: &mut dyn Scope,
) -> Result<ParsedInst, TextError> {
    statement(text, on.into(), scope).map_err(|(span, fault)| TextError {
        at: span.at(),
        len: span.end().saturating_sub(span.at()),
        fault,
    })
}

fn statement(text: &str, on: Subtarget, scope: &mut dyn Scope) -> Result<ParsedInst, Located> {
    let mut cursor = Cursor::new(text);
    cursor.blanks();
    let at = cursor.at();
    let mnemonic = cursor.name();
    if mnemonic.is_empty() {
        return Err((cursor.word_span(), ParseFault::Expected("an instruction")));
    }
    let span = cursor.span_from(at);
    if let Some((first, second)) = text.split_once("::") {
        return pair(mnemonic, span, cursor, first, second, text, on, scope);
    }
    let rows = names::rows(on, mnemonic).map_err(|fault| (span, fault))?;
    let Some(first) = rows.first() else { return Err((span, ParseFault::Expected("an instruction"))) };
    let mut raw = Raw::default();
    grammar::instruction(&mut cursor, first, &rows, on, scope, &mut raw)?;
    resolve::resolve(&raw, &rows, on, span, text)
}

/// Parses VOPD: a pair of instructions separated by `::`, encoded as one.
#[expect(clippy::too_many_arguments, reason = "the parts of a statement that has been taken apart")]
fn pair(
    mnemonic: &str,
    span: Span,
    after_mnemonic: Cursor<'_>,
    first: &str,
    second: &str,
    text: &str,
    on: Subtarget,
    scope: &mut dyn Scope,
) -> Result<ParsedInst, Located> {
    let mut two = Cursor::new(text);
    two.skip(text.len() - second.len());
    two.blanks();
    let at = two.at();
    let other = two.name();
    let both = format!("{mnemonic} :: {other}");
    let rows = names::rows(on, &both).map_err(|fault| match names::rows(on, mnemonic) {
        // If an instruction cannot be half of any dual instruction, its error is reported, and not that the combination does not exist.
        Ok(_) => (two.span_from(at), fault),
        Err(_) => (span, fault),
    })?;
    let Some(row) = rows.first() else { return Err((span, ParseFault::Expected("an instruction"))) };
    let mut one = Cursor::new(first);
    one.skip(after_mnemonic.at());
    let mut raw = Raw::default();
    grammar::instruction(&mut one, row, &rows, on, scope, &mut raw)?;
    let halfway = raw.operands.len();
    if !rows.iter().any(|row| row.operand_index("vdsty") == Some(halfway)) {
        let want = row.operand_index("vdsty").unwrap_or_default();
        let operands = row.operands[..want].iter().map(|o| o.name).collect::<Vec<_>>().join(", ");
        return Err((
            span,
            ParseFault::OperandCount { mnemonic: row.printed, want, have: halfway, operands },
        ));
    }
    grammar::instruction(&mut two, row, &rows, on, scope, &mut raw)?;
    resolve::resolve(&raw, &rows, on, span, text)
}

/// A scope without symbols, for an instruction that is parsed on its own.
struct NoScope;

impl Scope for NoScope {
    fn value(&mut self, expr: &str) -> Result<ExprValue, (usize, String)> {
        Err((
            0,
            format!("`{expr}` has no meaning outside a program: a register, a number or a keyword is wanted"),
        ))
    }
}
