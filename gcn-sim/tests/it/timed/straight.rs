//! Compares estimates for straight-line code with numbers from independent sources.

use gcn_emit::text::parse_inst;
use gcn_isa::{Inst, Target};
use gcn_sim::timed::{Straight, straight};

fn estimate(target: Target, lines: &[&str]) -> Straight {
    let insts: Vec<Inst> = lines.iter().map(|l| parse_inst(l, target).unwrap()).collect();
    straight(target, &insts)
}

fn cycles(target: Target, lines: &[&str]) -> Vec<u64> {
    estimate(target, lines).issues.iter().map(|i| i.cycle).collect()
}

/// A pass takes 4 cycles. The same product takes 8 passes on CDNA3 (CDNA3 ISA, table of MFMA) and 16 on CDNA2. Vector instructions issue
/// meanwhile.
#[test]
fn the_matrix_core_is_busy_for_its_passes() {
    let second = |target, name: &str| {
        let lines = [
            &*format!("{name} a[0:15], v[0:1], v[2:3], a[0:15]"),
            "v_mov_b32_e32 v4, v5",
            &*format!("{name} a[16:31], v[0:1], v[2:3], a[16:31]"),
        ];
        cycles(target, &lines)
    };
    assert_eq!(second(Target::GFX942, "v_mfma_f32_32x32x8_f16"), [0, 4, 32]);
    assert_eq!(second(Target::GFX90A, "v_mfma_f32_32x32x8f16"), [0, 4, 64]);
}

/// Transcendental instructions have a quarter of the rate; CDNA 4 doubles it (AMD CDNA 4 white paper).
#[test]
fn transcendental_instructions_take_longer() {
    let lines = ["v_exp_f32_e32 v0, v1", "v_add_f32_e32 v2, v3, v4"];
    assert_eq!(cycles(Target::GFX942, &lines), [0, 16]);
    assert_eq!(cycles(Target::GFX950, &lines), [0, 8]);
}

/// Measured on an MI308X: `ds_read_b32` takes 52 cycles, `ds_read_b128` 64 (pyhip, docs/mem_latency.md).
#[test]
fn lds_takes_as_long_as_was_measured() {
    for (load, latency) in [("ds_read_b32 v0, v9", 52), ("ds_read_b128 v[0:3], v9", 64)] {
        let found = estimate(Target::GFX942, &[load, "s_waitcnt lgkmcnt(0)"]);
        assert_eq!(found.issues[0].back, Some(latency), "{load}");
        // Without the wait, the instruction could have issued in cycle 4.
        assert_eq!((found.issues[1].cycle, found.issues[1].held), (latency, latency - 4), "{load}");
    }
}

/// A wait ends when the youngest operation for which it waits completes.
#[test]
fn waits_end_when_what_they_are_for_is_back() {
    let load = |n| format!("global_load_dword v{n}, v9, s[2:3]");
    let (a, b) = (load(0), load(1));
    let found =
        estimate(Target::GFX942, &[&a, &b, "s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)", "s_waitcnt vmcnt(0)"]);
    let [a, b] = [0, 1].map(|i| found.issues[i].back.unwrap());
    assert_eq!(b, a + 4);
    let waits: Vec<u64> = found.issues[2..].iter().map(|i| i.cycle).collect();
    assert_eq!(waits, [a, b, b + 4]);
    assert_eq!(found.cycles, b + 8);
}
