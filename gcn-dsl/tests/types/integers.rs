//! Integers: every operator and method of every type, varying and uniform, compared with Rust's.

use gcn_dsl::lang::Integer;
use gcn_dsl::prelude::*;
use gcn_test_support::Random;

use super::{TARGETS, bits, samples};

/// Results of the type itself, of its unsigned counterpart, and counts.
type Results<T, U, N> = (Vec<T>, Vec<U>, Vec<N>);

macro_rules! on {
    ($handle:ident $name:ident) => {
        fn $name<T: Integer>(
            x: $handle<T>,
            y: $handle<T>,
            d: $handle<T>,
            n: $handle<u32>,
        ) -> Results<$handle<T>, $handle<T::Unsigned>, $handle<u32>> {
            let (sum, sum_over) = x.overflowing_add(y);
            let (difference, difference_over) = x.overflowing_sub(y);
            let (product, product_over) = x.overflowing_mul(y);
            let own = vec![
                x + y,
                x - y,
                x * y,
                x / d,
                x % d,
                x & y,
                x | y,
                x ^ y,
                !x,
                x << n,
                x >> n,
                x.min(y),
                x.max(y),
                x.clamp(y.min(d), y.max(d)),
                x.wrapping_neg(),
                x.reverse_bits(),
                x.swap_bytes(),
                x.rotate_left(n),
                x.rotate_right(n),
                x.mul_hi(y),
                sum,
                difference,
                product,
                x.saturating_add(y),
                x.saturating_sub(y),
                x.saturating_mul(y),
                x.pow(0),
                x.pow(1),
                x.pow(5),
            ];
            let bit = |c: $handle<bool>| gcn_dsl::lang::cast::<u32, _>(c);
            let counts = vec![
                x.count_ones(),
                x.count_zeros(),
                x.leading_zeros(),
                x.trailing_zeros(),
                bit(sum_over),
                bit(difference_over),
                bit(product_over),
                bit(x.is_power_of_two()),
                bit(gcn_dsl::lang::lt(x, y)),
                bit(gcn_dsl::lang::ge(x, y)),
                bit(gcn_dsl::lang::eq(x, y)),
            ];
            (own, vec![x.abs_diff(y)], counts)
        }
    };
}
on!(V varying);
on!(S uniform);

macro_rules! kernels {
    ($($t:ident $u:ident $v:ident $s:ident $test:ident $mul_hi:expr;)*) => {$(
        gcn_kernel! {
            #[workgroup(64)]
            fn $v(x: &[$t], y: &[$t], d: &[$t], shift: &[u32], own: &mut [$t], unsigned: &mut [$u], counts: &mut [u32]) {
                let i = global_id().x;
                let n = x.len();
                let (a, b, by, places) = (x[i], y[i], d[i], shift[i]);
                let (p, q, r) = comptime { varying(a, b, by, places) };
                #[unroll] for k in 0..p.len() { own[i + k as u32 * n] = p[k]; }
                #[unroll] for k in 0..q.len() { unsigned[i + k as u32 * n] = q[k]; }
                #[unroll] for k in 0..r.len() { counts[i + k as u32 * n] = r[k]; }
            }

            /// The same with uniform values, one wave for each element.
            #[workgroup(64)]
            fn $s(x: &[$t], y: &[$t], d: &[$t], shift: &[u32], own: &mut [$t], unsigned: &mut [$u], counts: &mut [u32]) {
                let i = workgroup_id().x;
                let n = x.len();
                let (a, b) = (x[i], y[i]);
                let (by, places) = (d[i], shift[i]);
                let (p, q, r) = comptime { uniform(a, b, by, places) };
                #[unroll] for k in 0..p.len() { own[i + k as u32 * n] = p[k]; }
                #[unroll] for k in 0..q.len() { unsigned[i + k as u32 * n] = q[k]; }
                #[unroll] for k in 0..r.len() { counts[i + k as u32 * n] = r[k]; }
            }
        }

        #[test]
        fn $test() {
            let mul_hi: fn($t, $t) -> $t = $mul_hi;
            let mut rng = Random::new(stringify!($test).len() as u64);
            for target in TARGETS {
                for waves in [false, true] {
                    let n = if waves { 64 } else { samples(512) };
                    let mut sample = || -> Vec<$t> { (0..n).map(|_| bits(&mut rng) as $t).collect() };
                    let (x, mut y, mut d) = (sample(), sample(), sample());
                    let shift: Vec<u32> = sample().iter().map(|s| *s as u32 & 255).collect();
                    for i in 0..n {
                        d[i] = if d[i] == 0 { 3 } else { d[i] };
                        if i % 5 == 0 { y[i] = x[i].wrapping_add(i as $t % 3).wrapping_sub(1); }
                    }
                    let (mut own, mut unsigned, mut counts) = (vec![0; n * 29], vec![0; n], vec![0; n * 11]);
                    let device = Device::simulator(target);
                    let args = (&x[..], &y[..], &d[..], &shift[..], &mut own[..], &mut unsigned[..], &mut counts[..]);
                    if waves {
                        $s.launch(&device, Grid::x(n as u32), args).unwrap();
                    } else {
                        $v.launch(&device, Grid::x(n as u32 / 64), args).unwrap();
                    }
                    for i in 0..n {
                        let (x, y, d, s) = (x[i], y[i], d[i], shift[i]);
                        let (sum, difference, product) = (x.overflowing_add(y), x.overflowing_sub(y), x.overflowing_mul(y));
                        let wanted = [
                            x.wrapping_add(y), x.wrapping_sub(y), x.wrapping_mul(y), x.wrapping_div(d), x.wrapping_rem(d),
                            x & y, x | y, x ^ y, !x, x.wrapping_shl(s), x.wrapping_shr(s), x.min(y), x.max(y),
                            x.clamp(y.min(d), y.max(d)), x.wrapping_neg(), x.reverse_bits(), x.swap_bytes(),
                            x.rotate_left(s), x.rotate_right(s), mul_hi(x, y), sum.0, difference.0, product.0,
                            x.saturating_add(y), x.saturating_sub(y), x.saturating_mul(y), 1, x, x.wrapping_pow(5),
                        ];
                        let what = format!("{target} waves {waves} {x} {y} {d} {s}");
                        for (k, wanted) in wanted.iter().enumerate() {
                            assert_eq!(own[k * n + i], *wanted, "{what}: result {k}");
                        }
                        assert_eq!(unsigned[i], x.abs_diff(y) as $u, "{what}: distance");
                        let wanted = [
                            x.count_ones(), x.count_zeros(), x.leading_zeros(), x.trailing_zeros(), u32::from(sum.1),
                            u32::from(difference.1), u32::from(product.1), u32::from(x.count_ones() == 1),
                            u32::from(x < y), u32::from(x >= y), u32::from(x == y),
                        ];
                        for (k, wanted) in wanted.iter().enumerate() {
                            assert_eq!(counts[k * n + i], *wanted, "{what}: count {k}");
                        }
                    }
                }
            }
        }
    )*};
}

kernels! {
    i8 u8 v_i8 s_i8 i8_is_rusts |a, b| ((i16::from(a) * i16::from(b)) >> 8) as i8;
    u8 u8 v_u8 s_u8 u8_is_rusts |a, b| ((u16::from(a) * u16::from(b)) >> 8) as u8;
    i16 u16 v_i16 s_i16 i16_is_rusts |a, b| ((i32::from(a) * i32::from(b)) >> 16) as i16;
    u16 u16 v_u16 s_u16 u16_is_rusts |a, b| ((u32::from(a) * u32::from(b)) >> 16) as u16;
    i32 u32 v_i32 s_i32 i32_is_rusts |a, b| ((i64::from(a) * i64::from(b)) >> 32) as i32;
    u32 u32 v_u32 s_u32 u32_is_rusts |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32;
    i64 u64 v_i64 s_i64 i64_is_rusts |a, b| ((i128::from(a) * i128::from(b)) >> 64) as i64;
    u64 u64 v_u64 s_u64 u64_is_rusts |a, b| ((u128::from(a) * u128::from(b)) >> 64) as u64;
}

gcn_kernel! {
    #[workgroup(64)]
    fn by_constants(x: &[u64], out: &mut [u64]) {
        let i = global_id().x;
        let n = x.len();
        out[i] = x[i] / 64u64;
        out[i + n] = x[i] % 4096u64;
        out[i + 2 * n] = x[i] / 10u64;
        out[i + 3 * n] = 1_000_000_007u64 % (x[i] | 1);
    }
}

#[test]
fn u64_divides_by_constants() {
    let mut rng = Random::new(12);
    let x: Vec<u64> = (0..256).map(|_| bits(&mut rng)).collect();
    let mut out = vec![0u64; 1024];
    by_constants.launch(&Device::simulator(Target::GFX90A), Grid::x(4), (&x, &mut out)).unwrap();
    for (i, x) in x.iter().enumerate() {
        let got = [out[i], out[i + 256], out[i + 512], out[i + 768]];
        assert_eq!(got, [x / 64, x % 4096, x / 10, 1_000_000_007 % (x | 1)], "{x}");
    }
}
