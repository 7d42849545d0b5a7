//! Tests `s_set_vgpr_msb` of gfx12.5: the field of each operand as LLVM 22 chooses it, and the registers that instructions then mean.

use gcn_emit::text::parse_inst;
use gcn_isa::cfg::Flow;
use gcn_isa::check::{self, Finding};
use gcn_isa::indexing::Indexing;
use gcn_isa::inst::Via;
use gcn_isa::table::{InstDesc, MsbField};
use gcn_isa::wait::{WaitOptions, insert_waits};
use gcn_isa::{Operand, Program, Reg, RegFile, Target};

use crate::golden;

const FIELDS: &[u8] = include_bytes!("../data/rdna/vgpr-msb-gfx1250.tsv.gz");

/// The fields as `llc` sets them: mnemonic, format, operand, field, the field through which the old value is read, example.
#[test]
fn operands_have_the_fields_of_llvm() {
    let name = |field: MsbField| format!("{field:?}").to_lowercase();
    let mut checked = 0;
    let text = golden::unpack(FIELDS);
    for row in golden::rows(&text) {
        let [operand, field, old, example] = row[..] else { panic!("{row:?}") };
        let inst = parse_inst(example, Target::GFX1250).unwrap_or_else(|e| panic!("{example}: {e}"));
        let Some(at) = position(inst.desc, operand) else { panic!("{example}: no {operand}") };
        // LLVM has another form of a matrix instruction that adds to its destination: one operand, with a field for its old value. It
        // is written with two operands nevertheless, and the second has that field.
        let is_added_to = operand == "src2" && !old.is_empty();
        let ours = inst.desc.msb_field(at).map(name);
        assert_eq!(ours.as_deref(), Some(if is_added_to { old } else { field }), "{operand} of {example}");
        if !old.is_empty() && inst.desc.operand_index(old).is_none() {
            let ours = inst.desc.msb_field_of_old_value(at).map(name);
            assert_eq!(ours.as_deref(), Some(old), "{operand} of {example}");
        }
        checked += 1;
    }
    assert_eq!(checked, 6_958);
}

/// The operand of this name; LLVM calls the second source of some instructions otherwise.
fn position(desc: &InstDesc, name: &str) -> Option<usize> {
    let names = [name, &format!("v{name}"), if name == "sdst" { "vdst1" } else { name }];
    names.iter().find_map(|name| desc.operand_index(name))
}

fn program(text: &str) -> Program {
    golden::program(text, Target::GFX1250)
}

/// The vector registers that each line may use: reads, then writes.
fn used(text: &str, line: usize) -> Vec<(Reg, Via)> {
    let program = program(text);
    let indexing = Indexing::of(&program, &Flow::of(&program));
    let inst = &program.lines[line].inst;
    let all = indexing.reads(line, inst).into_iter().chain(indexing.writes(line, inst));
    all.filter(|u| u.reg.file == RegFile::Vgpr).map(|u| (u.reg, u.via)).collect()
}

fn findings(text: &str) -> Vec<Finding> {
    check::check(&program(text)).findings
}

#[test]
fn a_register_means_what_the_last_one_set() {
    let add = "v_add_f32_e32 v1, v2, v3";
    assert_eq!(
        used(&format!("s_set_vgpr_msb 0x49 | {add} | s_endpgm"), 1),
        [(Reg::v(258, 1), Via::Msb), (Reg::v(515, 1), Via::Msb), (Reg::v(257, 1), Via::Msb)]
    );
    // The upper byte says what was set before.
    assert_eq!(
        used(&format!("s_set_vgpr_msb 0x4000 | {add} | s_endpgm"), 1),
        [2, 3, 1].map(|i| (Reg::v(i, 1), Via::Name))
    );
    // LLVM 22 sets the destination to 1 by this literal: the next `s_set_vgpr_msb` of its kernel says that 0x40 was set.
    let setreg = "s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 25, 1), 0x1001";
    assert_eq!(used(&format!("{setreg} | {add} | s_endpgm"), 1)[2], (Reg::v(257, 1), Via::Msb));
    // Tuples go on beyond the 255th.
    let wide = "s_set_vgpr_msb 0x1 | global_load_b32 v1, v[254:255], off | s_endpgm";
    assert_eq!(used(wide, 1)[0], (Reg::v(510, 2), Via::Msb));
}

#[test]
fn two_values_that_meet_are_a_finding() {
    let joined = "s_cbranch_scc0 .L1 | s_set_vgpr_msb 0x1 | .L1: | v_mov_b32_e32 v0, v1 | s_endpgm";
    let found = findings(joined);
    assert_eq!(found.iter().map(|f| (f.rule, f.second)).collect::<Vec<_>>(), [("llvm.vgpr-msb", 2)]);
    assert!(found[0].remedy().contains("put `s_set_vgpr_msb` with"), "{}", found[0]);
    assert_eq!(used(joined, 2)[0].1, Via::SeveralMsbs);
    // An operand of another field is certain, and so is one that is set again.
    let other = "s_cbranch_scc0 .L1 | s_set_vgpr_msb 0x4 | .L1: | v_mov_b32_e32 v0, v1 | s_endpgm";
    assert_eq!(findings(other), []);
    let again = joined.replace("v_mov", "s_set_vgpr_msb 0 | v_mov");
    assert_eq!(findings(&again), []);
    // An accumulator is read through the third source's field and written through the destination's.
    let unlike = "s_set_vgpr_msb 0x40 | v_fmac_f32_e32 v0, v1, v2 | s_endpgm";
    assert_eq!(findings(unlike).len(), 1);
    let alike = "s_set_vgpr_msb 0x50 | v_fmac_f32_e32 v0, v1, v2 | s_endpgm";
    assert_eq!(findings(alike), []);
}

/// A result in v257 is no result in v1.
#[test]
fn waits_and_hazards_are_about_full_registers() {
    let load = "s_set_vgpr_msb 0x40 | global_load_b32 v1, v[2:3], off";
    let waits = |text: &str| {
        let mut program = program(text);
        insert_waits(&mut program, &WaitOptions::default());
        program.lines.len()
    };
    let low = format!("{load} | s_set_vgpr_msb 0 | v_mov_b32_e32 v4, v1 | s_endpgm");
    assert_eq!((findings(&low), waits(&low)), (vec![], 5));
    let high = format!("{load} | s_set_vgpr_msb 1 | v_mov_b32_e32 v4, v1 | s_endpgm");
    let found = findings(&high);
    assert_eq!((found.len(), found[0].rule, found[0].reg), (1, "waitcnt.raw", Some(Reg::v(257, 1))));
    assert_eq!(waits(&high), 6);
    let trans =
        "s_set_vgpr_msb 0x40 | v_exp_f32_e32 v1, v2 | s_set_vgpr_msb 0x1 | v_mov_b32_e32 v4, v1 | s_endpgm";
    assert_eq!(findings(trans).len(), 1);
    assert_eq!(findings(&trans.replace("msb 0x1 ", "msb 0x2 ")), []);
}

/// Operands that are not VGPRs have no upper bits.
#[test]
fn scalars_and_constants_stay() {
    let text = "s_set_vgpr_msb 0xff | v_add_f32_e32 v1, s2, v3 | s_endpgm";
    let program = program(text);
    let indexing = Indexing::of(&program, &Flow::of(&program));
    let reads = indexing.reads(1, &program.lines[1].inst);
    assert_eq!(reads[0].reg, Reg::s(2, 1));
    assert_eq!(program.lines[1].inst.operands[1], Operand::Reg(Reg::s(2, 1)));
}
