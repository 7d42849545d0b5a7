//! What a barrier waits for, and what a barrier function that waits for less leaves to the user.

use gcn_dsl::LaunchError;
use gcn_dsl::prelude::*;
use gcn_dsl::sim::{Mode, Options, Sanitize};

gcn_kernel! {
    /// Reads another wave's element, then overwrites its own.
    #[workgroup(256)]
    fn swapped(x: &mut [u32]) {
        let l = Lds::<u32, 256>::new();
        let i = local_id().x;
        l[i] = x[i];
        barrier();
        let v = l[255 - i];
        barrier();
        l[i] = i;
        barrier();
        x[i] = v * 1000 + l[i ^ 64];
    }

    /// The same, with a barrier that does not wait for the read, which is a race.
    #[workgroup(256)]
    fn swapped_early(x: &mut [u32]) {
        let l = Lds::<u32, 256>::new();
        let i = local_id().x;
        l[i] = x[i];
        barrier();
        let v = l[255 - i];
        barrier_with_reads_pending();
        l[i] = i;
        barrier();
        x[i] = v * 1000 + l[i ^ 64];
    }

    /// Two buffers, used alternately: a read of one buffer may still be pending at the barrier that publishes the
    /// other.
    #[workgroup(256)]
    fn turns(n: u32, x: &[u32], y: &mut [u32]) {
        let l = Lds::<u32, 768>::new();
        let i = local_id().x;
        let mut sum: V<u32> = 0;
        l[i] = x[i];
        barrier();
        for k in 1..n + 1 {
            let v = l[(k - 1) % 3 * 256 + 255 - i];
            l[k % 3 * 256 + i] = x[k * 256 + i];
            barrier_with_reads_pending();
            sum = sum * 3 + v;
        }
        y[i] = sum;
    }

    /// A value that is used before the barrier.
    #[workgroup(128)]
    fn used_before(x: &mut [u32]) {
        let l = Lds::<u32, 128>::new();
        let i = local_id().x;
        l[i] = x[i];
        barrier();
        let v = l[127 - i] * x[i];
        if any(v > 7) {
            x[i + 128] = v;
        }
        barrier();
        l[i] = i;
    }
}

/// The lines between each two barriers, without the barriers.
fn between_barriers(text: &str) -> Vec<Vec<&str>> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.split(|l| l.starts_with("s_barrier")).map(<[&str]>::to_vec).collect()
}

fn waits(lines: &[&str]) -> usize {
    lines.iter().filter(|l| l.starts_with("s_waitcnt") && l.contains("lgkmcnt")).count()
}

/// According to the memory model in the LLVM AMDGPU guide, a release at workgroup scope waits for lgkmcnt(0), including
/// reads; clang 22 does so for `__syncthreads`. On targets before gfx90a the barrier itself requires all counters to be
/// 0.
#[test]
fn a_barrier_waits_for_reads_of_lds() {
    for target in Target::REPRESENTATIVES {
        let kernel = swapped.build(target).unwrap();
        let text = kernel.assembly(Comments::None);
        let parts = between_barriers(&text);
        let read = parts[1].iter().position(|l| l.starts_with("ds_read_b32")).unwrap();
        assert_eq!(waits(&parts[1][read..]), 1, "{target}\n{text}");
        let early = swapped_early.build(target).unwrap().assembly(Comments::None);
        let parts = between_barriers(&early);
        let passes = target >= Target::GFX90A;
        assert_eq!(waits(&parts[1]), usize::from(!passes), "{target}\n{early}");
        let used = used_before.build(target).unwrap().assembly(Comments::None);
        let last = &between_barriers(&used)[1];
        let read = last.iter().position(|l| l.starts_with("ds_read_b32")).unwrap();
        assert_eq!(waits(&last[read..]), 1, "one wait for the value and the barrier: {target}\n{used}");
    }
}

fn options(mode: Mode, sanitize: Sanitize) -> Options {
    Options { mode, sanitize, ..Options::default() }
}

#[test]
fn the_simulator_finds_what_the_weaker_barrier_leaves_open() {
    let expected: Vec<u32> = (0..256).map(|i| (255 - i) * 3 * 1000 + (i ^ 64)).collect();
    let input: Vec<u32> = (0..256).map(|i| i * 3).collect();
    for target in Target::REPRESENTATIVES {
        let passes = target >= Target::GFX90A;
        for options in [
            options(Mode::Strict, Sanitize::empty()),
            options(Mode::Functional, Sanitize::RACES),
            options(Mode::Faithful, Sanitize::empty()),
        ] {
            let device = Device::simulator_with(target, options);
            let mut x = input.clone();
            swapped.launch(&device, Grid::x(1), (&mut x,)).unwrap();
            assert_eq!(x, expected, "{target} {options:?}");
            let mut x = input.clone();
            let early = swapped_early.launch(&device, Grid::x(1), (&mut x,));
            match (options.mode, passes) {
                (Mode::Faithful, true) => assert!(early.is_ok() && x != expected, "{target}"),
                (_, true) => {
                    let error = early.unwrap_err();
                    assert!(matches!(error, LaunchError::Simulation { .. }), "{error}");
                    let text = error.to_string();
                    assert!(text.contains("ds_read_b32") && text.contains("barrier.rs:"), "{text}");
                }
                (_, false) => assert!(early.is_ok() && x == expected, "{target}"),
            }
        }
    }
}

#[test]
fn reads_of_one_of_three_buffers_pass_the_barrier_of_another() {
    let n = 7u32;
    let x: Vec<u32> = (0..256 * (n + 1)).map(|i| i.wrapping_mul(2_654_435_761) >> 7).collect();
    let at = |k: u32, i: u32| x[(k * 256 + 255 - i) as usize];
    let expected: Vec<u32> =
        (0..256).map(|i| (0..n).fold(0u32, |sum, k| sum.wrapping_mul(3).wrapping_add(at(k, i)))).collect();
    for target in [Target::GFX908, Target::GFX90A, Target::GFX950] {
        for options in [
            options(Mode::Strict, Sanitize::empty()),
            options(Mode::Functional, Sanitize::RACES),
            options(Mode::Faithful, Sanitize::empty()),
        ] {
            let mut y = vec![0; 256];
            let device = Device::simulator_with(target, options);
            turns.launch(&device, Grid::x(1), (n, &x, &mut y)).unwrap();
            assert_eq!(y, expected, "{target} {options:?}");
        }
    }
}
