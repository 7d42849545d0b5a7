//! Tests of how statements are parsed, and of what is rejected.

use gcn_emit::text::{Comments, print_program};
use gcn_isa::hazards::RuleSet;
use gcn_isa::{Program, Target};
use proc_macro2::TokenStream;
use quote::quote;

use super::eval::{self, Wrong};
use super::source::{self, ItemKind};
use super::{Missing, Options, asm, options, programs};
use crate::errors::Errors;

fn texts(body: TokenStream) -> Vec<String> {
    let mut errors = Errors::default();
    let items = source::items(body, &mut errors);
    assert!(!errors.spoilt());
    items.into_iter().map(|i| if i.kind == ItemKind::Label { i.text + ":" } else { i.text }).collect()
}

/// The error messages for a rejected input.
fn errors(input: TokenStream) -> Vec<String> {
    let text = asm(input).to_string();
    let messages = text.split("compile_error !").skip(1);
    messages
        .filter_map(|s| syn::parse_str::<syn::LitStr>(&s[s.find('"')?..=s.rfind("\" }")?]).ok())
        .map(|s| s.value())
        .collect()
}

/// The checked programs of an input without errors.
fn programs_of(input: TokenStream) -> Vec<Program> {
    let mut errors = Errors::default();
    let (options, body) = options::split(input, &mut errors);
    let programs = programs(body, &options, &mut errors);
    assert!(!errors.spoilt(), "{}", errors.into_compile_errors());
    programs.into_iter().map(|c| c.program).collect()
}

#[test]
fn tokens_become_the_text_that_was_meant() {
    let found = texts(quote! {
        v_mov_b32   v0,1;
        .LBB0_1: v_add_f32 v0, -|v1|, -1.5 clamp; loop: $x.y:
        s_waitcnt vmcnt(0) & lgkmcnt(0);
        s_waitcnt vmcnt(0) lgkmcnt(1);
        s_branch .LBB0_1; s_cbranch_scc0 loop; s_branch -4;
        v_mov_b32_dpp v1, v0 quad_perm:[0, 1,2,3] row_mask:0xf bank_mask:0xf bound_ctrl:0;
        v_pk_fma_f16 v0, v1, v2, v3 op_sel:[0,1,0] neg_lo:[1,0,0];
        s_getreg_b32 s0, hwreg(HW_REG_MODE, 0, 4);
        global_load_dwordx4 v[0:3], v[4:5], off offset:-16 sc0 nt;
        v_cmp_lt_f32 vcc, abs(v0), 0x3f800000;
        v_fma_f32 v0, |v1|, -|v2|, |v3| mul:2;
        s_load_dword s0, s[0:1], x.len + 4
    });
    let expected = [
        "v_mov_b32 v0, 1",
        ".LBB0_1:",
        "v_add_f32 v0, -|v1|, -1.5 clamp",
        "loop:",
        "$x.y:",
        "s_waitcnt vmcnt(0)&lgkmcnt(0)",
        "s_waitcnt vmcnt(0) lgkmcnt(1)",
        "s_branch .LBB0_1",
        "s_cbranch_scc0 loop",
        "s_branch -4",
        "v_mov_b32_dpp v1, v0 quad_perm:[0, 1, 2, 3] row_mask:0xf bank_mask:0xf bound_ctrl:0",
        "v_pk_fma_f16 v0, v1, v2, v3 op_sel:[0, 1, 0] neg_lo:[1, 0, 0]",
        "s_getreg_b32 s0, hwreg(HW_REG_MODE, 0, 4)",
        "global_load_dwordx4 v[0:3], v[4:5], off offset:-16 sc0 nt",
        "v_cmp_lt_f32 vcc, abs(v0), 0x3f800000",
        "v_fma_f32 v0, |v1|, -|v2|, |v3| mul:2",
        "s_load_dword s0, s[0:1], x.len+4",
    ];
    assert_eq!(found, expected);
}

#[test]
fn strings_are_taken_apart_as_files_are() {
    let found = texts(quote! {
        "v_mov_b32 v0, 1", "a: b: s_nop 0 ; idle",
        v_mov_b32 v1, v0;
        "\n s_nop 1 // more\n /* two\n lines */ c:\n  s_branch c\n"
        ;
        "s_endpgm"
    });
    let expected = [
        "v_mov_b32 v0, 1",
        "a:",
        "b:",
        "s_nop 0",
        "v_mov_b32 v1, v0",
        "s_nop 1",
        "c:",
        "s_branch c",
        "s_endpgm",
    ];
    assert_eq!(found, expected);
}

/// A statement yields the same instruction whether it is written as tokens or as a string.
#[test]
fn both_ways_of_writing_give_the_same_program() {
    let tokens = quote! {
        target = gfx942,
        v_mov_b32_sdwa v1, v0 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1;
        v_fma_f32 v0, -v4, |v2|, -|v3| mul:2;
        v_fma_f32 v0, 0.15915494, -v6, v2 clamp;
        ds_write2_b32 v0, v1, v2 offset0:1 offset1:0xff;
        again: buffer_load_dword v5, v[10:11], s[4:7], s8 idxen offen offset:4095 sc0 sc1 nt;
        s_waitcnt vmcnt(0) & lgkmcnt(0);
        s_cbranch_vccnz again;
        v_mfma_f32_32x32x8_f16 a[0:15], v[16:17], v[18:19], a[0:15] cbsz:1 abid:2 blgp:3;
        s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0xf;
    };
    let string = quote! {
        target = gfx942,
        r"
        v_mov_b32_sdwa v1, v0 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1
        v_fma_f32 v0, -v4, |v2|, -|v3| mul:2
        v_fma_f32 v0, 0.15915494, -v6, v2 clamp
        ds_write2_b32 v0, v1, v2 offset0:1 offset1:0xff
        again: buffer_load_dword v5, v[10:11], s[4:7], s8 idxen offen offset:4095 sc0 sc1 nt
        s_waitcnt vmcnt(0) & lgkmcnt(0)
        s_cbranch_vccnz again
        v_mfma_f32_32x32x8_f16 a[0:15], v[16:17], v[18:19], a[0:15] cbsz:1 abid:2 blgp:3
        s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0xf
        "
    };
    let [left, right] = [tokens, string].map(programs_of);
    let insts = |p: &Program| p.lines.iter().map(|l| l.inst.clone()).collect::<Vec<_>>();
    assert_eq!(insts(&left[0]), insts(&right[0]));
    assert_eq!(left[0].lines.len(), 9);
    assert_eq!((&left[0].labels[0].name, left[0].labels[0].at), (&"again".to_owned(), Some(4)));
}

#[test]
fn options_are_read() {
    let mut errors = Errors::default();
    let input = quote! { targets = [gfx90a, gfx950], check = fix; rules = certain, s_nop 0; };
    let (options, body) = options::split(input, &mut errors);
    assert!(!errors.spoilt());
    assert_eq!(options.targets, [Target::GFX90A, Target::GFX950]);
    assert_eq!((options.missing, options.rules), (Missing::Fix, RuleSet::Certain));
    assert_eq!(body.to_string(), "s_nop 0 ;");
}

#[test]
fn rules_can_be_left_out() {
    // A requirement that only LLVM's source states is checked only under the cautious rules. An example is the wait
    // state between a wide store and a write to its data registers.
    let body = quote! { buffer_store_dwordx4 v[0:3], off, s[4:7], s8; v_mov_b32 v0, 0; };
    let with = |rules: TokenStream| {
        programs_of(quote! { target = gfx942, check = fix, rules = #rules, #body })[0].lines.len()
    };
    let options = |rules: RuleSet| Options { rules, ..Options::default() };
    assert_eq!(options(RuleSet::Safe).rules, RuleSet::default());
    assert!(with(quote!(safe)) >= with(quote!(manual)) && with(quote!(manual)) >= with(quote!(certain)));
}

#[test]
fn expressions() {
    let constants = [("n".to_owned(), 12), ("x.len".to_owned(), -3)];
    let value = |text: &str| eval::value(text, &constants);
    let good = [
        ("n", 12),
        (" 0x10 + n*2 - (x.len - -1)", 42),
        ("-n", -12),
        ("2*3+4", 10),
        ("2+3*4", 14),
        ("9223372036854775807", i64::MAX),
    ];
    for (text, expected) in good {
        assert_eq!(value(text), Ok(expected), "{text}");
    }
    assert_eq!(value("4+m"), Err((2, Wrong::Name("m".to_owned()))));
    for text in ["", "n n", "(n", "n)", "0xg", "1.5", "+", "9223372036854775808", "é"] {
        assert!(matches!(value(text), Err((_, Wrong::Form))), "{text}");
    }
    assert!(matches!(value("9223372036854775807+1"), Err((_, Wrong::TooLarge))));
    assert!(matches!(value(&"(".repeat(1 << 20)), Err((_, Wrong::Form))));
    assert!(matches!(value(&"-".repeat(1 << 20)), Err((_, Wrong::Form))));
}

/// Waits that LLVM 22's passes `si-insert-waitcnts`, `post-RA-hazard-rec` and `amdgpu-wait-sgpr-hazards` insert:
/// target, wave size, instructions before the wait, the wait, instructions after it.
const RDNA: [(&str, u32, &str, &str, &str); 9] = [
    ("gfx1030", 32, "global_load_dword v1, v0, s[0:1]", "s_waitcnt vmcnt(0)", "v_add_f32 v2, v1, v1"),
    ("gfx1100", 64, "global_load_b32 v1, v0, s[0:1]", "s_waitcnt vmcnt(0)", "v_add_f32 v2, v1, v1"),
    ("gfx1151", 32, "ds_load_b32 v1, v0", "s_waitcnt lgkmcnt(0)", "v_add_f32 v2, v1, v1"),
    ("gfx1201", 32, "global_load_b32 v1, v0, s[0:1]", "s_wait_loadcnt 0x0", "v_add_f32 v2, v1, v1"),
    ("gfx1201", 64, "ds_load_b32 v1, v0", "s_wait_dscnt 0x0", "v_add_f32 v2, v1, v1"),
    ("gfx1201", 32, "s_load_b32 s4, s[0:1], 0x0", "s_wait_kmcnt 0x0", "v_mov_b32 v2, s4"),
    ("gfx1100", 32, "v_exp_f32 v1, v0", "s_waitcnt_depctr depctr_va_vdst(0)", "v_add_f32 v2, v1, v1"),
    (
        "gfx1100",
        64,
        "v_cndmask_b32_e64 v1, v2, v3, s[0:1]; s_mov_b32 s0, s3",
        "s_waitcnt_depctr depctr_sa_sdst(0)",
        "v_mov_b32 v5, s0",
    ),
    ("gfx1201", 32, "v_mov_b32 v1, s4; s_mov_b32 s4, 5", "s_wait_alu depctr_sa_sdst(0)", "v_mov_b32 v2, s4"),
];

#[test]
fn waits_of_rdna_are_asked_for_and_put_in() {
    for (target, lanes, first, wait, second) in RDNA {
        let input = |check: &str, between: &str| -> TokenStream {
            let text = format!(
                "target = {target}, wave = {lanes}, check = {check}, {first}; {between} {second}; s_endpgm;"
            );
            text.parse().expect("tokens")
        };
        let missing = errors(input("deny", ""));
        assert!(
            missing.len() == 1
                && missing[0].contains(&format!("put `{wait}` before it, or let `check = fix`")),
            "{target} {first}: {missing:?}"
        );
        assert_eq!(errors(input("deny", &format!("{wait};"))), [""; 0], "{target} {first}");
        let [program] = &programs_of(input("fix", ""))[..] else { panic!("one target") };
        let text = print_program(program, Comments::None);
        let text: Vec<&str> = text.lines().map(str::trim).collect();
        assert_eq!(text[first.split(';').count()], wait, "{text:?}");
        assert_eq!(text.len(), first.split(';').count() + 3, "{text:?}");
    }
}

/// The hazard concerns 64-bit lane masks, so only waves of 64 lanes have it (LLVM 22, `fixVALUMaskWriteHazard`).
#[test]
fn the_size_of_waves_counts() {
    let input = quote! {
        target = gfx1100, wave = 32,
        v_cndmask_b32_e64 v1, v2, v3, s0; s_mov_b32 s0, s3; v_mov_b32 v5, s0; s_endpgm;
    };
    assert_eq!(errors(input), [""; 0]);
    let message = errors(quote! { targets = [gfx942, gfx1201], wave = 32, s_endpgm; });
    assert!(
        message.len() == 1 && message[0].contains("waves of gfx942 have 64 lanes, not 32"),
        "{message:?}"
    );
    let message = errors(quote! { target = gfx1201, wave = 16, s_endpgm; });
    assert_eq!(message, ["`wave` takes the lanes of a wave, 32 or 64, not 16"]);
    let message = errors(quote! { target = gfx1201, wave = both, s_endpgm; });
    assert_eq!(message, ["`wave` takes the lanes of a wave, 32 or 64"]);
}

#[test]
fn faults_of_several_targets_are_one_error() {
    let both = errors(quote! { targets = [gfx90a, gfx942], v_mov_b32 v0, q7; s_mov_b32 s0, v1; });
    assert_eq!(both.len(), 2, "{both:#?}");
    let hazard = quote! { v_mfma_f32_16x16x16f16 v[0:3], v[16:17], v[18:19], v[0:3]; };
    let one = errors(quote! { targets = [gfx90a, gfx942], #hazard s_nop 6; v_add_f32 v20, v0, v1; });
    assert_eq!(one.len(), 1, "{one:#?}");
    assert!(one[0].starts_with("on gfx90a: "), "{}", one[0]);
    // If both targets need the same wait, it is reported once and without a target name.
    let load = quote! { global_load_dword v1, v0, s[0:1]; v_mov_b32 v2, v1; };
    let same = errors(quote! { targets = [gfx90a, gfx942], #load });
    assert_eq!(same.len(), 1, "{same:#?}");
    assert!(same[0].starts_with("`v_mov_b32_e32` depends on v1 of `global_load_dword`"), "{}", same[0]);
}

#[test]
fn a_hundred_errors_are_cut_short() {
    let many = (0..100).map(|_| quote!(s_nopp 0;));
    let found = errors(quote! { target = gfx942, #(#many)* });
    assert_eq!(found.len(), 40);
    assert!(found[39].ends_with("and 60 more errors in this assembly"), "{}", found[39]);
}

#[test]
fn places_in_a_text_are_shown() {
    let found = errors(quote! { target = gfx942, "s_nop 0\n  s_mov_b32 s0, v1\n" });
    let [found] = found.as_slice() else { panic!("{found:#?}") };
    assert!(found.ends_with("in line 2, column 17 of the text: `s_mov_b32 s0, v1`"), "{found}");
}

#[test]
fn offsets_of_arguments_are_those_of_the_signature() {
    let out = asm(quote! {
        #[workgroup(64)]
        #[targets(gfx942)]
        fn k(a: u8, b: f64, x: &[u8], c: f16, y: *mut f64, z: &mut [f32], d: u32) {
            s_mov_b32 s0, a + 100; s_mov_b32 s0, b + 100; s_mov_b32 s0, x + 100; s_mov_b32 s0, x.len + 100;
            s_mov_b32 s0, c + 100; s_mov_b32 s0, y + 100; s_mov_b32 s0, z + 100; s_mov_b32 s0, d + 100;
            s_endpgm;
        }
    });
    let text = out.to_string();
    let offsets: Vec<u32> = text
        .split("s_mov_b32 s0, 0x")
        .skip(1)
        .map(|s| u32::from_str_radix(s.split(['\\', '\n']).next().unwrap_or(""), 16).unwrap_or(0) - 100)
        .collect();
    // The test in `gcn-dsl/tests/instructions/asm.rs` checks that `gcn_dsl::__private::Signature` gives these arguments the same layout.
    assert_eq!(offsets, [0, 8, 16, 24, 28, 32, 40, 52], "{text}");
}
