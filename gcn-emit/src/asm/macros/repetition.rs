//! The rounds of a repetition, and the text of each.

use std::borrow::Cow;

use super::super::fault::Fault;
use super::argument::Value;
use super::body::Body;
use super::expand::{Numbers, expand};

/// The rounds of a repetition that remain.
pub(in crate::asm) enum Rounds<'s> {
    /// No further rounds: a macro or a file.
    Over,
    /// The same text this many times.
    Same(u64),
    /// A text for each value.
    Each(Box<Each<'s>>),
}

/// A repetition whose text differs from round to round.
pub(in crate::asm) struct Each<'s> {
    pub body: Body<'s>,
    /// The parameter of `.irp` or `.irpc`.
    pub parameter: Option<&'s str>,
    pub values: Values<'s>,
    /// The number of the next round: `\+`.
    pub number: u64,
    /// The value of `\@`; `None` if `\@` is not replaced.
    pub calls: Option<u64>,
    /// True if the repetition is between `.altmacro` and `.noaltmacro`.
    pub alternate: bool,
}

/// The values of the parameter of a repetition.
pub(in crate::asm) enum Values<'s> {
    /// No parameter; only the number of rounds.
    None(u64),
    /// The values of `.irp`.
    List(std::vec::IntoIter<Value<'s>>),
    /// The characters of `.irpc`.
    Characters(std::str::Chars<'s>),
}

/// A round of a repetition.
pub(in crate::asm) struct Round<'r, 's> {
    each: Option<&'r Each<'s>>,
    value: Cow<'s, str>,
    number: u64,
    pub file: &'s str,
    pub line: u32,
}

impl<'s> Rounds<'s> {
    /// Begins the next round; `None` if there are no more.
    pub fn next(&mut self) -> Option<Round<'_, 's>> {
        match self {
            Rounds::Over | Rounds::Same(0) => None,
            Rounds::Same(left) => {
                *left -= 1;
                Some(Round { each: None, value: Cow::Borrowed(""), number: 0, file: "", line: 0 })
            }
            Rounds::Each(each) => {
                let value = each.values.next()?;
                let number = each.number;
                each.number += 1;
                let (file, line) = (each.body.file, each.body.line);
                Some(Round { each: Some(each), value, number, file, line })
            }
        }
    }
}

impl<'s> Values<'s> {
    fn next(&mut self) -> Option<Cow<'s, str>> {
        match self {
            Values::None(0) => None,
            Values::None(left) => {
                *left -= 1;
                Some(Cow::Borrowed(""))
            }
            Values::List(list) => list.next().map(Option::unwrap_or_default),
            Values::Characters(characters) => {
                let text = characters.as_str();
                let length = characters.next()?.len_utf8();
                text.get(..length).map(Cow::Borrowed)
            }
        }
    }
}

impl<'s> Round<'_, 's> {
    /// The text of the round, of at most `limit` bytes; `None` if it equals that of the previous round.
    pub fn text(&self, limit: u64) -> std::result::Result<Option<Cow<'s, str>>, Fault> {
        let Some(each) = self.each else { return Ok(None) };
        let parameter = |name: &str| (each.parameter == Some(name)).then_some(&*self.value);
        let numbers = Numbers { calls: each.calls, round: self.number, bare: each.alternate };
        expand(each.body.text, parameter, &numbers, limit).map(Some)
    }
}
