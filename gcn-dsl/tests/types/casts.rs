//! `as` between every pair of types: for all inputs of at most 16 bits, and for random and special ones of 32 and 64
//! bits.

use gcn_dsl::prelude::*;
use gcn_test_support::Random;

use super::{TARGETS, bf16_of, bits, f16_of, samples};

/// The conversion of a host type: Rust's `as`, which rounds once; conversions to the 16-bit floats also round once.
trait Host: Copy + std::fmt::Debug {
    /// Inputs: all values, if there are few.
    fn inputs(rng: &mut Random) -> Vec<Self>;
    fn to_ints(self) -> ([i64; 4], [u64; 4]);
    fn to_floats(self) -> (f32, f64);
    /// Converts to the 16-bit floats with one rounding.
    fn halves(self) -> (f16, bf16);
}

fn all_or_random<T>(count: usize, rng: &mut Random, make: impl Fn(u64) -> T, special: &[T]) -> Vec<T>
where
    T: Copy,
{
    if count > 0 {
        return (0..count as u64).map(make).collect();
    }
    let mut list: Vec<T> = (0..samples(4096)).map(|_| make(bits(rng))).collect();
    for (i, s) in special.iter().enumerate() {
        list[i * 7] = *s;
    }
    list
}

/// An f64 whose last bit is set if the integer has further bits, so that rounding it again is equivalent to one
/// rounding.
fn sticky(x: i128) -> f64 {
    let shift = (128 - x.unsigned_abs().leading_zeros()).saturating_sub(40);
    let lost = x.unsigned_abs() & ((1u128 << shift) - 1) != 0;
    let kept = (x.unsigned_abs() >> shift) | u128::from(lost);
    let value = kept as f64 * 2f64.powi(shift as i32);
    if x < 0 { -value } else { value }
}

macro_rules! host {
    (@common $t:ident) => {
        fn to_ints(self) -> ([i64; 4], [u64; 4]) {
            let signed = [i64::from(self as i8), i64::from(self as i16), i64::from(self as i32), self as i64];
            let unsigned = [u64::from(self as u8), u64::from(self as u16), u64::from(self as u32), self as u64];
            (signed, unsigned)
        }
        fn to_floats(self) -> (f32, f64) { (self as f32, self as f64) }
    };
    (int $($t:ident $count:expr;)*) => {$(
        impl Host for $t {
            fn inputs(rng: &mut Random) -> Vec<$t> { all_or_random($count, rng, |b| b as $t, &[$t::MIN, $t::MAX]) }
            host!(@common $t);
            fn halves(self) -> (f16, bf16) {
                let x = sticky(self as i128);
                (f16_of(x), bf16_of(x))
            }
        }
    )*};
    (half $($t:ident)*) => {$(
        impl Host for $t {
            fn inputs(_: &mut Random) -> Vec<$t> { (0..=u16::MAX).map($t::from_bits).collect() }
            fn to_ints(self) -> ([i64; 4], [u64; 4]) { self.to_f64().to_ints() }
            fn to_floats(self) -> (f32, f64) { (self.to_f32(), self.to_f64()) }
            fn halves(self) -> (f16, bf16) { (f16_of(self.to_f64()), bf16_of(self.to_f64())) }
        }
    )*};
}
host! { int i8 256; u8 256; i16 65536; u16 65536; i32 0; u32 0; i64 0; u64 0; }
host! { half f16 bf16 }

const EDGES: [f64; 22] = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    127.5,
    128.0,
    -128.9,
    -129.0,
    255.9,
    65535.9,
    2147483647.5,
    -2147483648.9,
    4294967295.5,
    9223372036854774784.0,
    9223372036854775808.0,
    -9223372036854775808.0,
    -9223372036854777856.0,
    18446744073709549568.0,
    18446744073709551616.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// Floats of any exponent; many are in the range of integers and of 16-bit floats, near their ties.
fn float(rng: &mut Random) -> f64 {
    let any = f64::from_bits(bits(rng));
    match rng.below(4) {
        0 => any,
        1 => {
            // A tie of f16 or bf16, or a number near one.
            let kept = if rng.one_in(2) { 42 } else { 45 };
            let tie = (any.to_bits() >> kept << kept) | 1 << (kept - 1);
            let exponent = (1023 - 30 + rng.below(60) as u64) << 52;
            f64::from_bits(
                (tie & !(0x7ff << 52) | exponent).wrapping_add(rng.below(3) as u64).wrapping_sub(1),
            )
        }
        _ => {
            let exponent = (1023 - 20 + rng.below(88) as u64) << 52;
            f64::from_bits(any.to_bits() & !(0x7ff << 52) | exponent)
        }
    }
}

impl Host for f32 {
    fn inputs(rng: &mut Random) -> Vec<f32> {
        let mut list: Vec<f32> = (0..samples(4096)).map(|_| float(rng) as f32).collect();
        EDGES.iter().enumerate().for_each(|(i, e)| list[i * 3] = *e as f32);
        list
    }
    host!(@common f32);
    fn halves(self) -> (f16, bf16) {
        (f16_of(f64::from(self)), bf16_of(f64::from(self)))
    }
}

impl Host for f64 {
    fn inputs(rng: &mut Random) -> Vec<f64> {
        let mut list: Vec<f64> = (0..samples(4096)).map(|_| float(rng)).collect();
        list[..EDGES.len()].copy_from_slice(&EDGES);
        list
    }
    host!(@common f64);
    fn halves(self) -> (f16, bf16) {
        (f16_of(self), bf16_of(self))
    }
}

macro_rules! kernels {
    ($($t:ident $v:ident $s:ident $test:ident;)*) => {$(
        gcn_kernel! {
            #[workgroup(64)]
            fn $v(
                x: &[$t], i8s: &mut [i8], i16s: &mut [i16], i32s: &mut [i32], i64s: &mut [i64], u8s: &mut [u8],
                u16s: &mut [u16], u32s: &mut [u32], u64s: &mut [u64], f16s: &mut [f16], bf16s: &mut [bf16],
                f32s: &mut [f32], f64s: &mut [f64],
            ) {
                let i = global_id().x;
                i8s[i] = x[i] as i8; i16s[i] = x[i] as i16; i32s[i] = x[i] as i32; i64s[i] = x[i] as i64;
                u8s[i] = x[i] as u8; u16s[i] = x[i] as u16; u32s[i] = x[i] as u32; u64s[i] = x[i] as u64;
                f16s[i] = x[i] as f16; bf16s[i] = x[i] as bf16; f32s[i] = x[i] as f32; f64s[i] = x[i] as f64;
            }

            #[workgroup(64)]
            fn $s(
                x: &[$t], i8s: &mut [i8], i16s: &mut [i16], i32s: &mut [i32], i64s: &mut [i64], u8s: &mut [u8],
                u16s: &mut [u16], u32s: &mut [u32], u64s: &mut [u64], f16s: &mut [f16], bf16s: &mut [bf16],
                f32s: &mut [f32], f64s: &mut [f64],
            ) {
                let i = workgroup_id().x;
                let x = x[i];
                i8s[i] = x as i8; i16s[i] = x as i16; i32s[i] = x as i32; i64s[i] = x as i64;
                u8s[i] = x as u8; u16s[i] = x as u16; u32s[i] = x as u32; u64s[i] = x as u64;
                f16s[i] = x as f16; bf16s[i] = x as bf16; f32s[i] = x as f32; f64s[i] = x as f64;
            }
        }

        #[test]
        fn $test() {
            let mut rng = Random::new(99);
            for target in TARGETS {
                for waves in [false, true] {
                    let mut x = <$t as Host>::inputs(&mut rng);
                    if waves { x = x.into_iter().step_by(61).take(128).collect(); }
                    x.resize(x.len().next_multiple_of(64), x[0]);
                    let n = x.len();
                    let (mut a, mut b, mut c, mut d) = (vec![0i8; n], vec![0i16; n], vec![0i32; n], vec![0i64; n]);
                    let (mut e, mut f, mut g, mut h) = (vec![0u8; n], vec![0u16; n], vec![0u32; n], vec![0u64; n]);
                    let (mut p, mut q, mut r, mut s) =
                        (vec![f16::ZERO; n], vec![bf16::ZERO; n], vec![0f32; n], vec![0f64; n]);
                    let args = (
                        &x[..], &mut a[..], &mut b[..], &mut c[..], &mut d[..], &mut e[..], &mut f[..], &mut g[..],
                        &mut h[..], &mut p[..], &mut q[..], &mut r[..], &mut s[..],
                    );
                    let device = Device::simulator(target);
                    if waves {
                        $s.launch(&device, Grid::x(n as u32), args).unwrap();
                    } else {
                        $v.launch(&device, Grid::x(n as u32 / 64), args).unwrap();
                    }
                    for i in 0..n {
                        let what = format!("{target} waves {waves} {:?}", x[i]);
                        let (signed, unsigned) = x[i].to_ints();
                        assert_eq!([a[i] as i64, b[i] as i64, c[i] as i64, d[i]], signed, "{what}");
                        assert_eq!([e[i] as u64, f[i] as u64, g[i] as u64, h[i]], unsigned, "{what}");
                        let (single, double) = x[i].to_floats();
                        assert!(r[i].to_bits() == single.to_bits() || r[i].is_nan() && single.is_nan(), "{what}: f32 {}", r[i]);
                        assert!(s[i].to_bits() == double.to_bits() || s[i].is_nan() && double.is_nan(), "{what}: f64 {}", s[i]);
                        let (half, brain) = x[i].halves();
                        assert!(p[i].to_bits() == half.to_bits() || p[i].is_nan() && half.is_nan(), "{what}: f16 {}, not {half}", p[i]);
                        assert!(q[i].to_bits() == brain.to_bits() || q[i].is_nan() && brain.is_nan(), "{what}: bf16 {}, not {brain}", q[i]);
                    }
                }
            }
        }
    )*};
}

kernels! {
    i8 v_i8 s_i8 from_i8; u8 v_u8 s_u8 from_u8; i16 v_i16 s_i16 from_i16; u16 v_u16 s_u16 from_u16;
    i32 v_i32 s_i32 from_i32; u32 v_u32 s_u32 from_u32; i64 v_i64 s_i64 from_i64; u64 v_u64 s_u64 from_u64;
    f16 v_f16 s_f16 from_f16; bf16 v_bf16 s_bf16 from_bf16; f32 v_f32 s_f32 from_f32; f64 v_f64 s_f64 from_f64;
}

gcn_kernel! {
    #[workgroup(64)]
    fn conditions(x: &[u32], a: &mut [i64], b: &mut [u8], c: &mut [f64], d: &mut [bf16]) {
        let i = global_id().x;
        let odd = x[i] % 2 == 1;
        a[i] = odd as i64;
        b[i] = odd as u8;
        let second = read_lane(x[i], 1) == 1;
        c[i] = select(odd, second as f64, 0.5);
        d[i] = odd as bf16 + second as bf16;
        a[i + 64] = splat(second as i64);
    }
}

#[test]
fn from_bool() {
    let x: Vec<u32> = (0..64).collect();
    for target in TARGETS {
        let (mut a, mut b, mut c, mut d) =
            (vec![0i64; 128], vec![0u8; 64], vec![0f64; 64], vec![bf16::ZERO; 64]);
        conditions
            .launch(&Device::simulator(target), Grid::x(1), (&x, &mut a, &mut b, &mut c, &mut d))
            .unwrap();
        for i in 0..64 {
            let odd = i % 2;
            assert_eq!((a[i], b[i], a[i + 64]), (odd as i64, odd as u8, 1));
            assert_eq!((c[i], d[i].to_f32()), (if odd == 1 { 1.0 } else { 0.5 }, (odd + 1) as f32));
        }
    }
}
