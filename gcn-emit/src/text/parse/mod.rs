//! Text to instructions.
//!
//! [`names`] finds the table rows that a mnemonic may mean, [`grammar`] takes the rest of the line apart, and
//! [`resolve`] takes the first row that accepts everything and encodes. [`program`] adds labels, comments and
//! line numbers.

mod calls;
mod constant;
mod cursor;
mod error;
mod grammar;
mod modifier;
mod names;
mod number;
mod program;
mod register;
mod resolve;
mod scope;
mod words;

use gcn_isa::{Inst, Target};

pub use error::{ParseError, ParseFault};
pub use program::{SourceLine, parse_program, source_lines};
pub use scope::{ExprValue, Fixup, ParsedInst, Scope, TextError};
pub use words::modifier;

use cursor::{Cursor, Located};

/// Parses one instruction.
///
/// A mnemonic without `_e32`, `_e64`, `_dpp` or `_sdwa` takes the shortest encoding that holds what is
/// written.
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
pub fn parse_inst(text: &str, target: Target) -> Result<Inst, ParseError> {
    let parsed = statement(text, target, &mut NoScope);
    parsed.map(|p| p.inst).map_err(|(span, fault)| ParseError::at(text, span.at(), fault))
}

/// Parses one instruction of a file, whose symbols are in `scope`. The text holds no comment and no label
/// definition.
///
/// # Errors
/// The bytes that are at fault, and why.
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
pub fn parse_inst_in(text: &str, target: Target, scope: &mut dyn Scope) -> Result<ParsedInst, TextError> {
    statement(text, target, scope).map_err(|(span, fault)| TextError {
        at: span.at(),
        len: span.end().saturating_sub(span.at()),
        fault,
    })
}

fn statement(text: &str, target: Target, scope: &mut dyn Scope) -> Result<ParsedInst, Located> {
    let mut cursor = Cursor::new(text);
    cursor.blanks();
    let at = cursor.at();
    let mnemonic = cursor.name();
    if mnemonic.is_empty() {
        return Err((cursor.word_span(), ParseFault::Expected("an instruction")));
    }
    let span = cursor.span_from(at);
    let rows = names::rows(target, mnemonic).map_err(|fault| (span, fault))?;
    let Some(first) = rows.first() else { return Err((span, ParseFault::Expected("an instruction"))) };
    let mut raw = grammar::Raw::default();
    grammar::instruction(&mut cursor, first, &rows, target, scope, &mut raw)?;
    resolve::resolve(&raw, &rows, target, span, text)
}

/// No symbols: only an instruction that stands alone.
struct NoScope;

impl Scope for NoScope {
    fn value(&mut self, expr: &str) -> Result<ExprValue, (usize, String)> {
        Err((
            0,
            format!("`{expr}` has no meaning outside a program: a register, a number or a keyword is wanted"),
        ))
    }
}
