//! The context of an instruction in a file: symbols, whose values the instruction's text may name.

use gcn_isa::Inst;
use smallvec::SmallVec;

use super::error::ParseFault;

/// Gives the expressions of an instruction their values.
///
/// The instruction parser reads registers, keywords, calls such as `hwreg(…)` and numbers itself. Everything
/// else that may be a number is an expression, and the implementor of this trait gives the names in it their
/// meaning.
pub trait Scope {
    /// The value of an expression such as `n`, `n*4+1`, `(end-start)/4`, `table@rel32@lo+4` or `.`. The text
    /// has no blanks at its ends.
    ///
    /// # Errors
    /// The byte offset in `expr` and what is wrong there.
    fn value(&mut self, expr: &str) -> Result<ExprValue, (usize, String)>;

    /// True if `name` is the name of a symbol by now. Words of the instruction grammar, such as `off` and `offset`, mean
    /// that symbol where an operand must stand.
    fn defines(&self, name: &str) -> bool {
        let _ = name;
        false
    }
}

/// The value of an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExprValue {
    /// A number now: treated exactly like a written number, so that it may become an inline constant.
    Known(i64),
    /// A number only when the program is laid out; the scope's own number for the expression. Where a branch
    /// target stands it becomes [`Operand::Label`](gcn_isa::Operand::Label) with this number, where a 32-bit
    /// literal may stand it becomes a literal with a [`Fixup`], anywhere else it is an error.
    Later(u32),
}

/// An instruction, and the literals whose values come later.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedInst {
    /// The instruction.
    pub inst: Inst,
    /// Its open literals. Most instructions have none.
    pub fixups: SmallVec<[Fixup; 1]>,
    /// Its machine code. The distance of a branch to a label is 0 in it, and so is a literal that a fixup
    /// fills.
    pub code: SmallVec<[u8; 16]>,
}

/// A literal operand that is 0 until its expression has a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fixup {
    /// Index of the operand.
    pub operand: u8,
    /// The number that [`ExprValue::Later`] gave.
    pub expr: u32,
}

/// Text that is not an instruction: which bytes of it, and what is wrong with them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{fault}")]
pub struct TextError {
    /// Byte offset of the first offending byte.
    pub at: usize,
    /// Number of offending bytes; may be 0 where something is missing.
    pub len: usize,
    /// The problem.
    #[source]
    pub fault: ParseFault,
}
