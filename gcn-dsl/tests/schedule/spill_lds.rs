//! Registers that are spilled to LDS: results, the descriptor, LDS that the kernel itself uses, occupancy.

use gcn_dsl::lang::RegisterLimits;
use gcn_dsl::prelude::*;
use gcn_dsl::{BuildOptions, BuiltKernel};

const TARGETS: [Target; 6] = Target::REPRESENTATIVES;

gcn_kernel! {
    /// Forty varying values that are live across an exchange through the kernel's own LDS, in a three-dimensional
    /// workgroup.
    #[workgroup(8, 4, 4)]
    #[max_registers(vgpr = 24, agpr = 0, lds_spill = 40960)]
    fn exchange(x: &[u32], y: &mut [u32]) {
        let tile = Lds::<u32, 128>::new();
        let t = local_id().x + local_id().y * 8 + local_id().z * 32;
        let i = workgroup_id().x * 128 + t;
        let n = x.len() / 40;
        let a = Private::<u32, 40>::new();
        #[unroll] for k in 0..40u32 {
            a[k] = x[i + k * n];
        }
        tile[t] = a[3];
        barrier();
        let other = tile[127 - t];
        #[unroll] for k in 0..40u32 {
            y[i + k * n] = a[k] * 3 + a[(k * 7 + 1) % 40] + other;
        }
    }

    /// An array of dynamic size after the spill slots; lanes with odd numbers change their values.
    #[workgroup(64)]
    #[max_registers(vgpr = 16, agpr = 0, lds_spill = 4096)]
    fn dynamic(n: u32, x: &[u32], y: &mut [u32]) {
        let fixed = Lds::<u32, 3>::new();
        let all = LdsSlice::<u32>::dynamic(n);
        let t = local_id().x;
        fixed[t % 3] = 5;
        all[t] = t * 7;
        let a = Private::<u32, 24>::new();
        #[unroll] for k in 0..24u32 {
            a[k] = x[t + k * 64];
        }
        if (t & 1) != 0 {
            #[unroll] for k in 0..24u32 {
                a[k] = a[k] ^ a[(k * 5 + 2) % 24];
            }
        }
        barrier();
        let other = all[63 - t] + fixed[1];
        #[unroll] for k in 0..24u32 {
            y[t + k * 64] = a[k] + other;
        }
    }
}

fn input(n: usize) -> Vec<u32> {
    (0..n as u32).map(|i| i.wrapping_mul(2_654_435_761) ^ (i >> 3)).collect()
}

fn expected(x: &[u32]) -> Vec<u32> {
    let n = x.len() / 40;
    let mut y = vec![0; x.len()];
    for i in 0..n {
        let other = x[i / 128 * 128 + 127 - i % 128 + 3 * n];
        for k in 0..40 {
            let sum = x[i + k * n].wrapping_mul(3).wrapping_add(x[i + (k * 7 + 1) % 40 * n]);
            y[i + k * n] = sum.wrapping_add(other);
        }
    }
    y
}

fn run_exchange(kernel: &BuiltKernel, target: Target) {
    let x = input(3 * 128 * 40);
    let mut y = vec![0; x.len()];
    Device::simulator(target).launch(&exchange, kernel, Grid::x(3), (&x, &mut y)).unwrap();
    assert!(y == expected(&x), "{target}");
}

#[test]
fn registers_go_to_lds_and_what_is_left_to_scratch() {
    for target in TARGETS {
        let kernel = exchange.build(target).unwrap();
        let (spills, spec) = (*kernel.spills(), kernel.spec());
        assert!(kernel.report().vgprs <= 24 && spills.lds_stores > 0 && spills.lds_loads > 0, "{spills:?}");
        // 512 bytes of the kernel's own LDS, and slots of 512 bytes.
        assert!(spec.lds_bytes > 512 && spec.lds_bytes <= 512 + 40960, "{}", spec.lds_bytes);
        assert_eq!(spec.lds_bytes % 512, 0);
        assert_eq!(spills.stores, 0, "{spills:?}");
        run_exchange(&kernel, target);
        // With space for two slots, which is not enough, and with none.
        for (lds_spill, bytes) in [(1024 + 100, 512 + 1024), (0, 512)] {
            let registers = RegisterLimits { lds_spill: Some(lds_spill), ..RegisterLimits::default() };
            let options = BuildOptions { registers, ..BuildOptions::default() };
            let kernel = exchange.build_with(target, &options).unwrap();
            assert!(kernel.spills().stores > 0, "{:?}", kernel.spills());
            assert_eq!((kernel.spec().lds_bytes, kernel.spills().lds_stores > 0), (bytes, lds_spill > 0));
            run_exchange(&kernel, target);
        }
    }
}

#[test]
fn lds_for_registers_leaves_the_occupancy_that_was_asked_for() {
    // Seven workgroups of two waves share 64 KiB, so that some SIMD has four waves.
    let registers = RegisterLimits {
        min_occupancy: Some(4),
        lds_spill: Some(60_000),
        vgprs: Some(16),
        ..RegisterLimits::default()
    };
    let options = BuildOptions { registers, ..BuildOptions::default() };
    let kernel = exchange.build_with(Target::GFX942, &options).unwrap();
    let report = kernel.report();
    assert!(report.lds > 4096 && report.lds <= 65536 / 7, "{report}");
    assert!(report.occupancy.waves_per_simd >= 4 && kernel.spills().stores > 0, "{report}");
    run_exchange(&kernel, Target::GFX942);
}

#[test]
fn arrays_of_dynamic_size_are_behind_spilled_registers() {
    let x = input(64 * 24);
    let mut expected = vec![0u32; x.len()];
    for t in 0..64 {
        let mut a: Vec<u32> = (0..24).map(|k| x[t + k * 64]).collect();
        if t % 2 == 1 {
            (0..24).for_each(|k| a[k] ^= a[(k * 5 + 2) % 24]);
        }
        let other = (63 - t as u32) * 7 + 5;
        (0..24).for_each(|k| expected[t + k * 64] = a[k].wrapping_add(other));
    }
    for target in TARGETS {
        let kernel = dynamic.build(target).unwrap();
        assert!(kernel.spills().lds_stores > 0, "{:?}", kernel.spills());
        assert_eq!(kernel.spec().lds_bytes, 12 + 4096 + 4, "to the next multiple of 16");
        let mut y = vec![0; x.len()];
        let grid = Grid::x(1).with_dynamic_lds(256);
        Device::simulator(target).launch(&dynamic, &kernel, grid, (64, &x, &mut y)).unwrap();
        assert!(y == expected, "{target}");
    }
}
