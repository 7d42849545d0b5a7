//! Simulators: the times of events, and faults.

use std::time::Duration;

use gcn_dsl::prelude::*;
use gcn_dsl::sim::timed::{self, Config};
use gcn_dsl::sim::{KernelState, Machine, Memory};
use gcn_dsl::{LaunchError, Stream};

gcn_kernel! {
    #[workgroup(64)]
    fn spin(n: u32, x: &mut [f32]) {
        let i = global_id().x;
        let mut sum = x[i];
        for _ in 0..n {
            sum = sum * 0.5 + 1.0;
        }
        x[i] = sum;
    }
}

/// The cycles of a launch, as counted by the simulator's timed mode.
fn cycles(n: u32) -> u64 {
    let built = spin.build(Target::GFX942).unwrap();
    let state = KernelState::from_descriptor(&built.descriptor(), Target::GFX942).unwrap();
    let machine = Machine::new(Target::GFX942, built.code(), state).unwrap();
    let mut memory = Memory::new();
    let address = memory.alloc(256);
    let kernarg = spin.kernarg((n, &mut [0.0; 64]), &[address]).unwrap();
    let config = Config::default();
    timed::run(&machine, &mut memory, [1, 1, 1], [64, 1, 1], &kernarg, &config).unwrap().cycles
}

#[test]
fn times_are_the_cycles_of_the_kernels_between() {
    const MHZ: u32 = 1000;
    let device = Device::timed_simulator(Target::GFX942, MHZ);
    let spinning = device.load(&spin.build(Target::GFX942).unwrap()).unwrap();
    let mut buffers: Vec<_> = (0..3).map(|_| device.zeroed(64).unwrap()).collect();
    let [x, y, z] = buffers.as_mut_slice() else { unreachable!() };
    let launch = |stream: &Stream, n, x: &mut DeviceBuffer<f32>| {
        stream.launch(&spinning, Grid::x(1), (n, x)).unwrap();
    };
    let [one, two] = [device.stream().unwrap(), device.stream().unwrap()];
    let start = one.record().unwrap();
    launch(&one, 10, x);
    launch(&one, 100, x);
    let end = one.record().unwrap();
    let time = |cycles: u64| Duration::from_nanos(cycles);
    let sum = time(cycles(10) + cycles(100));
    assert_eq!(end.elapsed_since(&start).unwrap(), sum);
    assert!(matches!(start.elapsed_since(&end), Err(LaunchError::EventOrder)));

    // Another stream runs concurrently, until it waits.
    launch(&two, 10, y);
    let beside = two.record().unwrap();
    assert_eq!(beside.elapsed_since(&start).unwrap(), time(cycles(10)));
    two.wait(&end).unwrap();
    launch(&two, 10, z);
    assert_eq!(two.record().unwrap().elapsed_since(&end).unwrap(), time(cycles(10)));
    // It also waits for a buffer that the other stream writes.
    launch(&one, 100, y);
    launch(&two, 10, y);
    assert_eq!(two.record().unwrap().elapsed_since(&one.record().unwrap()).unwrap(), time(cycles(10)));
    assert!(cycles(100) > cycles(10));
}

#[test]
fn faults_of_kernels_are_errors() {
    super::devices().iter().for_each(super::streams::misuse::faults_are_reported);
}

#[test]
fn a_simulator_without_a_clock_says_so() {
    let stream = Device::simulator(Target::GFX942).stream().unwrap();
    let error = stream.record().unwrap().elapsed_since(&stream.record().unwrap()).unwrap_err();
    assert!(error.to_string().contains("`Device::timed_simulator`"), "{error}");
}

/// Addresses that the caller obtained by its own means.
#[test]
fn addresses_of_slices_are_multiples_of_4() {
    let error = spin.kernarg((1, &mut [0.0; 64]), &[0x1002]).unwrap_err().to_string();
    assert_eq!(
        error,
        "kernel `spin`, argument `x`: the slice begins 2 bytes after a multiple of 4; its address must be a multiple of 4"
    );
}
