//! Lessons with a half and a quarter of the registers that they use. The other values are spilled, and the strict
//! simulator's result still equals the reference.

use gcn_dsl::kernel::AllocError;
use gcn_dsl::lang::RegisterLimits;
use gcn_dsl::prelude::*;
use gcn_dsl::{BuildCause, BuildError, BuildOptions, BuiltKernel};
use gcn_examples::{Lesson, TARGETS, lessons};

const LESSONS: [Lesson; 8] = [
    lessons::gemm_f16::LESSON,
    lessons::gemm_f64::LESSON,
    lessons::fft::LESSON,
    lessons::softmax::LESSON,
    lessons::flash_attention::LESSON,
    lessons::convolution::LESSON,
    lessons::radix_sort::LESSON,
    lessons::top_k::LESSON,
];

/// Build options that limit the kernel to a fraction, 1 / `parts`, of the registers that it uses. At least 8 VGPRs and
/// 16 SGPRs remain: the largest instructions need ten SGPRs at once.
fn limits(kernel: &BuiltKernel, parts: u32) -> BuildOptions {
    let report = kernel.report();
    let registers = RegisterLimits {
        vgprs: Some((report.vgprs / parts).max(8)),
        sgprs: Some((report.sgprs / parts).max(16)),
        agprs: Some(report.agprs / parts),
        ..RegisterLimits::default()
    };
    BuildOptions { registers, ..BuildOptions::default() }
}

fn run(lesson: &Lesson, target: Target, kernel: &BuiltKernel) -> u64 {
    let size = lesson.sizes[0];
    let place = || format!("{} {size} on {target}", lesson.name);
    let outcome = (lesson.run)(&Device::simulator(target), kernel, size);
    let outcome = outcome.unwrap_or_else(|e| panic!("{}: {e}", place()));
    assert!(outcome.comparison.agrees(), "{}: {}", place(), outcome.comparison);
    outcome.stats.wave_instructions
}

#[test]
fn lessons_with_few_registers_are_right() {
    let (mut built, mut spilled) = (0, 0);
    for (lesson, target) in LESSONS.iter().flat_map(|l| TARGETS.map(|t| (l, t))) {
        let whole = lesson.build(target).unwrap();
        let instructions = run(lesson, target, &whole);
        for parts in [2, 4] {
            let options = limits(&whole, parts);
            // A single instruction may need more than the limit.
            let kernel = match (lesson.build_with)(target, &options) {
                Ok(kernel) => kernel,
                Err(BuildError { cause: BuildCause::Registers(error), .. })
                    if matches!(*error, AllocError::DoesNotFit { .. }) =>
                {
                    println!("{} on {target}, 1/{parts}: {error}", lesson.name);
                    continue;
                }
                Err(e) => panic!("{} on {target}, 1/{parts}: {e}", lesson.name),
            };
            let report = kernel.report();
            assert!(Some(report.vgprs) <= options.registers.vgprs, "{report}");
            let more = run(lesson, target, &kernel) as f64 / instructions as f64;
            println!(
                "{} on {target}, 1/{parts}: {more:.2} times the instructions, {:?}",
                lesson.name, report.spills
            );
            built += 1;
            spilled += usize::from(report.spills.total() > 0);
        }
    }
    assert!(built >= 24 && spilled >= 20, "{built} built, {spilled} spilled");
}
