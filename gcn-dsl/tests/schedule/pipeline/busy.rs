//! Measures in the timed simulator how busy plain tiled loops keep the matrix pipe in the steady state, and tests what
//! `#[pipeline]` chooses for them.
//!
//! Tiles come through an L2 cache that is shared with other compute units, as in docs/matrix-pipe.md.

use gcn_dsl::BuiltKernel;
use gcn_dsl::kernel::SingleReason;
use gcn_dsl::lang::matrix::Spread;
use gcn_dsl::prelude::*;
use gcn_dsl::sim::{KernelState, Machine, Memory, timed};
use gcn_test_support::env::some_of;

const SHARED: [&str; 5] =
    ["l2.bandwidth=54", "memory.bandwidth=54", "mall.bandwidth=54", "memory.latency=500", "mall.latency=500"];
/// The simulator parameters that docs/matrix-pipe.md gives for gfx90a.
const SHARED_GFX90A: [&str; 3] = ["l2.bandwidth=37", "memory.bandwidth=37", "memory.latency=500"];
const SLOW: [&str; 4] = ["barrier.release=40", "lds.latency=96", "l1.latency=200", "memory.latency=900"];

macro_rules! products {
    ($($name:ident: $t:ident => $sum:ty, $targets:tt [$lanes:literal, $m:literal, $half:literal, $n:literal, $depth:literal], [$($pipeline:tt)*];)*) => {$(
        gcn_kernel! {
            /// c = a * b for the workgroup's tile of c.
            #[workgroup($lanes)]
            #[targets $targets]
            fn $name(depth: u32, a: &[$t], b: &[$t], c: &mut [$sum]) {
                let (a, b) = (row_major(a, depth), row_major(b, depth));
                let (row, col) = (wave_id() % 2 * $half, wave_id() / 2 * 64);
                let left = LdsTile::<$t, $m, $depth, Spread>::new();
                let right = LdsTile::<$t, $n, $depth, Spread>::new();
                let mut acc = Tile::<$sum, $half, 64>::zero();
                #[$($pipeline)*]
                for k in (0..depth).step_by($depth) {
                    left.put(left.fetch(a, 0, k));
                    right.put(right.fetch(b, workgroup_id().x * $n, k));
                    barrier();
                    let x = TileA::<$t, $half, $depth>::load(left, row, 0);
                    let y = TileB::<$t, $depth, 64>::load(right.transposed(), 0, col);
                    acc = matmul(x, y, acc);
                    barrier();
                }
                acc.store_to(row_major(c, 512), row, workgroup_id().x * $n + col);
            }
        }
    )*};
}
products! {
    small: f16 => f32, (HasMfma) [256, 128, 64, 128, 32], [pipeline];
    square: f16 => f32, (HasMfma) [256, 128, 64, 128, 64], [pipeline];
    square_one: f16 => f32, (HasMfma) [256, 128, 64, 128, 64], [pipeline(stages = 2)];
    wide: f16 => f32, (HasMfma) [512, 128, 64, 256, 32], [pipeline];
    large: f16 => f32, (HasMfma) [512, 256, 128, 256, 32], [pipeline];
    deep: f16 => f32, (HasMfma) [512, 256, 128, 256, 64], [pipeline];
    square_bf16: bf16 => f32, (HasMfma) [256, 128, 64, 128, 64], [pipeline];
    large_bf16: bf16 => f32, (HasMfma) [512, 256, 128, 256, 32], [pipeline];
    square_bytes: i8 => i32, (HasMfma) [256, 128, 64, 128, 128], [pipeline];
    wide_bytes: i8 => i32, (HasMfma) [512, 128, 64, 256, 64], [pipeline];
    large_bytes: i8 => i32, (HasMfma) [512, 256, 128, 256, 64], [pipeline];
    square_f8: f8e4m3 => f32, (gfx942, gfx950) [256, 128, 64, 128, 128], [pipeline];
    wide_f8: f8e4m3 => f32, (gfx942, gfx950) [512, 128, 64, 256, 64], [pipeline];
    large_f8: f8e4m3 => f32, (gfx942, gfx950) [512, 256, 128, 256, 64], [pipeline];
}

/// Counts for a compute unit in a run: cycles, those in which the matrix pipe was busy, those in which the LDS banks
/// were, and lines from L2.
type Cycles = [f64; 4];

/// Runs a kernel on one compute unit with as many workgroups as fit. Also returns their number.
fn run<K, T, C>(kernel: &K, built: &BuiltKernel<K>, depth: u32, settings: &[&str]) -> (Cycles, u32)
where
    T: Copy + Default,
    C: Copy + Default,
    K: for<'a> Kernel<Args<'a> = (u32, &'a [T], &'a [T], &'a mut [C])>,
{
    let target = built.target();
    let (x, mut y) = (vec![T::default(); 512 * depth as usize], vec![C::default(); 256 * 512]);
    let mut memory = Memory::new();
    let addresses =
        [size_of_val(&x[..]), size_of_val(&x[..]), size_of_val(&y[..])].map(|size| memory.alloc(size));
    let kernarg = kernel.kernarg((depth, &x, &x, &mut y), &addresses).unwrap();
    let state = KernelState::from_descriptor(&built.descriptor(), target).unwrap();
    let machine = Machine::new(target, built.code(), state).unwrap();
    let mut config = timed::Config { cus: Some(1), ..timed::Config::default() };
    settings.iter().for_each(|setting| config.set(setting).unwrap());
    let size = built.signature().workgroup;
    let groups = machine.workgroups_per_cu(size.iter().product(), 0);
    let report = timed::run(&machine, &mut memory, [groups, 1, 1], size, &kernarg, &config).unwrap();
    let matrix = report.pipes.iter().find(|pipe| pipe.pipe == timed::Pipe::Matrix).unwrap();
    let cycles = report.cycles as f64;
    let (lds, lines) = (report.lds.busy_cycles as f64, report.memory.l1.misses as f64);
    ([cycles, cycles * matrix.utilization, lds, lines], groups)
}

/// The share of the steady state in percent in which the matrix pipe is busy, and the maximum that LDS and the lines
/// from L2 permit. On gfx950 a row of 64 bytes is half a line: when the next iteration needs the other half, the line
/// is no longer in the L1.
fn busy<K, T, C>(kernel: &K, target: Target, slow: bool) -> [f64; 2]
where
    T: Copy + Default,
    C: Copy + Default,
    K: for<'a> Kernel<Args<'a> = (u32, &'a [T], &'a [T], &'a mut [C])>,
{
    let mut settings = if target == Target::GFX90A { SHARED_GFX90A.to_vec() } else { SHARED.to_vec() };
    if slow {
        settings.retain(|setting| *setting != "memory.latency=500");
        settings.extend(SLOW);
    }
    let least = 1024 / size_of::<T>() as u32;
    let built = kernel.build(target).unwrap();
    let [(short, _), (long, groups)] = [least, 2 * least].map(|depth| run(kernel, &built, depth, &settings));
    let [cycles, matrix, lds, lines] = [0, 1, 2, 3].map(|i| long[i] - short[i]);
    let line = if target == Target::GFX90A { 64.0 / 37.0 } else { 128.0 / 54.0 };
    let most = 100.0 * matrix / matrix.max(lds).max(lines * line);
    let pipeline = &built.pipelines()[0];
    let of = built.signature().name.as_str();
    let (share, buffers) = (100.0 * matrix / cycles, if pipeline.single.is_none() { 2 } else { 1 });
    let setting = if slow { "slow" } else { "shared" };
    println!(
        "{of} {target} {setting}: {share:.1}% of {most:.1}%; {groups} workgroups, {buffers} buffers, {} stages",
        pipeline.stages
    );
    [share, most]
}

macro_rules! check {
    ($($kernel:ident: $targets:expr;)*) => {$(
        // In an ordinary test run, each kernel runs on one target.
        for &target in some_of(&$targets, stringify!($kernel).len()) {
            let [share, most] = busy(&$kernel, target, false);
            assert!(share >= 85.0 || share >= 0.97 * most, "{} {target}: {share:.1} of {most:.1}", stringify!($kernel));
        }
    )*};
}

const ALL: [Target; 3] = super::TARGETS;
const F8: [Target; 2] = [Target::GFX942, Target::GFX950];

/// Code that a beginner writes: tiles in LDS, one loop, and the attribute.
#[test]
fn plain_loops_keep_the_matrix_pipe_busy() {
    check! {
        small: ALL;
        square: ALL;
        wide: ALL;
        large: ALL;
        deep: ALL;
    }
}

/// With slower barriers, LDS and memory. Two workgroups hide each other's barriers. A single workgroup has a barrier
/// every 2048 cycles that stops both waves of a SIMD for 48 cycles, of which their last product covers 32: at most
/// 99.2%.
#[test]
fn a_slow_barrier_costs_plain_loops_little() {
    for (share, least) in
        [(busy(&square, Target::GFX942, true), 99.0), (busy(&large, Target::GFX942, true), 97.0)]
    {
        assert!(share[0] >= least, "{:.1} of {least}", share[0]);
    }
}

/// Two workgroups use the matrix pipe alternately. A wave starts its products when all loads of its factors have been
/// issued, and computes the addresses of the next loads between the products.
#[test]
fn what_is_not_needed_between_products_of_another_workgroup_is_elsewhere() {
    let text = square.build(Target::GFX942).unwrap().assembly(Comments::None);
    let lines: Vec<&str> = text.lines().collect();
    let end = lines.iter().rposition(|line| line.contains("s_cbranch")).unwrap();
    let start = lines[..end].iter().rposition(|line| line.ends_with(':')).unwrap();
    let trip = &lines[start..end];
    let places = |what: &str| -> Vec<usize> { (0..trip.len()).filter(|i| trip[*i].contains(what)).collect() };
    let (products, reads) = (places("v_mfma"), places("ds_read"));
    assert!(reads.iter().all(|read| *read < products[0]), "{trip:#?}");
    let before = trip[..products[0]].iter().filter(|line| line.trim_start().starts_with("v_"));
    assert_eq!(before.count(), 0, "{trip:#?}");
}

#[test]
fn plain_loops_of_other_types() {
    check! {
        square_bf16: ALL;
        large_bf16: ALL;
        square_bytes: ALL;
        wide_bytes: ALL;
        large_bytes: ALL;
        square_f8: F8;
        wide_f8: F8;
        large_f8: F8;
    }
}

/// Two workgroups on the compute unit hide each other's barriers, so a second buffer is used only if as many workgroups
/// fit into LDS as with one.
#[test]
fn a_second_buffer_is_chosen_where_it_costs_no_workgroup() {
    let on = Target::GFX942;
    assert_eq!(square.build(on).unwrap().pipelines()[0].single, Some(SingleReason::Occupancy));
    assert_eq!(large.build(on).unwrap().pipelines()[0].single, None);
}

/// The compiler's choices query these parameters of the timed model by name.
#[test]
fn the_model_has_the_times_on_which_choices_rest() {
    for target in Target::REPRESENTATIVES {
        for name in ["memory.latency", "barrier.release", "lds.latency"] {
            let listed =
                timed::parameters(target).into_iter().find(|parameter| parameter.name == name).unwrap();
            let most = listed.range.map_or(listed.value, |[_, high]| high);
            assert_eq!(timed::at_most(target, name).unwrap().to_string(), most, "{target} {name}");
        }
    }
}
