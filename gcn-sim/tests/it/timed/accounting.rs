//! Every cycle of a wave is an issue or a stall; no unit issues more than it can; results are those of functional mode.

use std::collections::HashMap;

use gcn_sim::timed::{Pipe, WaveReport};
use gcn_sim::{Memory, Options, run};

use super::{Case, Stall};

/// A mix of everything: loops, LDS, barriers, scalar and vector memory, matrix instructions, divergence.
const MIXED: &str = "
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    s_lshl_b32 s6, s2, 12
    v_add_u32 v20, s6, v1
    v_and_b32 v21, 0x3ff, v20
    v_mov_b32 v2, 1.0
    s_mov_b32 s7, 5
    s_waitcnt lgkmcnt(0)
    loop:
    global_load_dword v3, v20, s[4:5]
    ds_write_b32 v1, v2
    v_exp_f32 v4, v2
    v_mfma_f32_4x4x4_16b_f16 v[8:11], v[2:3], v[4:5], v[8:11]
    v_fma_f64 v[12:13], v[14:15], v[16:17], v[12:13]
    s_waitcnt lgkmcnt(0)
    s_barrier
    ds_read_b128 v[24:27], v1
    v_readfirstlane_b32 s8, v0
    s_add_u32 s9, s8, s7
    s_nop 3
    s_waitcnt vmcnt(0) lgkmcnt(0)
    v_add_u32 v3, s9, v3
    v_cmp_gt_u32 vcc, 17, v0
    s_and_saveexec_b64 s[10:11], vcc
    s_cbranch_execz skip
    v_add_u32 v3, v3, v24
    skip:
    s_or_b64 exec, exec, s[10:11]
    global_store_dword v20, v3, s[4:5]
    s_waitcnt vmcnt(0)
    s_barrier
    s_sub_u32 s7, s7, 1
    s_cmp_lg_u32 s7, 0
    s_cbranch_scc1 loop
    s_endpgm";

fn mixed() -> Case {
    Case::new(MIXED).waves(5).groups(7)
}

#[test]
fn results_and_counts_are_those_of_functional_mode() {
    let case = mixed();
    let mut memory = Memory::new();
    let buffer = memory.alloc(1 << 20);
    let stats =
        run(&case.machine(), &mut memory, case.grid, case.size, &buffer.to_le_bytes(), &Options::default())
            .unwrap();
    let (report, data) = case.run_with_memory();
    assert!(data == memory.read(buffer, 1 << 20).unwrap(), "memory differs");
    assert!(data.iter().any(|byte| *byte != 0));
    assert_eq!(report.instructions, stats.wave_instructions);
    let executed: HashMap<u32, u64> = stats.by_instruction.iter().copied().collect();
    for inst in &report.by_instruction {
        assert_eq!(inst.issued, executed.get(&inst.offset).copied().unwrap_or(0), "{}", inst.text);
    }
    // On the whole device, one CU gets one of the seven workgroups; the others run without timing.
    let device = Case { config: Default::default(), ..mixed() };
    let (report, again) = device.run_with_memory();
    assert!(data == again, "memory differs");
    assert_eq!((report.simulated_workgroups, report.workgroups), (1, 7));
}

#[test]
fn the_time_of_each_wave_is_accounted_for() {
    for case in [mixed(), mixed().set("lds.queue=0"), Case { grid: [40, 1, 1], ..mixed() }] {
        let report = case.run();
        assert_eq!(report.by_wave.len() as u64, report.waves);
        let mut lifetimes = 0;
        for wave in &report.by_wave {
            assert_eq!(wave.issue_cycles + wave.stalls.total(), wave.end - wave.start, "{wave:?}");
            assert_eq!(wave.issue_cycles, 4 * wave.instructions);
            lifetimes += wave.end - wave.start;
        }
        let at_instructions: u64 =
            report.by_instruction.iter().map(|i| i.issue_cycles + i.stalls.total()).sum();
        assert_eq!(at_instructions, lifetimes);
        for stall in Stall::ALL {
            assert_eq!(report.stalls.get(stall), total(&report.by_wave, stall), "{stall}");
        }
        for inst in &report.by_instruction {
            assert_eq!(inst.lost_to_issue + inst.lost_to_stall, inst.stalls.get(Stall::ArbiterNotWin));
        }
        let average = report.occupancy.average_waves_per_simd;
        assert!(average > 0.0 && average <= f64::from(report.occupancy.waves_per_simd), "{average}");
    }
}

fn total(waves: &[WaveReport], stall: Stall) -> u64 {
    waves.iter().map(|w| w.stalls.get(stall)).sum()
}

#[test]
fn nothing_issues_more_than_it_can() {
    let report = mixed().run();
    let timeline: serde_json::Value = serde_json::from_str(&report.timeline()).unwrap();
    assert_eq!(report.events_dropped, 0);
    // Each (SIMD, slot, category) and each (wave, slot) is used at most once; the VALU accepts one instruction at a time.
    let mut slots: HashMap<(u64, u64, String), u64> = HashMap::new();
    let mut lanes: HashMap<u64, Vec<(u64, u64)>> = HashMap::new();
    let mut valu: HashMap<u64, Vec<(u64, u64)>> = HashMap::new();
    for event in timeline["traceEvents"].as_array().unwrap() {
        if event["ph"] != "X" {
            continue;
        }
        let number = |name: &str| event[name].as_u64().unwrap();
        let (tid, start, cycles) = (number("tid"), number("ts"), number("dur"));
        lanes.entry(tid).or_default().push((start, start + cycles));
        if event["cat"] == "stall" {
            continue;
        }
        let simd = tid / 256;
        assert_eq!(start % 4, simd, "SIMDs are looked at in turn");
        let category = match event["cat"].as_str().unwrap() {
            "Flat" => "Tex",
            other => other,
        };
        if category != "Internal" {
            *slots.entry((simd, start, category.to_owned())).or_default() += 1;
        }
        // gfx942: 16 cycles for a transcendental instruction, 4 for others and for the start of a matrix instruction.
        let text = event["name"].as_str().unwrap();
        if matches!(category, "VALU" | "Matrix") {
            let busy = if text.starts_with("v_exp") { 16 } else { 4 };
            valu.entry(simd).or_default().push((start, start + busy));
        }
    }
    assert!(slots.values().all(|n| *n == 1) && slots.len() > 1000);
    for spans in lanes.values_mut().chain(valu.values_mut()) {
        spans.sort_unstable();
        assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0), "two at a time");
    }
    for pipe in &report.pipes {
        assert!((0.0..=1.0).contains(&pipe.utilization), "{pipe:?}");
        assert!(pipe.pipe == Pipe::Internal || pipe.arbiter_issue + pipe.arbiter_stall <= 1.0, "{pipe:?}");
    }
    // In four cycles, each of four SIMDs issues at most one instruction of each of five categories, plus internal instructions.
    assert!(report.ipc <= 6.0);
}

#[test]
fn runs_are_repeatable() {
    let [a, b] = [mixed().run(), mixed().run()];
    assert_eq!(a.json().unwrap(), b.json().unwrap());
    assert_eq!(a.timeline(), b.timeline());
    assert!(a.listing() == b.listing() && a.listing().contains("s_barrier"));
}

#[test]
fn workgroups_are_resident_by_occupancy() {
    // The registers (64 VGPRs and AccVGPRs together) would allow 8 waves; 16 KiB of LDS allow four workgroups of one wave each.
    let report = Case { grid: [12, 1, 1], ..Case::new("s_sleep 10\ns_endpgm") }.run();
    assert_eq!((report.occupancy.workgroups_per_cu, report.waves), (4, 12));
    let mut starts: Vec<u64> = report.by_wave.iter().map(|w| w.start).collect();
    starts.sort_unstable();
    assert!(starts[..4].iter().all(|s| *s < 16) && starts[4..8].iter().all(|s| *s > 600));
    // Distributed over three simulated CUs, all workgroups run at once.
    let config = gcn_sim::timed::Config { cus: Some(3), simulated_cus: 3, ..Default::default() };
    let wide = Case { config, grid: [12, 1, 1], ..Case::new("s_sleep 10\ns_endpgm") }.run();
    assert_eq!((wide.waves, wide.simulated_cus), (12, 3));
    assert!(wide.cycles * 3 < report.cycles * 2, "{} {}", wide.cycles, report.cycles);
}
