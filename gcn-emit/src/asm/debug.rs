//! The debug sections that directives define: line tables by `.file` and `.loc`, call frames by `.cfi_…`. Both are
//! written after layout.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use object::elf;

use super::Assembler;
use super::emit::SectionKey;
use super::fault::{Fault, Located, Result};
use super::layout::Layout;
use super::place::Place;
use super::span::Span;
use crate::object::debug::bytes::Bytes;
use crate::object::debug::frames::{self, Frame, Kind, Rule};
use crate::object::debug::line_table::{File, LineTable, Paths, Row, Sequence};
use crate::object::{Relocation, RelocationKind, SectionId};

/// The state that the directives so far have established.
#[derive(Default)]
pub(super) struct Debug {
    pub lines: Lines,
    pub frames: Frames,
}

/// The line table.
#[derive(Default)]
pub(super) struct Lines {
    /// `.file 0`; if present, the table has version 5.
    root: Option<File>,
    /// The directory in which the compiler ran, and the directories of files.
    directories: Vec<String>,
    files: BTreeMap<u32, (File, Span)>,
    /// True if any file has a number.
    exist: bool,
    /// The row of the last `.loc`, as long as no instruction has followed it.
    pending: Option<Row>,
    /// True if the last `.loc` had `is_stmt 0`.
    pub not_statement: bool,
    /// The rows of each section; sections are in the order of their first rows.
    rows: Vec<(u32, Vec<(Place, Row)>)>,
    numbers: HashMap<u32, usize>,
}

impl Lines {
    /// Adds a file.
    pub fn add(&mut self, number: u32, directory: &str, mut file: File, span: Span) {
        self.exist = true;
        self.directories.resize(self.directories.len().max(1), String::new());
        if number == 0 {
            directory.clone_into(&mut self.directories[0]);
            self.root = Some(file);
            return;
        }
        // If a file is the same as file 0, it only has the number 0.
        if self.root.as_ref().is_some_and(|root| root.name == file.name && root.md5 == file.md5) {
            return;
        }
        let own = self.directories[0].as_str();
        let named = if directory == own { "" } else { directory };
        let (directory, name) = match file.name.rsplit_once('/') {
            Some((directory, name)) if named.is_empty() && !name.is_empty() => {
                let directory = directory.trim_end_matches('/');
                (if directory.is_empty() { "/" } else { directory }.to_owned(), name.to_owned())
            }
            _ => (named.to_owned(), std::mem::take(&mut file.name)),
        };
        file.name = name;
        if !directory.is_empty() {
            let known = self.directories.iter().skip(1).position(|known| *known == directory);
            let index = known.map_or(self.directories.len(), |index| index + 1);
            if index == self.directories.len() {
                self.directories.push(directory);
            }
            file.directory = index as u64;
        }
        self.files.insert(number, (file, span));
    }

    /// The number of a file in the table.
    pub fn number(&self, number: u32) -> u64 {
        if self.files.contains_key(&number) { number.into() } else { 0 }
    }

    /// Drops a `.loc` that no instruction has followed, because it refers to the section that is being left.
    pub fn leave_section(&mut self) {
        self.pending = None;
    }

    /// The line table, for sections of these sizes.
    fn table(&self, asm: &Assembler<'_>, layout: &Layout) -> LineTable {
        let own = || self.files.first_key_value().map(|(_, (file, _))| file.clone());
        let root = self.root.clone().or_else(own).unwrap_or_default();
        let others = self.files.values().map(|(file, _)| file.clone());
        let sequence = |(section, rows): &(u32, Vec<(Place, Row)>)| Sequence {
            section: SectionId(*section),
            rows: rows.iter().map(|(at, row)| Row { offset: layout.offset(asm, *at).1, ..*row }).collect(),
            end: layout.size(asm, *section),
        };
        LineTable {
            version: if self.root.is_some() { 5 } else { 4 },
            directories: self.directories.clone(),
            files: std::iter::once(root).chain(others).collect(),
            sequences: self.rows.iter().map(sequence).collect(),
        }
    }

    /// If a file number is missing although the next number has a file: the missing number, and the position where that next file is
    /// declared.
    fn missing_number(&self) -> Option<(u32, Span)> {
        let numbered = self.files.iter().zip(1..);
        numbered
            .map(|((is, (_, span)), should)| (*is, should, *span))
            .find_map(|(is, should, span)| (is != should).then_some((should, span)))
    }
}

/// The call frames.
pub(super) struct Frames {
    /// True if `.eh_frame` and `.debug_frame`, respectively, are requested.
    pub eh: bool,
    pub debug: bool,
    open: Option<Procedure>,
    closed: Vec<(Procedure, Place)>,
}

impl Default for Frames {
    fn default() -> Frames {
        Frames { eh: true, debug: false, open: None, closed: Vec::new() }
    }
}

/// The code from `.cfi_startproc` to `.cfi_endproc`.
pub(super) struct Procedure {
    pub span: Span,
    section: u32,
    start: Place,
    pub kind: Kind,
    rules: Vec<(Place, Rule)>,
}

/// The sections that are written after layout, each with the stream for its bytes.
#[derive(Clone, Copy, Default)]
pub(super) struct Sections {
    eh_frame: Option<u32>,
    debug_frame: Option<u32>,
    line: Option<u32>,
    line_str: Option<u32>,
}

impl Assembler<'_> {
    /// Records a `.loc`. If it directly follows another `.loc`, both get a row.
    pub fn locate(&mut self, row: Row) {
        self.row();
        self.debug.lines.not_statement = !row.is_statement;
        self.debug.lines.pending = Some(row);
    }

    /// Emits the pending `.loc` row for code that begins here.
    pub fn row(&mut self) {
        let Some(row) = self.debug.lines.pending.take() else { return };
        let (section, place) = (self.stream().section, self.here());
        let lines = &mut self.debug.lines;
        let next = lines.rows.len();
        let index = *lines.numbers.entry(section).or_insert(next);
        if index == next {
            lines.rows.push((section, Vec::new()));
        }
        lines.rows[index].1.push((place, row));
    }

    /// Begins a procedure of call frame information.
    pub fn open_procedure(&mut self, is_simple: bool, span: Span) -> Result<()> {
        if self.debug.frames.open.is_some() {
            return Err(Located::new(span, Fault::OpenProcedure));
        }
        let (section, start) = (self.stream().section, self.here());
        let kind = Kind { is_simple, ..Kind::default() };
        self.debug.frames.open = Some(Procedure { span, section, start, kind, rules: Vec::new() });
        Ok(())
    }

    /// The open procedure, to which the directive `name` applies; an error if there is none.
    pub fn procedure(&mut self, name: &str, span: Span) -> Result<&mut Procedure> {
        let section = self.stream().section;
        match &mut self.debug.frames.open {
            Some(open) if open.section == section => Ok(open),
            Some(_) => Err(Located::new(span, Fault::ProcedureSection(name.to_owned()))),
            None => Err(Located::new(span, Fault::OutsideProcedure(name.to_owned()))),
        }
    }

    /// Adds a call frame rule that applies from here on.
    pub fn frame_rule(&mut self, rule: Rule, name: &str, span: Span) -> Result<()> {
        let here = self.here();
        self.procedure(name, span)?.rules.push((here, rule));
        Ok(())
    }

    /// Ends a procedure.
    pub fn close_procedure(&mut self, name: &str, span: Span) -> Result<()> {
        let end = self.here();
        let around = self.procedure(name, span).map(|_| ());
        if let Some(open) = self.debug.frames.open.take() {
            self.debug.frames.closed.push((open, end));
        }
        around
    }

    /// The position of a `.cfi_startproc` without an end; `None` if there is none.
    pub fn unclosed_procedure(&mut self) -> Option<Span> {
        self.debug.frames.open.take().map(|open| open.span)
    }

    /// Creates the debug sections that will be written.
    pub fn open_debug_sections(&mut self) -> Result<Sections> {
        let mut sections = Sections::default();
        let span = Span::default();
        let open = |asm: &mut Self, name, align: u64| {
            let section = asm.section_of(&SectionKey { name, ..SectionKey::default() }, span)?;
            asm.stream_of(section, 0);
            let aligned = &mut asm.sections[section as usize].align;
            *aligned = align.max(*aligned);
            Ok::<_, Located>(section)
        };
        if !self.debug.frames.closed.is_empty() {
            let (eh, debug) = (self.debug.frames.eh, self.debug.frames.debug);
            sections.eh_frame = eh.then(|| open(self, ".eh_frame", 8)).transpose()?;
            sections.debug_frame = debug.then(|| open(self, ".debug_frame", 8)).transpose()?;
        }
        if !self.debug.lines.exist {
            return Ok(sections);
        }
        if let Some((number, span)) = self.debug.lines.missing_number() {
            return Err(Located::new(span, Fault::FileGap(number)));
        }
        sections.line = Some(open(self, ".debug_line", 1)?);
        if self.debug.lines.root.is_some() {
            let flags = Some(u64::from(elf::SHF_MERGE | elf::SHF_STRINGS));
            let key = SectionKey { name: ".debug_line_str", flags, entry_size: 1, ..SectionKey::default() };
            let section = self.section_of(&key, span)?;
            self.stream_of(section, 0);
            sections.line_str = Some(section);
        }
        Ok(sections)
    }

    /// Appends the contents of the debug sections; returns the relocations of each section.
    pub fn write_debug_sections(
        &self,
        sections: Sections,
        layout: &Layout,
        bytes: &mut [Vec<u8>],
    ) -> Vec<(u32, Vec<Relocation>)> {
        let mut written = Vec::new();
        let mut append = |section: u32, write: &mut dyn FnMut(&mut Bytes)| {
            let Some(place) = bytes.get_mut(section as usize) else { return };
            let mut out = Bytes { bytes: std::mem::take(place), relocations: Vec::new() };
            write(&mut out);
            *place = out.bytes;
            written.push((section, out.relocations));
        };
        let frames: Vec<Frame> = self.debug.frames.closed.iter().map(|f| self.frame(f, layout)).collect();
        for (section, eh) in [(sections.eh_frame, true), (sections.debug_frame, false)] {
            if let Some(section) = section {
                append(section, &mut |out| frames::write(&frames, eh, SectionId(section), out));
            }
        }
        let Some(section) = sections.line else { return written };
        let table = self.debug.lines.table(self, layout);
        let Some(texts) = sections.line_str else {
            append(section, &mut |out| {
                table.write(out, Paths { form: crate::object::debug::bytes::STRING, put: &mut |_, _| {} });
            });
            return written;
        };
        /// `DW_FORM_line_strp`: a reference to a text in `.debug_line_str`.
        const LINE_STRP: u8 = 0x1f;
        let (mut known, mut added) = (HashMap::new(), Bytes::default());
        let start = layout.size(self, texts);
        append(section, &mut |out| {
            let mut put = |out: &mut Bytes, text: &str| {
                let offset = *known.entry(text.to_owned()).or_insert_with(|| {
                    let offset = start + added.bytes.len() as u64;
                    added.string(text);
                    offset
                });
                out.address(RelocationKind::Abs32, 4, SectionId(texts), offset);
            };
            table.write(out, Paths { form: LINE_STRP, put: &mut put });
        });
        append(texts, &mut |out| out.bytes.append(&mut added.bytes));
        written
    }

    fn frame(&self, (procedure, end): &(Procedure, Place), layout: &Layout) -> Frame {
        let offset = |place: Place| layout.offset(self, place).1;
        Frame {
            section: SectionId(procedure.section),
            start: offset(procedure.start),
            end: offset(*end),
            kind: procedure.kind,
            rules: procedure.rules.iter().map(|(at, rule)| (offset(*at), rule.clone())).collect(),
        }
    }
}
