//! Numbers and expressions in operands and values. The parser determines where an expression ends; the scope provides the value.

use super::cursor::{Cursor, Located, Span, is_name_byte};
use super::error::ParseFault;
use super::number::{Number, unsigned};
use super::scope::{ExprValue, Scope};

impl Cursor<'_> {
    /// Parses an absolute number: a literal number, or an expression that has a value.
    pub fn integer(&mut self, scope: &mut dyn Scope) -> Result<i64, Located> {
        let start = self.clone();
        match self.number(scope)? {
            Number::Int(value) => Ok(value),
            Number::Float(_) | Number::Later(..) => {
                Err((self.span_from(start.at()), ParseFault::Expected("an absolute expression")))
            }
        }
    }

    /// Parses a number with its sign, or an expression.
    pub fn number(&mut self, scope: &mut dyn Scope) -> Result<Number, Located> {
        let start = self.clone();
        let negative = self.peek() == b'-';
        if negative {
            self.skip(1);
            self.blanks();
        }
        if (self.peek().is_ascii_digit() || self.peek() == b'.' && self.peek_second().is_ascii_digit())
            && let Some(number) = unsigned(self)
        {
            let end = self.clone();
            self.blanks();
            if !self.at_operator() && !is_name_byte(end.peek()) {
                *self = end;
                return Ok(match number {
                    Number::Int(value) if negative => Number::Int(value.wrapping_neg()),
                    Number::Float(value) if negative => Number::Float(-value),
                    _ => number,
                });
            }
        }
        *self = start;
        self.expression(scope)
    }

    /// Parses an expression, whose value the scope provides.
    pub fn expression(&mut self, scope: &mut dyn Scope) -> Result<Number, Located> {
        let at = self.at();
        self.skip_expression()?;
        let text = self.text_from(at);
        let value = scope.value(text).map_err(|(offset, problem)| {
            let from = (at + offset).min(self.at());
            (Span::new(from, self.at()), ParseFault::Expression(problem))
        })?;
        Ok(match value {
            ExprValue::Known(value) => Number::Int(value),
            ExprValue::Later(number) => Number::Later(number, text.bytes().all(is_name_byte)),
        })
    }

    /// True if a binary operator is next.
    fn at_operator(&self) -> bool {
        matches!(
            self.peek(),
            b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^' | b'<' | b'>' | b'=' | b'!'
        )
    }

    /// Skips the expression that is next, up to its last token.
    fn skip_expression(&mut self) -> Result<(), Located> {
        self.skip_term()?;
        loop {
            let end = self.clone();
            self.blanks();
            if !self.at_operator() {
                *self = end;
                return Ok(());
            }
            self.while_byte(|b| {
                matches!(
                    b,
                    b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^' | b'<' | b'>' | b'=' | b'!' | b'~'
                )
            });
            self.blanks();
            self.skip_term()?;
        }
    }

    /// Skips one operand of an expression.
    pub fn skip_term(&mut self) -> Result<(), Located> {
        self.while_byte(|b| matches!(b, b'+' | b'-' | b'~' | b'!' | b' ' | b'\t'));
        let at = self.at();
        match self.peek() {
            b'(' => self.skip_parentheses(at),
            b'"' => self.skip_quoted(b'"'),
            b'\'' => self.skip_quoted(b'\''),
            byte if is_name_byte(byte) => {
                self.while_byte(is_name_byte);
                let function = matches!(
                    self.text_from(at),
                    "max" | "or" | "extrasgprs" | "totalnumvgprs" | "alignto" | "occupancy" | "instprefsize"
                );
                if function && self.peek() == b'(' { self.skip_parentheses(at) } else { Ok(()) }
            }
            _ => Err(self.expected("an operand")),
        }
    }

    fn skip_parentheses(&mut self, at: usize) -> Result<(), Located> {
        let mut depth = 0usize;
        while !self.is_end() {
            match self.peek() {
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            self.skip(1);
            if depth == 0 {
                return Ok(());
            }
        }
        Err((Span::new(at, at + 1), ParseFault::Expected("a closing parenthesis")))
    }

    fn skip_quoted(&mut self, quote: u8) -> Result<(), Located> {
        let at = self.at();
        self.skip(1);
        while !self.is_end() {
            match self.peek() {
                b'\\' => self.skip(2),
                byte => {
                    self.skip(1);
                    if byte == quote {
                        return Ok(());
                    }
                }
            }
        }
        Err((Span::new(at, at + 1), ParseFault::Expected("a closing quote")))
    }
}
