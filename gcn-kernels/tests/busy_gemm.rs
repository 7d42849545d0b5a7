//! How busy the products keep the matrix pipe of a Radeon in the steady state, in the timed simulator.

use gcn_dsl::lang::matrix::Rows;
use gcn_dsl::prelude::*;
use gcn_dsl::sim::{KernelState, Machine, Memory, timed};
use gcn_kernels::activation::Identity;
use gcn_kernels::gemm;

/// The share of one of the workgroup processors in what they share.
fn shared(target: Target) -> Vec<String> {
    let bytes = if target == Target::GFX1100 { 32 } else if target == Target::GFX1151 { 25 } else { 64 };
    let mut all: Vec<String> = ["l2.bandwidth", "mall.bandwidth", "memory.bandwidth"].iter().map(|n| format!("{n}={bytes}")).collect();
    all.extend(["memory.latency=500".to_owned(), "mall.latency=500".to_owned()]);
    all
}

macro_rules! runs {
    ($($name:ident: $kernel:ident $of:ty, $sum:ty, $to:ty;)*) => {$(
        fn $name(target: Target, depth: u32) -> [f64; 4] {
            let kernel = gemm::$kernel::<Rows, Rows, Identity, true>;
            let built = kernel.build(target).unwrap();
            let a = vec![<$of>::default(); (512 * depth) as usize];
            let mut c = vec![<$to>::default(); 256 * 512];
            let mut memory = Memory::new();
            let sizes = [size_of_val(&a[..]), size_of_val(&a[..]), 0, 0, 0, size_of_val(&c[..])];
            let addresses = sizes.map(|size| memory.alloc(size.max(4)));
            let args = (
                [256, 512, depth], [depth, depth, 512], [0; 3], gemm::ORDER, 1 as $sum, 0 as $sum, &a[..], &a[..], &[][..], &[][..],
                &[][..], &mut c[..],
            );
            let kernarg = kernel.kernarg(args, &addresses).unwrap();
            let state = KernelState::from_descriptor(&built.descriptor(), target).unwrap();
            let machine = Machine::new(target, built.code(), state).unwrap();
            let mut config = timed::Config { cus: Some(1), ..timed::Config::default() };
            shared(target).iter().for_each(|setting| config.set(setting).unwrap());
            let report = timed::run(&machine, &mut memory, [2, 1, 1], [512, 1, 1], &kernarg, &config).unwrap();
            let cycles = report.cycles as f64;
            let matrix = report.pipes.iter().find(|pipe| pipe.pipe == timed::Pipe::Matrix).unwrap();
            std::fs::write(format!("/tmp/h53a/{}.{target}.s", stringify!($name)), built.assembly(Comments::None)).unwrap();
            std::fs::write(format!("/tmp/h53a/{}.{target}.hsaco", stringify!($name)), built.code_object()).unwrap();
            [cycles, cycles * matrix.utilization, report.lds.busy_cycles as f64, report.lds.conflict_cycles as f64]
        }
    )*};
}
runs! {
    half: f16s f16, f32, f16;
    brain: bf16s bf16, f32, bf16;
    bytes: i8s i8, i32, i32;
    small: fp8s u8, f32, f32;
}

#[test]
fn products_keep_the_matrix_pipe_busy() {
    for target in [Target::GFX1100, Target::GFX1201] {
        let mut all: Vec<(&str, fn(Target, u32) -> [f64; 4])> = vec![("half", half), ("brain", brain), ("bytes", bytes)];
        if target == Target::GFX1201 { all.push(("small", small)); }
        for (name, run) in all {
            let [short, long] = [512, 1024].map(|depth| run(target, depth));
            let more = |i: usize| long[i] - short[i];
            let shares = [1, 2, 3].map(|i| 100.0 * more(i) / more(0));
            println!("{target} {name}: {} cycles, matrix {:.1}%, LDS {:.1}%, conflicts {:.1}%", more(0), shares[0], shares[1], shares[2]);
        }
    }
}
