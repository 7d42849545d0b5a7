//! Tests which text a fix does not change, and where new lines are inserted.

use gcn_emit::rewrite::{Options, RewriteError, fix};

use super::{fixed, kernel, strip};

#[test]
fn everything_but_the_waits_stays_byte_for_byte() {
    let source = "\u{feff}".trim_start_matches('\u{feff}').to_owned()
        + ".amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\r\n// s_nop 3\r\nk: /* s_nop 2 */ m:\tds_read_b32 v0, v1 // a\r\n\
           \x20\x20s_nop 7\r\n  s_nop   4   ; kept comment\r\n  /* x */ s_waitcnt   lgkmcnt(0) /* y */\r\n\
           n: v_mov_b32 v2, v0\r\n\t.long 0xbf800003\r\n s_endpgm";
    let result = strip("k.s", &source).text;
    let wanted = source.replace("  s_nop 7\r\n", "").replace("s_nop   4 ", " ");
    assert_eq!(result.replace(' ', ""), wanted.replace(' ', ""));
    assert!(result.contains("\r\n  /* x */ s_waitcnt   lgkmcnt(0) /* y */\r\n"));
    assert!(result.contains(".long 0xbf800003"));
}

#[test]
fn a_missing_wait_has_the_indentation_and_line_end_of_its_neighbour() {
    let source =
        kernel(&["    ds_read_b32 v0, v1", "    v_mov_b32 v2, v0", "k: s_endpgm"]).replace('\n', "\r\n");
    let result = fix("k.s", &source, &Options::default()).unwrap();
    assert!(result.text.contains("\r\n    s_waitcnt lgkmcnt(0)\r\n    v_mov_b32 v2, v0\r\nk: s_endpgm\r\n"));
    let comment = fix("k.s", &source, &Options { comment: true, ..Options::default() }).unwrap();
    let line = comment.text.lines().find(|l| l.contains("s_waitcnt")).unwrap();
    assert!(line.contains("; waitcnt.raw: v0 of ds_read_b32, then v_mov_b32_e32"), "{line}");
}

#[test]
fn a_wait_goes_behind_the_label_that_all_paths_pass() {
    let lines = fixed(
        &["ds_read_b32 v0, v1", "s_cbranch_scc0 b", "s_nop 0", "b: v_mov_b32 v2, v0", "s_endpgm"],
        true,
    );
    assert_eq!(
        lines,
        ["ds_read_b32 v0, v1", "s_cbranch_scc0 b", "b: s_waitcnt lgkmcnt(0)", "v_mov_b32 v2, v0", "s_endpgm"]
    );
}

#[test]
fn what_only_the_way_into_a_loop_needs_stands_before_its_label() {
    let lines = fixed(
        &[
            "ds_read_b32 v0, v1",
            "b:",
            "s_waitcnt lgkmcnt(0)",
            "v_mov_b32 v2, v0",
            "s_cbranch_scc0 b",
            "s_endpgm",
        ],
        true,
    );
    assert_eq!(
        lines,
        [
            "ds_read_b32 v0, v1",
            "s_waitcnt lgkmcnt(0)",
            "b:",
            "v_mov_b32 v2, v0",
            "s_cbranch_scc0 b",
            "s_endpgm"
        ]
    );
}

#[test]
fn a_wait_is_changed_in_its_place() {
    let lines = fixed(
        &[
            "ds_read_b32 v0, v1",
            "ds_read_b32 v3, v1",
            "s_waitcnt lgkmcnt(3) ; here",
            "v_mov_b32 v2, v0",
            "s_endpgm",
        ],
        false,
    );
    assert_eq!(lines[2], "s_waitcnt lgkmcnt(1) ; here");
}

#[test]
fn padding_stays() {
    let source = kernel(&["s_nop 3", "s_endpgm", "s_nop 0", "s_nop 0", "\t.p2align 8"]);
    assert_eq!(strip("k.s", &source).text, source.replace("s_nop 3\n", ""));
}

#[test]
fn distances_in_numbers_do_not_shift_unnoticed() {
    let by_number = kernel(&["s_cbranch_scc0 2", "ds_read_b32 v0, v1", "v_mov_b32 v2, v0", "s_endpgm"]);
    let error = fix("k.s", &by_number, &Options::default()).unwrap_err();
    assert_eq!(error, RewriteError::Distance { line: 2 });
    let by_label = kernel(&["s_cbranch_scc0 b", "ds_read_b32 v0, v1", "v_mov_b32 v2, v0", "b: s_endpgm"]);
    assert!(fix("k.s", &by_label, &Options::default()).is_ok());
    let own = kernel(&[
        "s_getpc_b64 s[4:5]",
        "s_nop 0",
        "s_add_u32 s4, s4, 16",
        "s_addc_u32 s5, s5, 0",
        "s_endpgm",
    ]);
    let error = fix("k.s", &own, &Options { strip: true, ..Options::default() }).unwrap_err();
    assert_eq!(error, RewriteError::OwnAddress { line: 2 });
}

/// Only code that computes with the address from `s_getpc_b64` depends on the number of bytes after it.
#[test]
fn waits_may_change_after_the_last_instruction_that_counts_bytes() {
    let after_getpc = |lines: &[&str]| {
        let all = [&["s_load_dword s30, s[8:9], 0x0", "s_getpc_b64 s[44:45]"], lines, &["s_endpgm"]].concat();
        fix("k.s", &kernel(&all), &Options::default()).map(|fixed| fixed.text)
    };
    let call =
        ["s_add_u32 s44, s44, f@rel32@lo+4", "s_addc_u32 s45, s45, 0", "s_swappc_b64 s[30:31], s[44:45]"];
    for unrelated in ["s_add_u32 s27, s7, s16", "s_addc_u32 s44, s44, 0", "s_mov_b32 s44, s45"] {
        let text = after_getpc(&[&call[..], &[unrelated]].concat()).expect("fixed");
        assert!(text.contains("s45, s45, 0\ns_waitcnt lgkmcnt(0)\ns_swappc_b64"), "{text}");
    }
    // The wait is needed at the use of `s30`.
    let counting = [
        ["s_mov_b32 s20, s30", "s_add_u32 s44, s44, 20"],
        ["s_mov_b32 s20, s30", "s_sub_u32 s44, s44, 20"],
        ["s_mov_b32 s20, s30", "s_load_dwordx2 s[46:47], s[44:45], 0x20"],
    ];
    for lines in counting {
        assert_eq!(after_getpc(&lines), Err(RewriteError::OwnAddress { line: 3 }), "{lines:?}");
    }
    let copied =
        ["s_mov_b64 s[46:47], s[44:45]", "s_mov_b32 s20, s30", "s_mov_b32 s44, 0", "s_mov_b32 s45, 0"];
    assert!(after_getpc(&copied).is_ok());
    let copied = [&copied[..], &["s_addc_u32 s47, s47, 0"]].concat();
    assert_eq!(after_getpc(&copied), Err(RewriteError::OwnAddress { line: 3 }));
}

/// A distance in bytes must not silently become wrong, whether it leads backward or forward; a distance between labels follows the code.
#[test]
fn distances_from_the_own_address_do_not_shift_unnoticed() {
    let fixed = |low: &str, high: &str| {
        let (low, high) = (format!("s_add_u32 s4, s4, {low}"), format!("s_addc_u32 s5, s5, {high}"));
        let code = [
            "g: ds_read_b32 v0, v1",
            "v_mov_b32 v2, v0",
            "s_getpc_b64 s[4:5]",
            "after:",
            &low,
            &high,
            "s_cbranch_scc0 e",
            "s_setpc_b64 s[4:5]",
            "e: ds_read_b32 v0, v1",
            "v_mov_b32 v2, v0",
            "f: s_endpgm",
        ];
        fix("k.s", &kernel(&code), &Options::default()).map(|fixed| fixed.text)
    };
    for (low, high) in [("f-after", "(f-after)>>32"), ("g-after", "(g-after)>>32")] {
        let text = fixed(low, high).expect("labels move with the code");
        assert!(text.contains("s_waitcnt lgkmcnt(0)"), "{text}");
    }
    for (low, high) in [("28", "0"), ("-16", "-1")] {
        assert_eq!(fixed(low, high), Err(RewriteError::Bytes { line: 6 }), "{low}");
    }
    // The target is `e`, before which nothing changes.
    assert!(fixed("16", "0").is_ok());
}

/// The distance of a long branch of gfx1250 is in bytes, too.
#[test]
fn distances_of_long_branches_do_not_shift_unnoticed() {
    let fixed = |distance: &str| {
        let text = format!(
            ".amdgcn_target \"amdgcn-amd-amdhsa--gfx1250\"
            g: ds_load_b32 v0, v1
            v_mov_b32_e32 v2, v0
            s_add_pc_i64 {distance}
            after: s_nop 0
            e: s_endpgm"
        );
        fix("k.s", &text, &Options::default()).map(|fixed| fixed.text)
    };
    let text = fixed("g-after").expect("labels move with the code");
    assert!(text.contains("s_wait_dscnt 0x0") && text.contains("s_add_pc_i64 g-after"), "{text}");
    assert_eq!(fixed("-24"), Err(RewriteError::Distance { line: 4 }));
    assert!(fixed("4").is_ok_and(|text| text.contains("s_add_pc_i64 4")));
}

#[test]
fn errors_are_the_assemblers() {
    let error = fix("k.s", &kernel(&["s_nopp 1"]), &Options::default()).unwrap_err();
    assert!(error.to_string().contains("k.s:2:1"), "{error}");
}

/// The output of LLVM 22's pass `amdgpu-insert-delay-alu` for this loop on gfx1100.
const WITH_HINTS: &str = ".amdgcn_target \"amdgcn-amd-amdhsa--gfx1100\"
k:
\ts_delay_alu instid0(TRANS32_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
\tv_add_f32_e32 v3, v0, v5
\tv_exp_f32_e32 v0, v3
\ts_cbranch_scc1 k ; back
\ts_delay_alu instid0(TRANS32_DEP_1)
\tv_mov_b32_e32 v9, v0
\ts_endpgm
";

#[test]
fn hints_of_time_are_llvms_and_those_that_were_there_go() {
    let hint = |line: &&str| !line.contains("s_delay_alu");
    let bare = WITH_HINTS.lines().filter(hint).map(|l| format!("{l}\n")).collect::<String>();
    // Without waits for results, because LLVM's pass is not told about them here.
    let rules = gcn_isa::hazards::RuleSet::Fast.config(false).without("rdna3.trans-use").unwrap();
    let options = Options { delays: true, rules, ..Options::default() };
    let other = WITH_HINTS.replace("instid0(TRANS32_DEP_1)\n", "instid0(SALU_CYCLE_1)\n");
    for source in [&bare, WITH_HINTS, &other] {
        let fixed = fix("k.s", source, &options).unwrap();
        assert_eq!((fixed.text.as_str(), fixed.delays), (WITH_HINTS, 2));
    }
    assert_eq!(fix("k.s", &bare, &Options { delays: false, ..options }).unwrap().text, bare);
    let gfx9 = kernel(&["v_add_f32 v0, v1, v2", "v_add_f32 v3, v0, v0", "s_endpgm"]);
    assert_eq!(fix("k.s", &gfx9, &Options { delays: true, ..Options::default() }).unwrap().text, gfx9);
}
