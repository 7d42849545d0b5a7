//! Encodes a whole program: labels become branch distances.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use gcn_isa::{Inst, Label, Operand, Program};

use super::error::{EncodeError, EncodeFault};
use super::{Labels, Word, encode_word};

/// `s_nop 0`, which pads code.
pub(crate) const S_NOP: u32 = 0xbf80_0000;

/// The distances that a branch can have, in dwords from the next instruction to the target: the numbers of a signed 16-bit field.
pub const BRANCH_REACH: RangeInclusive<i64> = i16::MIN as i64..=i16::MAX as i64;

/// A program's machine code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoded {
    /// The code.
    pub bytes: Vec<u8>,
    /// The byte offset of each line. The last entry is the offset of the end.
    pub offsets: Vec<u32>,
}

/// The machine code of a program. One pass computes the code and one fills in the branches.
///
/// A label operand becomes the signed number of dwords from the next instruction to the label. If the target executes branches with this
/// distance wrongly ([`bad_distance`](gcn_isa::InstDesc::bad_distance)), an `s_nop` follows the branch, as in LLVM's assembler. It belongs to
/// the line of the branch.
///
/// # Errors
/// The first line that has no encoding, whose label is not placed, or whose target is beyond [`BRANCH_REACH`].
pub fn encode_program(program: &Program) -> Result<Encoded, EncodeError> {
    let words = words(program)?;
    let (offsets, padded) = layout(program, &words);
    let mut bytes = Vec::with_capacity(offsets.last().map_or(0, |end| *end as usize));
    for (line, word) in words.iter().enumerate() {
        let start = bytes.len();
        bytes.extend_from_slice(&word.bits.to_le_bytes()[..word.bytes]);
        if label_of(&program.lines[line].inst).is_some() {
            let distance =
                reachable(program, &words, &offsets, line).map_err(|fault| error(program, line, fault))?;
            // Every instruction with a label operand has its 16-bit distance in the low half of its first dword.
            bytes[start..start + 2].copy_from_slice(&distance.to_le_bytes());
        }
        if padded.contains(&line) {
            bytes.extend_from_slice(&S_NOP.to_le_bytes());
        }
    }
    Ok(Encoded { bytes, offsets })
}

/// The byte offset of each line in the code that [`encode_program`] makes, and of the end. Branches may be out of reach.
///
/// # Errors
/// The first line that has no encoding.
pub fn offsets(program: &Program) -> Result<Vec<u32>, EncodeError> {
    Ok(layout(program, &words(program)?).0)
}

/// The machine code of each line, with the distance 0 in branches.
fn words(program: &Program) -> Result<Vec<Word>, EncodeError> {
    let word = |(index, line): (usize, &gcn_isa::Line)| {
        encode_word(&line.inst, program.target, Labels::Zero).map_err(|fault| error(program, index, fault))
    };
    program.lines.iter().enumerate().map(word).collect()
}

fn error(program: &Program, line: usize, fault: EncodeFault) -> EncodeError {
    EncodeError { line: Some(line), ..EncodeError::new(&program.lines[line].inst, program.target, fault) }
}

/// The byte offsets of all lines and of the end, and the lines that an `s_nop` follows.
fn layout(program: &Program, words: &[Word]) -> (Vec<u32>, BTreeSet<usize>) {
    let mut padded = BTreeSet::new();
    loop {
        let mut offsets = Vec::with_capacity(words.len() + 1);
        let mut end = 0;
        for (line, word) in words.iter().enumerate() {
            offsets.push(end);
            end += word.bytes as u32 + if padded.contains(&line) { 4 } else { 0 };
        }
        offsets.push(end);
        // An `s_nop` makes other branches over it longer, which may give these a bad distance in turn.
        let bad = |line: &usize| {
            let bad = program.lines[*line].inst.desc.bad_distance(program.target);
            bad.is_some_and(|bad| distance(program, words, &offsets, *line) == Some(bad.into()))
        };
        let more: Vec<usize> = if program.target.bad_branch_distance().is_some() {
            (0..words.len()).filter(bad).collect()
        } else {
            Vec::new()
        };
        if more.is_empty() {
            return (offsets, padded);
        }
        padded.extend(more);
    }
}

/// The label of a branch. A label in any other instruction is left in place, so that the operand check rejects it. `None` for other
/// instructions.
fn label_of(inst: &Inst) -> Option<Label> {
    match inst.operands.get(inst.desc.branch_operand()?) {
        Some(&Operand::Label(label)) => Some(label),
        _ => None,
    }
}

/// The distance of a branch: the number of dwords from the instruction after it to its label. `None` if it names no label, or the label is
/// not defined.
fn distance(program: &Program, words: &[Word], offsets: &[u32], line: usize) -> Option<i64> {
    let label = label_of(&program.lines[line].inst)?;
    let place = program.labels.get(label.0 as usize)?.at.and_then(|at| offsets.get(at))?;
    let next = i64::from(offsets[line]) + words[line].bytes as i64;
    Some((i64::from(*place) - next) / 4)
}

/// The distance of a branch as the field has it.
fn reachable(program: &Program, words: &[Word], offsets: &[u32], line: usize) -> Result<i16, EncodeFault> {
    let name = || {
        let label = label_of(&program.lines[line].inst).map_or(0, |label| label.0);
        program.labels.get(label as usize).map_or_else(|| format!("label {label}"), |def| def.name.clone())
    };
    match distance(program, words, offsets, line) {
        None => Err(EncodeFault::UnplacedLabel { label: name() }),
        Some(distance) => {
            i16::try_from(distance).map_err(|_| EncodeFault::BranchTooFar { label: name(), distance })
        }
    }
}
