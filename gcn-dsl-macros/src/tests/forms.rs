//! Tests every form of every instruction that the assembler accepts, written as a line of `asm!`: the line becomes a
//! call of the corresponding function with the right arguments, or is rejected for a known reason.

use std::collections::{BTreeMap, HashMap, HashSet};

use gcn_isa::Target;
use gcn_isa::table::{self, Access, ImplicitRegs, InstDesc, Modifiers, OperandDesc, OperandKinds, Variant};
use gcn_test_support::env::fuzz_step;

use catalog::{Form, Function, ParamKind};

/// The catalogue of functions that the build of gcn-dsl generates.
#[allow(dead_code, reason = "this test needs names and parameters alone")]
#[path = "../../../gcn-dsl/src/catalog/functions.rs"]
mod catalog;
#[allow(dead_code, reason = "this test needs names alone")]
#[path = "../../../gcn-dsl/src/catalog/excluded.rs"]
mod excluded;
#[path = "../../../gcn-dsl/src/catalog/types.rs"]
mod types;

const OPTIONS: &str = include_str!("../../../gcn-dsl/src/lang/isa/options.rs");

/// Each modifier in assembly syntax, except those whose value is a list of bits.
const WRITTEN: [(Modifiers, &str); 29] = [
    (Modifiers::CLAMP, "clamp"),
    (Modifiers::OMOD, "mul:2"),
    (Modifiers::OP_SEL, "op_sel:["),
    (Modifiers::OP_SEL_HI, "op_sel_hi:["),
    (Modifiers::NEG_LO, "neg_lo:["),
    (Modifiers::NEG_HI, "neg_hi:["),
    (Modifiers::NEG, "neg:[1,0,0]"),
    (Modifiers::DPP_CTRL, "quad_perm:[1,0,3,2]"),
    (Modifiers::DPP_CTRL, "row_newbcast:3"),
    (Modifiers::ROW_MASK, "row_mask:0xa"),
    (Modifiers::BANK_MASK, "bank_mask:0x5"),
    (Modifiers::BOUND_CTRL, "bound_ctrl:0"),
    (Modifiers::DST_SEL, "dst_sel:WORD_1"),
    (Modifiers::DST_UNUSED, "dst_unused:UNUSED_PAD"),
    (Modifiers::SRC0_SEL, "src0_sel:BYTE_3"),
    (Modifiers::SRC1_SEL, "src1_sel:WORD_0"),
    (Modifiers::OFFSET, "offset:4"),
    (Modifiers::OFFSET0, "offset0:4"),
    (Modifiers::OFFSET1, "offset1:4"),
    (Modifiers::GLC, "glc"),
    (Modifiers::GLC, "sc0"),
    (Modifiers::SLC, "slc"),
    (Modifiers::SLC, "nt"),
    (Modifiers::SCC, "scc"),
    (Modifiers::SCC, "sc1"),
    (Modifiers::GDS, "gds"),
    (Modifiers::CBSZ, "cbsz:1"),
    (Modifiers::BLGP, "blgp:1"),
    (Modifiers::BITOP3, "bitop3:0x40"),
];

/// Modifiers that a form has to have.
const REQUIRED: [(Modifiers, &[&str]); 5] = [
    (Modifiers::IDXEN, &["idxen"]),
    (Modifiers::OFFEN, &["offen"]),
    (Modifiers::GLC, &["glc", "sc0"]),
    (Modifiers::GDS, &["gds"]),
    (Modifiers::LDS, &["lds"]),
];

fn is_both(row: &InstDesc, slot: &OperandDesc) -> bool {
    slot.name == "vaddr" && row.required.contains(Modifiers::IDXEN | Modifiers::OFFEN)
}

/// An operand in the assembler's syntax and in that of `asm!`.
fn operand(row: &InstDesc, at: usize) -> (String, String) {
    let slot = &row.operands[at];
    let tuple = |file: char| match slot.dwords {
        0 | 1 => format!("{file}0"),
        n => format!("{file}[0:{}]", n - 1),
    };
    let name = format!("{{o{at}}}");
    let kinds = slot.kinds;
    let written = kinds - OperandKinds::SPECIAL;
    if kinds == OperandKinds::OFF {
        ("off".into(), "off".into())
    } else if is_both(row, slot) {
        ("v[0:1]".into(), format!("[{name}, {{o{at}b}}]"))
    } else if kinds.contains(OperandKinds::VGPR) {
        (tuple('v'), name)
    } else if kinds.contains(OperandKinds::AGPR) {
        (tuple('a'), name)
    } else if kinds.contains(OperandKinds::SGPR) {
        (tuple('s'), name)
    } else if written.is_empty() {
        (slot.specials.split(',').next().unwrap().replace("vcc_lo", "vcc"), name)
    } else {
        ("4".into(), "4".into())
    }
}

/// An instruction in the assembler's syntax and in that of `asm!`.
fn lines(row: &InstDesc, modifiers: &str) -> (String, String) {
    let (theirs, ours): (Vec<_>, Vec<_>) = (0..row.operands.len()).map(|at| operand(row, at)).unzip();
    let mut declared: Vec<String> = ["scc", "vcc", "m0"].map(|r| format!("{r} = in(value)")).to_vec();
    for (at, slot) in row.operands.iter().enumerate().filter(|(at, _)| ours[*at].contains('{')) {
        match slot.access {
            Access::Write => continue,
            Access::ReadWrite => declared.push(format!("o{at} = inout(value)")),
            Access::Read => declared.push(format!("o{at} = in(value)")),
        }
        if is_both(row, slot) {
            declared.push(format!("o{at}b = in(value)"));
        }
    }
    // Modifiers that may leave a part of the destination unchanged.
    if row.can_keep_part() && row.operands.first().is_some_and(|o| o.access == Access::Write) {
        declared.push("o0 = inout(value)".into());
    }
    let line = |operands: &[String]| format!("{} {} {modifiers}", row.printed, operands.join(", "));
    (line(&theirs).trim().to_owned(), format!("asm! {{ {}; {}; }};", declared.join(", "), line(&ours)))
}

/// The number of arguments of the call that starts at the beginning of `text`.
fn arguments(text: &str) -> usize {
    let (mut depth, mut count, mut any) = (0, 1, false);
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' if depth == 0 => return if any { count } else { 0 },
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => count += 1,
            _ => {}
        }
        any = true;
    }
    panic!("the call ends: {text}")
}

fn wanted(f: &Function, form: Form) -> usize {
    let count = |kind: ParamKind| match kind {
        ParamKind::SecondAddress => 0,
        ParamKind::Offsets => 2,
        _ => 1,
    };
    f.params_of(form).iter().map(|p| count(p.kind)).sum()
}

/// What is wrong with the expansion of a line that the assembler accepts; `None` if nothing is.
fn fault(row: &InstDesc, line: &str, functions: &HashMap<String, &Function>) -> Option<String> {
    let body: proc_macro2::TokenStream = line.parse().unwrap();
    let name = format!("{}{}", row.mnemonic, row.variant().suffix());
    let ours = excluded::excluded(row).is_some() || row.implicit_writes.contains(ImplicitRegs::EXEC);
    // Expanded only once, because there are thousands of lines.
    let text = super::kernels(super::in_body(body)).to_string();
    let found = super::messages(&text);
    if ours {
        let reason = found.len() == 1 && found[0].contains("is not available in `asm!`: ");
        return (!reason).then(|| format!("not refused: {found:?}"));
    }
    if !found.is_empty() {
        return Some(found.join("; "));
    }
    let text: String = text.split_whitespace().collect();
    let f = functions[&name];
    for form in f.forms() {
        let call = format!("::gcn_dsl::isa::{}(", f.name_of(*form));
        if let Some(at) = text.find(&call) {
            let (given, wanted) = (arguments(&text[at + call.len()..]), wanted(f, *form));
            return (given != wanted).then(|| format!("{given} arguments, not {wanted}"));
        }
    }
    Some("no call".into())
}

/// By default a third of the forms; all of them if `GCN_FUZZ_COUNT` is set.
#[test]
fn every_form_becomes_its_function_or_is_refused() {
    let step = fuzz_step(3);
    let all = catalog::functions();
    let functions: HashMap<String, &Function> = all.iter().map(|f| (f.name.clone(), f)).collect();
    let (mut tried, mut faults): (usize, BTreeMap<String, Vec<String>>) = (0, BTreeMap::new());
    let mut seen = HashSet::new();
    // Rows of the same form may differ only in their properties on certain targets.
    let rows = table::rows().iter().rev().filter(|row| seen.insert((row.printed, row.form, row.modifiers)));
    for row in rows.step_by(step) {
        let target = Target::GFX9.into_iter().rfind(|t| row.targets.contains(*t)).unwrap();
        let needed: Vec<&[&str]> = REQUIRED
            .iter()
            .filter(|(flag, _)| row.required.contains(*flag))
            .map(|(_, names)| *names)
            .collect();
        let bits = if row.op_sel_bits() == 0 { 3 } else { row.op_sel_bits() };
        let list = vec!["1"; usize::from(bits)].join(",");
        let optional = WRITTEN.iter().filter(|(flag, _)| (row.modifiers - row.required).contains(*flag));
        let optional = optional.map(|(_, text)| match text.strip_suffix('[') {
            Some(name) => format!("{name}[{list}]"),
            None => (*text).to_owned(),
        });
        for modifier in std::iter::once(String::new()).chain(optional) {
            for spelling in 0..needed.iter().map(|names| names.len()).max().unwrap_or(1) {
                let needed = needed.iter().map(|names| names[spelling.min(names.len() - 1)]);
                let modifiers = needed.chain([modifier.as_str()]).collect::<Vec<_>>().join(" ");
                let (theirs, ours) = lines(row, &modifiers);
                if !gcn_emit::text::parse_inst(&theirs, target).is_ok_and(|inst| inst.desc == row) {
                    continue;
                }
                tried += 1;
                if let Some(what) = fault(row, &ours, &functions) {
                    faults.entry(what).or_default().push(theirs);
                }
            }
        }
    }
    println!("{tried} lines that the assembler takes");
    let shown = faults.iter().map(|(what, lines)| format!("{what} ({}): {}", lines.len(), lines[0]));
    assert!(faults.is_empty(), "{}", shown.collect::<Vec<_>>().join("\n"));
    assert!(tried > 10_000 / step, "{tried}");
}

/// Each modifier becomes a call of a method that exists.
#[test]
fn modifiers_are_methods() {
    for (_, text) in WRITTEN {
        let name = text.split(':').next().unwrap();
        let own = ["neg", "offset", "offset0", "offset1", "bitop3"].contains(&name);
        let method = if name == "mul" { "omod" } else { name };
        assert!(own || OPTIONS.contains(&format!("pub fn {method}(self")), "{name}");
    }
    assert_eq!(Variant::ALL.len(), 5);
}
