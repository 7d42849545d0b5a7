//! Sums with products of words: each product is added by the instruction that multiplies.

use gcn_dsl::prelude::*;
use gcn_test_support::Random;

use super::{TARGETS, bits, instructions};

const N: usize = 64;

gcn_kernel! {
    /// A sum of two products, of three, and of one product and a constant; differences.
    #[workgroup(64)]
    fn of_products(a: &[u32], b: &[u32], c: &[u32], y: &mut [u32]) {
        let i = local_id().x;
        let (a, b, c) = (a[i], b[i], c[i]);
        y[i] = a * b + b * c;
        y[i + 64] = a * b * c + (a ^ c) * b + (b ^ c) * a;
        y[i + 128] = (a ^ b) * c + 5;
        y[i + 192] = a - c * 15137;
        y[i + 256] = b * 7 - c;
    }

    /// An addend that two sums share, in a branch that not all lanes take.
    #[workgroup(64)]
    fn shared(a: &[i32], b: &[i32], c: &[i32], y: &mut [i32]) {
        let i = local_id().x;
        let (a, b, c) = (a[i], b[i], c[i]);
        let sum = a.max(c);
        let mut found = 7;
        if a < b {
            found = sum + b * c;
        }
        y[i] = found;
        y[i + 64] = a * b + sum;
    }

    /// The sum is carried through a loop that some lanes leave earlier.
    #[workgroup(64)]
    fn carried(n: u32, a: &[u32], b: &[u32], y: &mut [u32]) {
        let i = local_id().x;
        let mut sum = a[i];
        for k in 0..n {
            if sum & 7 == 3 {
                break;
            }
            sum = a[k] * b[i] + sum;
        }
        y[i] = sum;
    }

    /// The product has another reader, or one more addend makes its own instruction unnecessary.
    #[workgroup(64)]
    fn apart(a: &[u32], b: &[u32], c: &[u32], y: &mut [u32]) {
        let i = local_id().x;
        let (a, b, c) = (a[i], b[i], c[i]);
        let product = a * b;
        y[i] = product ^ (product + c);
        y[i + 64] = b * c + a + a.max(b);
    }
}

fn values(seed: u64) -> Vec<u32> {
    let mut rng = Random::new(seed);
    (0..N)
        .map(|i| if i % 5 == 0 { [0, 1, u32::MAX, 1 << 31][i % 4] } else { bits(&mut rng) as u32 })
        .collect()
}

#[test]
fn sums_of_products_are_those_of_the_host() {
    let [a, b, c] = [1, 2, 3].map(values);
    let signed = |v: &[u32]| v.iter().map(|v| v.cast_signed()).collect::<Vec<_>>();
    let of = |i: usize| (a[i], b[i], c[i]);
    for target in TARGETS {
        let device = Device::simulator(target);
        let mut y = [0; 5 * N];
        of_products.launch(&device, Grid::x(1), (&a, &b, &c, &mut y[..])).unwrap();
        for i in 0..N {
            let (a, b, c) = of(i);
            let mul = u32::wrapping_mul;
            assert_eq!(y[i], mul(a, b).wrapping_add(mul(b, c)), "{target}");
            let three = mul(mul(a, b), c).wrapping_add(mul(a ^ c, b)).wrapping_add(mul(b ^ c, a));
            assert_eq!(y[i + N], three, "{target}");
            assert_eq!(y[i + 2 * N], mul(a ^ b, c).wrapping_add(5), "{target}");
            assert_eq!(y[i + 3 * N], a.wrapping_sub(mul(c, 15137)), "{target}");
            assert_eq!(y[i + 4 * N], mul(b, 7).wrapping_sub(c), "{target}");
        }

        let mut y = [0; 2 * N];
        shared.launch(&device, Grid::x(1), (&signed(&a), &signed(&b), &signed(&c), &mut y[..])).unwrap();
        for i in 0..N {
            let (a, b, c) = of(i);
            let [a, b, c] = [a, b, c].map(u32::cast_signed);
            let found = if a < b { a.max(c).wrapping_add(b.wrapping_mul(c)) } else { 7 };
            assert_eq!((y[i], y[i + N]), (found, a.wrapping_mul(b).wrapping_add(a.max(c))), "{target}");
        }

        for n in [0, 1, 50] {
            let mut y = [0; N];
            carried.launch(&device, Grid::x(1), (n, &a, &b, &mut y[..])).unwrap();
            for i in 0..N {
                let step = |sum: u32, k: usize| match sum & 7 {
                    3 => sum,
                    _ => a[k].wrapping_mul(b[i]).wrapping_add(sum),
                };
                assert_eq!(y[i], (0..n as usize).fold(a[i], step), "{target}, {n} times");
            }
        }

        let mut y = [0; 2 * N];
        apart.launch(&device, Grid::x(1), (&a, &b, &c, &mut y[..])).unwrap();
        for i in 0..N {
            let (a, b, c) = of(i);
            let product = a.wrapping_mul(b);
            let sum = b.wrapping_mul(c).wrapping_add(a).wrapping_add(a.max(b));
            assert_eq!((y[i], y[i + N]), (product ^ product.wrapping_add(c), sum), "{target}");
        }
    }
}

#[test]
fn products_are_added_by_the_multiplication() {
    for target in TARGETS {
        let counted = |text: &str| ["v_mad_", "v_mul_lo", "v_add"].map(|name| instructions(text, name));
        // Left are `a * b`, which two sums share, the first product of the longest sum, and `b * 7`.
        assert_eq!(
            counted(&of_products.build(target).unwrap().assembly(Comments::None)),
            [5, 3, 0],
            "{target}"
        );
        assert_eq!(counted(&shared.build(target).unwrap().assembly(Comments::None)), [2, 0, 0], "{target}");
        assert_eq!(counted(&apart.build(target).unwrap().assembly(Comments::None))[0], 0, "{target}");
    }
}
