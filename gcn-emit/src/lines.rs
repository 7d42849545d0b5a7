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
    inlined: Inlined,
}

/// The calls of inlined functions.
#[derive(Clone, Default, Debug)]
struct Inlined {
    calls: Vec<Call>,
    /// The innermost call that the code from an address on belongs to; each holds up to the next.
    starts: BTreeMap<u64, Option<usize>>,
}

/// A call of a function that was inlined.
#[derive(Clone, Debug)]
struct Call {
    at: SourcePlace,
    /// The call that brought the code of the call here, if that is inlined as well.
    outer: Option<usize>,
}

impl Inlined {
    /// The code of a range belongs to a call; of a call inside of another, after that.
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

    /// The calls that brought the code at an address there, innermost first.
    fn at(&self, address: u64) -> impl Iterator<Item = &SourcePlace> {
        let innermost = self.starts.range(..=address).next_back().and_then(|(_, call)| *call);
        std::iter::successors(innermost, |call| self.calls[*call].outer).map(|call| &self.calls[call].at)
    }
}

impl SourceLines {
    /// The place of the code at an address.
    pub fn at(&self, address: u64) -> Option<&SourcePlace> {
        self.starts.range(..=address).next_back().and_then(|(_, place)| place.as_ref())
    }

    /// The place of the code at an address as its author knows it: of inlined functions from other files, as `atomicAdd` of HIP's
    /// headers is, the line that calls them. The note has the other end of the calls: where the code itself is from, and the outermost
    /// call.
    pub fn for_author(&self, address: u64) -> Option<SourcePlace> {
        let mut calls = self.inlined.at(address).peekable();
        if calls.peek().is_none() {
            return self.at(address).cloned();
        }
        let frames: Vec<&SourcePlace> = self.at(address).into_iter().chain(calls).collect();
        // The outermost function is the kernel or its callee: it is in its author's file.
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

    /// True if no place is known.
    pub fn is_empty(&self) -> bool {
        self.starts.values().all(Option::is_none)
    }
}

/// Texts that say where the code from an address on comes from.
impl From<BTreeMap<u32, String>> for SourceLines {
    fn from(texts: BTreeMap<u32, String>) -> SourceLines {
        let place = |text: String| SourcePlace { file: text.into(), line: 0, column: 0, note: None };
        let starts = texts.into_iter().map(|(at, text)| (at.into(), Some(place(text)))).collect();
        SourceLines { starts, ..SourceLines::default() }
    }
}
