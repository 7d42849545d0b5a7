//! Finds the definitions of labels, symbols, macros and kernels.

use std::ops::Range;

use super::{without_comment, words};

/// The kind of a definition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A position in the code.
    Label,
    /// A number or an address (`.set`, `.equ`, `=`).
    Symbol,
    /// `.macro`.
    Macro,
    /// `.amdhsa_kernel`.
    Kernel,
}

impl Kind {
    /// The word for users.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Label => "label",
            Kind::Symbol => "symbol",
            Kind::Macro => "macro",
            Kind::Kernel => "kernel",
        }
    }
}

/// A definition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Definition<'d> {
    /// The name.
    pub name: &'d str,
    /// The kind of the definition.
    pub kind: Kind,
    /// The line, from 0.
    pub line: u32,
    /// The byte range of the name in the line.
    pub bytes: Range<usize>,
}

/// Directives that define the following name.
const DEFINING: [(&str, Kind); 4] = [
    (".set", Kind::Symbol),
    (".equ", Kind::Symbol),
    (".macro", Kind::Macro),
    (".amdhsa_kernel", Kind::Kernel),
];

/// The definitions in a text, in order.
pub fn definitions(text: &str) -> impl Iterator<Item = Definition<'_>> {
    (0..).zip(text.lines()).flat_map(|(number, line)| definitions_in(number, line))
}

/// The definitions in a line.
pub fn definitions_in(line: u32, text: &str) -> Vec<Definition<'_>> {
    let text = without_comment(text);
    let mut found = Vec::new();
    let mut labels = true;
    let mut names = words(text).peekable();
    while let Some((name, bytes)) = names.next() {
        let after = text[bytes.end..].trim_start();
        if labels && after.starts_with(':') {
            found.push(Definition { name, kind: Kind::Label, line, bytes });
            continue;
        }
        let defines = DEFINING.iter().find(|d| labels && d.0 == name);
        if let (Some((_, kind)), Some((name, bytes))) = (defines, names.peek().cloned()) {
            found.push(Definition { name, kind: *kind, line, bytes });
        } else if labels && after.starts_with('=') && !after.starts_with("==") {
            found.push(Definition { name, kind: Kind::Symbol, line, bytes });
        }
        labels = false;
    }
    found
}
