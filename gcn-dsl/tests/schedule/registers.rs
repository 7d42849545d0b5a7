//! Kernels with more values than registers compute the same as with enough registers, in the strict simulator.

use gcn_dsl::lang::RegisterLimits;
use gcn_dsl::prelude::*;
use gcn_dsl::{BuildCause, BuildOptions, BuiltKernel};
use gcn_test_support::env::some_of;

const TARGETS: [Target; 6] = Target::REPRESENTATIVES;

gcn_kernel! {
    /// 320 varying values that are all live until the last has been loaded, used in three passes.
    #[workgroup(64)]
    fn crowd(x: &[u32], y: &mut [u32]) {
        let lane = global_id().x;
        let n = x.len() / 320;
        let a = Private::<u32, 320>::new();
        #[unroll] for i in 0..320u32 {
            a[i] = x[lane + i * n];
        }
        #[unroll] for i in 0..320u32 {
            a[i] = a[i] * 3 + a[(i * 7 + 5) % 320];
        }
        if (lane & 3) != 1 {
            #[unroll] for i in 0..320u32 {
                a[319 - i] = a[319 - i] ^ a[(i * 11 + 2) % 320];
            }
        }
        #[unroll] for i in 0..320u32 {
            y[lane + i * n] = a[i];
        }
    }

    /// Loops whose trip counts differ between lanes, with values that are live through the loops and are read across
    /// lanes afterwards.
    #[workgroup(64)]
    fn divergent(x: &[u32], y: &mut [u32]) {
        let lane = global_id().x;
        let n = x.len() / 24;
        let a = Private::<u32, 24>::new();
        #[unroll] for i in 0..24u32 {
            a[i] = x[lane + i * n];
        }
        let mut sum = a[0];
        let mut step = a[1] | 1;
        let mut left = a[2] & 15;
        while left > 0 {
            sum = sum * 5 + step;
            if (sum & 4) != 0 {
                step = step + a[3];
                let mut inner = step & 3;
                while inner > 0 {
                    sum = sum ^ (a[4] + inner);
                    inner = inner - 1;
                }
            } else {
                sum = sum + a[5];
            }
            left = left - 1;
        }
        let first = read_first_lane(sum);
        let other = read_lane(a[6], 17u32);
        #[unroll] for i in 0..24u32 {
            y[lane + i * n] = a[i] + sum * (i + 1) + first + other;
        }
    }

    /// Sixty uniform values that are live through a loop.
    #[workgroup(64)]
    fn uniform(table: &[u32], trips: u32, y: &mut [u32]) {
        let lane = global_id().x;
        let values: [S<u32>; 60] = std::array::from_fn(|i| table[i as u32] * 3 + i as u32);
        let mut sum = lane;
        for trip in 0..trips {
            #[unroll] for i in 0..60usize {
                sum = sum * 3 + (values[i] ^ trip);
            }
        }
        let mut last = 0u32;
        #[unroll] for i in 0..60usize {
            last = last * 7 + values[59 - i];
        }
        y[lane] = sum + last;
    }
}

fn limits(vgprs: u32, sgprs: u32, agprs: u32) -> BuildOptions {
    let registers = RegisterLimits {
        vgprs: Some(vgprs),
        sgprs: Some(sgprs),
        agprs: Some(agprs),
        ..RegisterLimits::default()
    };
    BuildOptions { registers, ..BuildOptions::default() }
}

fn kept(kernel: &BuiltKernel, options: &BuildOptions) {
    let (report, asked) = (kernel.report(), options.registers);
    assert!(report.vgprs <= asked.vgprs.unwrap_or(512), "{report}");
    assert!(report.sgprs <= asked.sgprs.unwrap_or(102), "{report}");
    assert!(report.agprs <= asked.agprs.unwrap_or(256), "{report}");
}

fn input(n: usize) -> Vec<u32> {
    (0..n as u32).map(|i| i.wrapping_mul(2_654_435_761) ^ (i >> 3)).collect()
}

fn crowded(x: &[u32]) -> Vec<u32> {
    let n = x.len() / 320;
    let mut y = vec![0; x.len()];
    for lane in 0..n {
        let mut a: Vec<u32> = (0..320).map(|i| x[lane + i * n]).collect();
        for i in 0..320 {
            a[i] = a[i].wrapping_mul(3).wrapping_add(a[(i * 7 + 5) % 320]);
        }
        if lane & 3 != 1 {
            for i in 0..320 {
                a[319 - i] ^= a[(i * 11 + 2) % 320];
            }
        }
        (0..320).for_each(|i| y[lane + i * n] = a[i]);
    }
    y
}

#[test]
fn hundreds_of_live_values_are_right() {
    let x = input(64 * 320);
    let expected = crowded(&x);
    let cases = [BuildOptions::default(), limits(256, 102, 0), limits(40, 40, 100), limits(16, 20, 0)];
    let cases: Vec<(usize, BuildOptions)> = cases.into_iter().enumerate().collect();
    for (number, target) in TARGETS.into_iter().enumerate() {
        for (case, options) in some_of(&cases, number) {
            let kernel = crowd.build_with(target, options).unwrap_or_else(|e| panic!("{target} {case}: {e}"));
            kept(&kernel, options);
            let spills = kernel.spills();
            let scratch = kernel.spec().scratch_bytes;
            assert!(spills.total() > 0, "{target} {case}: 320 values in 256 registers");
            assert_eq!(spills.stores > 0, scratch > 0, "{target} {case}: {spills:?}");
            assert!(*case == 0 || scratch > 0, "{target} {case}: {spills:?}");
            let to_agprs = case % 2 == 0 && target.has_agprs();
            assert_eq!(spills.register_moves > 0, to_agprs, "{target} {case}: {spills:?}");
            let mut y = vec![0; x.len()];
            let device = Device::simulator(target);
            device
                .launch(&crowd, &kernel, Grid::x(1), (&x, &mut y))
                .unwrap_or_else(|e| panic!("{target} {case}: {e}"));
            assert!(y == expected, "{target} {case}");
        }
    }
}

fn diverged(x: &[u32]) -> Vec<u32> {
    let n = x.len() / 24;
    let at = |lane: usize, i: usize| x[lane + i * n];
    let sum = |lane: usize| {
        let (mut sum, mut step) = (at(lane, 0), at(lane, 1) | 1);
        for _ in 0..at(lane, 2) & 15 {
            sum = sum.wrapping_mul(5).wrapping_add(step);
            if sum & 4 != 0 {
                step = step.wrapping_add(at(lane, 3));
                for inner in (1..=step & 3).rev() {
                    sum ^= at(lane, 4).wrapping_add(inner);
                }
            } else {
                sum = sum.wrapping_add(at(lane, 5));
            }
        }
        sum
    };
    let mut y = vec![0; x.len()];
    for lane in 0..n {
        let (first, other) = (sum(lane / 64 * 64), at(lane / 64 * 64 + 17, 6));
        for i in 0..24 {
            let own = at(lane, i).wrapping_add(sum(lane).wrapping_mul(i as u32 + 1));
            y[lane + i * n] = own.wrapping_add(first).wrapping_add(other);
        }
    }
    y
}

#[test]
fn divergent_loops_with_few_registers_are_right() {
    let x = input(128 * 24);
    let expected = diverged(&x);
    for target in TARGETS {
        for (vgprs, sgprs, agprs) in [(256, 102, 256), (20, 30, 40), (12, 24, 3), (10, 22, 0)] {
            let options = limits(vgprs, sgprs, agprs);
            let what = format!("{target} with {vgprs} VGPRs, {sgprs} SGPRs, {agprs} AGPRs");
            let kernel = divergent.build_with(target, &options).unwrap_or_else(|e| panic!("{what}: {e}"));
            kept(&kernel, &options);
            assert_eq!(kernel.spills().total() > 0, vgprs < 256, "{what}: {:?}", kernel.spills());
            let mut y = vec![0; x.len()];
            let device = Device::simulator(target);
            device
                .launch(&divergent, &kernel, Grid::x(2), (&x, &mut y))
                .unwrap_or_else(|e| panic!("{what}: {e}"));
            assert!(y == expected, "{what}");
        }
    }
}

#[test]
fn uniform_values_go_to_lanes() {
    let table = input(60);
    let values: Vec<u32> =
        table.iter().enumerate().map(|(i, t)| t.wrapping_mul(3).wrapping_add(i as u32)).collect();
    let expected: Vec<u32> = (0..64u32)
        .map(|lane| {
            let mut sum = lane;
            for trip in 0..3 {
                sum = values.iter().fold(sum, |sum, v| sum.wrapping_mul(3).wrapping_add(v ^ trip));
            }
            let last = values.iter().rev().fold(0u32, |last, v| last.wrapping_mul(7).wrapping_add(*v));
            sum.wrapping_add(last)
        })
        .collect();
    for target in TARGETS {
        for sgprs in [102, 40, 24] {
            let options = limits(64, sgprs, 0);
            let kernel =
                uniform.build_with(target, &options).unwrap_or_else(|e| panic!("{target} {sgprs}: {e}"));
            kept(&kernel, &options);
            let spills = kernel.spills();
            assert!(spills.lane_moves > 0 || sgprs > 60, "{target} {sgprs}: {spills:?}");
            assert_eq!(spills.stores, 0, "{target} {sgprs}: {spills:?}");
            let mut y = vec![0; 64];
            let device = Device::simulator(target);
            device
                .launch(&uniform, &kernel, Grid::x(1), (&table, 3, &mut y))
                .unwrap_or_else(|e| panic!("{target} {sgprs}: {e}"));
            assert!(y == expected, "{target} {sgprs}");
        }
    }
}

gcn_kernel! {
    #[workgroup(256)]
    #[max_registers(24)]
    #[min_occupancy(8)]
    fn limited(x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        y[i] = x[i] * 2.0;
    }

    #[workgroup(64)]
    #[max_registers(vgpr = N, agpr = 0, sgpr = 40)]
    fn by_constant<const N: u32>(x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        y[i] = x[i] * 2.0;
    }

    #[workgroup(64)]
    #[min_occupancy(4)]
    fn too_much_lds(y: &mut [f32]) {
        let tile = Lds::<f32, 8192>::new();
        tile[local_id().x] = 1.0;
        barrier();
        y[global_id().x] = tile[local_id().x];
    }
}

#[test]
fn attributes_are_kept_or_refused() {
    let report = limited.build(Target::GFX942).unwrap().report();
    assert!(report.vgprs <= 24 && report.occupancy.waves_per_simd == 8, "{report}");
    by_constant::<16>.build(Target::GFX90A).unwrap();
    let error = by_constant::<300>.build(Target::GFX90A).unwrap_err();
    assert!(matches!(error.cause, BuildCause::Limits(_)), "{error}");
    assert!(error.to_string().contains("300 VGPRs; a kernel uses 1 to 256"), "{error}");
    // 32 KiB of LDS: two workgroups of one wave each on the four SIMDs of a compute unit.
    let error = too_much_lds.build(Target::GFX942).unwrap_err();
    assert!(error.to_string().contains("32768 bytes of LDS"), "{error}");
}

#[test]
fn occupancy_bounds_the_registers() {
    for (waves, most) in [(1, 512), (2, 256), (4, 128), (8, 64)] {
        let registers = RegisterLimits { min_occupancy: Some(waves), ..RegisterLimits::default() };
        let options = BuildOptions { registers, ..BuildOptions::default() };
        let kernel = crowd.build_with(Target::GFX942, &options).unwrap();
        let report = kernel.report();
        assert!(report.vgprs.next_multiple_of(4) + report.agprs <= most, "{report}");
        assert!(report.occupancy.waves_per_simd >= waves, "{report}");
    }
}

#[test]
fn occupancy_bounds_the_registers_of_separate_files() {
    for (number, target) in [Target::GFX900, Target::GFX906, Target::GFX908].into_iter().enumerate() {
        for &(waves, most) in some_of(&[(1, 256), (2, 128), (4, 64), (8, 32)], number + 1) {
            let registers = RegisterLimits { min_occupancy: Some(waves), ..RegisterLimits::default() };
            let options = BuildOptions { registers, ..BuildOptions::default() };
            let kernel = crowd.build_with(target, &options).unwrap();
            let report = kernel.report();
            assert!(report.vgprs.max(report.agprs) <= most, "{target}: {report}");
            assert!(report.occupancy.waves_per_simd >= waves, "{target}: {report}");
            // As many AGPRs as VGPRs do not reduce the occupancy, so all of them are used.
            assert_eq!(report.agprs > most / 2, target.has_agprs(), "{target}: {report}");
            // The descriptor counts the larger file in units of four.
            let granules = u32::from(kernel.descriptor()[48] & 63);
            assert_eq!(granules, report.vgprs.max(report.agprs).div_ceil(4) - 1, "{target}: {report}");
        }
    }
}

gcn_kernel! {
    /// Three accumulators at a time.
    #[workgroup(64)]
    #[targets(gfx908, gfx90a)]
    fn accumulators(x: &[f16], y: &mut [f32]) {
        let lane = lane_id();
        let a = FragA::<f16, 32, 8>::load(&x, lane * 4);
        let b = FragB::<f16, 8, 32>::load(&x, lane * 4 + 256);
        let mut first = Acc::<f32, 32, 32>::zero();
        let mut second = Acc::<f32, 32, 32>::zero();
        let mut third = Acc::<f32, 32, 32>::zero();
        #[unroll] for k in 0..3u32 {
            let c = FragB::<f16, 8, 32>::load(&x, lane * 4 + 512 + 256 * k);
            first = mfma(a, b, first);
            second = mfma(a, c, second);
            let d = FragA::<f16, 32, 8>::load(&x, lane * 4 + 512 + 256 * k);
            third = mfma(d, b, third);
        }
        #[unroll] for k in 0..16usize {
            y[lane + 64 * k as u32] = first.get(k);
            y[lane + 64 * (k as u32 + 16)] = second.get(k);
            y[lane + 64 * (k as u32 + 32)] = third.get(k);
        }
    }
}

#[test]
fn accumulators_that_do_not_fit_go_through_vgprs_where_files_are_separate() {
    let x: Vec<f16> = (0..1280).map(|i| f16::from_f32(((i * 7 + i / 64) % 13) as f32 - 6.0)).collect();
    let run = |target, options: &BuildOptions| {
        let kernel = accumulators.build_with(target, options).unwrap();
        kept(&kernel, options);
        let mut y = vec![0.0f32; 64 * 48];
        Device::simulator(target).launch(&accumulators, &kernel, Grid::x(1), (&x, &mut y)).unwrap();
        (y, *kernel.spills())
    };
    let (expected, none) = run(Target::GFX90A, &BuildOptions::default());
    assert!(none.total() == 0 && expected.iter().any(|v| *v != 0.0), "{none:?}");
    // Spilled to VGPRs and, if there are not enough of these, through VGPRs to memory.
    let (y, spills) = run(Target::GFX908, &limits(80, 40, 32));
    assert!(y == expected && spills.register_moves > 0 && spills.stores == 0, "{spills:?}");
    let (y, spills) = run(Target::GFX908, &limits(24, 40, 32));
    assert!(y == expected && spills.register_moves > 0 && spills.stores > 0, "{spills:?}");
}

#[test]
fn too_few_registers_for_one_instruction_is_an_error() {
    let error = crowd.build_with(Target::GFX942, &limits(1, 40, 0)).unwrap_err();
    assert!(matches!(error.cause, BuildCause::Registers(_)), "{error}");
}

#[test]
fn the_pressure_report_names_lines() {
    let kernel = crowd.build(Target::GFX942).unwrap();
    let report = kernel.pressure_report();
    let loaded = include_str!("registers.rs").lines().position(|l| l.contains("a[i] = x[lane")).unwrap() + 1;
    assert!(report.contains("VGPRs at once; it may use 256"), "{report}");
    assert!(report.contains(&format!("registers.rs:{loaded}:")), "{report}");
    assert!(report.contains("a[i] = x[lane + i * n];"), "{report}");
}
