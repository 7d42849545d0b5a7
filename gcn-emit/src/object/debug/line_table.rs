//! The line table (6.2), in version 4 or 5.

use super::bytes::{ADDRESS_BYTES, Bytes, UDATA};
use crate::object::{RelocationKind, SectionId};

/// The smallest line advance of a special opcode; the next constant is the number of different line advances (6.2.5.1).
const LINE_BASE: i64 = -5;
const LINE_RANGE: u64 = 14;
/// The first special opcode.
const OPCODE_BASE: u8 = 13;
/// The largest address advance of a special opcode, in steps.
const MOST_STEPS: u64 = (u8::MAX - OPCODE_BASE) as u64 / LINE_RANGE;
/// The number of operands of each standard opcode.
const OPERANDS: [u8; OPCODE_BASE as usize - 1] = [0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1];
/// Addresses are multiples of this.
const STEP: u8 = 4;

/// A line table. Directory 0 is the one in which the compiler ran, and file 0 is that of the unit; a table of version 4 contains neither.
pub(crate) struct LineTable {
    pub(crate) version: u16,
    pub(crate) directories: Vec<String>,
    pub(crate) files: Vec<File>,
    pub(crate) sequences: Vec<Sequence>,
}

/// A source file.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) directory: u64,
    pub(crate) md5: Option<[u8; 16]>,
    pub(crate) source: Option<String>,
}

/// The rows of a contiguous piece of code, and its end in its section.
pub(crate) struct Sequence {
    pub(crate) section: SectionId,
    pub(crate) rows: Vec<Row>,
    pub(crate) end: u64,
}

/// A row (6.2.2).
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Row {
    /// The byte offset in the section.
    pub(crate) offset: u64,
    pub(crate) file: u64,
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) isa: u32,
    pub(crate) discriminator: u32,
    pub(crate) is_statement: bool,
    pub(crate) marks: Marks,
}

/// The properties of a row that debuggers use to place breakpoints: `basic_block`, `prologue_end` and `epilogue_begin` (6.2.2).
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Marks {
    pub(crate) basic_block: bool,
    pub(crate) prologue_end: bool,
    pub(crate) epilogue_begin: bool,
}

/// How paths are written: the form, and a function that appends one.
pub(crate) struct Paths<'p> {
    pub(crate) form: u8,
    pub(crate) put: &'p mut dyn FnMut(&mut Bytes, &str),
}

impl LineTable {
    /// Appends the table (6.2.4).
    pub(crate) fn write(&self, out: &mut Bytes, paths: Paths<'_>) {
        let start = out.bytes.len();
        out.bytes.extend([0; 4]);
        out.bytes.extend(self.version.to_le_bytes());
        if self.version >= 5 {
            out.bytes.extend([ADDRESS_BYTES, 0]);
        }
        let header = out.bytes.len();
        out.bytes.extend([0; 4]);
        // One operation per instruction; by default, rows are the start of a statement.
        out.bytes.extend([STEP, 1, 1, LINE_BASE as u8, LINE_RANGE as u8, OPCODE_BASE]);
        out.bytes.extend(OPERANDS);
        if self.version >= 5 {
            self.files_5(out, paths);
        } else {
            self.files_4(out);
        }
        out.set_length(header);
        self.sequences.iter().for_each(|sequence| sequence.write(out));
        out.set_length(start);
    }

    /// Writes the files for version 5, from number 0.
    fn files_5(&self, out: &mut Bytes, Paths { form, put }: Paths<'_>) {
        const DW_LNCT_PATH: u64 = 1;
        const DW_LNCT_DIRECTORY: u64 = 2;
        const DW_LNCT_MD5: u64 = 5;
        const DW_LNCT_LLVM_SOURCE: u64 = 0x2001;
        const DATA16: u8 = 0x1e;
        out.bytes.push(1);
        out.unsigned(DW_LNCT_PATH);
        out.unsigned(form.into());
        out.unsigned(self.directories.len() as u64);
        self.directories.iter().for_each(|directory| put(out, directory));
        let with_md5 = self.files.iter().all(|file| file.md5.is_some());
        let with_source = self.files.iter().any(|file| file.source.is_some());
        let fields = [
            (DW_LNCT_PATH, form, true),
            (DW_LNCT_DIRECTORY, UDATA, true),
            (DW_LNCT_MD5, DATA16, with_md5),
            (DW_LNCT_LLVM_SOURCE, form, with_source),
        ];
        out.bytes.push(fields.iter().filter(|field| field.2).count() as u8);
        for (content, form, _) in fields.iter().filter(|field| field.2) {
            out.unsigned(*content);
            out.unsigned((*form).into());
        }
        out.unsigned(self.files.len() as u64);
        for file in &self.files {
            put(out, &file.name);
            out.unsigned(file.directory);
            out.bytes.extend(file.md5.iter().filter(|_| with_md5).flatten());
            if with_source {
                put(out, file.source.as_deref().unwrap_or_default());
            }
        }
    }

    /// Writes the files for version 4, from number 1 (6.2.4 of DWARF 4), without times and sizes.
    fn files_4(&self, out: &mut Bytes) {
        self.directories.iter().skip(1).for_each(|directory| out.string(directory));
        out.bytes.push(0);
        for file in self.files.iter().skip(1) {
            out.string(&file.name);
            out.unsigned(file.directory);
            out.bytes.extend([0, 0]);
        }
        out.bytes.push(0);
    }
}

const COPY: u8 = 1;
const ADVANCE_PC: u8 = 2;
const ADVANCE_LINE: u8 = 3;
const CONST_ADD_PC: u8 = 8;

impl Sequence {
    /// Appends the line number program that produces the rows (6.2.5).
    fn write(&self, out: &mut Bytes) {
        const SET_FILE: u8 = 4;
        const SET_COLUMN: u8 = 5;
        const NEGATE_STMT: u8 = 6;
        const SET_BASIC_BLOCK: u8 = 7;
        const SET_PROLOGUE_END: u8 = 10;
        const SET_EPILOGUE_BEGIN: u8 = 11;
        const SET_ISA: u8 = 12;
        const END_SEQUENCE: u8 = 1;
        const SET_ADDRESS: u8 = 2;
        const SET_DISCRIMINATOR: u8 = 4;
        let mut before = Row { file: 1, line: 1, is_statement: true, ..Row::default() };
        for (number, row) in self.rows.iter().enumerate() {
            if row.file != before.file {
                out.bytes.push(SET_FILE);
                out.unsigned(row.file);
            }
            if row.column != before.column {
                out.bytes.push(SET_COLUMN);
                out.unsigned(row.column.into());
            }
            if row.discriminator != 0 {
                let mut value = Bytes::default();
                value.unsigned(row.discriminator.into());
                out.bytes.extend([0, 1 + value.bytes.len() as u8, SET_DISCRIMINATOR]);
                out.bytes.extend(value.bytes);
            }
            if row.isa != before.isa {
                out.bytes.push(SET_ISA);
                out.unsigned(row.isa.into());
            }
            if row.is_statement != before.is_statement {
                out.bytes.push(NEGATE_STMT);
            }
            let marks = [
                (row.marks.basic_block, SET_BASIC_BLOCK),
                (row.marks.prologue_end, SET_PROLOGUE_END),
                (row.marks.epilogue_begin, SET_EPILOGUE_BEGIN),
            ];
            out.bytes.extend(marks.iter().filter(|mark| mark.0).map(|mark| mark.1));
            let lines = i64::from(row.line) - i64::from(before.line);
            if number == 0 {
                out.bytes.extend([0, 1 + ADDRESS_BYTES, SET_ADDRESS]);
                out.address(RelocationKind::Abs64, 8, self.section, row.offset);
                advance(out, lines, 0);
            } else {
                advance(out, lines, steps(before.offset, row.offset));
            }
            before = *row;
        }
        match steps(before.offset, self.end) {
            0 => {}
            MOST_STEPS => out.bytes.push(CONST_ADD_PC),
            steps => {
                out.bytes.push(ADVANCE_PC);
                out.unsigned(steps);
            }
        }
        out.bytes.extend([0, 1, END_SEQUENCE]);
    }
}

fn steps(from: u64, to: u64) -> u64 {
    to.wrapping_sub(from) / u64::from(STEP)
}

/// Advances by lines and steps and appends a row, in as few bytes as llvm-mc (6.2.5.1).
fn advance(out: &mut Bytes, lines: i64, steps: u64) {
    let in_range = |lines: i64| u64::try_from(lines - LINE_BASE).ok().filter(|line| *line < LINE_RANGE);
    let (line, moved) = match in_range(lines) {
        Some(line) => (line, false),
        None => {
            out.bytes.push(ADVANCE_LINE);
            out.signed(lines);
            (-LINE_BASE as u64, true)
        }
    };
    if steps == 0 && (moved || lines == 0) {
        out.bytes.push(COPY);
        return;
    }
    let special = |steps: u64| {
        let opcode = steps.checked_mul(LINE_RANGE)?.checked_add(line + u64::from(OPCODE_BASE))?;
        u8::try_from(opcode).ok()
    };
    if let Some(opcode) = special(steps) {
        out.bytes.push(opcode);
    } else if let Some(opcode) = steps.checked_sub(MOST_STEPS).and_then(special) {
        out.bytes.extend([CONST_ADD_PC, opcode]);
    } else {
        out.bytes.push(ADVANCE_PC);
        out.unsigned(steps);
        out.bytes.push(if moved { COPY } else { line as u8 + OPCODE_BASE });
    }
}
