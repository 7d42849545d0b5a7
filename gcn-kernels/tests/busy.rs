//! Measures in the timed simulator how busy attention on CDNA and products on RDNA keep the matrix pipe in the steady
//! state, and the share of LDS time that bank conflicts take.
//!
//! Loads come through an L2 cache that is shared with other compute units, as in docs/matrix-pipe.md.

use gcn_dsl::BuiltKernel;
use gcn_dsl::lang::matrix::Rows;
use gcn_dsl::prelude::*;
use gcn_dsl::sim::{KernelState, Machine, Memory, timed};
use gcn_kernels::activation::Identity;
use gcn_kernels::{attention, gemm};

/// Cycle counts: all, those in which the matrix pipe is busy, those in which the LDS banks are, and those of bank
/// conflicts. `groups` workgroups run on a compute unit or workgroup processor whose share of the L2 bandwidth is
/// `bandwidth` bytes per cycle.
fn timed(built: &BuiltKernel, memory: &mut Memory, kernarg: &[u8], groups: u32, bandwidth: u32) -> [f64; 4] {
    let target = built.target();
    let state = KernelState::from_descriptor(&built.descriptor(), target).unwrap();
    let machine = Machine::new(target, built.code(), state).unwrap();
    let mut config = timed::Config { cus: Some(1), ..timed::Config::default() };
    for (names, value) in [
        (&["l2.bandwidth", "memory.bandwidth", "mall.bandwidth"][..], bandwidth),
        (&["memory.latency", "mall.latency"], 500),
    ] {
        names.iter().for_each(|name| config.set(&format!("{name}={value}")).unwrap());
    }
    let report = timed::run(&machine, memory, [groups, 1, 1], [512, 1, 1], kernarg, &config).unwrap();
    let cycles = report.cycles as f64;
    let matrix = report.pipes.iter().find(|pipe| pipe.pipe == timed::Pipe::Matrix).unwrap();
    [cycles, cycles * matrix.utilization, report.lds.busy_cycles as f64, report.lds.conflict_cycles as f64]
}

fn run<const D: usize>(target: Target, length: u32) -> [f64; 4] {
    const QUERIES: u32 = 256;
    let kernel = attention::forward::<f16, D, false>;
    let built = kernel.build(target).unwrap();
    let width = D as u32;
    let (queries, keys) = ([0, QUERIES], [0, length]);
    let (q, k) = (vec![f16::ONE; (QUERIES * width) as usize], vec![f16::ONE; (length * width) as usize]);
    let (mut o, mut lse) = (q.clone(), vec![0.0f32; QUERIES as usize]);
    let mut memory = Memory::new();
    let words = |x: &[u32]| x.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let addresses = [
        words(&queries).len(),
        words(&keys).len(),
        2 * q.len(),
        2 * k.len(),
        2 * k.len(),
        2 * o.len(),
        4 * lse.len(),
    ]
    .map(|size| memory.alloc(size));
    memory.write(addresses[0], &words(&queries)).unwrap();
    memory.write(addresses[1], &words(&keys)).unwrap();
    let args = (
        [1, 1],
        0.125,
        [width; 4],
        [width; 4],
        &queries[..],
        &keys[..],
        &q[..],
        &k[..],
        &k[..],
        &mut o[..],
        &mut lse[..],
    );
    let kernarg = kernel.kernarg(args, &addresses).unwrap();
    timed(&built.into_any(), &mut memory, &kernarg, 1, 54)
}

/// Shares of the steady state in percent: the matrix pipe busy, LDS busy, LDS bank conflicts.
fn steady(what: &str, target: Target, run: impl Fn(u32) -> [f64; 4]) -> [f64; 3] {
    between([512, 1024], what, target, run)
}

/// As [`steady`], by the difference of two runs of these lengths.
fn between(lengths: [u32; 2], what: &str, target: Target, run: impl Fn(u32) -> [f64; 4]) -> [f64; 3] {
    let [short, long] = lengths.map(run);
    let more = |i: usize| long[i] - short[i];
    let shares = [1, 2, 3].map(|i| 100.0 * more(i) / more(0));
    println!(
        "{target}, {what}: matrix pipe {:.1}%, LDS {:.1}%, conflicts {:.1}%",
        shares[0], shares[1], shares[2]
    );
    shares
}

#[test]
fn attention_keeps_the_matrix_pipe_busy() {
    for (target, wide, narrow) in [(Target::GFX942, 90.0, 88.0), (Target::GFX950, 75.0, 60.0)] {
        let of_128 = steady("heads of 128", target, |length| run::<128>(target, length));
        let of_64 = steady("heads of 64", target, |length| run::<64>(target, length));
        assert!(of_128[0] >= wide && of_64[0] >= narrow, "{target}: {of_128:?} {of_64:?}");
    }
}

macro_rules! products {
    ($($kernel:ident $of:ty, $sum:ty, $to:ty, $depths:tt: $($target:ident $least:literal)*;)*) => {
        /// Two workgroups, one on each compute unit of a workgroup processor, whose share of the L2 bandwidth is 51 bytes
        /// per cycle on the Radeon RX 5700 XT (gfx1010), 25 on the Radeon RX 6900 XT (gfx1030) and the Ryzen AI Max+ 395
        /// (gfx1151), 32 on the Radeon RX 7900 XTX (gfx1100) and 64 on the Radeon RX 9070 XT (gfx1201).
        ///
        /// Where vector instructions multiply, their pipe is that of 32 multiplications a cycle on each of four SIMDs.
        #[test]
        fn products_keep_the_matrix_pipe_of_radeons_busy() {
            $($({
                let kernel = gemm::$kernel::<Rows, Rows, Identity, true>;
                let target = Target::$target;
                let bandwidth = match target {
                    Target::GFX1100 => 32,
                    Target::GFX1030 | Target::GFX1151 => 25,
                    Target::GFX1010 => 51,
                    _ => 64,
                };
                let built = kernel.build(target).unwrap().into_any();
                let by_vectors =
                    !built.program().lines.iter().any(|line| line.inst.desc.multiplies_matrices());
                // f32: registers are spilled before the loop, at most four on gfx1201 and 14 on RDNA 1 and 2, of which six are reloaded once for
                // every four tiles, and reads of two `k` conflict.
                let (spilled, conflicts) = match (by_vectors, target) {
                    (true, Target::GFX1010) => (44, 22.0),
                    (true, Target::GFX1030) => (36, 22.0),
                    (true, Target::GFX1201) => (8, 13.0),
                    (true, _) => (0, 13.0),
                    (false, _) => (0, 1.0),
                };
                let spills = built.report().spills.total();
                assert!(spills <= spilled, "{target}, {}: {spills} spills instead of at most {spilled}", stringify!($kernel));
                let shares = between($depths, stringify!($kernel), target, |depth| {
                    let ab = vec![<$of>::default(); (512 * depth) as usize];
                    let mut c = vec![<$to>::default(); 256 * 512];
                    let mut memory = Memory::new();
                    let sizes = [size_of_val(&ab[..]), size_of_val(&ab[..]), 4, 4, 4, size_of_val(&c[..])];
                    let addresses = sizes.map(|size| memory.alloc(size));
                    let args = (
                        [256, 512, depth], [depth, depth, 512], [0; 3], gemm::ORDER, 1 as $sum, 0 as $sum, &ab[..], &ab[..],
                        &[][..], &[][..], &[][..], &mut c[..],
                    );
                    let kernarg = kernel.kernarg(args, &addresses).unwrap();
                    let mut times = timed(&built, &mut memory, &kernarg, 2, bandwidth);
                    if by_vectors {
                        times[1] = f64::from(256 * 512 * depth) / f64::from(4 * 32);
                    }
                    times
                });
                assert!(shares[0] >= $least && shares[2] < conflicts, "{target}, {}: {shares:?}", stringify!($kernel));
            })*)*
        }
    };
}

products! {
    f16s f16, f32, f16, [512, 1024]: GFX1100 95.0 GFX1151 95.0 GFX1201 92.5;
    bf16s bf16, f32, bf16, [512, 1024]: GFX1100 95.0 GFX1151 95.0 GFX1201 92.5;
    i8s i8, i32, i32, [512, 1024]: GFX1100 97.0 GFX1151 96.0 GFX1201 91.5;
    fp8s u8, f32, f32, [512, 1024]: GFX1201 91.5;
    f32s f32, f32, f32, [128, 256]: GFX1010 85.5 GFX1030 76.0 GFX1100 88.0 GFX1151 88.0 GFX1201 89.0;
}
