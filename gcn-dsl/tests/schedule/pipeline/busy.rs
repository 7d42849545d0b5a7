//! How busy plain tiled loops keep the matrix pipe in the steady state, in the timed simulator, and what `#[pipeline]` chooses for them.
//!
//! Tiles come through an L2 that other compute units share, as in the README's table.

use gcn_dsl::lang::matrix::Spread;
use gcn_dsl::prelude::*;
use gcn_dsl::sim::{KernelState, Machine, Memory, timed};

const SHARED: [&str; 5] =
    ["l2.bandwidth=54", "memory.bandwidth=54", "mall.bandwidth=54", "memory.latency=500", "mall.latency=500"];
const SLOW: [&str; 4] = ["barrier.release=40", "lds.latency=96", "l1.latency=200", "memory.latency=900"];

macro_rules! products {
    ($($name:ident: $t:ident => $sum:ident, [$lanes:literal, $m:literal, $half:literal, $n:literal, $depth:literal], [$($pipeline:tt)*];)*) => {$(
        gcn_kernel! {
            /// c = a * b for a workgroup's tile of c.
            #[workgroup($lanes)]
            #[targets(HasMfma)]
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
    deep_one: f16 => f32, [256, 128, 64, 128, 64], [pipeline(stages = 2)];
    deep: f16 => f32, [256, 128, 64, 128, 64], [pipeline];
    flat_one: f16 => f32, [256, 128, 64, 128, 32], [pipeline(stages = 2)];
    flat_two: f16 => f32, [256, 128, 64, 128, 32], [pipeline(buffers = 2)];
    large_one: f16 => f32, [512, 256, 128, 256, 32], [pipeline(stages = 2)];
    large: f16 => f32, [512, 256, 128, 256, 32], [pipeline];
    bytes_one: i8 => i32, [512, 256, 128, 256, 64], [pipeline(stages = 2)];
    bytes: i8 => i32, [512, 256, 128, 256, 64], [pipeline];
}

/// Cycles, and those of them in which the matrix pipe is busy.
fn run<K, T, C>(kernel: &K, target: Target, depth: u32, groups: u32, settings: &[&str]) -> [f64; 2]
where
    T: Copy + Default,
    C: Copy + Default,
    K: for<'a> Kernel<Args<'a> = (u32, &'a [T], &'a [T], &'a mut [C])>,
{
    let built = kernel.build(target).unwrap();
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
    let report = timed::run(&machine, &mut memory, [groups, 1, 1], size, &kernarg, &config).unwrap();
    let matrix = report.pipes.iter().find(|pipe| pipe.pipe == timed::Pipe::Matrix).unwrap();
    [report.cycles as f64, report.cycles as f64 * matrix.utilization]
}

/// The share of the steady state in which the matrix pipe is busy, in percent.
fn busy<K, T, C>(name: &str, kernel: &K, target: Target, groups: u32, settings: &[&str]) -> f64
where
    T: Copy + Default,
    C: Copy + Default,
    K: for<'a> Kernel<Args<'a> = (u32, &'a [T], &'a [T], &'a mut [C])>,
{
    let [short, long] = [256, 768].map(|depth| run(kernel, target, depth, groups, settings));
    let busy = 100.0 * (long[1] - short[1]) / (long[0] - short[0]);
    let built = kernel.build(target).unwrap();
    let pipeline = &built.pipelines()[0];
    println!(
        "{name} {target} {groups} workgroups, {} stages, {:?}, {}: {busy:.1}%",
        pipeline.stages,
        pipeline.single,
        settings.len()
    );
    busy
}

#[test]
fn plain_loops_keep_the_matrix_pipe_busy() {
    let target = Target::GFX942;
    let slow: Vec<&str> = SHARED.into_iter().filter(|s| *s != "memory.latency=500").chain(SLOW).collect();
    for settings in [&SHARED[..], &slow[..]] {
        // Two workgroups on the compute unit hide each other's barriers: as many as with one buffer, if LDS has room for them.
        let of_deep =
            [busy("deep_one", &deep_one, target, 2, settings), busy("deep", &deep, target, 2, settings)];
        assert!(of_deep[1] >= 93.0 && of_deep[1] >= of_deep[0], "{of_deep:?}");
        // A single workgroup has nothing else: there the second buffer is chosen, and pays.
        let of_large =
            [busy("large_one", &large_one, target, 1, settings), busy("large", &large, target, 1, settings)];
        assert!(of_large[1] >= of_large[0] + 4.0, "{of_large:?}");
        let of_bytes =
            [busy("bytes_one", &bytes_one, target, 1, settings), busy("bytes", &bytes, target, 1, settings)];
        assert!(of_bytes[1] >= of_bytes[0] + 4.0, "{of_bytes:?}");
    }
    let of_flat =
        [busy("flat_one", &flat_one, target, 2, &slow), busy("flat_two", &flat_two, target, 2, &slow)];
    assert!(of_flat[1] >= of_flat[0] + 4.0, "slow memory: {of_flat:?}");
}
