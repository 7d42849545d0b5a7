//! temporary
use gcn_dsl::lang::matrix::Rows;
use gcn_dsl::prelude::*;
use gcn_dsl::sim::{KernelState, Machine, Memory, timed};
use gcn_kernels::activation::Identity;
use gcn_kernels::gemm;

#[test]
fn prof() {
    let target: Target = std::env::var("T").unwrap().parse().unwrap();
    let depth: u32 = std::env::var("D").map_or(1024, |d| d.parse().unwrap());
    let bandwidth = match target { Target::GFX1100 => 32, Target::GFX1151 => 25, _ => 64 };
    macro_rules! one { ($kernel:ident $of:ty, $sum:ty, $to:ty) => {{
        let kernel = gemm::$kernel::<Rows, Rows, Identity, true>;
        let built = kernel.build(target).unwrap().into_any();
        let ab = vec![<$of>::default(); (512 * depth) as usize];
        let mut c = vec![<$to>::default(); 256 * 512];
        let mut memory = Memory::new();
        let sizes = [size_of_val(&ab[..]), size_of_val(&ab[..]), 4, 4, 4, size_of_val(&c[..])];
        let addresses = sizes.map(|size| memory.alloc(size));
        let args = ([256, 512, depth], [depth, depth, 512], [0; 3], gemm::ORDER, 1 as $sum, 0 as $sum, &ab[..], &ab[..], &[][..], &[][..], &[][..], &mut c[..]);
        let kernarg = kernel.kernarg(args, &addresses).unwrap();
        println!("{:?}", built.report());
        let state = KernelState::from_descriptor(&built.descriptor(), target).unwrap();
        let machine = Machine::new(target, built.code(), state).unwrap();
        let mut config = timed::Config { cus: Some(1), timeline: 3000000, ..timed::Config::default() };
        for (names, value) in [(&["l2.bandwidth", "memory.bandwidth", "mall.bandwidth"][..], bandwidth), (&["memory.latency", "mall.latency"], 500)] {
            names.iter().for_each(|name| config.set(&format!("{name}={value}")).unwrap());
        }
        if let Ok(more) = std::env::var("SET") { more.split(',').for_each(|s| config.set(s).unwrap()); }
        let report = timed::run(&machine, &mut memory, [2, 1, 1], [512, 1, 1], &kernarg, &config).unwrap();
        println!("{}", report.listing());
        if let Ok(path) = std::env::var("TL") { std::fs::write(path, report.timeline()).unwrap(); }
    }}}
    match &std::env::var("K").unwrap()[..] {
        "f16" => one!(f16s f16, f32, f16),
        "i8" => one!(i8s i8, i32, i32),
        "fp8" => one!(fp8s u8, f32, f32),
        "f32" => one!(f32s f32, f32, f32),
        _ => panic!(),
    }
}
