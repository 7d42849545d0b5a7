//! Compares the meaning of integers as constant operands with LLVM's assembler. Every constant operand of every vector and scalar ALU row,
//! on every target that is measured separately, gets the bits of 1.0 in each type and a few other values. The bytes must be the same.

use std::collections::{BTreeMap, BTreeSet};

use gcn_isa::mods::DppControls;
use gcn_isa::table::{self, Format, InstDesc, Modifiers, OperandDesc, OperandKinds};
use gcn_isa::{Target, TargetSet};

use super::variants::{ours, theirs};
use crate::llvm::Llvm;

/// Every inline float in LLVM's notation; 1.0 as f16, f32, bf16, f64 and the upper half of an f64; numbers that are small in one width
/// only; numbers that are not inline constants; the bits of 1/(2π).
const PROBES: [&str; 21] = [
    "0.5",
    "-0.5",
    "-1.0",
    "2.0",
    "-2.0",
    "4.0",
    "-4.0",
    "0.15915494309189532",
    "0x3118",
    "0x3e22f983",
    "0x3c00",
    "0x3f800000",
    "0x3f80",
    "0x3ff0000000000000",
    "0x3ff00000",
    "0xfffffff0",
    "0xffff",
    "1.0",
    "0x12345678",
    "-17",
    "0.15915494",
];

/// True for rows and probes for which LLVM encodes something other than what was written, or rejects a value that the encoding has.
fn is_llvm_fault(desc: &InstDesc, probe: &str) -> bool {
    let sdwa = matches!(desc.format, Format::Vop1Sdwa | Format::Vop2Sdwa | Format::VopcSdwa);
    match probe {
        // LLVM drops the upper half of the 64-bit pattern, so the result is 0.
        "0x3ff0000000000000" => desc.mnemonic.starts_with("v_pk_"),
        // SDWA has no literals; LLVM emits the marker of a literal without a literal.
        "0xffff" if sdwa => true,
        // LLVM encodes the class mask's constant as the number of v0.
        "0x3f800000" | "0x3e22f983" if sdwa => desc.mnemonic.contains("_class_f16"),
        // LLVM does not check the sources of conversions with stochastic rounding, and encodes them as 0.
        _ if desc.mnemonic.starts_with("v_cvt_scalef32_sr_") => true,
        // LLVM drops the low half of the literal, with a warning.
        "0.15915494" => desc.mnemonic.contains("f64"),
        _ => false,
    }
}

/// An operand that the slot accepts. It depends on the position, so that no rule about equal registers applies.
fn plain_operand(slot: &OperandDesc, place: usize) -> String {
    let tuple = |file: char, first: usize| match slot.dwords {
        0 | 1 => format!("{file}{first}"),
        n => format!("{file}[{first}:{}]", first + usize::from(n) - 1),
    };
    let has = |kind| slot.kinds.contains(kind);
    if has(OperandKinds::VGPR) {
        tuple('v', 32 * place)
    } else if has(OperandKinds::AGPR) {
        tuple('a', 32 * place)
    } else if slot.kinds == OperandKinds::SPECIAL {
        slot.specials.split(',').next().unwrap_or("vcc").trim_end_matches("_lo").to_owned()
    } else if has(OperandKinds::SGPR) {
        tuple('s', 16 * place)
    } else if has(OperandKinds::OFF) {
        "off".to_owned()
    } else {
        "0".to_owned()
    }
}

fn controls(desc: &InstDesc) -> &'static str {
    match desc.modifiers.contains(Modifiers::DPP_CTRL) {
        true if desc.dpp_controls == DppControls::ROW_NEWBCAST => " row_newbcast:1",
        true => " row_shl:1",
        false => "",
    }
}

/// The row with `probe` at one position.
fn line(desc: &InstDesc, position: usize, probe: &str) -> String {
    let operands: Vec<String> = desc
        .operands
        .iter()
        .enumerate()
        .map(|(place, slot)| if place == position { probe.to_owned() } else { plain_operand(slot, place) })
        .collect();
    format!("{} {}{}", desc.printed, operands.join(", "), controls(desc))
}

#[test]
fn integers_mean_what_llvm_takes_them_for() {
    if Llvm::find().is_none() {
        return;
    }
    let constant = OperandKinds::INLINE_INT | OperandKinds::INLINE_FLOAT;
    let mut lines: BTreeMap<Target, Vec<(String, bool)>> = BTreeMap::new();
    for desc in table::rows().iter().filter(|r| r.format.is_vop() || r.is_salu()) {
        assert_ne!(desc.targets, TargetSet::EMPTY);
        let newest = desc.targets.targets().last();
        let targets: BTreeSet<Target> = desc.targets.representatives().chain(newest).collect();
        let slots = desc.operands.iter().enumerate().filter(|(_, o)| o.kinds.intersects(constant));
        for (position, _) in slots {
            let probes = PROBES.iter().map(|p| (line(desc, position, p), is_llvm_fault(desc, p)));
            for &target in &targets {
                lines.entry(target).or_default().extend(probes.clone());
            }
        }
    }
    let (mut same, mut faults, mut accepted) = (0, 0, 0);
    let mut wrong = Vec::new();
    for (target, lines) in lines {
        let texts: Vec<&str> = lines.iter().map(|l| l.0.as_str()).collect();
        for ((text, fault), expected) in lines.iter().zip(theirs(&texts, target)) {
            let have = ours(text, target);
            accepted += usize::from(have.is_ok());
            if have.as_ref().ok() == expected.as_ref() {
                same += 1;
            } else if *fault {
                faults += 1;
            } else {
                wrong.push(format!("{target} `{text}`: llvm {expected:?}, we {have:?}"));
            }
        }
    }
    println!("{same} constants alike ({accepted} accepted), {faults} where LLVM is at fault");
    let shown: Vec<&String> = wrong.iter().take(40).collect();
    assert!(wrong.is_empty(), "{} wrong, among them {shown:#?}", wrong.len());
    assert!(accepted > 150_000, "only {accepted} were accepted: the lines are wrong");
}
