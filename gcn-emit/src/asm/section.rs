//! Sections under construction.
//!
//! A section consists of one or more streams, one for each subsection. A stream is a sequence of bytes with gaps. The size of a gap is
//! known only after layout (for example, an alignment after another gap, or a LEB128 of a later label). Nearly all streams have no gap, so
//! their offsets are final at once.

use object::elf;

use super::expr::Expr;
use super::place::StreamId;
use super::span::Span;

/// The contents of a gap.
#[derive(Clone, Debug)]
pub(super) enum GapKind {
    /// Fills up to the next multiple of `align`, unless that takes more than `most` bytes.
    Align { align: u64, fill: Fill, most: u64 },
    /// `count` times the low bytes of a value.
    Repeat { count: Expr, value: u64, size: u8 },
    /// Fills up to an offset in the section.
    Org { to: Expr, value: u8 },
    /// A gap after a branch to this label: an `s_nop` if the branch would otherwise have the distance `bad`, which the target executes
    /// wrongly.
    AfterBranch { to: Expr, bad: u16 },
    /// A number in LEB128.
    Leb { value: Expr, signed: bool },
}

/// The contents of an alignment's padding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fill {
    /// Instructions that do nothing.
    Nops,
    /// A value of 1 to 8 bytes.
    Value(u64, u8),
}

/// A range of unknown size in a stream.
#[derive(Clone, Debug)]
pub(super) struct Gap {
    pub kind: GapKind,
    /// The number of bytes that precede the gap in the stream, without gaps.
    pub bytes: u64,
    /// The gap's size, as currently computed.
    pub size: u64,
    pub span: Span,
}

/// A subsection.
#[derive(Debug)]
pub(super) struct Stream {
    pub section: u32,
    pub number: u32,
    pub bytes: Vec<u8>,
    /// The size without gaps; larger than `bytes` in a section without file contents.
    pub length: u64,
    pub gaps: Vec<Gap>,
}

/// A section.
#[derive(Debug)]
pub(super) struct Section {
    pub name: String,
    pub kind: u32,
    pub flags: u64,
    pub entry_size: u64,
    pub align: u64,
    /// The group's signature, and whether it is a COMDAT.
    pub group: Option<(String, bool)>,
    /// The directive that first opened the section.
    pub span: Span,
    /// The section's streams.
    pub streams: Vec<StreamId>,
}

impl Section {
    /// True if the section occupies memory, but no bytes of the file.
    pub fn is_nobits(&self) -> bool {
        self.kind == elf::SHT_NOBITS
    }

    /// True if the section contains instructions.
    pub fn is_code(&self) -> bool {
        self.flags & u64::from(elf::SHF_EXECINSTR) != 0
    }
}

/// `s_nop 0`.
const S_NOP: [u8; 4] = crate::encode::S_NOP.to_le_bytes();

/// Appends `count` bytes of alignment padding.
pub(super) fn write_fill(bytes: &mut Vec<u8>, count: u64, fill: Fill) {
    match fill {
        Fill::Nops => {
            // Zeros fill the part that is too small for an instruction, as in LLVM.
            bytes.extend(std::iter::repeat_n(0, (count % 4) as usize));
            (0..count / 4).for_each(|_| bytes.extend_from_slice(&S_NOP));
        }
        Fill::Value(value, size) => write_repeated(bytes, count / u64::from(size.max(1)), value, size),
    }
}

/// Appends the low `size` bytes of a value `count` times.
pub(super) fn write_repeated(bytes: &mut Vec<u8>, count: u64, value: u64, size: u8) {
    let value = value.to_le_bytes();
    let value = value.get(..usize::from(size)).unwrap_or_default();
    match value {
        [byte] => bytes.extend(std::iter::repeat_n(*byte, count as usize)),
        _ => (0..count).for_each(|_| bytes.extend_from_slice(value)),
    }
}

/// Appends a number in LEB128.
pub(super) fn write_leb(bytes: &mut Vec<u8>, value: i64, signed: bool) {
    let mut rest = value;
    loop {
        let byte = (rest & 0x7f) as u8;
        rest = if signed { rest >> 7 } else { ((rest as u64) >> 7) as i64 };
        let done = if signed {
            (rest == 0 && byte & 0x40 == 0) || (rest == -1 && byte & 0x40 != 0)
        } else {
            rest == 0
        };
        if done {
            bytes.push(byte);
            return;
        }
        bytes.push(byte | 0x80);
    }
}
