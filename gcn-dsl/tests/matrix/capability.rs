//! Capabilities: device functions for the targets of their callers, and 8-bit floats as elements of matrices.

use gcn_dsl::lang::{HasMfmaF8, HasMfmaF64};
use gcn_dsl::prelude::*;
use gcn_test_support::Random;

type A = FragA<f8e4m3, 16, 32>;
type B = FragB<f8e5m2, 32, 16>;

gcn_kernel! {
    /// For kernels on any target that multiplies 8-bit floats.
    #[device]
    fn step<T: HasMfmaF8>(all: AllLanes<T>, a: A, b: B, acc: Acc<f32, 16, 16>) -> Acc<f32, 16, 16> {
        mfma(a, b, acc)
    }

    /// The bound implies that of the called function.
    #[device]
    fn two_steps<T: HasMfmaF8>(all: AllLanes<T>, a: [A; 2], b: [B; 2], acc: Acc<f32, 16, 16>) -> Acc<f32, 16, 16> {
        let acc = step(all, a[0], b[0], acc);
        step(all_lanes(), a[1], b[1], acc)
    }

    /// c = a * b, 16 x 64 by 64 x 16. `b` is stored column by column.
    #[workgroup(64)]
    #[targets(HasMfmaF8)]
    fn product(a: &[f8e4m3], b: &[f8e5m2], c: &mut [f32]) {
        let (a, b) = (row_major(a, 64), col_major(b, 64));
        let left = [A::load_from(a, 0, 0), A::load_from(a, 0, 32)];
        let right = [B::load_from(b, 0, 0), B::load_from(b, 32, 0)];
        two_steps(all_lanes(), left, right, Acc::zero()).store_to(row_major(c, 16), 0, 0);
    }

    /// c = a * b, 32 x 64 by 64 x 32, with the target's instruction for this product.
    #[workgroup(64)]
    #[targets(HasMfmaF8)]
    fn tiles(a: &[f8e4m3], b: &[f8e4m3], c: &mut [f32]) {
        let left = TileA::<f8e4m3, 32, 64, 32>::load(row_major(a, 64), 0, 0);
        let right = TileB::<f8e4m3, 64, 32, 32>::load(col_major(b, 64), 0, 0);
        matmul(left, right, Tile::<f32, 32, 32, 32>::zero()).store_to(row_major(c, 32), 0, 0);
    }

    /// A function that supports more targets than the kernel.
    #[device]
    fn square<T: HasMfmaF64>(
        all: AllLanes<T>, a: FragA<f64, 16, 4>, b: FragB<f64, 4, 16>,
    ) -> Acc<f64, 16, 16> {
        mfma(a, b, Acc::zero())
    }

    #[workgroup(64)]
    #[targets(HasMfmaF64)]
    fn doubles(a: &[f64], c: &mut [f64]) {
        let left = FragA::load_from(row_major(a, 4), 0, 0);
        let right = FragB::load_from(col_major(a, 4), 0, 0);
        square(all_lanes(), left, right).store_to(row_major(c, 16), 0, 0);
    }
}

fn numbers(seed: u64, n: usize) -> Vec<f32> {
    let mut rng = Random::new(seed);
    (0..n).map(|_| rng.below(9) as f32 - 4.0).collect()
}

/// The product. `a` is stored row by row, `b` column by column.
fn plain(m: usize, n: usize, k: usize, a: &[f32], b: &[f32]) -> Vec<f32> {
    (0..m * n).map(|i| (0..k).map(|l| a[i / n * k + l] * b[i % n * k + l]).sum()).collect()
}

#[test]
fn a_capability_names_its_targets() {
    let listed = |kernel: &dyn Fn() -> gcn_dsl::lang::Signature| {
        kernel().targets.representatives().collect::<Vec<_>>()
    };
    assert_eq!(listed(&|| product.signature()), [Target::GFX942, Target::GFX950]);
    assert_eq!(listed(&|| doubles.signature()), [Target::GFX90A, Target::GFX942, Target::GFX950]);
    let error = product.build(Target::GFX90A).unwrap_err().to_string();
    assert!(error.contains("gfx942, gfx950"), "{error}");
}

#[test]
fn device_functions_with_capabilities_multiply() {
    let (a, b) = (numbers(1, 16 * 64), numbers(2, 16 * 64));
    let want = plain(16, 16, 64, &a, &b);
    for target in [Target::GFX942, Target::GFX950] {
        let left: Vec<f8e4m3> = a.iter().map(|x| f8e4m3::from_f32(*x, target)).collect();
        let right: Vec<f8e5m2> = b.iter().map(|x| f8e5m2::from_f32(*x, target)).collect();
        let mut c = vec![0.0; 256];
        product.launch(&Device::simulator(target), Grid::x(1), (&left, &right, &mut c)).unwrap();
        assert_eq!(c, want, "{target}");
    }
    let a: Vec<f64> = a[..64].iter().map(|x| f64::from(*x)).collect();
    let small: Vec<f32> = a.iter().map(|x| *x as f32).collect();
    let want: Vec<f64> = plain(16, 16, 4, &small, &small).into_iter().map(f64::from).collect();
    for target in [Target::GFX90A, Target::GFX942, Target::GFX950] {
        let mut c = vec![0.0; 256];
        doubles.launch(&Device::simulator(target), Grid::x(1), (&a, &mut c)).unwrap();
        assert_eq!(c, want, "{target}");
    }
}

#[test]
fn tiles_of_8_bit_floats_multiply() {
    let (a, b) = (numbers(3, 32 * 64), numbers(4, 32 * 64));
    let want = plain(32, 32, 64, &a, &b);
    for target in [Target::GFX942, Target::GFX950] {
        let eight = |x: &[f32]| x.iter().map(|x| f8e4m3::from_f32(*x, target)).collect::<Vec<_>>();
        let mut c = vec![0.0; 1024];
        tiles.launch(&Device::simulator(target), Grid::x(1), (&eight(&a), &eight(&b), &mut c)).unwrap();
        assert_eq!(c, want, "{target}");
    }
}
