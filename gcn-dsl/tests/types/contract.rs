//! `#[contract]`: which operations are fused. The results must have the same bits as Rust's `mul_add`.

use gcn_dsl::prelude::*;
use gcn_test_support::Random;

use super::TARGETS;

const LANES: usize = 64;

macro_rules! kernels {
    ($($name:ident $plain:ident $t:ident)*) => {$(
        gcn_kernel! {
            #[contract]
            #[workgroup(64)]
            fn $name(a: &[$t], b: &[$t], c: &[$t], out: &mut [$t]) {
                let i = local_id().x;
                let (a, b, c) = (a[i], b[i], c[i]);
                out[i] = a * b + c;
                out[i + 64] = c + a * b;
                out[i + 128] = a * b - c;
                out[i + 192] = c - a * b;
                // Of two products, the left one is fused; a product that is used elsewhere too is also computed
                // separately.
                out[i + 256] = a * b - b * c;
                let product = a * c;
                out[i + 320] = product + b;
                out[i + 384] = product;
            }

            #[workgroup(64)]
            fn $plain(a: &[$t], b: &[$t], c: &[$t], out: &mut [$t]) {
                let i = local_id().x;
                out[i] = a[i] * b[i] + c[i];
            }
        }
    )*};
}
kernels! { singles plain_singles f32 doubles plain_doubles f64 halves plain_halves f16 }

macro_rules! check {
    ($kernel:ident $plain:ident $t:ident $of:expr, $fma:expr) => {
        let mut random = Random::new(31);
        let mut values = || -> Vec<$t> { (0..LANES).map(|_| $of(random.within(0, 1 << 20))).collect() };
        let (a, b, c) = (values(), values(), values());
        let zero = $of(0);
        for target in TARGETS {
            let (mut out, mut plain) = (vec![zero; 7 * LANES], vec![zero; LANES]);
            let device = Device::simulator(target);
            $kernel.launch(&device, Grid::x(1), (&a, &b, &c, &mut out)).unwrap();
            $plain.launch(&device, Grid::x(1), (&a, &b, &c, &mut plain)).unwrap();
            let mut fused = 0;
            for i in 0..LANES {
                let (a, b, c) = (a[i], b[i], c[i]);
                let wants = [
                    $fma(a, b, c),
                    $fma(a, b, c),
                    $fma(a, b, -c),
                    $fma(-a, b, c),
                    $fma(a, b, -(b * c)),
                    $fma(a, c, b),
                    a * c,
                ];
                for (at, want) in wants.into_iter().enumerate() {
                    assert_eq!(out[i + 64 * at].to_bits(), want.to_bits(), "{target}, case {at}, lane {i}");
                }
                assert_eq!(plain[i].to_bits(), (a * b + c).to_bits(), "{target}, lane {i}");
                fused += u32::from(plain[i].to_bits() != out[i].to_bits());
            }
            assert!(fused > 0, "{target}: no result shows the difference");
        }
    };
}

#[test]
fn sums_are_fused_with_products() {
    check!(singles plain_singles f32 |n| n as f32 / 524_288.0 - 1.0, f32::mul_add);
    check!(doubles plain_doubles f64 |n| n as f64 / 3.0e5 - 1.7, f64::mul_add);
    // The product of two f16 is exact in f64, and so is its sum with a third f16.
    let fma = |a: f16, b: f16, c: f16| f16::from_f64(a.to_f64() * b.to_f64() + c.to_f64());
    check!(halves plain_halves f16 |n| f16::from_f32(n as f32 / 524_288.0 - 1.0), fma);
}
