//! Debug information of kernels: which source line each instruction comes from (DWARF 5).
//!
//! One compilation unit for all kernels of an object, a subprogram for each, and the line table. Numbers in
//! comments are sections of the DWARF 5 standard.

use std::collections::HashMap;

use gcn_isa::Program;
use gcn_isa::program::SourceLoc;
use object::elf;

use super::layout::Span;
use super::{Relocation, RelocationBase, RelocationKind, Section, SectionId};
use crate::kernel::KernelSpec;

/// The source position of each line of a program. One without a position of its own, such as a wait, belongs
/// to the next instruction that has one; at the end, to the last.
pub(crate) fn positions(program: &Program) -> Vec<Option<SourceLoc>> {
    let mut positions: Vec<_> = program.lines.iter().map(|line| line.loc).collect();
    let mut next = positions.iter().rev().find_map(|p| *p);
    for position in positions.iter_mut().rev() {
        next = position.or(next);
        *position = next;
    }
    positions
}

/// The source files of several programs, in the order in which they are first named.
#[derive(Default)]
pub(crate) struct Files {
    pub(crate) names: Vec<&'static str>,
    numbers: HashMap<&'static str, u64>,
}

impl Files {
    /// The file's number, from 1; file 0 of the line table is the unit's own, and so is file 1.
    pub(crate) fn number(&mut self, name: &'static str) -> u64 {
        let next = self.names.len() as u64 + 1;
        *self.numbers.entry(name).or_insert_with(|| {
            self.names.push(name);
            next
        })
    }
}

/// The debug information of one kernel.
pub(super) struct Lines<'k> {
    kernel: &'k KernelSpec,
    span: Span,
    /// Byte offset in the kernel and position, where the position changes.
    rows: Vec<(u32, u64, SourceLoc)>,
}

impl<'k> Lines<'k> {
    /// The rows of a kernel whose instructions are at `offsets`.
    pub(super) fn new(kernel: &'k KernelSpec, span: Span, offsets: &[u32], files: &mut Files) -> Lines<'k> {
        let mut rows: Vec<(u32, u64, SourceLoc)> = Vec::new();
        for (position, offset) in positions(&kernel.program).into_iter().zip(offsets) {
            let Some(position) = position else { continue };
            if rows.last().is_none_or(|row| row.2 != position) {
                rows.push((*offset, files.number(position.file), position));
            }
        }
        Lines { kernel, span, rows }
    }
}

/// The sections for `kernels`, whose code is in the section `text`; the first of them becomes section number
/// `first`. None if no instruction has a position.
pub(super) fn sections(kernels: &[Lines<'_>], files: &Files, text: SectionId, first: u32) -> Vec<Section> {
    let Some(unit) = files.names.first() else { return Vec::new() };
    let [abbreviations, lines] = [0, 1].map(|n| SectionId(first + n));
    vec![
        Section::new(".debug_abbrev", elf::SHT_PROGBITS, 0, ABBREVIATIONS.to_vec()),
        line_table(kernels, files, text),
        info(kernels, unit, text, abbreviations, lines),
    ]
}

/// `DW_TAG_compile_unit` with children, and `DW_TAG_subprogram` (7.5.3): attributes and forms.
#[rustfmt::skip]
const ABBREVIATIONS: [u8; 33] = [
    UNIT, 0x11, 1,
        0x25, STRING, // DW_AT_producer
        0x13, 0x05,   // DW_AT_language: DW_FORM_data2
        0x03, STRING, // DW_AT_name
        0x10, 0x17,   // DW_AT_stmt_list: DW_FORM_sec_offset
        0x11, 0x01,   // DW_AT_low_pc: DW_FORM_addr
        0x12, 0x07,   // DW_AT_high_pc: DW_FORM_data8, a length
        0, 0,
    SUBPROGRAM, 0x2e, 0,
        0x03, STRING, // DW_AT_name
        0x11, 0x01,   // DW_AT_low_pc
        0x12, 0x07,   // DW_AT_high_pc
        0x3f, 0x19,   // DW_AT_external: DW_FORM_flag_present
        0, 0,
    0, 0, 0,
];
const UNIT: u8 = 1;
const SUBPROGRAM: u8 = 2;
/// `DW_FORM_string`.
const STRING: u8 = 0x08;
/// `DW_FORM_udata`.
const UDATA: u8 = 0x0f;
/// `DW_LANG_Rust` (7.12).
const RUST: u16 = 0x1c;
const VERSION: u16 = 5;
const ADDRESS_BYTES: u8 = 8;

/// Bytes of a section, and what the linker fills in.
#[derive(Default)]
struct Bytes {
    bytes: Vec<u8>,
    relocations: Vec<Relocation>,
}

impl Bytes {
    fn string(&mut self, text: &str) {
        // A string ends at its first zero byte.
        self.bytes.extend(text.bytes().take_while(|b| *b != 0));
        self.bytes.push(0);
    }

    fn unsigned(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    fn signed(&mut self, mut value: i64) {
        while !(-0x40..0x40).contains(&value) {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8 & 0x7f);
    }

    /// An address in a section, or an offset in a debug section.
    fn address(&mut self, kind: RelocationKind, bytes: usize, section: SectionId, addend: u64) {
        let offset = self.bytes.len() as u64;
        let base = RelocationBase::Section(section);
        self.relocations.push(Relocation { offset, kind, base, addend: addend as i64 });
        self.bytes.extend(std::iter::repeat_n(0, bytes));
    }

    /// Puts the number of bytes that follow into the four bytes at `at`.
    fn set_length(&mut self, at: usize) {
        let length = (self.bytes.len() - at - 4) as u32;
        self.bytes[at..at + 4].copy_from_slice(&length.to_le_bytes());
    }

    fn into_section(self, name: &str) -> Section {
        Section { relocations: self.relocations, ..Section::new(name, elf::SHT_PROGBITS, 0, self.bytes) }
    }
}

/// The unit and its subprograms (7.5.1.1).
fn info(
    kernels: &[Lines<'_>],
    unit: &str,
    text: SectionId,
    abbreviations: SectionId,
    lines: SectionId,
) -> Section {
    const DW_UT_COMPILE: u8 = 1;
    let mut out = Bytes { bytes: vec![0; 4], ..Bytes::default() };
    out.bytes.extend(VERSION.to_le_bytes());
    out.bytes.extend([DW_UT_COMPILE, ADDRESS_BYTES]);
    out.address(RelocationKind::Abs32, 4, abbreviations, 0);
    let start = kernels.first().map_or(0, |k| k.span.offset);
    let end = kernels.last().map_or(0, |k| k.span.offset + k.span.size);
    out.unsigned(UNIT.into());
    out.string(concat!("gcn-dsl ", env!("CARGO_PKG_VERSION")));
    out.bytes.extend(RUST.to_le_bytes());
    out.string(unit);
    out.address(RelocationKind::Abs32, 4, lines, 0);
    out.address(RelocationKind::Abs64, 8, text, start);
    out.bytes.extend((end - start).to_le_bytes());
    for kernel in kernels {
        out.unsigned(SUBPROGRAM.into());
        out.string(kernel.kernel.name());
        out.address(RelocationKind::Abs64, 8, text, kernel.span.offset);
        out.bytes.extend(kernel.span.size.to_le_bytes());
    }
    // The end of the unit's children.
    out.unsigned(0);
    out.set_length(0);
    out.into_section(".debug_info")
}

/// Lines that a special opcode can go back, and how many lines it can tell apart (6.2.5.1).
const LINE_BASE: i64 = -5;
const LINE_RANGE: u64 = 14;
/// The first special opcode.
const OPCODE_BASE: u8 = 13;
/// The number of operands of each standard opcode.
const OPERANDS: [u8; OPCODE_BASE as usize - 1] = [0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1];
/// Instructions are multiples of this.
const STEP: u8 = 4;

/// The line table (6.2.4).
fn line_table(kernels: &[Lines<'_>], files: &Files, text: SectionId) -> Section {
    const DW_LNCT_PATH: u64 = 1;
    const DW_LNCT_DIRECTORY: u64 = 2;
    let mut out = Bytes { bytes: vec![0; 4], ..Bytes::default() };
    out.bytes.extend(VERSION.to_le_bytes());
    out.bytes.extend([ADDRESS_BYTES, 0]);
    let header = out.bytes.len();
    out.bytes.extend([0; 4]);
    // One operation an instruction; every row is a statement.
    out.bytes.extend([STEP, 1, 1, LINE_BASE as u8, LINE_RANGE as u8, OPCODE_BASE]);
    out.bytes.extend(OPERANDS);
    // Directories: the one where the compiler ran, which relative names count from.
    out.bytes.push(1);
    out.unsigned(DW_LNCT_PATH);
    out.unsigned(STRING.into());
    out.unsigned(1);
    out.string("");
    out.bytes.push(2);
    for (content, form) in [(DW_LNCT_PATH, STRING), (DW_LNCT_DIRECTORY, UDATA)] {
        out.unsigned(content);
        out.unsigned(form.into());
    }
    let own = files.names.first().copied();
    out.unsigned(files.names.len() as u64 + 1);
    for name in own.into_iter().chain(files.names.iter().copied()) {
        out.string(name);
        out.unsigned(0);
    }
    out.set_length(header);
    for kernel in kernels {
        sequence(&mut out, kernel, text);
    }
    out.set_length(0);
    out.into_section(".debug_line")
}

/// The rows of a kernel (6.2.5).
fn sequence(out: &mut Bytes, kernel: &Lines<'_>, text: SectionId) {
    const COPY: u8 = 1;
    const ADVANCE_PC: u8 = 2;
    const ADVANCE_LINE: u8 = 3;
    const SET_FILE: u8 = 4;
    const SET_COLUMN: u8 = 5;
    const END_SEQUENCE: u8 = 1;
    const SET_ADDRESS: u8 = 2;
    out.bytes.extend([0, 1 + ADDRESS_BYTES, SET_ADDRESS]);
    out.address(RelocationKind::Abs64, 8, text, kernel.span.offset);
    let (mut at, mut file, mut line, mut column) = (0, 1, 1, 0);
    for (offset, number, position) in &kernel.rows {
        if *number != file {
            out.bytes.push(SET_FILE);
            out.unsigned(*number);
        }
        if position.column != column {
            out.bytes.push(SET_COLUMN);
            out.unsigned(position.column.into());
        }
        let (steps, down) = (u64::from((offset - at) / u32::from(STEP)), i64::from(position.line) - line);
        let special = u64::try_from(down - LINE_BASE).ok().filter(|d| *d < LINE_RANGE);
        let special = special.map(|d| d + LINE_RANGE * steps + u64::from(OPCODE_BASE));
        match special.and_then(|opcode| u8::try_from(opcode).ok()) {
            Some(opcode) => out.bytes.push(opcode),
            None => {
                out.bytes.push(ADVANCE_PC);
                out.unsigned(steps);
                out.bytes.push(ADVANCE_LINE);
                out.signed(down);
                out.bytes.push(COPY);
            }
        }
        (at, file, line, column) = (*offset, *number, position.line.into(), position.column);
    }
    out.bytes.push(ADVANCE_PC);
    out.unsigned((kernel.span.size - u64::from(at)) / u64::from(STEP));
    out.bytes.extend([0, 1, END_SEQUENCE]);
}
