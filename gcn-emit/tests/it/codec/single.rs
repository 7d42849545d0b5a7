//! Single forms that the systematic comparisons do not generate: which half of VCC or of a VGPR is meant, trap temporaries as tuples, literals
//! of halves of dual instructions, hints that depend on the scope.

use gcn_emit::decode::decode_inst;
use gcn_emit::text::parse_inst_in;
use gcn_isa::Target;
use gcn_isa::table::{self, Access, OperandKinds};

use super::variants::{Symbols, hex, ours, theirs};
use crate::llvm::Llvm;

/// A text, and for each target the bytes that llvm-mc 22 makes of it in hexadecimal, or `-` if it rejects the text.
const FORMS: &str = include_str!("../../data/single_forms.tsv");

fn forms() -> impl Iterator<Item = (&'static str, Target, Option<&'static str>)> {
    let rows = FORMS.lines().filter(|line| !line.starts_with('#'));
    rows.flat_map(|row| {
        let (text, cells) = row.split_once('\t').expect("two columns");
        cells.split(' ').map(move |cell| {
            let (target, code) = cell.split_once('=').expect("a target and its bytes");
            (text, target.parse().expect("a target"), Some(code).filter(|code| *code != "-"))
        })
    })
}

#[test]
fn single_forms_are_those_of_llvm() {
    let mut wrong = Vec::new();
    for (text, target, code) in forms() {
        let have = ours(text, target);
        if have.as_deref().ok() != code {
            wrong.push(format!("{target} `{text}`: llvm {code:?}, we {have:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn printed_single_forms_assemble_to_their_bytes() {
    let mut wrong = Vec::new();
    for (text, target, code) in forms() {
        let Some(code) = code else { continue };
        let parsed = parse_inst_in(text, target, &mut Symbols).expect("tested above");
        let Ok((inst, _)) = decode_inst(&parsed.code, target) else {
            wrong.push(format!("{target} `{text}`: {} is not decoded", hex(&parsed.code)));
            continue;
        };
        let printed = super::text(&inst, target);
        if ours(&printed, target).as_deref() != Ok(code) {
            wrong.push(format!("{target} `{text}`: printed as `{printed}`"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_recorded_single_forms_are_llvms() {
    if Llvm::find().is_none() {
        return;
    }
    let mut targets: Vec<Target> = forms().map(|form| form.1).collect();
    targets.sort_unstable();
    targets.dedup();
    for target in targets {
        let of_target: Vec<_> = forms().filter(|form| form.1 == target).collect();
        let texts: Vec<&str> = of_target.iter().map(|form| form.0).collect();
        for ((text, _, code), now) in of_target.iter().zip(theirs(&texts, target)) {
            assert_eq!(now.as_deref(), *code, "{target} `{text}`");
        }
    }
}

/// LLVM 22 accepts a constant as the destination of `s_get_barrier_state`, and encodes it as another register.
#[test]
fn no_destination_is_a_constant() {
    let constants = OperandKinds::INLINE_INT
        | OperandKinds::INLINE_FLOAT
        | OperandKinds::LITERAL
        | OperandKinds::LITERAL16
        | OperandKinds::LITERAL64;
    for family in [gcn_isa::target::Family::GFX9, gcn_isa::target::Family::RDNA] {
        for desc in table::rows_of(family) {
            for slot in desc.operands.iter().filter(|slot| slot.access != Access::Read) {
                assert!(!slot.kinds.intersects(constants), "{} {}", desc.printed, slot.name);
            }
        }
    }
    assert!(ours("s_get_barrier_state 5, -1", Target::GFX1201).is_err());
}

/// LLVM 22 writes the bits of the f32 2.5 as the literal, of which the instruction reads the lower half, 0. The f16 2.5 is 0x4100.
#[test]
fn scalar_compares_of_f16_have_f16_literals() {
    for target in [Target::GFX1151, Target::GFX1201] {
        assert_eq!(ours("s_cmp_lt_f16 s1, 2.5", target).as_deref(), Ok("01ff51bf00410000"));
        assert_eq!(ours("s_cmp_lt_f16 s1, 2.0", target).as_deref(), Ok("01f451bf"));
        assert_eq!(ours("s_cmp_lt_f16 s1, 0x4100", target).as_deref(), Ok("01ff51bf00410000"));
    }
}
