//! Writes data as directives.

use std::fmt::Write as _;

/// The number of dwords on one line.
const PER_LINE: usize = 4;
/// The minimum number of equal dwords that are written as a single `.fill`.
const RUN: usize = 8;

/// Writes bytes: as dwords, with equal ones in one directive, and the rest as single bytes.
pub(super) fn write(out: &mut String, bytes: &[u8]) {
    let (dwords, rest) = bytes.as_chunks::<4>();
    let mut line = 0;
    let mut at = 0;
    while let Some(&dword) = dwords.get(at) {
        let run = dwords[at..].iter().take_while(|d| **d == dword).count();
        let value = u32::from_le_bytes(dword);
        if run >= RUN {
            end_line(out, &mut line);
            let _ = writeln!(out, "\t.fill {run}, 4, {value:#x}");
            at += run;
            continue;
        }
        let _ = write!(out, "{}{value:#010x}", if line == 0 { "\t.long " } else { ", " });
        line += 1;
        if line == PER_LINE {
            end_line(out, &mut line);
        }
        at += 1;
    }
    end_line(out, &mut line);
    write_bytes(out, rest);
}

/// Writes single bytes on one line.
pub(super) fn write_bytes(out: &mut String, bytes: &[u8]) {
    for (i, byte) in bytes.iter().enumerate() {
        let _ = write!(out, "{}{byte:#04x}", if i == 0 { "\t.byte " } else { ", " });
    }
    if !bytes.is_empty() {
        out.push('\n');
    }
}

fn end_line(out: &mut String, line: &mut usize) {
    if *line > 0 {
        out.push('\n');
        *line = 0;
    }
}
