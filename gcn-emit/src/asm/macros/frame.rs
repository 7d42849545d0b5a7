//! Nested texts: the expansion of a macro, a repetition or an included file, and the position where reading continues
//! afterwards.
//!
//! Reading is a single loop over statements at any nesting depth. The cursor (`text`, `base` and `at` of [`Assembler`])
//! moves into the inner text, and a [`Frame`] records the outer position.

use std::borrow::Cow;

use super::super::fault::{Fault, Located, Result};
use super::super::source::Call;
use super::super::span::Span;
use super::super::{Assembler, Origin};
use super::expand::MAX_EXPANSION;
use super::repetition::Rounds;

/// The greatest nesting depth of macros and of the repetitions around them: `llvm-mc`'s default.
pub const MAX_MACRO_NESTING: usize = 20;

/// The number of bytes that count against the limit for each expansion, in addition to its text.
pub(super) const OVERHEAD: u64 = 64;

/// A text that is being read, nested in another one.
pub(in crate::asm) struct Frame<'s> {
    /// The outer text, in which reading continues after this one.
    text: &'s str,
    base: usize,
    at: usize,
    pub call: Call<'s>,
    /// The number of conditions that were open when the text was entered.
    conditions: usize,
    rounds: Rounds<'s>,
    /// The origin of the call, if the call is in an expansion itself and origins are recorded.
    origin: Option<u32>,
}

impl Frame<'_> {
    /// The offset in the outer text after the statement that started the nested text.
    pub fn after(&self) -> usize {
        self.at
    }
}

/// A text to enter, and the position of its first line.
pub(in crate::asm) struct Entry<'s> {
    pub text: &'s str,
    pub file: &'s str,
    pub line: u32,
}

impl<'s> Assembler<'s> {
    /// Continues with a nested text; `call` is the statement that starts it.
    pub fn enter(&mut self, entry: &Entry<'s>, call: Call<'s>, rounds: Rounds<'s>) -> Result<()> {
        let base = self.sources.push(entry.text, entry.file, entry.line, call);
        let base = base.ok_or_else(|| Located::new(call.span, Fault::TooLarge))?;
        let origin = self.origin_at(call.span.at as usize);
        let (text, at, conditions) = (self.text, self.at, self.conditions.open());
        self.frames.push(Frame { text, base: self.base, at, call, conditions, rounds, origin });
        (self.text, self.base, self.at) = (entry.text, base as usize, 0);
        self.expands = true;
        Ok(())
    }

    /// Handles the end of a text: begins the next round of a repetition, or returns to the outer text. Returns false at the end of the
    /// file.
    pub fn leave(&mut self) -> bool {
        let Some(mut frame) = self.frames.pop() else { return false };
        if let Some(text) = self.expanded_text.as_mut().filter(|text| !text.ends_with('\n')) {
            text.push('\n');
        }
        let call = frame.call;
        match self.next_round(&mut frame.rounds, call) {
            Ok(Some(())) => {
                self.frames.push(frame);
                return true;
            }
            Ok(None) => {}
            Err(error) => self.report(error),
        }
        if !call.is_file {
            if let Some(kernel) = self.open_kernel.take() {
                self.report(Located::new(kernel.span, Fault::OpenKernel));
            }
            // An open condition would also cause the statements after the call to be skipped. `llvm-mc` stops reading the file in that
            // case.
            if self.conditions.skipping()
                && let Some(span) = self.conditions.close_to(frame.conditions)
            {
                self.report(Located::new(span, Fault::OpenCondition));
            }
        }
        (self.text, self.base, self.at) = (frame.text, frame.base, frame.at);
        true
    }

    /// Leaves the innermost macro or repetition. Returns false if there is none. If `conditions`, also closes the conditions that were
    /// opened in it.
    pub fn exit(&mut self, conditions: bool) -> bool {
        if self.frames.iter().all(|frame| frame.call.is_file) {
            return false;
        }
        while let Some(frame) = self.frames.pop() {
            (self.text, self.base, self.at) = (frame.text, frame.base, frame.at);
            if !frame.call.is_file {
                if conditions {
                    self.conditions.close_to(frame.conditions);
                }
                break;
            }
        }
        true
    }

    /// Advances to the next round of a repetition; `None` after the last round.
    fn next_round(&mut self, rounds: &mut Rounds<'s>, call: Call<'s>) -> Result<Option<()>> {
        match rounds.next() {
            None => Ok(None),
            Some(round) => {
                let located = |fault| Located::new(call.span, fault);
                let Some(text) = round.text(self.budget()).map_err(located)? else {
                    // The next round has the same text, at the same offsets.
                    self.at = 0;
                    return Ok(Some(()));
                };
                self.charge(text.len() as u64).map_err(located)?;
                let text = self.kept(text);
                let base = self.sources.push(text, round.file, round.line, call);
                let base = base.ok_or_else(|| located(Fault::TooLarge))?;
                (self.text, self.base, self.at) = (text, base as usize, 0);
                Ok(Some(()))
            }
        }
    }

    /// Stores text for as long as the file is read.
    pub fn kept(&self, text: Cow<'s, str>) -> &'s str {
        match text {
            Cow::Borrowed(text) => text,
            Cow::Owned(text) => self.arena.alloc(text),
        }
    }

    /// The number of bytes that expansions may still add.
    pub fn budget(&self) -> u64 {
        MAX_EXPANSION - self.expanded
    }

    /// Counts an expansion of this many bytes against the limit.
    pub fn charge(&mut self, bytes: u64) -> std::result::Result<(), Fault> {
        let after = self.expanded.saturating_add(bytes).saturating_add(OVERHEAD);
        if after > MAX_EXPANSION {
            return Err(Fault::Expansion(MAX_EXPANSION));
        }
        self.expanded = after;
        Ok(())
    }

    /// The number of macros and repetitions that are being expanded.
    pub fn nesting(&self) -> usize {
        self.frames.iter().filter(|frame| !frame.call.is_file).count()
    }

    /// The names of the files that are being read, the innermost first.
    pub fn open_files(&self) -> impl Iterator<Item = &'s str> {
        self.frames.iter().rev().filter(|frame| frame.call.is_file).map(|frame| frame.call.name)
    }

    /// The offset in the file itself: `at`, or the offset of the call that leads to the statement at `at`.
    pub fn outermost(&self, at: usize) -> u32 {
        self.frames.first().map_or(at as u32, |frame| frame.call.span.at)
    }

    /// The origin of the statement at an offset of the current text; `None` if it is in the file itself.
    pub fn origin_at(&mut self, at: usize) -> Option<u32> {
        let frame = self.frames.last().filter(|_| self.options.keep_instructions)?;
        let (name, outer) = (frame.call.name, frame.origin);
        let (file, line) = self.sources.line(at);
        let (name, file) = (self.names.get(name), self.names.get(file));
        let number = u32::try_from(self.origins.len()).ok()?;
        self.origins.push(Origin { name, file, line, outer });
        Some(number)
    }

    /// The span of the bytes `start..end` of the current text.
    pub fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.base + start, self.base + end)
    }
}
