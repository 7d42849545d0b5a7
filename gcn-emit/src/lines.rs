//! Source lines of machine code: for an assembled file the lines of that file, for a compiled object the lines in its DWARF.

#[cfg(feature = "tools")]
mod assembly;
#[cfg(feature = "dwarf")]
mod dwarf;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A position in a source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourcePlace {
    /// The file, or any text that describes the position.
    pub file: Arc<str>,
    /// The line, from 1; 0 if `file` already describes the whole position.
    pub line: u32,
    /// The column, from 1; 0 for the whole line.
    pub column: u32,
    /// Additional information: the line in the macro, if the position is that of a call.
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

/// The positions of all code of an object, by address.
#[derive(Clone, Default, Debug)]
pub struct SourceLines {
    /// The position of the code from an address up to the next entry's address; `None` if it is unknown.
    starts: BTreeMap<u64, Option<SourcePlace>>,
    inlined: Inlined,
}

/// The calls of inlined functions.
#[derive(Clone, Default, Debug)]
struct Inlined {
    calls: Vec<Call>,
    /// The innermost inlined call to which the code from an address up to the next entry's address belongs, if any.
    starts: BTreeMap<u64, Option<usize>>,
}

/// A call of a function that was inlined.
#[derive(Clone, Debug)]
struct Call {
    at: SourcePlace,
    /// The call that encloses this one, if this call is itself in an inlined function.
    outer: Option<usize>,
}

impl Inlined {
    /// Assigns the code of a range to a call. A call must be assigned after the calls that enclose it.
    #[cfg(feature = "dwarf")]
    fn assign(&mut self, range: std::ops::Range<u64>, call: usize) {
        if range.is_empty() {
            return;
        }
        let before = |at: u64| self.starts.range(..=at).next_back().and_then(|(_, call)| *call);
        let after = before(range.end);
        let inside: Vec<u64> = self.starts.range(range.clone()).map(|(at, _)| *at).collect();
        inside.iter().for_each(|at| _ = self.starts.remove(at));
        self.starts.insert(range.start, Some(call));
        self.starts.insert(range.end, after);
    }

    /// The inlined calls to which the code at an address belongs, the innermost first.
    fn at(&self, address: u64) -> impl Iterator<Item = &SourcePlace> {
        let innermost = self.starts.range(..=address).next_back().and_then(|(_, call)| *call);
        std::iter::successors(innermost, |call| self.calls[*call].outer).map(|call| &self.calls[call].at)
    }
}

impl SourceLines {
    /// The position of the code at an address; `None` if it is unknown.
    pub fn at(&self, address: u64) -> Option<&SourcePlace> {
        self.starts.range(..=address).next_back().and_then(|(_, place)| place.as_ref())
    }

    /// The position of the code at an address from its author's point of view: for functions that were inlined from other files, such as
    /// `atomicAdd` of HIP's headers, the line that calls them. The note contains both ends of the chain of calls: the position of the code
    /// itself, and the outermost call. `None` if the position is unknown.
    pub fn for_author(&self, address: u64) -> Option<SourcePlace> {
        let mut calls = self.inlined.at(address).peekable();
        if calls.peek().is_none() {
            return self.at(address).cloned();
        }
        let frames: Vec<&SourcePlace> = self.at(address).into_iter().chain(calls).collect();
        // The outermost function is the kernel or a function that it calls, which is assumed to be in the author's file.
        let outermost = *frames.last()?;
        let own = frames.iter().position(|frame| frame.file == outermost.file)?;
        let (first, place) = (frames[0], frames[own]);
        let mut notes = Vec::new();
        if own > 0 {
            notes.push(format!("in {first}"));
        }
        if own + 1 < frames.len() {
            notes.push(format!("inlined at {outermost}"));
        }
        let note = (!notes.is_empty()).then(|| notes.join(", ").into());
        Some(SourcePlace { note: note.or_else(|| place.note.clone()), ..place.clone() })
    }

    /// True if no position is known.
    pub fn is_empty(&self) -> bool {
        self.starts.values().all(Option::is_none)
    }
}

/// Texts that describe where the code from an address on comes from.
impl From<BTreeMap<u32, String>> for SourceLines {
    fn from(texts: BTreeMap<u32, String>) -> SourceLines {
        let place = |text: String| SourcePlace { file: text.into(), line: 0, column: 0, note: None };
        let starts = texts.into_iter().map(|(at, text)| (at.into(), Some(place(text)))).collect();
        SourceLines { starts, ..SourceLines::default() }
    }
}
