//! String tables: zero-terminated names in sequence.

use std::collections::HashMap;

/// A string table that is being built.
pub(super) struct Strings {
    pub(super) bytes: Vec<u8>,
    /// Names that are there; only where names may be shared.
    known: Option<HashMap<String, u32>>,
}

impl Strings {
    /// A table that contains a name as often as it is added, as `.strtab` and `.dynstr` do.
    pub(super) fn repeating() -> Strings {
        Strings { bytes: vec![0], known: None }
    }

    /// A table in which each name stands once, as in `.shstrtab`.
    pub(super) fn sharing() -> Strings {
        Strings { bytes: vec![0], known: Some(HashMap::new()) }
    }

    /// Adds a name; its offset.
    pub(super) fn add(&mut self, name: &str) -> u32 {
        if name.is_empty() {
            return 0;
        }
        // Tables beyond 4 GiB are refused by the layout, which sees their size.
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
