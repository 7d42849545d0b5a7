//! Compares notations in which an operand is omitted, or is `null` and stands for nothing, with LLVM 22: both assemblers accept the same
//! ones and encode them alike.

use std::collections::BTreeSet;

use gcn_emit::encode::encode_inst;
use gcn_emit::text::{InstText, parse_inst};
use gcn_isa::table::{InstDesc, Modifiers, OperandKinds};
use gcn_isa::target::Subtarget;
use gcn_isa::{Format, Inst, Operand, Reg, Target, reg, table};

use crate::llvm::{Llvm, feed};

/// The instruction with one register for each operand.
fn sample(row: &'static InstDesc) -> Option<Inst> {
    let operand = |slot: &table::OperandDesc| {
        let dwords = slot.dwords.max(1);
        match slot.kinds {
            kinds if kinds.contains(OperandKinds::VGPR) => Some(Operand::Reg(Reg::v(2, dwords))),
            kinds if kinds.contains(OperandKinds::HALF_VGPR) => Some(Operand::Reg(Reg::v(2, 1))),
            kinds if kinds.contains(OperandKinds::SGPR) => Some(Operand::Reg(Reg::s(16, dwords))),
            kinds if kinds.contains(OperandKinds::IMM) => Some(Operand::Imm(0)),
            kinds if kinds == OperandKinds::SPECIAL => Some(Operand::Reg(reg::VCC.slice(0, dwords))),
            _ => None,
        }
    };
    let operands: Option<Vec<Operand>> = row.operands.iter().map(operand).collect();
    Some(Inst::new(row, operands?).with(|mods| mods.offset = if is_scalar_load(row) { 4 } else { 0 }))
}

/// True for a scalar memory instruction with both a register and a number as its offset.
fn is_scalar_load(row: &InstDesc) -> bool {
    row.format == Format::Smem
        && row.modifiers.contains(Modifiers::OFFSET)
        && row.operand_index("soffset").is_some()
}

/// The shorter texts of an instruction.
fn texts(on: Subtarget, row: &'static InstDesc) -> Vec<String> {
    let Some(inst) = sample(row) else { return Vec::new() };
    let text = InstText { inst: &inst, target: on.target, program: None }.to_string();
    let (mnemonic, rest) = text.split_once(' ').unwrap_or((&text, ""));
    if is_scalar_load(row) {
        let null = rest.replace("s16 offset:0x4", "null offset:0x4");
        let none = null.replace(" offset:0x4", "");
        return [null, none].into_iter().filter(|t| t != rest).map(|t| format!("{mnemonic} {t}")).collect();
    }
    // The operands and, after them, the modifiers.
    let vcc = |operand: &&str| operand.split(' ').next().is_some_and(|word| word.starts_with("vcc"));
    let operands: Vec<&str> = rest.split(", ").collect();
    let places: Vec<usize> = (0..operands.len()).filter(|i| vcc(&operands[*i])).collect();
    let without = |places: &[usize]| {
        let mut left = Vec::new();
        let mut mods = String::new();
        for (i, operand) in operands.iter().enumerate() {
            match places.contains(&i) {
                true => mods += operand.split_once(' ').map_or("", |(_, mods)| mods),
                false => left.push(*operand),
            }
        }
        format!("{mnemonic} {} {mods}", left.join(", ")).trim_end().to_owned()
    };
    match places[..] {
        [] => Vec::new(),
        [first, .., last] => vec![without(&places), without(&[first]), without(&[last])],
        [_] => vec![without(&places)],
    }
}

#[test]
fn operands_may_be_omitted_where_llvm_allows_it() {
    if Llvm::find().is_none() {
        return;
    }
    let (mut taken, mut refused) = (0, 0);
    for target in Target::KNOWN.into_iter().filter(|target| target.is_first_of_its_set()) {
        let on = Subtarget::from(target);
        let texts: BTreeSet<String> = table::rows_on(on).flat_map(|row| texts(on, row)).collect();
        let input = texts.iter().fold(String::new(), |all, text| all + text + "\n");
        let cpu = format!("-mcpu={target}");
        let lanes = format!("-mattr=+wavefrontsize{}", on.wave.lanes());
        let output = feed(&["-triple=amdgcn-amd-amdhsa", &cpu, &lanes, "-show-encoding"], input);
        let errors = String::from_utf8(output.stderr).unwrap();
        let lines = errors.lines().filter(|line| line.contains(": error: "));
        let wrong: BTreeSet<usize> = lines.filter_map(|line| line.split(':').nth(1)?.parse().ok()).collect();
        let output = String::from_utf8(output.stdout).unwrap();
        let mut codes = output.lines().filter_map(|line| line.split_once("encoding: [")?.1.split(']').next());
        for (number, text) in (1..).zip(&texts) {
            let code = parse_inst(text, on)
                .map_err(|e| e.to_string())
                .and_then(|inst| encode_inst(&inst, target).map_err(|e| e.to_string()));
            if wrong.contains(&number) {
                assert!(code.is_err(), "{target}: {text}: LLVM refuses it, {code:x?}");
                refused += 1;
                continue;
            }
            let bytes: Vec<String> = code
                .unwrap_or_else(|e| panic!("{target}: {text}: {e}"))
                .iter()
                .map(|byte| format!("0x{byte:02x}"))
                .collect();
            assert_eq!(Some(&bytes.join(",")[..]), codes.next(), "{target}: {text}");
            taken += 1;
        }
        assert_eq!(codes.next(), None, "{target}");
    }
    assert!(taken > 1000 && refused > 100, "{taken} taken, {refused} refused");
}
