//! The line table (6.2).

use super::bytes::{ADDRESS_BYTES, Bytes, STRING, UDATA, VERSION};
use super::{Files, Lines};
use crate::object::{RelocationKind, Section, SectionId};

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
pub(super) fn line_table(kernels: &[Lines<'_>], files: &Files, text: SectionId) -> Section {
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
