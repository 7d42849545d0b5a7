//! Tests registers that are accessed through an index: required waits, exact numbers, unnecessary waits, limited indices, and several
//! blocks.
//!
//! The number 11 is from the CDNA3 ISA's table of wait states: 8 passes of XDL, then a read by the vector ALU (case 106). MI100 ISA 6.6
//! says which registers are accessed.

mod named;

use gcn_emit::text::{Comments, print_program};
use gcn_isa::cfg::Flow;
use gcn_isa::check::{self, Amount, Caveat, Finding};
use gcn_isa::hazards::Grade;
use gcn_isa::indexing::Indexing;
use gcn_isa::inst::Via;
use gcn_isa::wait::{WaitOptions, insert_waits};
use gcn_isa::{Program, Reg, Target};

use crate::golden;

/// An instruction that has eight passes on gfx942 and writes v[18:33].
const MFMA: &str = "v_mfma_f32_32x32x8_f16 v[18:33], v[36:37], v[38:39], v[18:33]";

fn program(text: &str) -> Program {
    golden::program(text, Target::GFX942)
}

fn findings(text: &str) -> Vec<Finding> {
    check::check(&program(text)).findings
}

/// The findings as (line, required wait states, actual wait states).
fn states(text: &str) -> Vec<(usize, u8, u8)> {
    let amounts = |f: &Finding| match (f.need, f.have) {
        (Amount::States(need), Amount::States(have)) => (f.second, need, have),
        other => panic!("{other:?} in {text}"),
    };
    findings(text).iter().map(amounts).collect()
}

type Reached = Vec<(Reg, Via)>;

/// The registers that `line` may read, and the registers that it may write; special registers such as M0 are omitted.
fn reached(text: &str, line: usize) -> (Reached, Reached) {
    reached_on(Target::GFX942, text, line)
}

fn reached_on(target: Target, text: &str, line: usize) -> (Reached, Reached) {
    let program = golden::program(text, target);
    let indexing = Indexing::of(&program, &Flow::of(&program));
    let inst = &program.lines[line].inst;
    let vector = |r: &Reg| r.file != gcn_isa::RegFile::Sgpr || r.index < 102;
    let reads = indexing.reads(line, inst).iter().map(|u| (u.reg, u.via)).filter(|u| vector(&u.0)).collect();
    let writes =
        indexing.writes(line, inst).iter().map(|u| (u.reg, u.via)).filter(|u| vector(&u.0)).collect();
    (reads, writes)
}

/// Tests the code that clang 22 -O2 emits for `x[idx & 31]` if the upper half of `x` comes from the matrix instruction: `v[2+s0]` is read
/// three wait states after it. LLVM's pseudo instruction has the information that the register may be v[18:33]; after the expansion of that
/// instruction, the information is lost.
#[test]
fn what_clang_compiles_is_found() {
    let clang = format!(
        "{MFMA} | s_waitcnt lgkmcnt(0) | s_and_b32 s0, s0, 31 | s_set_gpr_idx_on s0, gpr_idx(SRC0) | \
         v_mov_b32_e32 v1, v2 | s_set_gpr_idx_off | global_store_dword v0, v1, s[8:9] | s_endpgm"
    );
    let [finding] = &findings(&clang)[..] else { panic!("one finding") };
    assert_eq!((finding.rule, finding.grade), ("cdna3.106", Grade::Documented));
    assert_eq!((finding.first, finding.second), (Some(0), 4));
    assert_eq!((finding.reg, finding.via), (Some(Reg::v(18, 16)), Via::Range));
    assert_eq!(
        finding.to_string(),
        "line 0 `v_mfma_f32_32x32x8_f16`, then line 4 `v_mov_b32_e32` on v[18:33], reached by an index: needs 11 wait states, \
         has 3, if the index leads there [cdna3.106, documented]; put `s_nop 7` or 8 independent instructions before line 4"
    );
}

#[test]
fn exactly_as_many_states_as_are_needed() {
    let with = |nop: u8| {
        format!(
            "{MFMA} | s_set_gpr_idx_on s0, gpr_idx(SRC0) | s_nop {nop} | v_mov_b32_e32 v1, v2 | s_set_gpr_idx_off | s_endpgm"
        )
    };
    assert_eq!(states(&with(8)), [(3, 11, 10)]);
    assert!(states(&with(9)).is_empty());
    let mut fixed = program(&with(0));
    insert_waits(&mut fixed, &WaitOptions::default());
    assert!(check::check(&fixed).is_clean());
    assert!(check::advice(&fixed, check::Options::default()).is_empty());
    let all: u32 = fixed.lines.iter().map(|l| gcn_isa::hazards::wait_states(&l.inst)).sum();
    // The matrix instruction, 11 wait states, the move, the end of indexing, and the end of the program.
    assert_eq!(all, 15);
}

#[test]
fn registers_below_the_named_one_are_not_reached() {
    let above = format!("{MFMA} | s_set_gpr_idx_on s0, gpr_idx(SRC0) | v_mov_b32_e32 v1, v34 | s_endpgm");
    assert!(states(&above).is_empty());
}

#[test]
fn operands_that_the_mask_leaves_out_are_not_indexed() {
    let masked = |mask: &str, inst: &str| {
        states(&format!("{MFMA} | s_set_gpr_idx_on s0, gpr_idx({mask}) | {inst} | s_endpgm"))
    };
    assert!(masked("SRC1", "v_mov_b32_e32 v1, v2").is_empty());
    assert!(masked("DST", "v_readlane_b32 s4, v2, s5").is_empty());
    assert_eq!(masked("SRC0", "v_readlane_b32 s4, v2, s5"), [(2, 11, 1)]);
    assert_eq!(masked("SRC1", "v_add_f32_e32 v1, v50, v2"), [(2, 11, 1)]);
    assert!(masked("SRC0", "v_add_f32_e32 v1, v50, v2").is_empty());
    assert_eq!(masked("SRC2", "v_fma_f32 v1, v50, v51, v2"), [(2, 11, 1)]);
    // A destination that is also read is indexed by the bit for the destination (MI100 ISA 6.6.2: `v_mac_*`, dst and s2 by M0[15]).
    assert_eq!(masked("DST", "v_fmac_f32_e32 v2, v50, v51"), [(2, 11, 1)]);
    assert!(masked("SRC2", "v_fmac_f32_e32 v2, v50, v51").is_empty());
    // The last operand is source 2 of the ALU (same section, `v_madmk`).
    assert_eq!(masked("SRC2", "v_fmamk_f32 v1, v50, 0x1234, v2"), [(2, 11, 1)]);
    assert!(masked("SRC1", "v_fmamk_f32 v1, v50, 0x1234, v2").is_empty());
    // SGPRs and memory instructions are not indexed.
    assert!(masked("SRC0,SRC1,SRC2,DST", "v_mov_b32_e32 v34, s2").is_empty());
    assert!(masked("SRC0,SRC1,SRC2,DST", "global_store_dword v0, v1, s[8:9]").is_empty());
}

#[test]
fn a_known_index_narrows_to_one_register() {
    let known = |index: u8| {
        states(&format!("{MFMA} | s_set_gpr_idx_on {index}, gpr_idx(SRC0) | v_mov_b32_e32 v1, v2 | s_endpgm"))
    };
    assert!(known(15).is_empty());
    assert_eq!(known(16), [(2, 11, 1)]);
    assert_eq!(known(31), [(2, 11, 1)]);
    assert!(known(32).is_empty());
    let text = format!("{MFMA} | s_set_gpr_idx_on 16, gpr_idx(SRC0) | v_mov_b32_e32 v1, v2 | s_endpgm");
    let finding = &findings(&text)[0];
    assert_eq!((finding.caveat, finding.reg, finding.via), (None, Some(Reg::v(18, 1)), Via::Index));
    assert_eq!(finding.grade, Grade::Certain);
}

#[test]
fn constants_of_the_block_narrow() {
    let before = |setup: &str, line: usize| {
        reached(
            &format!("{setup} | s_set_gpr_idx_on s0, gpr_idx(SRC0) | v_mov_b32_e32 v1, v2 | s_endpgm"),
            line,
        )
        .0
    };
    assert_eq!(before("s_mov_b32 s0, 5", 2), [(Reg::v(7, 1), Via::Index)]);
    assert_eq!(before("s_movk_i32 s0, 0x105", 2), [(Reg::v(7, 1), Via::Index)]);
    assert_eq!(before("s_and_b32 s0, s4, 3", 2), [(Reg::v(2, 4), Via::Range)]);
    assert_eq!(before("s_and_b32 s0, s4, 3 | s_mov_b32 s0, s9", 3).len(), 8);
    // A value written in another block is unknown, and so is a value that a second write has partly changed.
    assert_eq!(before("s_mov_b32 s0, 5 | L1:", 2).len(), 8);
    assert_eq!(
        before("s_mov_b32 s0, 5 | s_load_dwordx2 s[0:1], s[4:5], 0x0 | s_waitcnt lgkmcnt(0)", 4).len(),
        8
    );
    // M0 is written directly, and then by a new index.
    let whole = "s_set_gpr_idx_on s0, gpr_idx(SRC0) | s_mov_b32 m0, 0x8003 | v_mov_b32_e32 v1, v2 | \
                 s_set_gpr_idx_idx 4 | v_mov_b32_e32 v1, v2 | s_set_gpr_idx_mode gpr_idx(SRC0) | v_mov_b32_e32 v1, v2 | s_endpgm";
    assert_eq!(reached(whole, 2), (vec![(Reg::v(2, 1), Via::Name)], vec![(Reg::v(4, 1), Via::Index)]));
    assert_eq!(reached(whole, 4).1, [(Reg::v(5, 1), Via::Index)]);
    assert_eq!(reached(whole, 6), (vec![(Reg::v(6, 1), Via::Index)], vec![(Reg::v(1, 1), Via::Name)]));
}

#[test]
fn a_range_ends_with_the_register_file() {
    let source =
        |name: &str| reached(&format!("s_set_gpr_idx_on s0, gpr_idx(SRC0) | {name} | s_endpgm"), 1).0;
    assert_eq!(source("v_mov_b32_e32 v1, v250"), [(Reg::v(250, 6), Via::AnyIndex)]);
    let all = source("v_mov_b64_e32 v[4:5], v[0:1]");
    assert_eq!((all[0].0, all.len(), all[7].0.end()), (Reg::v(0, 32), 8, 256));
    // Relative moves stay in the numbered SGPRs (MI100 ISA 3.6.2: 0 to 101).
    assert_eq!(reached("s_movrels_b64 s[4:5], s[96:97] | s_endpgm", 0).0[0], (Reg::s(96, 6), Via::AnyIndex));
    let (reads, writes) = reached("s_mov_b32 m0, 3 | s_nop 0 | s_movreld_b32 s20, s7 | s_endpgm", 2);
    assert_eq!(reads, [(Reg::s(7, 1), Via::Name)]);
    assert_eq!(writes, [(Reg::s(23, 1), Via::Index)]);
}

/// The parts of M0 that are added are those of the RDNA ISA. On gfx1250, the upper bits of VGPRs are added, too (LLVM 22, measured: it moves
/// from `v[256:287]` by `s_set_vgpr_msb 1` and `v_movrels_b32 v7, v0`).
#[test]
fn vector_moves_are_relative_to_m0() {
    let m0 = 0x0005_0003;
    for target in [Target::GFX1030, Target::GFX1100, Target::GFX1201, Target::GFX1250] {
        let at = |name: &str, setup: &str| {
            let text = format!("{setup} | s_nop 0 | {name} v40, v20 | s_endpgm");
            let plain = |list: Reached| -> Vec<(u16, u8, Via)> {
                list.into_iter().map(|(reg, via)| (reg.index, reg.len, via)).collect()
            };
            let (reads, writes) = reached_on(target, &text, 2);
            (plain(reads), plain(writes))
        };
        let known = |name| at(name, &format!("s_mov_b32 m0, {m0:#x}"));
        let small = |name| at(name, "s_mov_b32 m0, 3");
        let (named, by) = (Via::Name, Via::Index);
        let outside = |name| if target == Target::GFX1250 { small(name) } else { known(name) };
        // The file ends before the number that all of M0 gives here; nothing is then assumed about the index.
        assert!(outside("v_movrels_b32_e32").0.iter().all(|read| read.2 != named));
        assert_eq!(small("v_movrels_b32_e32"), (vec![(23, 1, by)], vec![(40, 1, named)]));
        assert_eq!(small("v_movreld_b32_e32"), (vec![(20, 1, named)], vec![(43, 1, by)]));
        assert_eq!(small("v_movrelsd_b32_e32"), (vec![(23, 1, by)], vec![(43, 1, by)]));
        assert_eq!(known("v_movrelsd_2_b32_e32"), (vec![(23, 1, by)], vec![(45, 1, by)]));
        let (reads, writes) = known("v_swaprel_b32");
        for swapped in [reads, writes] {
            assert_eq!(swapped, [(45, 1, by), (23, 1, by)]);
        }
        let masked = at("v_movrels_b32_e32", "s_and_b32 m0, s4, 7");
        assert_eq!(masked.0, [(20, 8, Via::Range)]);
        let unknown = at("v_movreld_b32_e32", "s_mov_b32 m0, s4");
        let end = if target == Target::GFX1250 { 1024 } else { 256 };
        assert_eq!(unknown.0, [(20, 1, named)]);
        assert_eq!(unknown.1.iter().map(|w| u32::from(w.1)).sum::<u32>(), end - 40);
        assert!(unknown.1.iter().all(|write| write.2 == Via::AnyIndex));
    }
    for target in [Target::GFX1201, Target::GFX1250] {
        let scalar = reached_on(target, "s_mov_b32 m0, 3 | s_movreld_b32 s20, s7 | s_endpgm", 1);
        assert_eq!(scalar, (vec![(Reg::s(7, 1), Via::Name)], vec![(Reg::s(23, 1), Via::Index)]), "{target}");
    }
    let far = |setup: &str, line| {
        reached_on(Target::GFX1250, &format!("{setup} | v_movrels_b32_e32 v7, v2 | s_endpgm"), line).0
    };
    assert_eq!(far("s_and_b32 m0, s4, 31 | s_set_vgpr_msb 1", 2), [(Reg::v(258, 32), Via::Range)]);
    assert_eq!(far("s_mov_b32 m0, 9 | s_set_vgpr_msb 1", 2), [(Reg::v(267, 1), Via::Index)]);
    let two = "s_mov_b32 m0, 9 | s_cbranch_scc0 .L1 | s_set_vgpr_msb 1 | .L1:";
    assert!(far(two, 3).iter().all(|read| read.1 == Via::SeveralMsbs));
    let text = "s_set_vgpr_msb 1 | v_movrels_b32_e32 v7, v2 | s_endpgm";
    let program = golden::program(text, Target::GFX1250);
    let indexing = Indexing::of(&program, &Flow::of(&program));
    assert_eq!(indexing.full_numbers(1, &program.lines[1].inst).as_deref(), Some("v2 is v258"));
}

#[test]
fn vector_moves_wait_for_what_they_may_reach() {
    for target in [Target::GFX1100, Target::GFX1201, Target::GFX1250] {
        let load = |setup: &str, then: &str| {
            let text = format!("global_load_b128 v[12:15], v1, s[0:1] | {setup} | {then} | s_endpgm");
            let report = check::check(&golden::program(&text, target));
            let of_loads = report.findings.iter().filter(|f| f.rule.starts_with("waitcnt."));
            of_loads.map(|f| (f.rule, f.reg, f.caveat)).collect::<Vec<_>>()
        };
        let unknown = "s_mov_b32 m0, s8";
        let at = |rule| vec![(rule, Some(Reg::v(12, 4)), Some(Caveat::Index))];
        assert_eq!(load(unknown, "v_movrels_b32_e32 v4, v10"), at("waitcnt.raw"));
        assert_eq!(load(unknown, "v_movreld_b32_e32 v10, v4"), at("waitcnt.waw"));
        assert_eq!(load(unknown, "v_movrels_b32_e32 v4, v16"), []);
        assert_eq!(load("s_mov_b32 m0, 7", "v_movrels_b32_e32 v4, v10"), []);
        let known = load("s_mov_b32 m0, 7", "v_movrels_b32_e32 v4, v6");
        assert_eq!(known, [("waitcnt.raw", Some(Reg::v(13, 1)), None)]);
    }
}

#[test]
fn relative_moves_wait_for_what_they_may_reach() {
    let load = |then: &str| {
        let text =
            format!("s_load_dwordx4 s[12:15], s[0:1], 0x0 | s_mov_b32 m0, s8 | s_nop 0 | {then} | s_endpgm");
        findings(&text).iter().map(|f| (f.rule, f.reg, f.caveat)).collect::<Vec<_>>()
    };
    let at = |rule| vec![(rule, Some(Reg::s(12, 4)), Some(Caveat::Index))];
    assert_eq!(load("s_movrels_b32 s4, s10"), at("waitcnt.raw"));
    assert_eq!(load("s_movreld_b32 s10, s4"), at("waitcnt.waw"));
    assert!(load("s_movrels_b32 s4, s16").is_empty());
    assert_eq!(load("s_movrels_b32 s4, s14"), [("waitcnt.raw", Some(Reg::s(14, 2)), Some(Caveat::Index))]);
}

/// Tests bounded and unbounded indices. With a bounded index, the program is assumed to access every register within the bounds, and if one
/// of these is not ready, the manual requires the wait. For an unbounded index, only the programmer knows the registers that are accessed;
/// clang's indexed moves execute while loads of other registers are outstanding.
#[test]
fn a_hazard_within_an_index_s_bounds_is_documented() {
    let graded = |setup: &str| {
        let text = format!(
            "global_load_dword v5, v1, s[8:9] | {setup} | s_set_gpr_idx_on s0, gpr_idx(SRC0) | v_mov_b32_e32 v34, v2 | s_endpgm"
        );
        findings(&text).iter().map(|f| (f.rule, f.grade, f.caveat)).collect::<Vec<_>>()
    };
    assert_eq!(graded("s_mov_b32 s0, 3"), [("waitcnt.raw", Grade::Certain, None)]);
    assert_eq!(graded("s_and_b32 s0, s4, 7"), [("waitcnt.raw", Grade::Documented, Some(Caveat::Index))]);
    assert_eq!(graded("s_and_b32 s0, s4, 1"), []);
    assert_eq!(graded("s_mov_b32 s0, s4"), [("waitcnt.raw", Grade::Cautious, Some(Caveat::Index))]);
    let moved = |bounds: &str| {
        let text = format!(
            "{bounds} | s_set_gpr_idx_on s0, gpr_idx(DST) | v_mov_b32_e32 v4, v2 | s_set_gpr_idx_off | v_mov_b32_dpp v9, v5 row_shr:1 row_mask:0xf bank_mask:0xf | s_endpgm"
        );
        findings(&text).iter().map(|f| (f.rule, f.grade)).collect::<Vec<_>>()
    };
    assert_eq!(moved("s_and_b32 s0, s4, 3"), [("cdna3.12", Grade::Documented)]);
    assert_eq!(moved("s_mov_b32 s0, s4")[0].1, Grade::Cautious);
}

#[test]
fn loads_into_registers_that_may_be_reached_are_waited_for() {
    let text = "global_load_dwordx4 v[2:5], v1, s[8:9] | global_load_dwordx4 v[6:9], v1, s[8:9] offset:16 | \
                s_waitcnt vmcnt(1) | s_set_gpr_idx_on s0, gpr_idx(SRC0) | v_mov_b32_e32 v34, v2 | s_set_gpr_idx_off | s_endpgm";
    let [finding] = &findings(text)[..] else { panic!("one finding") };
    assert_eq!((finding.rule, finding.first, finding.second), ("waitcnt.raw", Some(1), 4));
    let waited = text.replace("vmcnt(1)", "vmcnt(0)");
    assert!(findings(&waited).is_empty());
    assert!(check::advice(&program(&waited), check::Options::default()).is_empty(), "the wait is needed");
    // A write through an index may come before the write of the load.
    let written = "global_load_dword v9, v1, s[8:9] | s_set_gpr_idx_on s0, gpr_idx(DST) | v_mov_b32_e32 v2, v34 | s_endpgm";
    assert_eq!(findings(written)[0].rule, "waitcnt.waw");
}

#[test]
fn the_mode_goes_over_blocks_and_around_loops() {
    let body = "v_mov_b32_e32 v1, v2";
    // Indexing is on in one arm of a branch.
    let arm =
        format!("s_cbranch_scc1 L1 | s_set_gpr_idx_on s0, gpr_idx(SRC0) | L1: | {MFMA} | {body} | s_endpgm");
    assert_eq!(states(&arm), [(3, 11, 0)]);
    // Over the back edge, indexing is off at first.
    let back = format!(
        "L1: | {MFMA} | {body} | s_set_gpr_idx_on s0, gpr_idx(SRC0) | s_nop 15 | s_cbranch_scc1 L1 | s_endpgm"
    );
    assert_eq!(states(&back)[0], (1, 11, 0));
    let off = back.replace("s_nop 15", "s_set_gpr_idx_off");
    assert!(states(&off).is_empty());
    // The hazard itself extends over the edge.
    let split = format!(
        "s_set_gpr_idx_on s0, gpr_idx(SRC0) | {MFMA} | s_cbranch_scc1 L1 | s_nop 0 | L1: | {body} | s_endpgm"
    );
    assert!(states(&split).contains(&(4, 11, 1)), "{:?}", states(&split));
    // The mask differs on the two paths.
    let masks = format!(
        "s_set_gpr_idx_on s0, gpr_idx(SRC1) | s_cbranch_scc1 L1 | s_set_gpr_idx_mode gpr_idx(SRC0) | L1: | {MFMA} | {body} | s_endpgm"
    );
    assert!(states(&masks).contains(&(4, 11, 0)));
}

#[test]
fn the_mode_register_itself_may_be_written() {
    let set = |value: &str| {
        states(&format!(
            "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 27, 1), {value} | {MFMA} | v_mov_b32_e32 v1, v2 | s_endpgm"
        ))
    };
    assert!(set("0x0").is_empty());
    // M0 may select any registers.
    assert_eq!(set("0x1").last(), Some(&(2, 11, 0)));
    // A write of a part of MODE without the bit, and a write of the whole MODE in a program without indexing.
    for field in ["hwreg(HW_REG_MODE, 0, 8)", "hwreg(HW_REG_MODE)"] {
        let text = format!("s_setreg_b32 {field}, s4 | s_nop 15 | {MFMA} | v_mov_b32_e32 v1, v2 | s_endpgm");
        assert!(states(&text).is_empty(), "{field}");
    }
}

/// Tests that matrix instructions may or may not be indexed, because no manual says what they do. The same applies to AccVGPRs.
#[test]
fn what_no_manual_defines_may_be_either() {
    let (reads, _) = reached("s_set_gpr_idx_on 3, gpr_idx(SRC0) | v_accvgpr_read_b32 v1, a4 | s_endpgm", 1);
    assert_eq!(reads, [(Reg::a(4, 4), Via::AnyIndex)]);
    let matrix = "s_set_gpr_idx_on 2, gpr_idx(SRC0) | v_mfma_f32_4x4x4_16b_f16 v[0:3], v[10:11], v[12:13], 0 | s_endpgm";
    assert_eq!(reached(matrix, 1).0[0], (Reg::v(10, 4), Via::AnyIndex));
}

#[test]
fn moves_into_idle_states_respect_the_index() {
    // The move reads v[2+s0], which may be v40. Neither instruction may be moved across the other, though they name different registers.
    let text = format!(
        "s_set_gpr_idx_on s0, gpr_idx(SRC0) | {MFMA} | v_mov_b32_e32 v1, v18 | v_mov_b32_e32 v40, s4 | s_endpgm"
    );
    let mut filled = program(&text);
    insert_waits(&mut filled, &WaitOptions { fill: Some(Vec::new()), ..WaitOptions::default() });
    let text = print_program(&filled, Comments::None);
    let place = |inst: &str| text.find(inst).expect("the line is there");
    assert!(place("v_mov_b32_e32 v1, v18") < place("v_mov_b32_e32 v40, s4"), "{text}");
}
