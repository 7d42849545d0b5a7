//! Builds a tree from YAML events.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, Tag};

use super::super::directive::data::hex_float;
use crate::metadata::Node;

/// An error in the YAML, with its byte offset.
pub(super) struct YamlError {
    pub at: Option<usize>,
    pub problem: String,
}

/// The greatest nesting depth; metadata has five levels.
const DEPTH: usize = 64;

/// A collection that is being parsed.
enum Open {
    Seq(Vec<Node>),
    /// Entries by key, and a key that is waiting for its value.
    Map(BTreeMap<Key, Node>, Option<Key>),
}

/// A key, which is a scalar of any type.
struct Key(Node);

impl Ord for Key {
    fn cmp(&self, other: &Key) -> Ordering {
        self.0.key_order(&other.0)
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Key) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Key {}

/// Parses the first document.
pub(super) fn read(text: &str) -> Result<Node, YamlError> {
    let mut open: Vec<Open> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            let at = byte_offset(text, error.marker().index());
            YamlError { at, problem: error.info().to_owned() }
        })?;
        let fail = |problem: &str| {
            let problem = problem.to_owned();
            Err(YamlError { at: byte_offset(text, span.start.index()), problem })
        };
        let node = match event {
            Event::SequenceStart(0, _) if open.len() < DEPTH => {
                open.push(Open::Seq(Vec::new()));
                continue;
            }
            Event::MappingStart(0, _) if open.len() < DEPTH => {
                open.push(Open::Map(BTreeMap::new(), None));
                continue;
            }
            Event::SequenceStart(0, _) | Event::MappingStart(0, _) => return fail("nested too deeply"),
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::Seq(items)) => Node::Seq(items),
                Some(Open::Map(entries, _)) => {
                    Node::Map(entries.into_iter().map(|(key, value)| (key.0, value)).collect())
                }
                None => continue,
            },
            Event::Scalar(value, style, 0, tag) => {
                // As in LLVM, a missing value is an empty sequence.
                let missing = value.is_empty() && style == saphyr_parser::ScalarStyle::Plain;
                let waits_for_key = matches!(open.last(), Some(Open::Map(_, None)));
                match scalar(&value, tag.as_deref()) {
                    Ok(node) if !missing || waits_for_key || node == Node::Nil => node,
                    Ok(_) => Node::Seq(Vec::new()),
                    Err(problem) => return fail(problem),
                }
            }
            Event::Scalar(..) | Event::SequenceStart(..) | Event::MappingStart(..) | Event::Alias(_) => {
                return fail("anchors and aliases have no meaning in metadata");
            }
            Event::DocumentEnd => break,
            _ => continue,
        };
        match open.last_mut() {
            None => return Ok(node),
            Some(Open::Seq(items)) => items.push(node),
            Some(Open::Map(entries, key)) => match (key.take(), node) {
                (Some(name), node) => {
                    if entries.insert(name, node).is_some() {
                        return fail("the key before this value is given twice");
                    }
                }
                (None, Node::Map(_) | Node::Seq(_)) => return fail("a key has to be a text or a number"),
                (None, node) => *key = Some(Key(node)),
            },
        }
    }
    Ok(Node::Nil)
}

/// The byte range of the value at a path as in [`Broken`](super::rules::Broken); if there is no such value, the byte range of the enclosing
/// map.
pub(super) fn locate(text: &str, path: &str) -> Option<std::ops::Range<usize>> {
    let around = path.rsplit_once(": ").map_or("", |(around, _)| around);
    find(text, path).or_else(|| find(text, around))
}

/// A step on the path to a value.
enum Step {
    /// The item with this number.
    Item(usize),
    /// A key, and its value; `None` while the value is missing.
    Key(Option<String>),
}

fn find(text: &str, wanted: &str) -> Option<std::ops::Range<usize>> {
    let mut way: Vec<Step> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.ok()?;
        let begins = match &event {
            Event::Scalar(value, ..) if matches!(way.last(), Some(Step::Key(None))) => {
                way.pop();
                way.push(Step::Key(Some(value.to_string())));
                continue;
            }
            Event::Scalar(..) | Event::SequenceStart(..) | Event::MappingStart(..) => true,
            _ => false,
        };
        if begins && named(&way) == wanted {
            let start = byte_offset(text, span.start.index())?;
            let end = byte_offset(text, span.end.index()).unwrap_or(text.len());
            return Some(start..end);
        }
        match event {
            Event::SequenceStart(..) => way.push(Step::Item(0)),
            Event::MappingStart(..) => way.push(Step::Key(None)),
            Event::SequenceEnd | Event::MappingEnd => {
                way.pop();
                next(&mut way);
            }
            Event::Scalar(..) => next(&mut way),
            _ => {}
        }
    }
    None
}

/// Advances the path after a value.
fn next(way: &mut [Step]) {
    match way.last_mut() {
        Some(Step::Item(number)) => *number += 1,
        Some(Step::Key(key)) => *key = None,
        None => {}
    }
}

fn named(way: &[Step]) -> String {
    let mut name = String::new();
    for step in way {
        match step {
            Step::Item(number) => name += &format!("[{number}]"),
            Step::Key(Some(key)) if name.is_empty() => name += key,
            Step::Key(Some(key)) => name += &format!(": {key}"),
            Step::Key(None) => {}
        }
    }
    name
}

/// The byte offset of a character.
fn byte_offset(text: &str, character: usize) -> Option<usize> {
    text.char_indices().nth(character).map(|(at, _)| at)
}

/// The value of a scalar. Among the tags of the YAML core schema, only `!!str` has no effect: LLVM treats it like a missing tag. Its other tags, and
/// unknown tags, give a string (observed with llvm-mc 22).
fn scalar(text: &str, tag: Option<&Tag>) -> Result<Node, &'static str> {
    let Some(tag) = tag else { return Ok(implicit(text)) };
    if tag.is_yaml_core_schema() {
        return Ok(if tag.suffix == "str" { implicit(text) } else { Node::Text(text.to_owned()) });
    }
    match (tag.suffix.as_str(), implicit(text)) {
        ("nil", _) => Ok(Node::Nil),
        ("int", node @ (Node::UInt(_) | Node::Int(_))) => Ok(node),
        ("int", _) => Err("this is not an integer"),
        ("bool", node @ Node::Bool(_)) => Ok(node),
        ("bool", _) => Err("this is not a boolean"),
        ("float", Node::Float(value)) => Ok(Node::Float(value)),
        ("float", Node::UInt(value)) => Ok(Node::Float(value as f64)),
        ("float", Node::Int(value)) => Ok(Node::Float(value as f64)),
        ("float", _) => Err("this is not a number"),
        _ => Ok(Node::Text(text.to_owned())),
    }
}

/// The type that LLVM assigns to a text without a tag.
pub(super) fn implicit(text: &str) -> Node {
    match text {
        "true" => return Node::Bool(true),
        "false" => return Node::Bool(false),
        _ => {}
    }
    integer(text).or_else(|| float(text)).unwrap_or_else(|| Node::Text(text.to_owned()))
}

/// Decimal, `0x`, `0b`, `0o` and octal integers, with `-` but without `+`; `None` for other texts, and if the number has more than 64 bits.
fn integer(text: &str) -> Option<Node> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let lower = digits.to_ascii_lowercase();
    let prefixes = [("0x", 16), ("0b", 2), ("0o", 8)];
    let prefixed = prefixes.iter().find_map(|(prefix, radix)| Some((lower.strip_prefix(prefix)?, *radix)));
    let octal = lower.strip_prefix('0').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let (digits, radix) = prefixed.or(octal.map(|rest| (rest, 8))).unwrap_or((&lower, 10));
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let value = u64::from_str_radix(digits, radix).ok()?;
    if !negative {
        return Some(Node::UInt(value));
    }
    let value = 0i64.checked_sub_unsigned(value)?;
    Some(if value == 0 { Node::UInt(0) } else { Node::Int(value) })
}

/// A number in the notation of C's `strtod`; an empty text is zero. `None` for other texts.
fn float(text: &str) -> Option<Node> {
    let bare = text.strip_prefix(['+', '-']).unwrap_or(text);
    let lower = bare.to_ascii_lowercase();
    let value = match lower.as_str() {
        "" => 0.0,
        "nan" => f64::NAN,
        "inf" | "infinity" => f64::INFINITY,
        _ => match lower.strip_prefix("0x") {
            Some(hex) => f64::from_bits(hex_float(hex, true)?),
            None if bare.starts_with(|c: char| c.is_ascii_digit() || c == '.') => bare.parse().ok()?,
            None => return None,
        },
    };
    Some(Node::Float(if text.starts_with('-') { -value } else { value }))
}
