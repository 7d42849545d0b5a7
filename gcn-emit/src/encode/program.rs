//! Encodes a whole program: labels become branch distances.

use gcn_isa::{Inst, Label, Operand, Program};

use super::error::{EncodeError, EncodeFault};
use super::{Labels, Word, encode_word};

/// A program's machine code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoded {
    /// The code.
    pub bytes: Vec<u8>,
    /// The byte offset of each line. The last entry is the offset of the end.
    pub offsets: Vec<u32>,
}

/// A branch whose distance is filled in when all offsets are known.
struct Fixup {
    line: usize,
    label: Label,
}

/// The machine code of a program. One pass computes the code and one fills in the branches.
///
/// A label operand becomes the signed number of dwords from the next instruction to the label.
pub fn encode_program(program: &Program) -> Result<Encoded, EncodeError> {
    let mut out = Encoded {
        bytes: Vec::with_capacity(program.lines.len() * 8),
        offsets: Vec::with_capacity(program.lines.len() + 1),
    };
    let mut fixups = Vec::new();
    for (index, line) in program.lines.iter().enumerate() {
        out.offsets.push(out.bytes.len() as u32);
        let with_line = |error: EncodeFault| EncodeError {
            line: Some(index),
            ..EncodeError::new(&line.inst, program.target, error)
        };
        if let Some(label) = label_of(&line.inst) {
            fixups.push(Fixup { line: index, label });
        }
        let word = encode_word(&line.inst, program.target, Labels::Zero);
        let Word { bits, bytes } = word.map_err(with_line)?;
        out.bytes.extend_from_slice(&bits.to_le_bytes()[..bytes]);
    }
    out.offsets.push(out.bytes.len() as u32);
    for fixup in fixups {
        let patched = patch(program, &mut out, &fixup);
        patched.map_err(|fault| EncodeError {
            line: Some(fixup.line),
            ..EncodeError::new(&program.lines[fixup.line].inst, program.target, fault)
        })?;
    }
    Ok(out)
}

/// The label of a branch. A label in any other instruction is left in place, so that the operand check rejects it. `None` for other
/// instructions.
fn label_of(inst: &Inst) -> Option<Label> {
    match inst.operands.get(inst.desc.branch_operand()?) {
        Some(&Operand::Label(label)) => Some(label),
        _ => None,
    }
}

fn patch(program: &Program, out: &mut Encoded, fixup: &Fixup) -> Result<(), EncodeFault> {
    let def = program.labels.get(fixup.label.0 as usize);
    let name = || def.map_or_else(|| format!("label {}", fixup.label.0), |d| d.name.clone());
    let place = def.and_then(|d| d.at).and_then(|at| out.offsets.get(at));
    let Some(&place) = place else {
        return Err(EncodeFault::UnplacedLabel { label: name() });
    };
    let next = out.offsets[fixup.line + 1];
    let distance = (i64::from(place) - i64::from(next)) / 4;
    let Ok(simm16) = i16::try_from(distance) else {
        return Err(EncodeFault::BranchTooFar { label: name(), distance });
    };
    // Every instruction with a label operand has its 16-bit distance in the low half of its first dword.
    let at = out.offsets[fixup.line] as usize;
    out.bytes[at..at + 2].copy_from_slice(&simm16.to_le_bytes());
    Ok(())
}
