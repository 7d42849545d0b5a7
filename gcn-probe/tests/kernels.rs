//! Tests the suite `kernels`: every kernel gives correct results on every target that it supports, and the reported times are those of the
//! device.

use gcn_dsl::Device;
use gcn_isa::Target;
use gcn_probe::kernels::{self, Effort};
use gcn_probe::report::{KernelResult, Status};
use gcn_test_support::env::{daily_sample, fuzz_step};

/// Of this many kernels, one runs on each target in a thorough run ([`daily_sample`]).
const SAMPLE: usize = 2;

/// Runs all kernels on the simulator of a target; at least `least` of them must support it.
fn all_right(target: Target, least: usize) {
    let device = Device::fast_simulator(target);
    let results: Vec<KernelResult> = daily_sample(kernels::tasks(), SAMPLE)
        .into_iter()
        .map(|task| kernels::kernel(task, &device, Effort::QUICK))
        .collect();
    let wrong: Vec<_> = results.iter().filter(|result| result.status > Status::NotRun).collect();
    assert!(wrong.is_empty(), "{target}: {wrong:#?}");
    let run: Vec<_> = results.iter().filter(|result| result.status == Status::Equal).collect();
    assert!(run.len() >= least / fuzz_step(SAMPLE) / 2, "{target}: {}", run.len());
    for result in run {
        let compared = result.sizes.iter().all(|size| size.agrees && size.elements > 0);
        assert!(compared && !result.sizes.is_empty(), "{target}: {result:?}");
    }
}

#[test]
fn all_kernels_are_right_on_gfx908() {
    all_right(Target::GFX908, 10);
}

#[test]
fn all_kernels_are_right_on_gfx90a() {
    all_right(Target::GFX90A, 30);
}

#[test]
fn all_kernels_are_right_on_gfx942() {
    all_right(Target::GFX942, 45);
}

#[test]
fn all_kernels_are_right_on_gfx950() {
    all_right(Target::GFX950, 30);
}

#[test]
fn all_kernels_are_right_on_gfx1201() {
    all_right(Target::GFX1201, 30);
}

/// A kernel for waves of 64 lanes cannot run on this target. The suite must not report that as a difference.
#[test]
fn all_kernels_are_right_on_gfx1250() {
    all_right(Target::GFX1250, 15);
}

/// If the device is the timed model itself, the model's error is 0; a device without a clock reports no times.
#[test]
fn times_are_those_of_the_device() {
    let task = kernels::tasks()[0];
    let effort = Effort { sizes: 1, repeats: 2, model: true };
    let timed = kernels::kernel(task, &Device::timed_simulator(Target::GFX942, 2100), effort);
    assert!(timed.sizes[0].gpu_ns.is_some_and(|ns| ns > 0), "{timed:?}");
    assert_eq!(timed.sizes[0].model_error(), Some(0.0));
    // At half the clock the same cycles take twice as long.
    let slow = kernels::kernel(task, &Device::timed_simulator(Target::GFX942, 1050), effort);
    let [fast, slow] = [&timed, &slow].map(|result| result.sizes[0].gpu_ns.unwrap());
    assert!(slow.abs_diff(2 * fast) <= 2, "{fast} {slow}");
    let plain = kernels::kernel(task, &Device::fast_simulator(Target::GFX942), effort);
    assert_eq!((plain.status, plain.sizes[0].gpu_ns, plain.sizes[0].model_ns), (Status::Equal, None, None));
}
