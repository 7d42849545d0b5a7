//! Tests that `--strip` keeps waits that order memory. The sequences are those of the memory model tables in LLVM's AMDGPU guide.

use gcn_emit::rewrite::{Options, fix};
use gcn_isa::check;
use gcn_isa::hazards::Grade;
use gcn_test_support::Random;

use super::{fixed, kernel, unit};

/// Checks that `--strip` does not change these lines.
fn stays(lines: &[&str]) {
    assert_eq!(fixed(lines, true), lines);
}

#[test]
fn a_release_waits_for_its_stores_and_its_loads() {
    stays(&[
        "global_store_dword v0, v1, s[0:1]",
        "buffer_wbl2 sc1",
        "s_waitcnt vmcnt(0)",
        "global_store_dword v0, v2, s[2:3] sc1",
        "s_endpgm",
    ]);
    stays(&[
        "global_load_dword v5, v0, s[0:1]",
        "s_waitcnt vmcnt(0)",
        "global_store_dword v0, v2, s[2:3] sc1",
        "s_endpgm",
    ]);
}

#[test]
fn an_acquire_waits_for_its_load() {
    stays(&["global_load_dword v5, v0, s[0:1] sc1", "s_waitcnt vmcnt(0)", "buffer_inv sc1", "s_endpgm"]);
    stays(&["ds_read_b32 v5, v0", "s_waitcnt lgkmcnt(0)", "global_load_dword v6, v0, s[0:1]", "s_endpgm"]);
}

#[test]
fn a_barrier_waits_for_what_the_original_waited_for() {
    stays(&["global_store_dword v0, v1, s[0:1]", "s_waitcnt vmcnt(0)", "s_barrier", "s_endpgm"]);
    stays(&["ds_read_b32 v5, v0", "s_waitcnt lgkmcnt(0)", "s_barrier", "s_endpgm"]);
}

#[test]
fn a_partial_wait_stays_partial() {
    stays(&[
        "global_store_dword v0, v1, s[0:1]",
        "global_store_dword v0, v1, s[2:3]",
        "s_waitcnt vmcnt(1)",
        "s_barrier",
        "s_endpgm",
    ]);
}

/// Each write to LDS requires only a wait for its own data. According to the memory model's tables, a release to LDS does not wait for
/// loads from memory.
#[test]
fn a_write_of_lds_keeps_no_wait_for_other_loads() {
    let program = |waits: [&'static str; 4]| {
        let mut lines = vec![
            "buffer_load_dwordx4 v[20:23], v1, s[16:19], 0 offen",
            "buffer_load_dwordx4 v[24:27], v2, s[16:19], 0 offen",
            "global_load_dwordx4 v[28:31], v[4:5], off",
            "global_load_dwordx4 v[32:35], v[6:7], off",
        ];
        let writes = [
            "ds_write_b128 v10, v[20:23]",
            "ds_write_b128 v11, v[24:27]",
            "ds_write_b128 v12, v[28:31]",
            "ds_write_b128 v13, v[32:35]",
        ];
        for (wait, write) in waits.into_iter().zip(writes) {
            lines.extend(Some(wait).filter(|w| !w.is_empty()));
            lines.push(write);
        }
        lines.push("s_endpgm");
        lines
    };
    let all = ["s_waitcnt vmcnt(3)", "s_waitcnt vmcnt(2)", "s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)"];
    assert_eq!(fixed(&program(["s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)", "", ""]), true), program(all));
}

/// clang's loop over tiles, once without any waits, and once without only the wait before the first barrier, which clang emits.
#[test]
fn what_a_barrier_publishes_is_waited_for() {
    let tile = |publish: bool, others: bool| {
        let wait = |on: bool, wait: &'static str| Some(wait).filter(|_| on);
        let lines = [
            Some("L1:"),
            Some("global_load_dword v8, v[0:1], off"),
            wait(others, "s_waitcnt vmcnt(0)"),
            Some("ds_write_b32 v2, v8"),
            wait(publish, "s_waitcnt lgkmcnt(0)"),
            Some("s_barrier"),
            Some("ds_read_b32 v7, v7"),
            Some("ds_read_b32 v8, v5 offset:1020"),
            wait(others, "s_waitcnt lgkmcnt(0)"),
            Some("v_fmac_f32_e32 v3, v7, v8"),
            Some("s_barrier"),
            Some("s_cbranch_scc1 L1"),
            Some("s_endpgm"),
        ];
        lines.into_iter().flatten().collect::<Vec<_>>()
    };
    for others in [false, true] {
        assert_eq!(fixed(&tile(false, others), false), tile(true, true));
    }
}

#[test]
fn what_nobody_can_tell_goes() {
    let gone = |lines: &[&str]| {
        let kept: Vec<&str> = lines.iter().copied().filter(|l| !l.starts_with("s_waitcnt")).collect();
        assert_eq!(fixed(lines, true), kept);
    };
    // Removed: a wait when nothing is outstanding, one with nothing after it, one for a scalar load, and a second wait for the same
    // operation.
    gone(&["s_waitcnt vmcnt(0) lgkmcnt(0)", "s_barrier", "s_endpgm"]);
    gone(&["global_store_dword v0, v1, s[0:1]", "s_waitcnt vmcnt(0)", "s_endpgm"]);
    gone(&["s_load_dword s8, s[0:1], 0x0", "s_waitcnt lgkmcnt(0)", "s_barrier", "s_endpgm"]);
    let lines = [
        "ds_read_b32 v5, v0",
        "s_waitcnt lgkmcnt(0)",
        "s_waitcnt lgkmcnt(0)",
        "v_mov_b32 v1, v5",
        "s_endpgm",
    ];
    assert_eq!(fixed(&lines, true).len(), lines.len() - 1);
}

#[test]
fn a_wait_that_is_stronger_than_its_reader_needs_is_weakened() {
    let lines = fixed(
        &[
            "global_load_dword v5, v0, s[0:1]",
            "global_load_dword v6, v0, s[2:3]",
            "s_waitcnt vmcnt(0)",
            "v_mov_b32 v1, v5",
            "s_endpgm",
        ],
        true,
    );
    assert_eq!(lines[2], "s_waitcnt vmcnt(1)");
}

/// Two buffers in LDS: while data arrives in one, the other is read, and barriers are passed. The program waits for every load into LDS
/// somewhere, so no further waits are needed.
const TWO_BUFFERS: [&str; 18] = [
    "s_mov_b32 m0, s10",
    "s_nop 0",
    "buffer_load_dword v1, s[4:7], 0 offen lds",
    "s_mov_b32 m0, s11",
    "s_nop 0",
    "loop:",
    "buffer_load_dword v2, s[4:7], 0 offen lds",
    "s_waitcnt vmcnt(1)",
    "s_barrier",
    "ds_read_b32 v3, v4",
    "s_waitcnt lgkmcnt(0)",
    "v_add_f32 v5, v5, v3",
    "s_barrier",
    "s_cbranch_scc1 loop",
    "s_waitcnt vmcnt(0)",
    "s_barrier",
    "ds_read_b32 v3, v4",
    "s_endpgm",
];

#[test]
fn buffers_in_lds_that_the_program_orders_are_not_ordered_again() {
    assert_eq!(fixed(&TWO_BUFFERS, false), TWO_BUFFERS);
    stays(&TWO_BUFFERS);
}

/// The memory model requires the wait (LLVM AMDGPU guide): another wave writes the location that is read.
#[test]
fn a_read_of_lds_is_waited_for_before_the_barrier_that_lets_others_write() {
    let swap = ["ds_read_b32 v3, v4", "s_barrier", "ds_write_b32 v4, v5", "s_endpgm"];
    let [read, barrier, write, end] = swap;
    assert_eq!(fixed(&swap, false), [read, "s_waitcnt lgkmcnt(0)", barrier, write, end]);
    stays(&[read, "s_waitcnt lgkmcnt(0)", barrier, write, end]);
    // No wave writes before the next barrier, at which the read is complete.
    let later = [read, barrier, "s_waitcnt lgkmcnt(0)", barrier, write, end];
    assert_eq!(fixed(&later, false), later);
    stays(&later);
}

#[test]
fn a_load_into_lds_that_nothing_waits_for_is_waited_for() {
    let lines = ["buffer_load_dword v1, s[4:7], 0 offen lds", "s_barrier", "ds_read_b32 v3, v4", "s_endpgm"];
    let [load, rest @ ..] = lines;
    let [barrier, read, end] = rest;
    assert_eq!(fixed(&lines, false), [load, "s_waitcnt vmcnt(0)", barrier, read, end]);
    // Also if the wait is on another path only.
    let missing: Vec<&str> =
        TWO_BUFFERS.iter().copied().filter(|l| !l.starts_with("s_waitcnt vmcnt")).collect();
    let mended = fixed(&missing, false);
    assert!(mended.iter().any(|l| l.starts_with("s_waitcnt vmcnt")), "{mended:?}");
}

/// Programs in which so many LDS accesses are outstanding that the checker reports only one of several similar ones: after a fix it must
/// report nothing. Inserter and checker share no algorithm.
#[test]
fn very_many_accesses_of_lds_are_all_ordered() {
    let mut random = Random::new(3);
    let mut instruction = || {
        let (a, b, place) = (random.below(60), random.below(60), 4 * random.below(1000));
        match random.below(8) {
            0 => format!("ds_write_b32 v{a}, v{b} offset:{place}"),
            1 => format!("ds_read_b32 v{a}, v{b} offset:{place}"),
            2 => format!("ds_add_u32 v{a}, v{b}"),
            3 => format!("global_load_lds_dword v[{0}:{1}], off", a & !1, a | 1),
            4 => "s_barrier".to_owned(),
            5 => format!("global_load_dword v{a}, v[{0}:{1}], off", b & !1, b | 1),
            6 => format!("v_add_f32 v{a}, v{b}, v{a}"),
            _ => format!("s_add_u32 s{}, s3, s4", 5 + a % 30),
        }
    };
    let mut block = || (0..4).map(|_| instruction()).collect::<Vec<_>>();
    let (mut diamonds, mut switch, mut arms) = (Vec::new(), vec!["head:".to_owned()], Vec::new());
    for n in 0..200 {
        diamonds.push(format!("s_cbranch_scc0 left{n}"));
        diamonds.extend(block());
        diamonds.extend([format!("s_branch right{n}"), format!("left{n}:")]);
        diamonds.extend(block());
        diamonds.push(format!("right{n}:"));
        switch.push(format!("s_cbranch_scc{} arm{n}", n % 2));
        arms.push(format!("arm{n}:"));
        arms.extend(block());
        arms.push("s_branch head".to_owned());
    }
    switch.push("s_endpgm".to_owned());
    switch.extend(arms);
    for lines in [diamonds, switch] {
        let lines: Vec<&str> = lines.iter().map(String::as_str).chain(["s_endpgm"]).collect();
        let text = kernel(&lines);
        let worst = |text: &str| {
            let findings = check::check(&unit(text).sections[0].program).findings;
            findings.iter().filter(|f| f.grade > Grade::Cautious).count()
        };
        assert!(worst(&text) > 0);
        let fixed = fix("k.s", &text, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(worst(&fixed.text), 0);
    }
}

/// A workgroup of one wave needs no wait for LDS before a barrier: clang 22 compiles `__builtin_amdgcn_s_barrier` to nothing with
/// `reqd_work_group_size(64, 1, 1)`, and to `s_barrier` with 128.
#[test]
fn a_barrier_of_a_single_wave_orders_nothing() {
    let text = |workgroups: &[u32]| {
        let mut text = kernel(&[]);
        let (mut descriptors, mut metadata) = (String::new(), String::new());
        for (number, size) in workgroups.iter().enumerate() {
            text += &format!(
                ".globl k{number}\n.p2align 8\n.type k{number},@function\nk{number}:\nds_write_b32 v1, v2\ns_barrier\n\
                 ds_read_b32 v3, v4\ns_endpgm\n.size k{number}, .-k{number}\n"
            );
            descriptors += &format!(
                ".amdhsa_kernel k{number}\n.amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 8\n.amdhsa_accum_offset 8\n\
                 .end_amdhsa_kernel\n"
            );
            metadata += &format!(
                "  - .name: k{number}\n    .symbol: k{number}.kd\n    .group_segment_fixed_size: 0\n    \
                 .private_segment_fixed_size: 0\n    .kernarg_segment_size: 0\n    .kernarg_segment_align: 8\n    \
                 .max_flat_workgroup_size: {size}\n    .wavefront_size: 64\n    .sgpr_count: 8\n    .vgpr_count: 8\n"
            );
        }
        text + &format!(
            ".rodata\n.p2align 6\n{descriptors}.amdgpu_metadata\namdhsa.kernels:\n{metadata}amdhsa.version: [1, 2]\n\
             .end_amdgpu_metadata\n"
        )
    };
    // In a file with several kernels, this must hold for all of them.
    let cases: [(&[u32], usize); 5] = [(&[64], 0), (&[1], 0), (&[65], 1), (&[64, 32], 0), (&[64, 256], 2)];
    for (workgroups, waits) in cases {
        let text = text(workgroups);
        let findings = check::check(&unit(&text).sections[0].program).findings;
        let late =
            findings.iter().filter(|f| f.rule == "barrier.lds" && f.grade == Grade::Documented).count();
        assert_eq!(late, waits, "{workgroups:?}");
        let fixed = fix("k.s", &text, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(fixed.text.matches("s_waitcnt lgkmcnt(0)\ns_barrier").count(), waits, "{workgroups:?}");
    }
}

/// With `-mtgsplit`, clang 22 waits for the store before the barrier; without it, it does not. Each kernel of a file has its own mode.
#[test]
fn a_barrier_of_a_split_workgroup_waits_for_stores() {
    let text = |splits: &[bool]| {
        let (mut text, mut descriptors) = (kernel(&[]), String::new());
        for (number, split) in splits.iter().enumerate() {
            text += &format!(
                ".globl k{number}\n.p2align 8\n.type k{number},@function\nk{number}:\nglobal_store_dword v[4:5], v0, off\n\
                 s_barrier\nbuffer_inv sc0\nglobal_load_dword v4, v[0:1], off\ns_endpgm\n.size k{number}, .-k{number}\n"
            );
            descriptors += &format!(
                ".amdhsa_kernel k{number}\n.amdhsa_next_free_vgpr 8\n.amdhsa_next_free_sgpr 8\n.amdhsa_accum_offset 8\n\
                 .amdhsa_tg_split {}\n.end_amdhsa_kernel\n",
                u8::from(*split)
            );
        }
        text + &format!(".rodata\n.p2align 6\n{descriptors}")
    };
    for splits in [&[true][..], &[false], &[true, false], &[false, true], &[true, true]] {
        let text = text(splits);
        let expected = splits.iter().filter(|s| **s).count();
        let late = |text: &str| {
            let findings = check::check(&unit(text).sections[0].program).findings;
            findings.iter().filter(|f| f.rule == "barrier.store" && f.grade == Grade::Documented).count()
        };
        assert_eq!(late(&text), expected, "{splits:?}");
        for strip in [false, true] {
            let options = Options { strip, ..Options::default() };
            let fixed = fix("k.s", &text, &options).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(fixed.text.matches("s_waitcnt vmcnt(0)\ns_barrier").count(), expected, "{splits:?}");
            assert_eq!(late(&fixed.text), 0);
        }
    }
}

/// If so many operations may be outstanding that the order guaranteed by the waits cannot be computed, all waits remain, and missing ones
/// are inserted.
#[test]
fn where_everything_is_outstanding_everywhere_waits_stay() {
    let mut random = Random::new(7);
    let blocks = 3000;
    let mut lines = Vec::new();
    for n in 0..blocks {
        let (a, b) = (random.below(60), random.below(60));
        lines.push(format!("block{n}:"));
        lines.push(format!("global_store_dword v[{0}:{1}], v{b}, off", a & !1, a | 1));
        lines.push(format!("global_load_dword v{b}, v[{0}:{1}], off", a & !1, a | 1));
        lines.push(format!("s_cbranch_scc{} block{}", n % 2, random.below(blocks)));
    }
    lines.extend(
        ["global_store_dword v[0:1], v2, off", "s_waitcnt vmcnt(0)", "s_barrier", "s_endpgm"]
            .map(str::to_owned),
    );
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let stripped = super::strip("k.s", &kernel(&lines)).text;
    assert!(stripped.contains("s_waitcnt vmcnt(0)\ns_barrier"));
    assert_eq!(check::check(&unit(&stripped).sections[0].program).findings, []);
}
