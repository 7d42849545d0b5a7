//! Writes to the current section.

use object::elf;

use super::Assembler;
use super::expr::Expr;
use super::fault::{Fault, Located, Result};
use super::fixup::{Fixup, FixupKind, check_width};
use super::place::{Place, StreamId};
use super::section::{Fill, Gap, GapKind, Section, Stream, write_fill, write_leb, write_repeated};
use super::span::Span;

/// The maximum number of bytes that `.fill`, `.space`, `.org` and alignments may write into one file.
pub const MAX_FILLING: u64 = 1 << 28;

/// The properties that identify a section.
#[derive(Clone, Debug, Default)]
pub(super) struct SectionKey<'s> {
    pub name: &'s str,
    pub kind: Option<u32>,
    pub flags: Option<u64>,
    pub entry_size: u64,
    pub group: Option<(String, bool)>,
    pub unique: Option<i64>,
}

impl<'s> Assembler<'s> {
    /// Opens `.text`, which every object has.
    pub fn open_text(&mut self) {
        let flags = u64::from(elf::SHF_ALLOC | elf::SHF_EXECINSTR);
        self.section_ids.insert((".text".to_owned(), None, None), 0);
        self.sections.push(new_section(".text", elf::SHT_PROGBITS, flags));
        self.sections[0].align = 4;
        self.current = self.stream_of(0, 0);
    }

    /// The current position.
    pub fn here(&self) -> Place {
        let stream = self.stream();
        Place { stream: self.current, gaps: stream.gaps.len() as u32, bytes: stream.length }
    }

    pub fn stream(&self) -> &Stream {
        // This does not fail: `current` comes only from `stream_of`, and streams are never removed.
        &self.streams[self.current.0 as usize]
    }

    fn stream_mut(&mut self) -> &mut Stream {
        &mut self.streams[self.current.0 as usize]
    }

    pub fn section(&self) -> &Section {
        &self.sections[self.stream().section as usize]
    }

    /// The stream of a subsection, created if necessary.
    pub fn stream_of(&mut self, section: u32, number: u32) -> StreamId {
        let next = StreamId(self.streams.len() as u32);
        let id = *self.stream_ids.entry((section, number)).or_insert(next);
        if id != next {
            return id;
        }
        self.streams.push(Stream { section, number, bytes: Vec::new(), length: 0, gaps: Vec::new() });
        self.sections[section as usize].streams.push(id);
        id
    }

    /// Appends bytes to the current stream.
    pub fn bytes(&mut self, bytes: &[u8], span: Span) -> Result<()> {
        self.row();
        if self.section().is_nobits() {
            if bytes.iter().any(|b| *b != 0) {
                return Err(Located::new(span, Fault::NotZero(self.section().name.clone())));
            }
        } else {
            self.stream_mut().bytes.extend_from_slice(bytes);
        }
        self.stream_mut().length += bytes.len() as u64;
        Ok(())
    }

    /// Appends machine code to a section with content.
    pub fn code(&mut self, code: &[u8]) {
        self.row();
        let stream = self.stream_mut();
        stream.bytes.extend_from_slice(code);
        stream.length += code.len() as u64;
    }

    /// Appends a value of `size` bytes.
    pub fn data(&mut self, expr: Expr, size: u8, span: Span) -> Result<()> {
        if let Some(value) = self.number_now(expr, true).unwrap_or(None) {
            check_width(value, size).map_err(|fault| Located::new(span, fault))?;
            let bytes = value.to_le_bytes();
            return self.bytes(bytes.get(..usize::from(size)).unwrap_or_default(), span);
        }
        let place = self.here();
        if self.section().is_nobits() {
            return Err(Located::new(span, Fault::NotZero(self.section().name.clone())));
        }
        self.register(expr);
        self.fixups.push(Fixup { place, kind: FixupKind::Data(size), expr, span });
        self.bytes(&[0; 8][..usize::from(size.min(8))], span)
    }

    /// Appends `count` times the low `size` bytes of a value.
    pub fn repeat(&mut self, count: u64, value: u64, size: u8, span: Span) -> Result<()> {
        let length = count.saturating_mul(size.into());
        if self.section().is_nobits() {
            if value != 0 {
                return Err(Located::new(span, Fault::NotZero(self.section().name.clone())));
            }
            return self.grow(length, span);
        }
        self.count_filling(length).map_err(|fault| Located::new(span, fault))?;
        let stream = self.stream_mut();
        write_repeated(&mut stream.bytes, count, value, size);
        stream.length += length;
        Ok(())
    }

    /// Reserves memory in a section without content.
    fn grow(&mut self, length: u64, span: Span) -> Result<()> {
        let stream = self.stream_mut();
        // The length must fit in a signed number, because some ELF offsets are signed.
        let grown = stream.length.checked_add(length).filter(|n| *n <= i64::MAX as u64);
        let fault = Fault::Range { what: "the size", value: i64::MAX, low: 0, high: i64::MAX };
        stream.length = grown.ok_or_else(|| Located::new(span, fault))?;
        Ok(())
    }

    /// Counts filling bytes, so that a short file cannot produce a huge one.
    pub fn count_filling(&mut self, length: u64) -> std::result::Result<(), Fault> {
        self.filling = self.filling.saturating_add(length);
        if self.filling > MAX_FILLING { Err(Fault::Filling(MAX_FILLING)) } else { Ok(()) }
    }

    /// The size of a gap in a section, checked against the limit.
    pub fn fill_size(&self, section: u32, size: u64) -> std::result::Result<u64, Fault> {
        let nobits = self.sections.get(section as usize).is_some_and(Section::is_nobits);
        let limit = if nobits { i64::MAX as u64 } else { MAX_FILLING };
        if size > limit { Err(Fault::Filling(limit)) } else { Ok(size) }
    }

    /// Appends `count` copies of a value, where the count may be known only after layout.
    pub fn repeat_expr(&mut self, count: Expr, value: u64, size: u8, span: Span) -> Result<()> {
        match self.number_now(count, true).map_err(|fault| Located::new(span, fault))? {
            Some(number) => {
                let high = i64::MAX;
                let range = Fault::Range { what: "the number of bytes", value: number, low: 0, high };
                let number = u64::try_from(number).map_err(|_| Located::new(span, range))?;
                self.repeat(number, value, size, span)
            }
            None => {
                self.gap(GapKind::Repeat { count, value, size }, span);
                Ok(())
            }
        }
    }

    /// Aligns the section and its next byte.
    pub fn align(&mut self, align: u64, fill: Fill, most: u64, span: Span) -> Result<()> {
        let nobits = self.section().is_nobits();
        let index = self.stream().section as usize;
        self.sections[index].align = self.sections[index].align.max(align);
        let stream = self.stream();
        if stream.number != 0 || !stream.gaps.is_empty() {
            self.gap(GapKind::Align { align, fill, most }, span);
            return Ok(());
        }
        let length = stream.length;
        let count = length.checked_next_multiple_of(align).map_or(0, |end| end - length);
        if count > most {
            return Ok(());
        }
        if nobits {
            return self.grow(count, span);
        }
        self.count_filling(count).map_err(|fault| Located::new(span, fault))?;
        let stream = self.stream_mut();
        write_fill(&mut stream.bytes, count, fill);
        stream.length = stream.bytes.len() as u64;
        Ok(())
    }

    /// Continues at an offset of the section.
    pub fn org(&mut self, to: Expr, value: u8, span: Span) -> Result<()> {
        let stream = self.stream();
        let known = self.number_now(to, true).map_err(|fault| Located::new(span, fault))?;
        match known {
            Some(to) if stream.number == 0 && stream.gaps.is_empty() => {
                let from = stream.length;
                let count = u64::try_from(to).ok().and_then(|to| to.checked_sub(from));
                let count = count.ok_or_else(|| Located::new(span, Fault::OrgBack { from, to }))?;
                self.repeat(count, value.into(), 1, span)
            }
            _ => {
                self.gap(GapKind::Org { to, value }, span);
                Ok(())
            }
        }
    }

    /// Appends a number in LEB128.
    pub fn leb(&mut self, value: Expr, signed: bool, span: Span) -> Result<()> {
        match self.number_now(value, true).map_err(|fault| Located::new(span, fault))? {
            Some(number) => {
                let mut bytes = Vec::with_capacity(10);
                write_leb(&mut bytes, number, signed);
                self.bytes(&bytes, span)
            }
            None => {
                self.gap(GapKind::Leb { value, signed }, span);
                Ok(())
            }
        }
    }

    /// Reserves space for the `s_nop` after a branch.
    pub fn after_branch(&mut self, to: Expr, bad: u16, span: Span) {
        self.gap(GapKind::AfterBranch { to, bad }, span);
    }

    fn gap(&mut self, kind: GapKind, span: Span) {
        let stream = self.stream_mut();
        let bytes = stream.length;
        stream.gaps.push(Gap { kind, bytes, size: 0, span });
    }

    /// Makes a stream the current one.
    pub fn switch_to(&mut self, stream: StreamId) {
        if stream != self.current {
            self.previous = Some(self.current);
            self.debug.lines.leave_section();
        }
        self.current = stream;
    }

    /// The section with this name and these attributes, created if necessary. Attributes that are not specified are those of an existing
    /// section with the name, or are derived from the name.
    pub fn section_of(&mut self, key: &SectionKey<'_>, span: Span) -> Result<u32> {
        let signature = key.group.as_ref().map(|group| group.0.clone());
        let next = self.sections.len() as u32;
        let index = *self.section_ids.entry((key.name.to_owned(), signature, key.unique)).or_insert(next);
        if let Some(section) = self.sections.get(index as usize) {
            let changed = |what, old| {
                let fault = Fault::SectionChanged { name: key.name.to_owned(), what, old };
                Err(Located::new(span, fault))
            };
            if key.flags.is_some_and(|flags| flags != section.flags) {
                return changed("flags", format!("{:#x}", section.flags));
            }
            if key.kind.is_some_and(|kind| kind != section.kind) {
                return changed("type", format!("{:#x}", section.kind));
            }
            if key.flags.is_some() && key.entry_size != section.entry_size {
                return changed("entry size", section.entry_size.to_string());
            }
            return Ok(index);
        }
        let (kind, flags) = defaults(key.name);
        let mut section = new_section(key.name, key.kind.unwrap_or(kind), key.flags.unwrap_or(flags));
        section.entry_size = key.entry_size;
        section.group = key.group.clone();
        section.span = span;
        self.sections.push(section);
        Ok(index)
    }

    /// Runs `write` in another section, then restores the current one.
    pub fn in_section(
        &mut self,
        key: &SectionKey<'_>,
        span: Span,
        write: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let section = self.section_of(key, span)?;
        let before = self.current;
        self.current = self.stream_of(section, 0);
        self.debug.lines.leave_section();
        let written = write(self);
        self.current = before;
        written
    }
}

fn new_section(name: &str, kind: u32, flags: u64) -> Section {
    let name = name.to_owned();
    Section {
        name,
        kind,
        flags,
        entry_size: 0,
        align: 1,
        group: None,
        span: Span::default(),
        streams: Vec::new(),
    }
}

const ALLOC: u32 = elf::SHF_ALLOC;
const WRITE: u32 = elf::SHF_ALLOC | elf::SHF_WRITE;
const CODE: u32 = elf::SHF_ALLOC | elf::SHF_EXECINSTR;

/// Section names that imply a type and flags. `true` if the name may be followed by a dot and a suffix.
const NAMED: [(&str, bool, u32, u32); 17] = [
    (".text", true, elf::SHT_PROGBITS, CODE),
    (".init", false, elf::SHT_PROGBITS, CODE),
    (".fini", false, elf::SHT_PROGBITS, CODE),
    (".rodata", true, elf::SHT_PROGBITS, ALLOC),
    (".rodata1", false, elf::SHT_PROGBITS, ALLOC),
    (".data", true, elf::SHT_PROGBITS, WRITE),
    (".data1", false, elf::SHT_PROGBITS, WRITE),
    (".bss", true, elf::SHT_NOBITS, WRITE),
    (".tdata", true, elf::SHT_PROGBITS, WRITE | elf::SHF_TLS),
    (".tbss", true, elf::SHT_NOBITS, WRITE | elf::SHF_TLS),
    (".init_array", true, elf::SHT_INIT_ARRAY, WRITE),
    (".fini_array", true, elf::SHT_FINI_ARRAY, WRITE),
    (".preinit_array", true, elf::SHT_PREINIT_ARRAY, WRITE),
    (".eh_frame", false, elf::SHT_PROGBITS, ALLOC),
    (".note", true, elf::SHT_NOTE, 0),
    (".data.rel", true, elf::SHT_PROGBITS, WRITE),
    (".data.rel.ro", true, elf::SHT_PROGBITS, WRITE),
];

/// The type and flags of a section for which only a name is given.
fn defaults(name: &str) -> (u32, u64) {
    let is = |(known, suffix, ..): &&(&str, bool, u32, u32)| match name.strip_prefix(known) {
        Some("") => true,
        Some(rest) => *suffix && rest.starts_with('.'),
        None => false,
    };
    NAMED.iter().find(is).map_or((elf::SHT_PROGBITS, 0), |row| (row.2, row.3.into()))
}
