//! An operator-precedence parser that translates expressions into postfix order.
//!
//! Neither parsing nor evaluation is recursive, so nesting needs no stack. Subexpressions of plain numbers are folded
//! during parsing. Operators, their precedence and their results are LLVM's: comparisons give -1; `&&`, `||` and `!`
//! give 1; `>>` shifts zeros in; `a!b` is `a|~b`.

use super::Assembler;
use super::args::{Args, escape, is_name};
use super::expr::{Expr, Item};
use super::fault::{Fault, Located, Result};
use super::function::Function;
use super::operator::{BINARY, Binary, Unary};
use super::span::Span;
use super::symbols::Def;
use crate::object::RelocationKind;

/// An operator that waits for its right operand, or an open parenthesis.
#[derive(Clone, Copy, Debug)]
enum Pending {
    Unary(Unary),
    Binary(Binary, u8, Span),
    Paren,
    Call(Function, u32, Span),
}

/// The stacks of the parser, which are kept between expressions to reuse their memory.
#[derive(Default)]
pub(super) struct Stacks {
    /// The output: the expression so far, in postfix order.
    output: Vec<Item>,
    pending: Vec<Pending>,
}

impl<'s> Assembler<'s> {
    /// Adds the symbols of an expression to the order of the symbol table.
    pub fn register(&mut self, expr: Expr) {
        match expr {
            Expr::Const(_) => {}
            Expr::Symbol(sym) => self.symbols.register(sym),
            Expr::Items { start, count } => {
                for item in self.exprs.items(start, count) {
                    if let Item::Symbol(sym) = item {
                        self.symbols.register(*sym);
                    }
                }
            }
        }
    }

    /// Parses an expression.
    pub fn expr(&mut self, args: &mut Args<'s>) -> Result<Expr> {
        let mut stacks = std::mem::take(&mut self.expr_stacks);
        stacks.output.clear();
        stacks.pending.clear();
        let Stacks { output, pending } = &mut stacks;
        let read = ExprParser { asm: self, output, pending, open: 0, calls: 0 }.read(args);
        let expr = read.map(|()| self.exprs.store(&stacks.output));
        self.expr_stacks = stacks;
        expr
    }
}

struct ExprParser<'a, 's> {
    asm: &'a mut Assembler<'s>,
    output: &'a mut Vec<Item>,
    pending: &'a mut Vec<Pending>,
    /// The number of open parentheses, including those of calls.
    open: u32,
    /// The number of open calls.
    calls: u32,
}

impl<'s> ExprParser<'_, 's> {
    fn read(&mut self, args: &mut Args<'s>) -> Result<()> {
        loop {
            self.operand(args)?;
            if !self.behind_operand(args)? {
                return Ok(());
            }
        }
    }

    /// Parses prefix operators, opening parentheses and one value.
    fn operand(&mut self, args: &mut Args<'s>) -> Result<()> {
        loop {
            let Some(byte) = args.peek() else { return Err(args.expected("an expression")) };
            let unary = match byte {
                b'+' => Some(Unary::Plus),
                b'-' => Some(Unary::Minus),
                b'~' => Some(Unary::Not),
                b'!' => Some(Unary::LogicalNot),
                _ => None,
            };
            if let Some(unary) = unary {
                args.skip(1);
                self.pending.push(Pending::Unary(unary));
            } else if args.eat(b'(') {
                self.pending.push(Pending::Paren);
                self.open += 1;
            } else if byte.is_ascii_digit() {
                let item = self.asm.number(args)?;
                self.output.push(item);
                return Ok(());
            } else if byte == b'\'' {
                self.output.push(Item::Const(character(args)?));
                return Ok(());
            } else if byte == b'"' || is_name(byte) {
                if self.symbol(args)? {
                    return Ok(());
                }
            } else {
                return Err(args.expected("an expression"));
            }
        }
    }

    /// Parses a symbol with its specifier, or the start of a call. Returns false for a call, because an operand must follow.
    fn symbol(&mut self, args: &mut Args<'s>) -> Result<bool> {
        let at = args.position();
        let quoted = args.peek() == Some(b'"');
        let name = if quoted { args.raw_string()? } else { args.take_while(|b| is_name(b) && b != b'@') };
        if !quoted
            && args.peek() == Some(b'(')
            && let Some(function) = Function::named(name)
        {
            let span = args.span_from(at);
            args.skip(1);
            self.pending.push(Pending::Call(function, 1, span));
            (self.open, self.calls) = (self.open + 1, self.calls + 1);
            return Ok(false);
        }
        if name.is_empty() {
            return Err(args.expected("an expression"));
        }
        let span = args.span_from(at);
        let item =
            if name == "." && !quoted { Item::Here(self.asm.here()) } else { self.asm.reference(name, span) };
        self.output.push(item);
        self.specifier(args)?;
        Ok(true)
    }

    /// Parses `@rel32@lo` directly after a symbol or a parenthesis.
    fn specifier(&mut self, args: &mut Args<'s>) -> Result<()> {
        if args.look(0) != Some(b'@') {
            return Ok(());
        }
        args.skip(1);
        let at = args.position();
        let name = args.take_while(|b| b.is_ascii_alphanumeric() || b == b'@');
        let Some(specifier) = RelocationKind::specified(name) else {
            return Err(Located::new(args.span_from(at), Fault::Specifier(name.to_owned())));
        };
        self.output.push(Item::Specifier(specifier));
        Ok(())
    }

    /// Parses what follows an operand: closing parentheses, then an operator or a comma. Returns false at the end of the expression.
    fn behind_operand(&mut self, args: &mut Args<'s>) -> Result<bool> {
        loop {
            let next = args.peek();
            if next == Some(b')') && self.open > 0 {
                args.skip(1);
                self.close()?;
                self.specifier(args)?;
                continue;
            }
            if next == Some(b',') && self.comma()? {
                args.skip(1);
                return Ok(true);
            }
            let at = args.position();
            let Some((text, operator, precedence)) = operator(args) else { break };
            args.skip(text.len());
            let span = args.span_from(at);
            self.apply_down_to(precedence)?;
            self.pending.push(Pending::Binary(operator, precedence, span));
            return Ok(true);
        }
        self.apply_down_to(0)?;
        if self.pending.is_empty() { Ok(false) } else { Err(args.expected("`)`")) }
    }

    /// Handles a comma inside a call; returns false if there is no open call.
    fn comma(&mut self) -> Result<bool> {
        if self.calls == 0 {
            return Ok(false);
        }
        self.apply_down_to(0)?;
        match self.pending.last_mut() {
            Some(Pending::Call(_, count, _)) => {
                *count += 1;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn close(&mut self) -> Result<()> {
        self.apply_down_to(0)?;
        self.open -= 1;
        if let Some(Pending::Call(function, count, span)) = self.pending.pop() {
            self.calls -= 1;
            function.check_count(count).map_err(|fault| Located::new(span, fault))?;
            self.call(function, count as usize, span)?;
        }
        Ok(())
    }

    fn call(&mut self, function: Function, count: usize, span: Span) -> Result<()> {
        let start = self.output.len() - count.min(self.output.len());
        let numbers = self.output.get(start..).unwrap_or_default().iter();
        let numbers: Option<smallvec::SmallVec<[i64; 8]>> = numbers.map(Item::number).collect();
        // The last `count` items are the arguments only if each of them is a number, since an argument that is an expression has several
        // items.
        let item = match numbers {
            Some(numbers) => {
                let value =
                    function.of(&numbers, self.asm.target()).map_err(|fault| Located::new(span, fault))?;
                self.output.truncate(start);
                Item::Const(value)
            }
            None => Item::Call(function, count as u32),
        };
        self.output.push(item);
        Ok(())
    }

    /// Reduces: moves pending operators of at least this precedence to the output.
    fn apply_down_to(&mut self, precedence: u8) -> Result<()> {
        loop {
            match self.pending.last().copied() {
                Some(Pending::Unary(unary)) => match self.output.last_mut() {
                    Some(Item::Const(value)) => *value = unary.of(*value),
                    _ => self.output.push(Item::Unary(unary)),
                },
                Some(Pending::Binary(binary, p, span)) if p >= precedence => self.binary(binary, span)?,
                _ => return Ok(()),
            }
            self.pending.pop();
        }
    }

    fn binary(&mut self, binary: Binary, span: Span) -> Result<()> {
        if let [.., Item::Const(a), Item::Const(b)] = self.output.as_slice() {
            let value = binary.of(*a, *b).map_err(|fault| Located::new(span, fault))?;
            self.output.truncate(self.output.len() - 2);
            self.output.push(Item::Const(value));
        } else {
            self.output.push(Item::Binary(binary));
        }
        Ok(())
    }
}

/// The operator that is next; `None` if none is.
fn operator(args: &mut Args<'_>) -> Option<(&'static str, Binary, u8)> {
    args.peek()?;
    BINARY
        .into_iter()
        .find(|(text, _, _)| text.bytes().enumerate().all(|(i, byte)| args.look(i) == Some(byte)))
}

/// Parses `'a'` or `'\n'`.
fn character(args: &mut Args<'_>) -> Result<i64> {
    let at = args.position();
    args.skip(1);
    let value = match (args.look(0), args.look(1)) {
        (Some(b'\\'), Some(byte)) => {
            args.skip(2);
            if byte == b'\'' { Some((byte, 1)) } else { escape(&[byte]) }.map(|(value, _)| value)
        }
        (Some(byte), _) => {
            args.skip(1);
            Some(byte)
        }
        (None, _) => None,
    };
    match value {
        Some(value) if args.look(0) == Some(b'\'') => {
            args.skip(1);
            Ok(i64::from(value))
        }
        _ => Err(Located::new(args.span_from(at), Fault::Expected("one character in single quotes"))),
    }
}

impl<'s> Assembler<'s> {
    /// Parses a number, or a numeric label such as `1b`.
    fn number(&mut self, args: &mut Args<'s>) -> Result<Item> {
        let at = args.position();
        let digits = args.take_while(|b| b.is_ascii_digit());
        let suffix = args.look(0);
        let ends = !args.look(1).is_some_and(is_name);
        if ends && matches!(suffix, Some(b'b' | b'f')) {
            args.skip(1);
            let span = args.span_from(at);
            let number = digits.parse::<u64>().map_err(|_| Located::new(span, Fault::NumberRange(64)))?;
            let sym = match suffix {
                Some(b'f') => Some(self.symbols.numeric_behind(number, span)),
                _ => self.symbols.numeric_before(number),
            };
            let missing = || Located::new(span, Fault::NoDirectional(format!("{number}:")));
            return sym.map(Item::Symbol).ok_or_else(missing);
        }
        let rest = args.take_while(is_name);
        let span = args.span_from(at);
        let (radix, digits) = match (digits, rest.as_bytes().first()) {
            ("0", Some(b'x' | b'X')) => (16, &rest[1..]),
            ("0", Some(b'b' | b'B')) => (2, &rest[1..]),
            (_, Some(_)) => return Err(Located::new(span, Fault::Number)),
            ("0", None) => (10, digits),
            _ if digits.starts_with('0') => (8, &digits[1..]),
            _ => (10, digits),
        };
        if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
            return Err(Located::new(span, Fault::Number));
        }
        let value =
            u64::from_str_radix(digits, radix).map_err(|_| Located::new(span, Fault::NumberRange(64)))?;
        Ok(Item::Const(value as i64))
    }

    /// The item for a symbol in an expression: the symbol's value if it is a known number, otherwise the symbol.
    fn reference(&mut self, name: &'s str, span: Span) -> Item {
        let sym = self.symbols.intern(name.into(), span);
        if let Some(value) = self.next_free(sym) {
            return Item::Const(value);
        }
        let symbol = self.symbols.get_mut(sym);
        symbol.flags.used = true;
        match symbol.def {
            Def::Value(Expr::Const(value)) => Item::Const(value),
            _ => Item::Symbol(sym),
        }
    }
}
