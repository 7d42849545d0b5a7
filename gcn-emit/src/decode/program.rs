//! Decodes a whole `.text` into a program: branch distances become labels.

use std::collections::BTreeMap;

use gcn_isa::target::Subtarget;
use gcn_isa::{Label, Operand, Program};

use super::decode_at;
use super::error::{DecodeError, DecodeFault};

/// Decodes `bytes` from the first to the last instruction. The targets of branches become labels, named `.L0`, `.L1` …
/// in the order of their positions.
pub fn decode_program(bytes: &[u8], on: impl Into<Subtarget>, name: &str) -> Result<Program, DecodeError> {
    let on = on.into();
    let target = on.target;
    let mut program = Program::new(target, name);
    program.wave = on.wave;
    let mut offsets = Vec::with_capacity(bytes.len() / 6 + 1);
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let (inst, length) =
            decode_at(rest, on).map_err(|fault| DecodeError::new(at, rest, target, fault))?;
        program.push(inst);
        offsets.push(at);
        at += length;
    }
    offsets.push(at);
    place_labels(&mut program, &offsets)
        .map_err(|(at, fault)| DecodeError::new(at, &bytes[at..], target, fault))?;
    Ok(program)
}

/// A branch: its line, its operand, and the line of its target.
struct Branch {
    line: usize,
    operand: usize,
    to: usize,
}

fn place_labels(program: &mut Program, offsets: &[usize]) -> Result<(), (usize, DecodeFault)> {
    let mut branches = Vec::new();
    for (line, entry) in program.lines.iter().enumerate() {
        let Some(operand) = entry.inst.desc.branch_operand() else { continue };
        let Operand::Imm(distance) = entry.inst.operands[operand] else { continue };
        let destination = offsets[line + 1] as i64 + 4 * i64::from(distance as u16 as i16);
        let to = usize::try_from(destination).ok().and_then(|d| offsets.binary_search(&d).ok());
        let Some(to) = to else {
            let mnemonic = entry.inst.desc.printed;
            return Err((offsets[line], DecodeFault::WildBranch { mnemonic, destination }));
        };
        branches.push(Branch { line, operand, to });
    }
    let mut labels: BTreeMap<usize, Label> = branches.iter().map(|b| (b.to, Label(0))).collect();
    for (number, (line, label)) in labels.iter_mut().enumerate() {
        *label = program.new_label(format!(".L{number}"));
        program.labels[number].at = Some(*line);
    }
    for branch in branches {
        let inst = program.lines[branch.line].inst_mut();
        inst.operands[branch.operand] = Operand::Label(labels[&branch.to]);
    }
    Ok(())
}
