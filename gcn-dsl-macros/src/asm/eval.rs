//! Evaluates constant expressions, which consist of constants' names, numbers, `+`, `-`, `*` and parentheses.

/// The value of the expression `text`; if it contains an error, the error's byte offset and kind.
pub(crate) fn value(text: &str, constants: &[(String, i64)]) -> Result<i64, (usize, Wrong)> {
    let mut reader = Reader { text, at: 0, constants, depth: 0 };
    let value = reader.sum()?;
    match reader.peek() {
        None => Ok(value),
        Some(_) => Err((reader.at, Wrong::Form)),
    }
}

/// The kinds of errors in an expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Wrong {
    /// An undefined name.
    Name(String),
    /// A syntax error.
    Form,
    /// The value does not fit 64 bits.
    TooLarge,
}

/// The maximum nesting depth of parentheses; each level is a recursive call.
const MOST_DEPTH: usize = 64;

struct Reader<'t> {
    text: &'t str,
    at: usize,
    constants: &'t [(String, i64)],
    depth: usize,
}

type Read = Result<i64, (usize, Wrong)>;

impl Reader<'_> {
    fn peek(&mut self) -> Option<char> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        self.at += rest.len() - rest.trim_start().len();
        rest.trim_start().chars().next()
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn sum(&mut self) -> Read {
        let mut value = self.product()?;
        loop {
            let at = self.at;
            let sum = if self.eat('+') {
                value.checked_add(self.product()?)
            } else if self.eat('-') {
                value.checked_sub(self.product()?)
            } else {
                return Ok(value);
            };
            value = sum.ok_or((at, Wrong::TooLarge))?;
        }
    }

    fn product(&mut self) -> Read {
        let mut value = self.factor()?;
        while self.eat('*') {
            let at = self.at;
            value = value.checked_mul(self.factor()?).ok_or((at, Wrong::TooLarge))?;
        }
        Ok(value)
    }

    fn factor(&mut self) -> Read {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err((self.at, Wrong::Form));
        }
        let at = self.at;
        let value = if self.eat('-') {
            self.factor()?.checked_neg().ok_or((at, Wrong::TooLarge))
        } else if self.eat('(') {
            let value = self.sum()?;
            if self.eat(')') { Ok(value) } else { Err((self.at, Wrong::Form)) }
        } else {
            self.word()
        };
        self.depth -= 1;
        value
    }

    fn word(&mut self) -> Read {
        self.peek();
        let at = self.at;
        let rest = self.text.get(at..).unwrap_or_default();
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '@');
        let word = rest.split(|c| !is_name(c)).next().unwrap_or_default();
        self.at += word.len();
        if word.is_empty() {
            return Err((at, Wrong::Form));
        }
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            let number = match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
                Some(digits) => i64::from_str_radix(digits, 16),
                None => word.parse(),
            };
            return number.map_err(|_| (at, Wrong::Form));
        }
        let constant = self.constants.iter().find(|c| c.0 == word);
        constant.map(|c| c.1).ok_or_else(|| (at, Wrong::Name(word.to_owned())))
    }
}
