//! The context of an instruction in a file: the symbols that the instruction's text may name.

use gcn_isa::Inst;
use smallvec::SmallVec;

use super::error::ParseFault;

/// Provides the values of the expressions in an instruction.
///
/// The instruction parser itself parses registers, keywords, calls such as `hwreg(…)` and numbers. Everything else that may be a number is
/// an expression; an implementation of this trait resolves the names in it.
pub trait Scope {
    /// The value of an expression such as `n`, `n*4+1`, `(end-start)/4`, `table@rel32@lo+4` or `.`. The text has no
    /// leading or trailing blanks.
    ///
    /// # Errors
    /// The byte offset in `expr`, and the problem there.
    fn value(&mut self, expr: &str) -> Result<ExprValue, (usize, String)>;

    /// True if a symbol called `name` has been defined. A word of the instruction grammar, such as `off` or `offset`, then denotes that
    /// symbol where an operand is required.
    fn defines(&self, name: &str) -> bool {
        let _ = name;
        false
    }
}

/// The value of an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExprValue {
    /// A number that is known now. It is treated like a literal number, so it may become an inline constant.
    Known(i64),
    /// A number that is known only after layout; the scope has numbered the expression. As a branch target it becomes
    /// [`Operand::Label`](gcn_isa::Operand::Label) with this number; as a literal it becomes a literal with a [`Fixup`]; anywhere
    /// else it is an error.
    Later(u32),
}

/// An instruction, and the literals whose values are known later.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedInst {
    /// The instruction.
    pub inst: Inst,
    /// The literals that must be filled in. Most instructions have none.
    pub fixups: SmallVec<[Fixup; 1]>,
    /// The machine code. The distance of a branch to a label is 0, and so is a literal that a fixup fills in.
    pub code: SmallVec<[u8; 16]>,
}

/// A literal operand that is 0 until its expression has a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fixup {
    /// The index of the operand.
    pub operand: u8,
    /// The number that [`ExprValue::Later`] contained.
    pub expr: u32,
}

/// The error for a text that is not an instruction: the bytes that cause the error, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{fault}")]
pub struct TextError {
    /// The byte offset of the first offending byte.
    pub at: usize,
    /// The number of offending bytes; may be 0 if something is missing.
    pub len: usize,
    /// The problem.
    #[source]
    pub fault: ParseFault,
}
