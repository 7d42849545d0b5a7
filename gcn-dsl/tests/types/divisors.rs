//! Division by constants, which is a multiplication: quotients and remainders must equal Rust's, for extreme and random
//! dividends.

use gcn_dsl::prelude::*;
use gcn_test_support::Random;

/// Divisors of a type: small ones, powers of two and their neighbours, those whose multiplier has 33 bits (7, 641 …),
/// the largest.
macro_rules! divisors {
    ($($name:ident $ty:ident [$($d:expr),* $(,)?];)*) => {$(
        mod $name {
            use super::*;

            const COUNT: usize = [$(stringify!($d)),*].len();
            const DIVISORS: [$ty; COUNT] = [$($d),*];

            gcn_kernel! {
                #[workgroup(64)]
                fn divide(x: &[$ty], quotients: &mut [$ty], remainders: &mut [$ty], uniform: &mut [$ty]) {
                    let i = global_id().x;
                    let group = workgroup_id().x;
                    let one = x.uniform(group * 64);
                    #[unroll] for k in 0..COUNT as u32 {
                        let at = k * 1024 + i;
                        quotients[at] = x[i] / DIVISORS[k as usize];
                        remainders[at] = x[i] % DIVISORS[k as usize];
                        uniform[at] = one / DIVISORS[k as usize] - one % DIVISORS[k as usize];
                    }
                }
            }

            #[test]
            fn are_as_in_rust() {
                let mut x: Vec<$ty> = vec![0, 1, 2, $ty::MAX, $ty::MAX - 1, $ty::MIN, $ty::MIN + 1];
                for d in &DIVISORS {
                    // Numbers near which the quotient changes.
                    for k in [1, 2, $ty::MAX.wrapping_div(*d)] {
                        let multiple = k.wrapping_mul(*d);
                        x.extend([multiple, multiple.wrapping_sub(1), multiple.wrapping_add(1)]);
                    }
                }
                let mut random = Random::new(1);
                x.resize_with(1024, || random.next_u64() as $ty);
                for target in Target::REPRESENTATIVES {
                    let built = divide.build(target).unwrap();
                    let text = built.assembly(Comments::None);
                    assert!(!text.contains("v_rcp"), "a division was left:\n{text}");
                    let [mut quotients, mut remainders, mut uniform] = [(); 3].map(|()| vec![0; 1024 * COUNT]);
                    let args = (&x[..], &mut quotients[..], &mut remainders[..], &mut uniform[..]);
                    Device::simulator(target).launch(&divide, &built, Grid::x(16), args).unwrap();
                    for (k, d) in DIVISORS.iter().enumerate() {
                        for (i, &n) in x.iter().enumerate() {
                            let (at, one) = (k * 1024 + i, x[i / 64 * 64]);
                            let expected = [
                                n.wrapping_div(*d),
                                n.wrapping_rem(*d),
                                one.wrapping_div(*d).wrapping_sub(one.wrapping_rem(*d)),
                            ];
                            assert_eq!([quotients[at], remainders[at], uniform[at]], expected, "{target}: {n} by {d}");
                        }
                    }
                }
            }
        }
    )*};
}
divisors! {
    unsigned u32 [
        1, 2, 3, 5, 6, 7, 9, 10, 11, 12, 14, 25, 28, 60, 64, 100, 125, 625, 641, 1000, 65_535, 65_536, 65_537, 6_700_417,
        0x7fff_fffe, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, 0xaaaa_aaab, 0xffff_fffe, 0xffff_ffff,
    ];
    signed i32 [
        1, 2, 3, 5, 6, 7, 9, 10, 12, 25, 60, 64, 125, 641, 1000, 65_537, 0x4000_0000, 0x4000_0001, i32::MAX - 1, i32::MAX,
        -1, -2, -3, -5, -7, -10, -64, -1000, -0x4000_0001, -i32::MAX, i32::MIN,
    ];
    long u64 [
        1, 2, 3, 5, 6, 7, 10, 14, 28, 64, 100, 641, 1000, 65_537, 1_000_000_007, 0xffff_ffff, 1 << 32, (1 << 32) + 1,
        0xffff_ffff_0000_0001, 0x7fff_ffff_ffff_ffff, 1 << 63, (1 << 63) + 1, 0xaaaa_aaaa_aaaa_aaab, u64::MAX - 1, u64::MAX,
    ];
    signed_long i64 [
        1, 2, 3, 7, 10, 64, 1000, 65_537, 1 << 32, (1 << 32) + 1, 1 << 62, (1 << 62) + 1, i64::MAX - 1, i64::MAX,
        -1, -2, -3, -7, -10, -64, -1000, -(1 << 33) - 1, -i64::MAX, i64::MIN,
    ];
    bytes u8 [1, 2, 3, 7, 10, 16, 127, 128, 129, 254, 255];
    signed_bytes i8 [1, 2, 3, 7, 10, 16, 127, -1, -2, -3, -127, i8::MIN];
    shorts i16 [1, 2, 3, 7, 10, 1000, i16::MAX, -1, -3, -1000, i16::MIN];
}
