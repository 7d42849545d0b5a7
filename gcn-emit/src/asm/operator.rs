//! Operators of expressions: their spelling, precedence and evaluation.

use super::fault::Fault;

/// A prefix operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unary {
    Plus,
    Minus,
    /// `~`
    Not,
    /// `!`
    LogicalNot,
}

/// An operator with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Binary {
    Or2,
    And2,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Add,
    Sub,
    Or,
    Xor,
    And,
    OrNot,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
}

/// Operators with their precedence. If one operator is a prefix of another, the longer one comes first.
pub(super) const BINARY: [(&str, Binary, u8); 20] = [
    ("||", Binary::Or2, 1),
    ("&&", Binary::And2, 2),
    ("==", Binary::Eq, 3),
    ("!=", Binary::Ne, 3),
    ("<>", Binary::Ne, 3),
    ("<<", Binary::Shl, 6),
    ("<=", Binary::Le, 3),
    ("<", Binary::Lt, 3),
    (">>", Binary::Shr, 6),
    (">=", Binary::Ge, 3),
    (">", Binary::Gt, 3),
    ("+", Binary::Add, 4),
    ("-", Binary::Sub, 4),
    ("|", Binary::Or, 5),
    ("^", Binary::Xor, 5),
    ("&", Binary::And, 5),
    ("!", Binary::OrNot, 5),
    ("*", Binary::Mul, 6),
    ("/", Binary::Div, 6),
    ("%", Binary::Rem, 6),
];

impl Unary {
    /// The result for a number.
    pub fn of(self, value: i64) -> i64 {
        match self {
            Unary::Plus => value,
            Unary::Minus => value.wrapping_neg(),
            Unary::Not => !value,
            Unary::LogicalNot => i64::from(value == 0),
        }
    }
}

impl Binary {
    /// The result for numbers.
    pub fn of(self, a: i64, b: i64) -> Result<i64, Fault> {
        let truth = |holds: bool| if holds { -1 } else { 0 };
        let amount = || u32::try_from(b).ok().filter(|n| *n < 64).ok_or(Fault::Shift(b));
        Ok(match self {
            Binary::Or2 => i64::from(a != 0 || b != 0),
            Binary::And2 => i64::from(a != 0 && b != 0),
            Binary::Eq => truth(a == b),
            Binary::Ne => truth(a != b),
            Binary::Lt => truth(a < b),
            Binary::Le => truth(a <= b),
            Binary::Gt => truth(a > b),
            Binary::Ge => truth(a >= b),
            Binary::Add => a.wrapping_add(b),
            Binary::Sub => a.wrapping_sub(b),
            Binary::Or => a | b,
            Binary::Xor => a ^ b,
            Binary::And => a & b,
            Binary::OrNot => a | !b,
            Binary::Mul => a.wrapping_mul(b),
            Binary::Div if b == 0 => return Err(Fault::DivisionByZero),
            Binary::Div => a.wrapping_div(b),
            Binary::Rem if b == 0 => return Err(Fault::DivisionByZero),
            Binary::Rem => a.wrapping_rem(b),
            Binary::Shl => ((a as u64) << amount()?) as i64,
            Binary::Shr => ((a as u64) >> amount()?) as i64,
        })
    }
}
