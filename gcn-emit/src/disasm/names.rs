//! Symbol names in assembly syntax, and labels that differ from all symbol names.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::object::CodeObject;

/// The names that already occur in the file.
pub(super) struct Names<'d> {
    taken: HashSet<&'d str>,
}

impl<'d> Names<'d> {
    pub(super) fn new(object: &CodeObject<'d>) -> Names<'d> {
        Names { taken: object.symbols.iter().map(|s| s.name).collect() }
    }

    /// A local label for a position without a symbol.
    pub(super) fn label(&self, section: usize, address: u64, is_main: bool) -> String {
        let mut name = if is_main { format!(".L{address:x}") } else { format!(".L{section}_{address:x}") };
        while self.taken.contains(name.as_str()) {
            name.push('_');
        }
        name
    }
}

/// A name in assembly syntax, quoted if necessary; `None` if it cannot be written at all.
pub(super) fn written(name: &str) -> Option<Cow<'_, str>> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    if name.is_empty() || name.contains(|c: char| c.is_control() || matches!(c, '"' | '\\')) {
        return None;
    }
    if name.chars().all(plain) && !name.starts_with(|c: char| c.is_ascii_digit() || c == '$') && name != "." {
        return Some(Cow::Borrowed(name));
    }
    Some(Cow::Owned(format!("\"{name}\"")))
}
