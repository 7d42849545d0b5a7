//! Writes metadata as the YAML that LLVM's assembler reads.
//!
//! LLVM determines a scalar's type from its text alone, quoted or not: it treats `'12'` as a number. A string that could be taken for
//! another type gets the tag `!str` (observed with llvm-mc 22).

use std::fmt::Write as _;

use super::Node;

impl Node {
    /// A YAML document, from `---` to `...`.
    pub fn to_yaml(&self) -> String {
        let mut out = String::from("---\n");
        match self {
            Node::Map(_) | Node::Seq(_) => write_block(&mut out, self, 0, false),
            _ => {
                write_scalar(&mut out, self);
                out.push('\n');
            }
        }
        out.push_str("...\n");
        out
    }
}

/// Writes a collection whose lines are indented by `indent`. If `inline`, the indentation of the first line has already been written.
fn write_block(out: &mut String, node: &Node, indent: usize, inline: bool) {
    let pad = |out: &mut String, first: bool| {
        if !(first && inline) {
            let _ = write!(out, "{:indent$}", "");
        }
    };
    match node {
        Node::Map(entries) => {
            for (i, (key, value)) in entries.iter().enumerate() {
                pad(out, i == 0);
                write_scalar(out, key);
                out.push(':');
                write_value(out, value, indent + 2);
            }
        }
        Node::Seq(items) => {
            for (i, item) in items.iter().enumerate() {
                pad(out, i == 0);
                match item {
                    Node::Map(entries) if !entries.is_empty() => {
                        out.push_str("- ");
                        write_block(out, item, indent + 2, true);
                    }
                    _ => {
                        out.push('-');
                        write_value(out, item, indent + 2);
                    }
                }
            }
        }
        _ => {}
    }
}

/// Writes the text after `key:` or `-`, and the end of the line.
fn write_value(out: &mut String, node: &Node, indent: usize) {
    match node {
        Node::Map(entries) if entries.is_empty() => out.push_str(" {}\n"),
        Node::Seq(items) if items.is_empty() => out.push_str(" []\n"),
        Node::Map(_) | Node::Seq(_) => {
            out.push('\n');
            write_block(out, node, indent, false);
        }
        _ => {
            out.push(' ');
            write_scalar(out, node);
            out.push('\n');
        }
    }
}

fn write_scalar(out: &mut String, node: &Node) {
    let _ = match node {
        Node::Bool(value) => write!(out, "{value}"),
        Node::UInt(value) => write!(out, "{value}"),
        Node::Int(value) => write!(out, "{value}"),
        Node::Float(value) => write!(out, "{value:?}"),
        Node::Text(text) => {
            write_text(out, text);
            Ok(())
        }
        Node::Nil | Node::Map(_) | Node::Seq(_) => write!(out, "!nil ''"),
    };
}

fn write_text(out: &mut String, text: &str) {
    if could_be_another_type(text) {
        out.push_str("!str ");
    }
    if is_plain(text) {
        out.push_str(text);
        return;
    }
    if !text.contains(|c: char| c.is_control()) {
        let _ = write!(out, "'{}'", text.replace('\'', "''"));
        return;
    }
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            // Control characters exist only in Latin-1.
            c if c.is_control() => {
                let _ = write!(out, "\\x{:02x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// True for texts that need no quotes.
fn is_plain(text: &str) -> bool {
    let mut chars = text.chars();
    let first = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_' || c == '.');
    first && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '$'))
}

/// True for texts that LLVM may interpret as a number, a boolean or a missing value.
fn could_be_another_type(text: &str) -> bool {
    const WORDS: [&str; 6] = ["true", "false", "null", "nan", "inf", "infinity"];
    let bare = text.trim_start_matches(['+', '-', '.']);
    bare.is_empty()
        || bare.starts_with(|c: char| c.is_ascii_digit())
        || WORDS.iter().any(|word| bare.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_and_tagged_as_llvm_needs() {
        let cases = [
            ("saxpy.kd", "saxpy.kd"),
            ("y", "y"),
            ("&[f32]", "'&[f32]'"),
            ("it's", "'it''s'"),
            ("12", "!str '12'"),
            ("inf", "!str inf"),
            (".5", "!str .5"),
            ("", "!str ''"),
            ("true", "!str true"),
            ("größe", "'größe'"),
            ("a\tb\"", "\"a\\x09b\\\"\""),
        ];
        for (text, yaml) in cases {
            let mut out = String::new();
            write_text(&mut out, text);
            assert_eq!(out, yaml, "{text:?}");
        }
    }
}
