//! Expands a body: substitutes values for parameters.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::super::fault::Fault;

/// The largest total size of all expansions and included files of a file, in bytes. Repeated text counts each time, and
/// each expansion counts an additional 64 bytes.
pub const MAX_EXPANSION: u64 = 1 << 26;

/// The numbers that `\@` and `\+` in a body stand for.
pub(super) struct Numbers {
    /// The value of `\@`: the number of macro calls in the file so far. `None` in `.rept`, which leaves `\@` unchanged for an enclosing
    /// macro.
    pub calls: Option<u64>,
    /// The value of `\+`: the number of calls of this macro, or of rounds of this repetition, so far.
    pub round: u64,
    /// True between `.altmacro` and `.noaltmacro`. There, names of parameters need no backslash, and an `&` after a name ends it.
    pub bare: bool,
}

/// The body with `\name`, `\@` and `\+` replaced and `\()` removed; fails if the result exceeds `limit`
/// bytes.
///
/// A name consists of letters, digits, `_`, `$` and `.`; `\()` ends it earlier. A name that is not a parameter is left
/// unchanged, because the text may define a macro that has this parameter.
pub(super) fn expand<'s, 'v>(
    body: &'s str,
    parameter: impl Fn(&str) -> Option<&'v str>,
    numbers: &Numbers,
    limit: u64,
) -> Result<Cow<'s, str>, Fault> {
    if !numbers.bare && !body.contains('\\') {
        return Ok(Cow::Borrowed(body));
    }
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    let plainly = |out: &mut String, text: &str| {
        if numbers.bare {
            return names(out, text, &parameter, limit);
        }
        out.push_str(text);
        Ok(())
    };
    while let Some((plain, behind)) = rest.split_once('\\') {
        plainly(&mut out, plain)?;
        let taken = match behind.as_bytes() {
            [b'@', ..] if numbers.calls.is_some() => {
                let _ = write!(out, "{}", numbers.calls.unwrap_or_default());
                1
            }
            [b'+', ..] => {
                let _ = write!(out, "{}", numbers.round);
                1
            }
            [b'(', b')', ..] => 2,
            bytes => {
                let length = bytes.iter().take_while(|byte| is_parameter(**byte)).count();
                let name = behind.get(..length).unwrap_or_default();
                match parameter(name) {
                    Some(value) => out.push_str(value),
                    None => {
                        out.push('\\');
                        out.push_str(name);
                    }
                }
                length
            }
        };
        rest = behind.get(taken..).unwrap_or_default();
        if out.len() as u64 > limit {
            return Err(Fault::Expansion(MAX_EXPANSION));
        }
    }
    plainly(&mut out, rest)?;
    Ok(Cow::Owned(out))
}

/// Substitutes values for names of parameters in a text without backslashes, including strings, as in llvm-mc.
fn names<'v>(
    out: &mut String,
    mut text: &str,
    parameter: &impl Fn(&str) -> Option<&'v str>,
    limit: u64,
) -> Result<(), Fault> {
    while let Some(start) = text.bytes().position(is_parameter) {
        let (between, rest) = text.split_at(start);
        let (name, rest) = rest.split_at(rest.bytes().take_while(|byte| is_parameter(*byte)).count());
        out.push_str(between);
        out.push_str(parameter(name).unwrap_or(name));
        text = if parameter(name).is_some() { rest.strip_prefix('&').unwrap_or(rest) } else { rest };
        if out.len() as u64 > limit {
            return Err(Fault::Expansion(MAX_EXPANSION));
        }
    }
    out.push_str(text);
    Ok(())
}

/// True for bytes that may continue the name of a parameter.
fn is_parameter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(body: &str, calls: Option<u64>) -> String {
        let parameter = |name: &str| match name {
            "a" => Some("1"),
            "ab" => Some("two words"),
            "e" => Some(""),
            _ => None,
        };
        expand(body, parameter, &Numbers { calls, round: 7, bare: false }, 100).unwrap().into_owned()
    }

    #[test]
    fn names_are_as_long_as_they_can_be() {
        // The results of llvm-mc 22 for the same bodies.
        let cases = [
            ("\\a", "1"),
            ("\\ab", "two words"),
            ("\\a\\()b", "1b"),
            ("\\a.b \\a,b", "\\a.b 1,b"),
            ("\\c\\e|", "\\c|"),
            ("\\\\a", "\\1"),
            ("L\\@: \\+", "L3: 7"),
            ("\\", "\\"),
            ("é\\aé", "é1é"),
        ];
        for (body, want) in cases {
            assert_eq!(of(body, Some(3)), want, "{body}");
        }
        assert_eq!(of("\\@", None), "\\@");
    }

    #[test]
    fn a_text_does_not_grow_beyond_the_limit() {
        let numbers = Numbers { calls: None, round: 0, bare: false };
        assert!(expand(&"\\a".repeat(20), |_| Some("0123456789"), &numbers, 150).is_err());
        let numbers = Numbers { bare: true, ..numbers };
        assert!(expand(&"a ".repeat(20), |_| Some("0123456789"), &numbers, 150).is_err());
    }
}
