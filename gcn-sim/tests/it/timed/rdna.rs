//! The workgroup processor of RDNA, compared with what LLVM's scheduling models, AMD's calculator and the documents say about single
//! instructions.

use gcn_isa::Target;
use gcn_isa::target::WaveSize;
use gcn_sim::KernelState;
use gcn_sim::timed::{Config, TimedReport};

use super::{Case, Stall, stall_at};

/// One wave with warm caches and without waits for memory.
fn case(target: Target, wave: WaveSize, text: &str) -> Case {
    let lanes = wave.lanes();
    let case = Case::new(text);
    let state = KernelState { wave_size: wave, workgroup_processors: true, ..case.state.clone() };
    let warm = ["l2.latency=0", "memory.latency=0", "mall.latency=0"];
    let case = Case { target, state, size: [lanes, 1, 1], ..case };
    warm.into_iter().fold(case, Case::set)
}

fn run(target: Target, wave: WaveSize, text: &str) -> TimedReport {
    case(target, wave, &format!("{text}\ns_endpgm")).run()
}

const GENERATIONS: [Target; 4] = [Target::GFX1030, Target::GFX1100, Target::GFX1151, Target::GFX1201];

/// The cycles from the issue of the first instruction of a kernel to that of the last one before its end.
fn between(report: &TimedReport) -> u64 {
    // Each instruction, including the end of the program, issues in one cycle.
    report.cycles - 2
}

/// Source: LLVM 22's scheduling models (`latency` of llvm-mca). An instruction that depends on a result issues that many cycles later.
#[test]
fn dependent_instructions_issue_after_the_latency_of_llvm() {
    let cases: [(&str, &str, [u64; 2]); 7] = [
        ("v_add_f32 v1, v2, v3", "v_add_f32 v4, v1, v1", [5, 5]),
        ("v_exp_f32 v1, v2", "v_add_f32 v4, v1, v1", [10, 10]),
        ("v_mul_lo_u32 v1, v2, v3", "v_add_f32 v4, v1, v1", [8, 8]),
        ("v_fma_f64 v[2:3], v[4:5], v[6:7], v[8:9]", "v_mov_b32 v10, v2", [22, 38]),
        ("v_rcp_f64 v[2:3], v[4:5]", "v_mov_b32 v10, v2", [24, 40]),
        ("s_mov_b32 s4, s5", "s_mov_b32 s6, s4", [2, 2]),
        ("s_cmp_eq_u32 s4, s5", "s_cselect_b32 s6, s4, s5", [2, 2]),
    ];
    for target in GENERATIONS {
        for (first, second, [gfx10, later]) in cases {
            let expected = if target == Target::GFX1030 { gfx10 } else { later };
            let report = run(target, WaveSize::W32, &format!("{first}\n{second}"));
            assert_eq!(between(&report), expected, "{target}: {first}; {second}");
            // A slow instruction occupies the VALU for a part of its latency.
            let waited =
                [Stall::AluDependency, Stall::ArbiterWinExStall].map(|stall| report.stalls.get(stall));
            assert_eq!(waited.iter().sum::<u64>(), expected - 1, "{target}: {first}; {second}");
        }
        let independent = run(target, WaveSize::W32, "v_add_f32 v1, v2, v3\nv_add_f32 v4, v5, v5");
        assert_eq!(between(&independent), 1, "{target}");
    }
}

/// A SIMD has 32 lanes, so a wave of 64 lanes takes two passes. The second pass hides one cycle of the latency for the next instruction.
#[test]
fn a_wave_of_64_lanes_takes_two_passes() {
    let independent: String = (1..17).map(|i| format!("v_add_f32 v{i}, v20, v21\n")).collect();
    for target in GENERATIONS {
        let [narrow, wide] = WaveSize::ALL.map(|wave| between(&run(target, wave, &independent)));
        assert_eq!([narrow, wide], [15, 30], "{target}");
    }
}

/// Two multiply-adds in one instruction issue as one: the same work takes half the cycles.
#[test]
fn two_instructions_in_one_issue_in_half_the_time() {
    for target in [Target::GFX1100, Target::GFX1151, Target::GFX1201] {
        let one: String = (0..16).map(|i| format!("v_fmac_f32 v{}, v40, v41\n", i + 1)).collect();
        let two: String = (0..8)
            .map(|i| {
                format!(
                    "v_dual_fmac_f32 v{}, v40, v45 :: v_dual_fmac_f32 v{}, v43, v42\n",
                    2 * i + 2,
                    2 * i + 1
                )
            })
            .collect();
        let [one, two] = [one, two].map(|text| between(&run(target, WaveSize::W32, &text)) + 1);
        assert_eq!((one, two), (16, 8), "{target}");
    }
}

/// Source: AMD's matrix instruction calculator, which gives the cycles of an instruction.
#[test]
fn matrix_instructions_take_the_cycles_of_the_calculator() {
    let cases: [(Target, &str, u64); 7] = [
        (Target::GFX1100, "v_wmma_f32_16x16x16_f16 v[0:7], v[32:39], v[40:47], v[0:7]", 32),
        (Target::GFX1151, "v_wmma_i32_16x16x16_iu8 v[0:7], v[32:35], v[40:43], v[0:7]", 32),
        (Target::GFX1151, "v_wmma_i32_16x16x16_iu4 v[0:7], v[32:33], v[40:41], v[0:7]", 16),
        (Target::GFX1201, "v_wmma_f32_16x16x16_f16 v[0:7], v[32:35], v[40:43], v[0:7]", 16),
        (Target::GFX1201, "v_wmma_f32_16x16x16_fp8_fp8 v[0:7], v[32:33], v[40:41], v[0:7]", 8),
        (Target::GFX1201, "v_wmma_i32_16x16x32_iu4 v[0:7], v[32:33], v[40:41], v[0:7]", 8),
        (Target::GFX1201, "v_swmmac_f32_16x16x32_f16 v[0:7], v[32:35], v[40:47], v50", 16),
    ];
    for (target, text, cycles) in cases {
        // The instruction does not overlap with the VALU (in the calculator, `coexecutes_with_valu` is false).
        let report = run(target, WaveSize::W32, &format!("{text}\nv_mov_b32 v60, v61"));
        assert_eq!(between(&report), cycles, "{target} {text}");
    }
}

/// The transcendental unit has a quarter of the lanes and works in parallel to the VALU (AMD RDNA white paper).
#[test]
fn transcendental_instructions_leave_the_vector_alu_to_others() {
    for target in GENERATIONS {
        let two = run(target, WaveSize::W32, "v_exp_f32 v1, v2\nv_exp_f32 v3, v4");
        assert_eq!(between(&two), 4, "{target}");
        let beside =
            run(target, WaveSize::W32, "v_exp_f32 v1, v2\nv_add_f32 v5, v6, v7\nv_add_f32 v8, v6, v7");
        assert_eq!(between(&beside), 2, "{target}");
    }
}

/// Mesa, ACO: from GFX11 on, a SIMD does not switch to another wave while the ALU waits for an operand, unless `s_delay_alu` announces the
/// dependence.
#[test]
fn without_a_hint_other_waves_wait_for_a_dependency() {
    let dependent = "v_add_f32 v1, v2, v3\nHINTv_add_f32 v4, v1, v1\n".repeat(32);
    let cycles = |target: Target, hint: &str| {
        let text = dependent.replace("HINT", hint);
        // Two waves on each of the four SIMDs.
        let case = case(target, WaveSize::W32, &format!("{text}s_endpgm"));
        Case { size: [8 * 32, 1, 1], ..case }.run().cycles
    };
    for target in [Target::GFX1100, Target::GFX1151, Target::GFX1201] {
        let [without, with] = ["", "s_delay_alu instid0(VALU_DEP_1)\n"].map(|hint| cycles(target, hint));
        assert!(with < without, "{target}: {with} with hints, {without} without");
    }
    // RDNA 2 switches to the other wave without `s_delay_alu`.
    assert!(cycles(Target::GFX1030, "") < cycles(Target::GFX1100, ""));
}

/// In compute unit mode, a workgroup runs on two of the four SIMDs; in workgroup processor mode, on all of them.
#[test]
fn a_workgroup_of_a_compute_unit_runs_on_two_simds() {
    let text = format!("{}s_endpgm", "v_add_f32 v1, v2, v3\n".repeat(64));
    for target in GENERATIONS {
        let simds = |both: bool| {
            let case = case(target, WaveSize::W32, &text);
            let state = KernelState { workgroup_processors: both, ..case.state.clone() };
            let report = Case { state, size: [8 * 32, 1, 1], ..case }.run();
            report.by_wave.iter().map(|wave| wave.simd).collect::<std::collections::BTreeSet<_>>().len()
        };
        assert_eq!([false, true].map(simds), [2, 4], "{target}");
    }
}

/// More instructions of any kind never take less time.
#[test]
fn more_work_and_slower_parts_take_longer() {
    let text = |adds: usize| {
        format!(
            "s_load_dwordx2 s[4:5], s[0:1], 0x0\nWAITv_lshlrev_b32 v1, 2, v0\nv_and_b32 v1, 0xfff, v1\nds_write_b32 v1, v0\n\
             ds_read_b32 v2, v1\nWAIT{}global_load_dword v3, v1, s[4:5]\ns_endpgm",
            "v_fmac_f32 v2, v2, v2\n".repeat(adds)
        )
    };
    for target in GENERATIONS {
        let waits = match target {
            Target::GFX1201 => "s_wait_idle\n",
            _ => "s_waitcnt vmcnt(0) lgkmcnt(0)\n",
        };
        let run = |adds: usize, waves: u32, set: &[&str]| {
            let text = text(adds).replace("WAIT", waits);
            let case = case(target, WaveSize::W32, &text);
            let case = Case {
                size: [32 * waves, 1, 1],
                config: Config { timeline: 0, ..case.config.clone() },
                ..case
            };
            set.iter().fold(case, |case, assignment| case.set(assignment)).run().cycles
        };
        let base = run(8, 4, &[]);
        assert!(run(16, 4, &[]) > base && run(8, 32, &[]) > base, "{target}");
        for slower in ["lds.latency=400", "scalar.latency=400", "valu.full=16", "issue.interval=4"] {
            assert!(run(8, 4, &[slower]) > base, "{target} {slower}");
        }
    }
}

/// At the split barrier of GFX12, waves that have arrived wait for the last one.
#[test]
fn split_barriers_wait_for_the_last_wave() {
    let text = "v_readfirstlane_b32 s4, v0\ns_cmp_lg_u32 s4, 0\ns_cbranch_scc1 meet\ns_sleep 20\nmeet:\n\
                s_barrier_signal -1\ns_barrier_wait -1\ns_endpgm";
    let case = case(Target::GFX1201, WaveSize::W32, text);
    let report = Case { size: [64, 1, 1], ..case }.run();
    let waited = stall_at(&report, "s_barrier_wait", Stall::BarrierWait);
    assert!((20 * 64 - 40..20 * 64 + 40).contains(&waited), "{waited}");
    assert!(report.by_wave[0].end.abs_diff(report.by_wave[1].end) <= 4);
}
