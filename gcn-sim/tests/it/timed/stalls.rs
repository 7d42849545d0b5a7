//! Each stall reason occurs at the right instruction, for the number of cycles that its cause takes.

use gcn_isa::Target;
use gcn_sim::timed::TimedReport;

use super::{Case, Stall, stall_at, warm};
use crate::harness::words;

#[test]
fn s_nop_and_s_sleep_take_their_time() {
    // MI100 ISA: s_nop waits for SIMM16[3:0] + 1 slots of four cycles, and s_sleep for 64 times its operand.
    let report = warm(Case::new("s_nop 7\ns_nop 0\ns_sleep 3\ns_endpgm")).run();
    assert_eq!(stall_at(&report, "s_nop 7", Stall::InternalInstruction), 28);
    assert_eq!(stall_at(&report, "s_nop 0", Stall::InternalInstruction), 0);
    assert_eq!(stall_at(&report, "s_sleep", Stall::Other), 3 * 64 - 4);
    assert_eq!(report.cycles, 32 + 4 + 192 + 4);
}

/// Source: github.com/tingqli/pyhip, docs/mem_latency.md, measured with s_memtime on an MI308X: 52 and 64 cycles from the start of the load
/// to the end of the wait.
#[test]
fn lds_loads_take_as_long_as_measured() {
    for (load, measured) in [("ds_read_b32 v2, v1", 52), ("ds_read_b128 v[4:7], v1", 64)] {
        let text = format!("v_lshlrev_b32 v1, 4, v0\n{load}\ns_waitcnt lgkmcnt(0)\ns_endpgm");
        let text = if load.contains("b32 ") { text.replace(" 4, v0", " 2, v0") } else { text };
        let report = warm(Case::new(text)).run();
        // The load issues in one slot; the wait first stalls and then issues.
        let cycles = 4 + stall_at(&report, "s_waitcnt", Stall::Waitcnt);
        assert_eq!(cycles, measured, "{load}");
    }
}

#[test]
fn a_cold_load_takes_the_latency_of_memory_and_a_warm_one_that_of_l1() {
    let text = "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\nv_lshlrev_b32 v1, 2, v0
        global_load_dword v2, v1, s[4:5]\ns_waitcnt vmcnt(0)\nglobal_load_dword v3, v1, s[4:5]\ns_waitcnt vmcnt(1)
        s_waitcnt vmcnt(0)\ns_endpgm";
    let report = Case::new(text).set("memory.latency=1000").set("l1.latency=100").run();
    let waits: Vec<u64> = report
        .by_instruction
        .iter()
        .filter(|i| i.text.contains("vmcnt"))
        .map(|i| i.stalls.get(Stall::Waitcnt))
        .collect();
    // Two lines of 128 bytes; the second access begins a cycle later. vmcnt(1) is satisfied from the start.
    assert!((1000 - 4..=1000 + 16).contains(&waits[0]), "{waits:?}");
    assert_eq!(waits[1], 0);
    assert!((100 - 12..=100 + 8).contains(&waits[2]), "{waits:?}");
    assert_eq!((report.memory.l1.hits, report.memory.l1.misses), (2, 2));
}

#[test]
fn waits_for_a_barrier_are_counted_there() {
    // Wave 0 sleeps before the barrier, and the other wave waits for it.
    let text = "v_readfirstlane_b32 s4, v0\ns_cmp_lg_u32 s4, 0\ns_cbranch_scc1 meet\ns_sleep 20\nmeet:\ns_barrier\ns_endpgm";
    let report = warm(Case::new(text)).waves(2).run();
    let waited = stall_at(&report, "s_barrier", Stall::BarrierWait);
    assert!((20 * 64 - 40..20 * 64 + 40).contains(&waited), "{waited}");
    let ends: Vec<u64> = report.by_wave.iter().map(|w| w.end).collect();
    assert!(ends[0].abs_diff(ends[1]) <= 4);
}

#[test]
fn scalar_code_waits_for_what_the_vector_alu_writes() {
    let text = "v_readfirstlane_b32 s4, v0\ns_add_u32 s5, s4, 1\ns_add_u32 s6, s5, 1\ns_endpgm";
    let report = warm(Case::new(text)).set("dependency.valu-sgpr=20").run();
    assert_eq!(stall_at(&report, "s_add_u32 s5", Stall::AluDependency), 16);
    assert_eq!(stall_at(&report, "s_add_u32 s6", Stall::AluDependency), 0);
}

#[test]
fn instructions_come_late_at_branch_targets_and_when_they_are_not_cached() {
    let text =
        "s_mov_b32 s4, 9\nloop:\ns_sub_u32 s4, s4, 1\ns_cmp_lg_u32 s4, 0\ns_cbranch_scc1 loop\ns_endpgm";
    let report = warm(Case::new(text)).set("branch.taken=16").run();
    // Eight taken branches of 16 cycles each, of which 4 are the branch's own slot.
    assert_eq!(stall_at(&report, "s_sub_u32", Stall::NoInstructionAvailable), 8 * 12);
    // Straight-line code of 64 lines: each line is fetched from memory once, two lines ahead.
    let cold = Case::new("v_nop\n".repeat(1024) + "s_endpgm").run();
    let waited = cold.stalls.get(Stall::NoInstructionAvailable);
    assert_eq!(cold.memory.instruction.misses, 64 + 1 + 2);
    assert!(waited > 10 * 800, "{waited}");
    let warm = warm(Case::new("v_nop\n".repeat(1024) + "s_endpgm")).run();
    assert_eq!(warm.stalls.get(Stall::NoInstructionAvailable), 0);
}

#[test]
fn waves_of_a_simd_compete() {
    // Eight waves on four SIMDs: two waves compete for the VALU of each SIMD, which a transcendental instruction occupies for 16 cycles.
    let text = "v_exp_f32 v2, v3\n".repeat(8) + "s_endpgm";
    let report = warm(Case::new(text)).waves(8).run();
    let (lost, stalled) =
        (report.stalls.get(Stall::ArbiterNotWin), report.stalls.get(Stall::ArbiterWinExStall));
    assert!(lost > 0 && stalled > 0);
    // The pipeline is busy for 8 waves x 8 x 16 cycles; nothing waits for the end of the last instructions.
    let vector = report.pipes[0].utilization * 4.0 * report.cycles as f64;
    assert!((vector - 1024.0).abs() < 1e-6, "{vector}");
    assert!((240..=270).contains(&report.cycles), "{}", report.cycles);
    let lost_to =
        |of: fn(&gcn_sim::timed::InstructionReport) -> u64| report.by_instruction.iter().map(of).sum::<u64>();
    assert_eq!(lost_to(|i| i.lost_to_issue) + lost_to(|i| i.lost_to_stall), lost);
}

#[test]
fn vector_instructions_issue_in_the_shadow_of_matrix_instructions() {
    // During the 16 passes of a matrix instruction, 15 vector instructions can issue.
    let matrix = "v_mfma_f32_32x32x2_f32 v[16:31], v2, v3, v[16:31]\n";
    let alone = warm(Case::new(matrix.repeat(8) + "s_endpgm")).run().cycles;
    let both =
        warm(Case::new((matrix.to_owned() + &"v_add_f32 v4, v5, v6\n".repeat(15)).repeat(8) + "s_endpgm"))
            .run();
    assert!(alone.abs_diff(both.cycles) <= 64, "{alone} {}", both.cycles);
    let more = (matrix.to_owned() + &"v_add_f32 v4, v5, v6\n".repeat(31)).repeat(8) + "s_endpgm";
    assert!(warm(Case::new(more)).run().cycles >= 8 * 32 * 4);
    // f64 matrix instructions occupy the VALU.
    let double = "v_mfma_f64_16x16x4_f64 v[16:23], v[2:3], v[4:5], v[16:23]\n";
    let both = (double.to_owned() + &"v_add_f32 v4, v5, v6\n".repeat(7)).repeat(8) + "s_endpgm";
    assert!(warm(Case::new(both)).run().cycles >= 8 * (32 + 28));
}

#[test]
fn a_full_counter_holds_the_wave_back() {
    // In the second trip, code and data are in the caches.
    let load = "global_load_dword v2, v1, s[4:5]\n";
    let head = "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\nv_lshlrev_b32 v1, 2, v0\ns_mov_b32 s6, 2\nloop:\n";
    let tail = "s_waitcnt vmcnt(0)\ns_sub_u32 s6, s6, 1\ns_cmp_lg_u32 s6, 0\ns_cbranch_scc1 loop\ns_endpgm";
    let stalled = |loads: usize| -> TimedReport {
        Case::new(head.to_owned() + &load.repeat(loads) + tail).set("l1.latency=1000").run()
    };
    assert_eq!(stalled(63).stalls.get(Stall::Other), 0);
    assert!(stalled(64).stalls.get(Stall::Other) > 0);
}

#[test]
fn bank_conflicts_cost_cycles() {
    let text =
        |shift: u32| format!("v_lshlrev_b32 v1, {shift}, v0\n{}s_endpgm", "ds_read_b32 v2, v1\n".repeat(12));
    let cycles = |shift| warm(Case::new(text(shift))).run().lds.busy_cycles;
    // Consecutive dwords; every eighth dword; every 32nd dword, for which all lanes of a half wave use one of 32 banks.
    assert_eq!([2, 5, 7].map(cycles), [12 * 2, 12 * 16, 12 * 64]);
    let many = |target: Target| {
        let case = Case { target, ..warm(Case::new(text(7))) };
        case.run().lds.busy_cycles
    };
    // 64 banks in one phase: every 32nd dword is in one of two banks.
    assert_eq!(many(Target::GFX950), 12 * 32);
}

#[test]
fn the_clock_counts_cycles() {
    let text =
        "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_memtime s[8:9]\ns_waitcnt lgkmcnt(0)\ns_nop 15\ns_nop 15
        s_memtime s[10:11]\ns_waitcnt lgkmcnt(0)\ns_sub_u32 s12, s10, s8\nv_mov_b32 v1, s12\nv_mov_b32 v2, 0
        global_store_dword v2, v1, s[4:5]\ns_endpgm";
    let case = warm(Case::new(text)).set("memtime.latency=40").set("scalar.latency=8");
    // From the first reading to the second: its own 40 cycles, 2 x 16 slots, and the slot of the wait.
    assert_eq!(words(&case.run_with_memory().1[..4])[0], 40 + 4 + 128);
}

#[test]
fn bandwidth_is_what_the_parameters_say() {
    // 16 waves load 64 KiB, each from lines of its own.
    let mut text =
        "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_lshlrev_b32 v1, 4, v0\ns_waitcnt lgkmcnt(0)\n".to_owned();
    for i in 0..4 {
        text += &format!(
            "global_load_dwordx4 v[{}:{}], v1, s[4:5]\nv_add_u32 v1, 0x4000, v1\n",
            4 + 4 * i,
            7 + 4 * i
        );
    }
    text += "s_waitcnt vmcnt(0)\ns_endpgm";
    let cycles = |bandwidth: u32| {
        Case::new(text.clone()).waves(16).set(&format!("memory.bandwidth={bandwidth}")).run().cycles
    };
    let [slow, fast] = [4, 16].map(cycles);
    // The difference in time is that of the data: 65536 bytes and a few lines of code, at 4 and at 16 bytes per cycle.
    let expected = 65_536 / 4 - 65_536 / 16;
    assert!((slow - fast).abs_diff(expected) < expected / 20, "{slow} {fast}");
}

/// Loads to LDS write each dword to the banks: 64 dwords in two phases of the 32 banks on gfx942. Without `lds`, the same loads do not use
/// the banks.
#[test]
fn loads_to_lds_take_the_time_of_the_banks() {
    const LOADS: usize = 10;
    let run = |load: &str| {
        let setup = "s_load_dwordx2 s[8:9], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\ns_mov_b32 s10, 0x100000
            s_mov_b32 s11, 0x20000\ns_mov_b32 m0, 0\ns_waitcnt lgkmcnt(0)\ns_nop 0\n";
        let loads = load.repeat(LOADS);
        let text =
            format!("{setup}{loads}s_waitcnt vmcnt(0)\nds_read_b32 v3, v1\ns_waitcnt lgkmcnt(0)\ns_endpgm");
        Case::new(text).run().lds
    };
    let (through, past) = (
        run("buffer_load_dword v1, s[8:11], 0 offen lds\n"),
        run("buffer_load_dword v2, v1, s[8:11], 0 offen\n"),
    );
    // Both runs include the read at the end.
    assert_eq!((past.bytes, past.busy_cycles), (256, 2));
    assert_eq!((through.bytes, through.busy_cycles), (256 + 256 * LOADS as u64, 2 + 2 * LOADS as u64));
    assert_eq!(through.conflict_cycles, 0);
}
