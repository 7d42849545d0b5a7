//! Source lines of machine code: for an assembled file its own lines, for a compiled object those of its
//! DWARF.

#[cfg(feature = "tools")]
mod assembly;
#[cfg(feature = "dwarf")]
mod dwarf;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A place in a source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourcePlace {
    /// The file, or any text that says where.
    pub file: Arc<str>,
    /// Line, from 1; 0 if `file` says it all.
    pub line: u32,
    /// Column, from 1; 0 for the whole line.
    pub column: u32,
    /// More about it: the line of the macro, if the place is that of a call.
    pub note: Option<Arc<str>>,
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
            if self.column > 0 {
                write!(f, ":{}", self.column)?;
            }
        }
        match &self.note {
            Some(note) => write!(f, " ({note})"),
            None => Ok(()),
        }
    }
}

/// The places of all code of an object, by address.
#[derive(Clone, Default, Debug)]
pub struct SourceLines {
    /// Each holds up to the next; `None` where nothing is known.
    starts: BTreeMap<u64, Option<SourcePlace>>,
}

impl SourceLines {
    /// The place of the code at an address.
    pub fn at(&self, address: u64) -> Option<&SourcePlace> {
        self.starts.range(..=address).next_back().and_then(|(_, place)| place.as_ref())
    }

    /// True if no place is known.
    pub fn is_empty(&self) -> bool {
        self.starts.values().all(Option::is_none)
    }
}

/// Texts that say where the code from an address on comes from.
impl From<BTreeMap<u32, String>> for SourceLines {
    fn from(texts: BTreeMap<u32, String>) -> SourceLines {
        let place = |text: String| SourcePlace { file: text.into(), line: 0, column: 0, note: None };
        SourceLines { starts: texts.into_iter().map(|(at, text)| (at.into(), Some(place(text)))).collect() }
    }
}
