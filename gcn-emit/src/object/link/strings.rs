//! String tables: concatenated zero-terminated names.

use std::collections::HashMap;

/// A string table that is being built.
pub(super) struct Strings {
    pub(super) bytes: Vec<u8>,
    /// The names that are in the table; only if names may be shared.
    known: Option<HashMap<String, u32>>,
}

impl Strings {
    /// A table in which each added name gets a new copy, as in `.strtab` and `.dynstr`.
    pub(super) fn repeating() -> Strings {
        Strings { bytes: vec![0], known: None }
    }

    /// A table in which equal names share one copy, as in `.shstrtab`.
    pub(super) fn sharing() -> Strings {
        Strings { bytes: vec![0], known: Some(HashMap::new()) }
    }

    /// Adds a name; returns its offset.
    pub(super) fn add(&mut self, name: &str) -> u32 {
        if name.is_empty() {
            return 0;
        }
        // Layout rejects tables beyond 4 GiB.
        let offset = self.bytes.len() as u32;
        if let Some(known) = &mut self.known {
            if let Some(offset) = known.get(name) {
                return *offset;
            }
            known.insert(name.to_owned(), offset);
        }
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(0);
        offset
    }
}
