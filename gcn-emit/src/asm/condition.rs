//! Conditional assembly: `.if` and its relatives, and the statements that they skip.

use super::Assembler;
use super::args::{Args, name_length};
use super::expr::{Expr, Item, Sym};
use super::fault::{Fault, Located, Result};
use super::source::line_end;
use super::span::Span;
use super::symbols::Def;

/// The role of a directive of conditional assembly.
#[derive(Clone, Copy)]
enum Kind {
    /// Begins a conditional part, which is active if the test succeeds.
    If(Test),
    ElseIf,
    Else,
    EndIf,
}

/// The test of a condition.
#[derive(Clone, Copy)]
enum Test {
    /// True if the predicate holds for an expression's value.
    Number(fn(i64) -> bool),
    /// Whether the argument is empty. The test succeeds if the answer equals this value.
    Blank(bool),
    /// Whether two texts are equal: the text up to a comma, and the text after it. The test succeeds if the answer equals this value.
    Text(bool),
    /// As [`Test::Text`], for two strings in quotes.
    Strings(bool),
    /// Whether a symbol is defined. The test succeeds if the answer equals this value.
    Defined(bool),
}

/// The directives of conditional assembly.
static DIRECTIVES: [(&str, Kind); 19] = [
    (".else", Kind::Else),
    (".elseif", Kind::ElseIf),
    (".endif", Kind::EndIf),
    (".if", Kind::If(Test::Number(|n| n != 0))),
    (".ifb", Kind::If(Test::Blank(true))),
    (".ifc", Kind::If(Test::Text(true))),
    (".ifdef", Kind::If(Test::Defined(true))),
    (".ifeq", Kind::If(Test::Number(|n| n == 0))),
    (".ifeqs", Kind::If(Test::Strings(true))),
    (".ifge", Kind::If(Test::Number(|n| n >= 0))),
    (".ifgt", Kind::If(Test::Number(|n| n > 0))),
    (".ifle", Kind::If(Test::Number(|n| n <= 0))),
    (".iflt", Kind::If(Test::Number(|n| n < 0))),
    (".ifnb", Kind::If(Test::Blank(false))),
    (".ifnc", Kind::If(Test::Text(false))),
    (".ifndef", Kind::If(Test::Defined(false))),
    (".ifne", Kind::If(Test::Number(|n| n != 0))),
    (".ifnes", Kind::If(Test::Strings(false))),
    (".ifnotdef", Kind::If(Test::Defined(false))),
];

fn kind(name: &str) -> Option<Kind> {
    let found = DIRECTIVES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, kind)| *kind)
}

/// An open condition.
struct Condition {
    /// The directive that opened the condition.
    span: Span,
    /// True if statements in the current branch are skipped.
    skips: bool,
    /// True if no further branch may be taken: one has been taken already, or the condition is inside a skipped part.
    met: bool,
    /// True after `.else`.
    last: bool,
}

/// The open conditions.
#[derive(Default)]
pub(super) struct Conditions {
    list: Vec<Condition>,
}

impl Conditions {
    /// The number of open conditions.
    pub fn open(&self) -> usize {
        self.list.len()
    }

    /// True if statements are skipped.
    pub fn skipping(&self) -> bool {
        self.list.last().is_some_and(|condition| condition.skips)
    }

    /// Closes all conditions except the first `count`. Returns the position of the first one that was closed. `None` if there was none to
    /// close.
    pub fn close_to(&mut self, count: usize) -> Option<Span> {
        let first = self.list.get(count).map(|condition| condition.span);
        self.list.truncate(count);
        first
    }

    fn begin(&mut self, span: Span, holds: bool) {
        let outer = self.skipping();
        self.list.push(Condition { span, skips: outer || !holds, met: outer || holds, last: false });
    }

    /// The condition to which an `.elseif` or `.else` belongs; `None` if no condition is open, or if its `.else` has already occurred.
    fn further(&mut self) -> Option<&mut Condition> {
        self.list.last_mut().filter(|condition| !condition.last)
    }
}

/// Parses a directive of conditional assembly.
pub(super) fn read<'s>(asm: &mut Assembler<'s>, args: &mut Args<'s>, name: &'static str) -> Result<()> {
    asm.expands = true;
    let span = args.statement();
    let missing = |before| Located::new(span, Fault::NoCondition { name, before });
    match kind(name) {
        None => Ok(()),
        Some(Kind::If(_)) if asm.conditions.skipping() => {
            asm.conditions.begin(span, false);
            Ok(())
        }
        Some(Kind::If(test)) => {
            let holds = asm.test(test, args);
            // After an error, the statements of the branch are parsed nevertheless, so that their errors are reported too.
            asm.conditions.begin(span, *holds.as_ref().unwrap_or(&true));
            holds.map(|_| ())
        }
        Some(Kind::ElseIf) => {
            let known = asm.conditions.further().ok_or_else(|| missing("`.if` or `.elseif` before it"))?;
            if known.met {
                known.skips = true;
                return Ok(());
            }
            let holds = asm.test(Test::Number(|n| n != 0), args)?;
            if let Some(condition) = asm.conditions.further() {
                (condition.skips, condition.met) = (!holds, holds);
            }
            Ok(())
        }
        Some(Kind::Else) => {
            args.end()?;
            let known = asm.conditions.further().ok_or_else(|| missing("`.if` or `.elseif` before it"))?;
            (known.skips, known.met, known.last) = (known.met, true, true);
            Ok(())
        }
        Some(Kind::EndIf) => {
            args.end()?;
            asm.conditions.list.pop().map(|_| ()).ok_or_else(|| missing("`.if` before it"))
        }
    }
}

impl<'s> Assembler<'s> {
    /// Skips a line. Returns false without skipping if the line has a directive of conditional assembly, which must be processed even in
    /// skipped parts.
    pub fn skip_line(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        let end = line_end(bytes, self.at);
        let line = self.text.get(self.at..end).unwrap_or_default().trim_ascii_start();
        let word = name_length(line.as_bytes());
        if line.starts_with('.') && kind(line.get(..word).unwrap_or_default()).is_some() {
            return false;
        }
        self.at = end + 1;
        true
    }

    fn test(&mut self, test: Test, args: &mut Args<'s>) -> Result<bool> {
        let holds = match test {
            Test::Number(compare) => compare(self.absolute(args)?),
            Test::Blank(wanted) => args.rest().is_empty() == wanted,
            Test::Text(wanted) => {
                let first = up_to_comma(args);
                args.comma()?;
                (first == args.rest().trim_ascii()) == wanted
            }
            Test::Strings(wanted) => {
                let first = args.raw_string()?;
                args.comma()?;
                (first == args.raw_string()?) == wanted
            }
            Test::Defined(wanted) => {
                let name = args.name()?;
                self.symbols.find(name).is_some_and(|sym| self.is_defined(sym)) == wanted
            }
        };
        args.end()?;
        Ok(holds)
    }

    /// True if a symbol has a value, or one that can be computed from symbols with values.
    fn is_defined(&self, sym: Sym) -> bool {
        let mut sym = sym;
        // The number of steps is limited, because symbols may be defined in terms of each other, and then have no value.
        for _ in 0..self.symbols.len() {
            match self.symbols.get(sym).def {
                Def::Undefined => return false,
                Def::Value(Expr::Symbol(next)) => sym = next,
                Def::Value(Expr::Items { start, count }) => {
                    let defined = |item: &Item| match item {
                        Item::Symbol(sym) => self.symbols.get(*sym).def != Def::Undefined,
                        _ => true,
                    };
                    return self.exprs.items(start, count).iter().all(defined);
                }
                _ => return true,
            }
        }
        false
    }
}

/// Consumes the text before the next comma that is not in a string.
fn up_to_comma<'s>(args: &mut Args<'s>) -> &'s str {
    args.peek();
    let mut length = 0;
    let mut quoted = false;
    while let Some(byte) = args.look(length) {
        match byte {
            b'"' => quoted = !quoted,
            b'\\' if quoted => length += 1,
            b',' if !quoted => break,
            _ => {}
        }
        length += 1;
    }
    args.take(length).trim_ascii()
}
