//! Benchmarks of compiling and simulating kernels: `cargo bench -p gcn-examples`.
//!
//! `code_object` measures the time from the call to the finished code object, with machine instructions as items.
//! `simulate` measures the time of a run, with instructions executed by a wave as items.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use gcn_dsl::prelude::*;
use gcn_examples::{Lesson, lessons};

fn main() {
    divan::main();
}

const KERNELS: [Lesson; 2] = [lessons::saxpy::LESSON, lessons::gemm_f16::LESSON];

/// A lesson as a bench's argument, displayed by its name.
struct Named(Lesson);

impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.name)
    }
}

fn kernels() -> impl Iterator<Item = Named> {
    KERNELS.into_iter().map(Named)
}

#[divan::bench(args = kernels())]
fn code_object(bencher: Bencher<'_, '_>, lesson: &Named) {
    let build = || lesson.0.build(black_box(Target::GFX942)).expect("the example builds");
    let instructions = build().program().lines.len();
    bencher.counter(ItemsCount::new(instructions)).bench(|| build().code_object().len());
}

/// The modes differ: strict mode checks for every read that a wait precedes it, fast mode does not.
#[divan::bench(args = ["strict", "fast"], sample_count = 10)]
fn simulate(bencher: Bencher<'_, '_>, mode: &str) {
    let target = Target::GFX942;
    let device = if mode == "strict" { Device::simulator(target) } else { Device::fast_simulator(target) };
    let kernel = gemm_f16_kernel(target);
    let run = || gemm_f16_run(&device, &kernel);
    let instructions = run();
    bencher.counter(ItemsCount::new(instructions)).bench_local(run);
}

fn gemm_f16_kernel(target: Target) -> gcn_dsl::BuiltKernel {
    lessons::gemm_f16::LESSON.build(target).expect("the example builds")
}

/// Runs `gemm_f16` at 256 x 256 x 256. Returns the number of executed instructions.
fn gemm_f16_run(device: &Device, kernel: &gcn_dsl::BuiltKernel) -> u64 {
    let (columns, depth) = (256, 256);
    let (a, b) = (vec![f16::ONE; 256 * 256], vec![f16::ONE; 256 * 256]);
    let mut c = vec![0.0; 256 * 256];
    let tile = lessons::gemm_f16::TILE;
    let grid = Grid::xy(256 / tile, 256 / tile);
    let args = (columns, depth, a.as_slice(), b.as_slice(), c.as_mut_slice());
    let stats = device.launch(&lessons::gemm_f16::gemm_f16, kernel, grid, args).expect("the example runs");
    stats.wave_instructions
}
