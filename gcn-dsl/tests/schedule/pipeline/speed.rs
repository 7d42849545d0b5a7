//! Cycles with and without pipelining, in the timed simulator.
//!
//! A kernel whose `STAGES` is 1 has no attribute. The bounds are the measured values (guide/scheduling.md) with a
//! margin for changes of the model or the schedule. A test fails if running ahead is no longer worthwhile.

use gcn_dsl::prelude::*;
use gcn_dsl::sim::{KernelState, Machine, Memory, timed};

type A = FragA<f16, 32, 8>;
type B = FragB<f16, 8, 32>;

gcn_kernel! {
    /// A stream of products: two loads of 16 bytes for every four multiplications.
    #[workgroup(64)]
    fn stream<const STAGES: usize>(n: u32, a: &[f32], b: &[f32], y: &mut [f32]) {
        let first = workgroup_id().x * n;
        let mut sum: V<f32> = 0.0;
        comptime if STAGES == 1 {
            // One trip at a time, as in the pipelined loop: processing four at once would also hide memory latency.
            #[unroll(1)]
            for k in 0..n {
                sum = stream_step(first + k, a, b, sum);
            }
        } else {
            #[pipeline(stages = STAGES)]
            for k in 0..n {
                sum = stream_step(first + k, a, b, sum);
            }
        }
        y[global_id().x] = sum;
    }

    #[device]
    fn stream_step(k: u32, a: &[f32], b: &[f32], sum: V<f32>) -> V<f32> {
        let mut sum = sum;
        let (x, y) = (a.load_vector::<4>((k * 64 + lane_id()) * 4), b.load_vector::<4>((k * 64 + lane_id()) * 4));
        #[unroll]
        for j in 0..4usize {
            sum = x.get(j).mul_add(y.get(j), sum);
        }
        sum
    }

    /// y = a x, with `a` stored column by column: each lane has a row, and the elements of x are loaded by scalar
    /// instructions.
    #[workgroup(256)]
    fn gemv<const STAGES: usize>(columns: u32, rows: u32, a: &[f32], x: &[f32], y: &mut [f32]) {
        let mut sum: V<f32> = 0.0;
        comptime if STAGES == 1 {
            for c in (0..columns).step_by(4) {
                sum = gemv_step(c, rows, a, x, sum);
            }
        } else {
            #[pipeline(stages = STAGES)]
            for c in (0..columns).step_by(4) {
                sum = gemv_step(c, rows, a, x, sum);
            }
        }
        y[global_id().x] = sum;
    }

    #[device]
    fn gemv_step(c: u32, rows: u32, a: &[f32], x: &[f32], sum: V<f32>) -> V<f32> {
        let mut sum = sum;
        #[unroll]
        for j in 0..4u32 {
            sum = a[(c + j) * rows + global_id().x].mul_add(x[c + j], sum);
        }
        sum
    }

    /// A wave's 32 x 32 product with fragments loaded directly from memory.
    #[workgroup(64)]
    fn fragments<const STAGES: usize>(tiles: u32, a: &[f16], b: &[f16], c: &mut [f32]) {
        let first = workgroup_id().x * tiles;
        let (get_a, get_b) = (A::row() * 8 + A::k(), B::col() * 8 + B::k());
        let mut acc = Acc::<f32, 32, 32>::zero();
        comptime if STAGES == 1 {
            for t in first..first + tiles {
                acc = mfma(A::load(&a, t * 256 + get_a), B::load(&b, t * 256 + get_b), acc);
            }
        } else {
            #[pipeline(stages = STAGES)]
            for t in first..first + tiles {
                acc = mfma(A::load(&a, t * 256 + get_a), B::load(&b, t * 256 + get_b), acc);
            }
        }
        #[unroll]
        for r in 0..16usize {
            c[(workgroup_id().x * 32 + acc.row(r)) * 32 + acc.col()] = acc.get(r);
        }
    }

    /// The 64 x 64 product of four waves, with a depth of 16 per trip, through registers and two alternating LDS
    /// buffers.
    #[workgroup(256)]
    fn gemm<const STAGES: usize>(tiles: u32, a: &[f16], b: &[f16], c: &mut [f32]) {
        let (a, b) = (a.assume_whole_dwords(), b.assume_whole_dwords());
        let put = local_id().x * 4;
        let first = workgroup_id().x * tiles * 1024 + put;
        let (down, across) = (wave_id() / 2, wave_id() % 2);
        let get_a = (down * 32 + A::row()) * 16 + A::k();
        let get_b = (across * 32 + B::col()) * 16 + B::k();
        let (left, right) = (LdsPair::<f16, 1024>::new().write(), LdsPair::<f16, 1024>::new().write());
        left.store_vector(put, a.load_vector::<4>(first));
        right.store_vector(put, b.load_vector::<4>(first));
        #[carried]
        let mut pairs = barrier((left, right));
        let mut acc = Acc::<f32, 32, 32>::zero();
        comptime if STAGES == 1 {
            for t in 1..tiles + 1 {
                let (left, right) = pairs;
                #[unroll]
                for k in 0..2u32 {
                    acc = mfma(A::load(&left, get_a + 8 * k), B::load(&right, get_b + 8 * k), acc);
                }
                let (left, right) = (left.write(), right.write());
                left.store_vector(put, a.load_vector::<4>(t * 1024 + first));
                right.store_vector(put, b.load_vector::<4>(t * 1024 + first));
                pairs = barrier((left, right));
            }
        } else {
            #[pipeline(stages = STAGES)]
            for t in 1..tiles + 1 {
                let (left, right) = pairs;
                #[unroll]
                for k in 0..2u32 {
                    acc = mfma(A::load(&left, get_a + 8 * k), B::load(&right, get_b + 8 * k), acc);
                }
                let (left, right) = (left.write(), right.write());
                left.store_vector(put, a.load_vector::<4>(t * 1024 + first));
                right.store_vector(put, b.load_vector::<4>(t * 1024 + first));
                pairs = barrier((left, right));
            }
        }
        let at = (workgroup_id().x * 64 + down * 32) * 64 + across * 32;
        #[unroll]
        for r in 0..16usize {
            c[at + acc.row(r) * 64 + acc.col()] = acc.get(r);
        }
    }
}

/// The number of compute units of the device: an eighth of an MI300X. Grids for a whole one would mostly take time to
/// fill memory.
const CUS: u32 = 38;

/// The cycles of `groups` workgroups, with memory full of zeros: the time of these kernels does not depend on the data.
fn cycles<K: Kernel>(kernel: &K, target: Target, groups: u32, args: K::Args<'_>, slices: [usize; 3]) -> u64 {
    let built = kernel.build(target).unwrap();
    let mut memory = Memory::new();
    let addresses = slices.map(|bytes| memory.alloc(bytes));
    let kernarg = kernel.kernarg(args, &addresses).unwrap();
    let state = KernelState::from_descriptor(&built.descriptor(), target).unwrap();
    let machine = Machine::new(target, built.code(), state).unwrap();
    let size = built.signature().workgroup;
    let config = timed::Config { complete: false, cus: Some(CUS), ..timed::Config::default() };
    timed::run(&machine, &mut memory, [groups, 1, 1], size, &kernarg, &config).unwrap().cycles
}

const STAGES: [usize; 4] = [1, 2, 3, 4];

/// The results of `cycles` for 1, 2, 3 and 4 stages.
macro_rules! measured {
    ($kernel:ident on $target:ident, $groups:ident: $args:expr, $slices:expr) => {
        [
            cycles(&$kernel::<1>, $target, $groups, $args, $slices),
            cycles(&$kernel::<2>, $target, $groups, $args, $slices),
            cycles(&$kernel::<3>, $target, $groups, $args, $slices),
            cycles(&$kernel::<4>, $target, $groups, $args, $slices),
        ]
    };
}

/// With one workgroup on the device, nothing else hides the memory latency: two stages must take at most `two` percent
/// of the cycles, and the best number of stages at most `best` percent. With the device full, other waves hide the
/// latency, and running ahead must cost at most one percent.
fn pays(name: &str, groups: u32, [two, best]: [u64; 2], cycles: impl Fn(Target) -> [u64; 4]) {
    let targets = if groups == 1 { &super::TARGETS[..] } else { &[Target::GFX942] };
    let [two, best] = if groups == 1 { [two, best] } else { [101, 101] };
    for target in targets {
        let cycles = cycles(*target);
        println!("{name}, {target}, {groups} workgroups, stages {STAGES:?}: {cycles:?}");
        let least = cycles.into_iter().min().unwrap_or(0);
        assert!(cycles[1] * 100 <= cycles[0] * two, "{name}, {target}, {groups} workgroups: {cycles:?}");
        assert!(least * 100 <= cycles[0] * best, "{name}, {target}, {groups} workgroups: {cycles:?}");
    }
}

#[test]
fn a_stream_of_products() {
    let n = 64;
    for groups in [1, CUS * 4] {
        let (len, out) = ((n * 256 * groups) as usize, 64 * groups as usize);
        let (x, slices) = (vec![0.0; len], [len * 4, len * 4, out * 4]);
        pays(
            "stream",
            groups,
            [65, 45],
            |target| measured!(stream on target, groups: (n, &x[..], &x[..], &mut vec![0.0; out][..]), slices),
        );
    }
}

#[test]
fn a_matrix_by_a_vector() {
    let columns = 256;
    for groups in [1, CUS] {
        let rows = 256 * groups;
        let (len, out) = ((columns * rows) as usize, rows as usize);
        let (a, x, slices) =
            (vec![0.0; len], vec![0.0; columns as usize], [len * 4, columns as usize * 4, out * 4]);
        pays(
            "gemv",
            groups,
            [65, 45],
            |target| measured!(gemv on target, groups: (columns, rows, &a[..], &x[..], &mut vec![0.0; out][..]), slices),
        );
    }
}

#[test]
fn fragments_from_memory() {
    let tiles = 64;
    for groups in [1, CUS * 4] {
        let (len, out) = ((tiles * 256 * groups) as usize, 1024 * groups as usize);
        let (a, slices) = (vec![f16::ZERO; len], [len * 2, len * 2, out * 4]);
        pays(
            "fragments",
            groups,
            [65, 45],
            |target| measured!(fragments on target, groups: (tiles, &a[..], &a[..], &mut vec![0.0; out][..]), slices),
        );
    }
}

#[test]
fn a_product_through_lds() {
    let tiles = 64;
    for groups in [1, CUS * 2] {
        let (len, out) = ((tiles * 1024 * groups) as usize, 4096 * groups as usize);
        let (a, slices) = (vec![f16::ZERO; len], [len * 2, len * 2, out * 4]);
        pays(
            "gemm",
            groups,
            [65, 55],
            |target| measured!(gemm on target, groups: (tiles, &a[..], &a[..], &mut vec![0.0; out][..]), slices),
        );
    }
}
