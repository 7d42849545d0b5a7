//! Compares occupancy with what LLVM's compiler prints for kernels with given register counts, LDS and workgroup size.

use gcn_emit::occupancy::{Limiter, Limits, Usage, occupancy_of};
use gcn_isa::Target;

/// Made with llc 22 for each target, from kernels whose inline assembly clobbers the highest register of each file. The columns are the
/// fixed workgroup size, and the numbers in the comments `TotalNumVgprs`, `TotalNumSgprs`, `LDSByteSize` and `Occupancy`. LDS sizes are
/// multiples of the allocation granule, which LLVM ignores.
const MEASURED: &str = include_str!("../../data/occupancy.tsv");

#[test]
fn limits_are_what_llvm_prints() {
    let mut rows = 0;
    let mut wrong = Vec::new();
    for line in MEASURED.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let number = |i: usize| cells[i].parse::<u32>().expect("a number");
        let target: Target = cells[0].parse().expect("a target");
        let waves_per_workgroup = number(1).div_ceil(64);
        let usage = Usage { vgprs: number(2), sgprs: number(3), lds_bytes: number(4), waves_per_workgroup };
        let ours = Limits::of_usage(target, usage).least();
        if ours != number(5) {
            wrong.push(format!("{line}: {ours}"));
        }
        rows += 1;
    }
    println!("{rows} points");
    assert!(wrong.is_empty(), "{} of {rows} wrong: {wrong:#?}", wrong.len());
}

fn usage(vgprs: u32, sgprs: u32, lds_bytes: u32, waves_per_workgroup: u32) -> Usage {
    Usage { vgprs, sgprs, lds_bytes, waves_per_workgroup }
}

#[test]
fn the_limiter_is_named() {
    let cases = [
        (usage(32, 32, 0, 4), 8, Limiter::WaveSlots),
        (usage(65, 32, 0, 4), 7, Limiter::Vgprs),
        (usage(16, 108, 0, 4), 7, Limiter::Sgprs),
        (usage(16, 32, 32_768, 4), 2, Limiter::Lds),
        (usage(16, 32, 0, 12), 6, Limiter::WorkgroupSize),
        // Registers allow 7 waves, but the 16 waves of a workgroup run together or not at all.
        (usage(65, 32, 0, 16), 4, Limiter::WorkgroupSize),
        // Not even one workgroup fits.
        (usage(512, 32, 0, 16), 0, Limiter::Vgprs),
        (usage(16, 32, 70_000, 4), 0, Limiter::Lds),
        // With a granule of 512 bytes, 13,000 bytes take 13,312, of which four fit.
        (usage(16, 32, 13_000, 4), 4, Limiter::Lds),
    ];
    for (usage, waves, limiter) in cases {
        let occupancy = occupancy_of(Target::GFX90A, usage);
        assert_eq!((occupancy.waves_per_simd, occupancy.limited_by), (waves, limiter), "{usage:?}");
    }
    let text = occupancy_of(Target::GFX90A, usage(65, 32, 0, 4)).to_string();
    assert_eq!(text, "7 of 8 waves per SIMD, limited by VGPRs");
}
