//! Kernels on RDNA, in waves of 32 lanes and of 64: their results in the strict simulator equal those of the reference,
//! and LLVM assembles their text to the same bytes.

use gcn_dsl::lang::RegisterLimits;
use gcn_dsl::prelude::*;
use gcn_dsl::{BuildCause, BuildError, BuildOptions};
use gcn_examples::lessons;
use gcn_isa::target::WaveSize;
use gcn_test_support::env::daily_sample;

use crate::oracle;

/// One target for each instruction set of RDNA.
const TARGETS: [Target; 6] =
    [Target::GFX1010, Target::GFX1030, Target::GFX1100, Target::GFX1151, Target::GFX1201, Target::GFX1250];

/// The lessons about the matrix instructions of CDNA, which list the targets that have them. All other lessons run on
/// every target.
const OF_CDNA: [&str; 6] =
    ["gemm_f16", "gemm_f64", "gemm_bf16", "gemm_i8", "gemm_batched", "flash_attention"];

fn options(wave: WaveSize) -> BuildOptions {
    BuildOptions { wave: Some(wave), ..BuildOptions::default() }
}

fn everywhere() -> impl Iterator<Item = (Target, WaveSize)> {
    TARGETS.into_iter().flat_map(oracle::wave_sizes).map(|on| (on.target, on.wave))
}

#[test]
fn every_lesson_that_is_not_about_mfma_agrees() {
    let pairs = everywhere().flat_map(|on| lessons::ALL.iter().map(move |lesson| (on, lesson)));
    for ((target, wave), lesson) in daily_sample(pairs, 5) {
        let name = format!("{} on {target} in waves of {}", lesson.name, wave.lanes());
        let kernel = match (lesson.build_with)(target, &options(wave)) {
            Ok(kernel) => kernel,
            Err(BuildError { cause: BuildCause::Target { target: refused, .. }, .. }) => {
                assert_eq!(refused, target, "{name}");
                assert!(OF_CDNA.contains(&lesson.name), "{name} is refused");
                continue;
            }
            Err(error) => panic!("{name}: {error}"),
        };
        assert!(!OF_CDNA.contains(&lesson.name), "{name} is not refused");
        assert_eq!(kernel.program().wave, wave, "{name}");
        oracle::assembles_to_our_bytes(&kernel);
        for &size in lesson.sizes {
            let outcome = (lesson.run)(&Device::simulator(target), &kernel, size);
            let outcome = outcome.unwrap_or_else(|error| panic!("{name} {size}: {error}"));
            assert!(outcome.comparison.agrees(), "{name} {size}: {}", outcome.comparison);
        }
    }
}

/// The work-items of the workgroups below: a multiple of both wave sizes, with more than 16 waves of each.
const ITEMS: u32 = 1024;
/// The number of results of a work-item.
const RESULTS: u32 = 24;

gcn_kernel! {
    /// Tests what the lanes of a wave, and the waves of a workgroup, know about each other.
    #[workgroup(ITEMS)]
    pub fn lanes_know(x: &[u32], y: &mut [u32]) {
        let i = local_id().x;
        let (v, lane) = (x[i], lane_id());
        let odd = v % 2 == 1;
        let mut out = Private::<u32, { RESULTS as usize }>::new();
        out[0] = lane;
        out[1] = splat(wave_id());
        out[2] = splat(wave_sum(v));
        out[3] = wave_inclusive_max(v);
        out[4] = wave_exclusive_sum(v);
        out[5] = Lanes::<16>::sum(v);
        out[6] = Lanes::<32>::exclusive_sum(v);
        out[7] = Lanes::<32>::sum(v);
        out[8] = splat(ballot(odd).count_ones());
        out[9] = mbcnt(ballot(odd));
        out[10] = match_any(v % 5).count_ones();
        out[11] = shuffle(v, v);
        out[12] = shuffle_xor(v, 16);
        out[13] = shuffle_up(v, 1);
        out[14] = shuffle_down(v, 3);
        out[15] = splat(read_lane(v, wave_size() - 1));
        out[16] = write_lane(v, 7, 99);
        out[17] = splat(workgroup_sum(v));
        out[18] = workgroup_exclusive_sum(v);
        out[19] = splat(workgroup_count(odd));
        out[20] = select(read_lane(odd, 5), 1, 0);
        out[21] = select(write_lane(odd, 3, true), 1, 0);
        // Under a varying condition, and in a loop that lanes leave one after the other.
        let mut trips = 0u32;
        let mut rest = v % 13;
        while rest != 0 {
            rest -= 1;
            if rest == 4 {
                break;
            }
            trips += 1;
        }
        out[22] = trips;
        let mut of_odd = 0u32;
        if odd {
            of_odd = wave_sum(v) + splat(active_lanes().count_ones());
        }
        out[23] = of_odd;
        for r in 0..RESULTS {
            y[i * RESULTS + r] = out[r];
        }
    }
}

/// The expected result of `lanes_know`, for waves of `lanes` lanes.
fn known(x: &[u32], lanes: usize) -> Vec<u32> {
    let sum = |values: &[u32]| values.iter().fold(0u32, |a, b| a.wrapping_add(*b));
    let odd = |v: &u32| v % 2 == 1;
    let mut y = Vec::new();
    for i in 0..x.len() {
        let (v, lane, first) = (x[i], i % lanes, i / lanes * lanes);
        let wave = &x[first..first + lanes];
        let segment = |width: usize| i / width * width;
        let odds: Vec<u32> = wave.iter().copied().filter(odd).collect();
        let trips = match v % 13 {
            n @ 0..5 => n,
            n => n - 5,
        };
        y.extend([
            lane as u32,
            (i / lanes) as u32,
            sum(wave),
            wave[..=lane].iter().copied().max().unwrap(),
            sum(&wave[..lane]),
            sum(&x[segment(16)..segment(16) + 16]),
            sum(&x[segment(32)..i]),
            sum(&x[segment(32)..segment(32) + 32]),
            odds.len() as u32,
            wave[..lane].iter().filter(|v| odd(v)).count() as u32,
            wave.iter().filter(|w| **w % 5 == v % 5).count() as u32,
            wave[v as usize % lanes],
            wave[lane ^ 16],
            wave[lane.saturating_sub(1)],
            if lane + 3 < lanes { wave[lane + 3] } else { v },
            wave[lanes - 1],
            if lane == 7 { 99 } else { v },
            sum(x),
            sum(&x[..i]),
            x.iter().filter(|v| odd(v)).count() as u32,
            wave[5] % 2,
            if lane == 3 { 1 } else { v % 2 },
            trips,
            if odd(&v) { sum(&odds).wrapping_add(odds.len() as u32) } else { 0 },
        ]);
    }
    y
}

#[test]
fn lanes_know_each_other() {
    let x: Vec<u32> = (0..ITEMS).map(|i| i.wrapping_mul(2_654_435_761) >> 12).collect();
    for (target, wave) in everywhere().chain([(Target::GFX942, WaveSize::W64)]) {
        let name = format!("{target} in waves of {}", wave.lanes());
        let kernel = lanes_know.build_with(target, &options(wave)).unwrap();
        assert_eq!(kernel.program().wave, wave, "{name}");
        agrees(&kernel, &x, &name);
        let registers = RegisterLimits {
            vgprs: Some(20),
            sgprs: Some(if wave == WaveSize::W32 { 14 } else { 18 }),
            ..RegisterLimits::default()
        };
        let few = BuildOptions { registers, ..options(wave) };
        let kernel = lanes_know.build_with(target, &few).unwrap();
        assert!(kernel.report().spills.total() > 0, "{name}: nothing spills");
        agrees(&kernel, &x, &format!("{name}, few registers"));
    }
}

fn agrees(kernel: &gcn_dsl::BuiltKernel<lanes_know>, x: &[u32], name: &str) {
    oracle::assembles_to_our_bytes(kernel);
    let mut y = vec![0; (ITEMS * RESULTS) as usize];
    let device = Device::simulator(kernel.target());
    device.launch(&lanes_know, kernel, Grid::x(1), (x, &mut y)).unwrap();
    for (at, (have, want)) in y.iter().zip(known(x, kernel.program().wave.lanes() as usize)).enumerate() {
        let (item, result) = (at as u32 / RESULTS, at as u32 % RESULTS);
        assert_eq!(*have, want, "{name}: result {result} of item {item}");
    }
}

#[test]
fn waves_have_the_usual_size_by_default() {
    for (target, lanes) in TARGETS.map(|target| (target, 32)).into_iter().chain([(Target::GFX942, 64)]) {
        let kernel = lanes_know.build(target).unwrap();
        assert_eq!(kernel.wave_size(), lanes, "{target}");
    }
}

gcn_kernel! {
    /// Waves of 32 lanes have no lane 40.
    #[workgroup(64)]
    #[wave(32)]
    pub fn no_lane_40(x: &mut [u32]) {
        x[local_id().x] = splat(read_lane(x[local_id().x], 40));
    }

    #[workgroup(64)]
    #[wave(32)]
    pub fn no_64_lanes(x: &mut [u32]) {
        x[local_id().x] = Lanes::<64>::sum(x[local_id().x]);
    }

    #[workgroup(64)]
    #[wave(32)]
    pub fn no_half_of_64(x: &mut [u32]) {
        x[local_id().x] = shuffle_xor(x[local_id().x], 32);
    }
}

#[test]
fn what_assumes_64_lanes_is_refused_in_waves_of_32() {
    let target = Target::GFX1201;
    let error = no_lane_40.build(target).unwrap_err().to_string();
    assert!(error.contains("lane 40 of a wave: they are numbered from 0 to 31"), "{error}");
    for error in [no_64_lanes.build(target).unwrap_err(), no_half_of_64.build(target).unwrap_err()] {
        assert!(error.to_string().contains("`#[wave(64)]`"), "{error}");
    }
    let error = no_64_lanes.build(Target::GFX942).unwrap_err().to_string();
    assert!(error.contains("waves of 32 lanes, and those of gfx942 have 64"), "{error}");
}
