//! How busy attention keeps the matrix pipe in the steady state, in the timed simulator, and how much of LDS's time bank conflicts take.
//!
//! Keys and values come through an L2 that other compute units share, as in docs/matrix-pipe.md.

use gcn_dsl::prelude::*;
use gcn_dsl::sim::{KernelState, Machine, Memory, timed};
use gcn_kernels::attention;

const SHARED: [&str; 5] =
    ["l2.bandwidth=54", "memory.bandwidth=54", "mall.bandwidth=54", "memory.latency=500", "mall.latency=500"];

/// Cycles, those in which the matrix pipe is busy, those in which the banks of LDS are, and those of conflicts.
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
    let state = KernelState::from_descriptor(&built.descriptor(), target).unwrap();
    let machine = Machine::new(target, built.code(), state).unwrap();
    let mut config = timed::Config { cus: Some(1), ..timed::Config::default() };
    SHARED.iter().for_each(|setting| config.set(setting).unwrap());
    let report = timed::run(&machine, &mut memory, [1, 1, 1], [512, 1, 1], &kernarg, &config).unwrap();
    let cycles = report.cycles as f64;
    let matrix = report.pipes.iter().find(|pipe| pipe.pipe == timed::Pipe::Matrix).unwrap();
    [cycles, cycles * matrix.utilization, report.lds.busy_cycles as f64, report.lds.conflict_cycles as f64]
}

/// The shares of the steady state in percent: the matrix pipe busy, LDS busy, LDS conflicts.
fn steady<const D: usize>(target: Target) -> [f64; 3] {
    let [short, long] = [512, 1024].map(|length| run::<D>(target, length));
    let more = |i: usize| long[i] - short[i];
    let shares = [1, 2, 3].map(|i| 100.0 * more(i) / more(0));
    println!(
        "{target}, heads of {D}: matrix pipe {:.1}%, LDS {:.1}%, conflicts {:.1}%",
        shares[0], shares[1], shares[2]
    );
    shares
}

#[test]
fn attention_keeps_the_matrix_pipe_busy() {
    for (target, wide, narrow) in [(Target::GFX942, 90.0, 88.0), (Target::GFX950, 75.0, 60.0)] {
        let (of_128, of_64) = (steady::<128>(target), steady::<64>(target));
        assert!(of_128[0] >= wide && of_64[0] >= narrow, "{target}: {of_128:?} {of_64:?}");
    }
}
