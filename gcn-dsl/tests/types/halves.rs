//! Both halves of products: if a kernel uses both, they are computed together.

use gcn_dsl::prelude::*;
use gcn_test_support::Random;

use super::{TARGETS, bits, instructions};

const N: usize = 64;

macro_rules! kernels {
    ($($name:ident $t:ident $wide:ident)*) => {$(
        gcn_kernel! {
            /// The lower half before the upper one and after it, with exchanged factors, and of a product in a branch.
            #[workgroup(64)]
            fn $name(x: &[$t], y: &[$t], low: &mut [$t], high: &mut [$t]) {
                let i = local_id().x;
                let (a, b, c) = (x[i], y[i], x[i] ^ 1);
                low[i] = a * b;
                high[i] = a.mul_hi(b);
                high[i + 64] = a.mul_hi(c);
                low[i + 64] = c * a;
                if i & 1 == 0 {
                    let square = c * c;
                    low[i + 128] = square + c.mul_hi(c);
                }
            }
        }
    )*};
}
kernels! { of_u32 u32 u64 of_i32 i32 i64 of_u64 u64 u128 of_i64 i64 i128 }

macro_rules! tests {
    ($($test:ident $name:ident $t:ident $wide:ident)*) => {$(
        #[test]
        fn $test() {
            let mut rng = Random::new(53);
            let edges = [0, 1, $t::MAX, $t::MIN, $t::MAX / 2];
            let mut values = || -> Vec<$t> {
                let any = (0..N).map(|_| bits(&mut rng) as $t);
                any.enumerate().map(|(i, v)| if i % 4 == 0 { edges[v as usize % 5] } else { v }).collect()
            };
            let (x, y) = (values(), values());
            for target in TARGETS {
                let (mut low, mut high) = ([0; 3 * N], [0; 2 * N]);
                let args = (&x[..], &y[..], &mut low[..], &mut high[..]);
                $name.launch(&Device::simulator(target), Grid::x(1), args).unwrap();
                for i in 0..N {
                    let halves = |a: $t, b: $t| {
                        let whole = a as $wide * b as $wide;
                        (whole as $t, (whole >> $t::BITS) as $t)
                    };
                    let (a, b, c) = (x[i], y[i], x[i] ^ 1);
                    assert_eq!((low[i], high[i]), halves(a, b), "{target}: {a} * {b}");
                    assert_eq!((low[i + N], high[i + N]), halves(a, c), "{target}: {a} * {c}");
                    let (square, above) = halves(c, c);
                    let both = if i % 2 == 0 { square.wrapping_add(above) } else { 0 };
                    assert_eq!(low[i + 2 * N], both, "{target}: {c} squared");
                }
            }
        }
    )*};
}
tests! {
    halves_of_u32 of_u32 u32 u64
    halves_of_i32 of_i32 i32 i64
    halves_of_u64 of_u64 u64 u128
    halves_of_i64 of_i64 i64 i128
}

#[test]
fn both_halves_are_one_product() {
    for target in TARGETS {
        let words = of_u32.build(target).unwrap().assembly(Comments::None);
        assert_eq!(
            (instructions(&words, "v_mad_u64_u32"), instructions(&words, "v_mul_")),
            (3, 0),
            "{words}"
        );
        let words = of_i32.build(target).unwrap().assembly(Comments::None);
        assert_eq!(
            (instructions(&words, "v_mad_i64_i32"), instructions(&words, "v_mul_")),
            (3, 0),
            "{words}"
        );
        // The four products of words of the schoolbook method, and no others.
        let long = of_u64.build(target).unwrap().assembly(Comments::None);
        assert_eq!((instructions(&long, "v_mad_u64_u32"), instructions(&long, "v_mul_")), (12, 0), "{long}");
    }
}
