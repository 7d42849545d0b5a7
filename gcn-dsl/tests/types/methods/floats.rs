//! Floats: Euclidean division, neighbours, classes of numbers, bits, means, angles.

use std::sync::OnceLock;

use gcn_dsl::prelude::*;
use gcn_test_support::Random;

use crate::{TARGETS, bf16_of, bits, f16_of, samples};

/// Methods that the crate `half` lacks, computed in f64, which represents its types exactly.
trait Rusts: Copy {
    fn rem_euclid(self, d: Self) -> Self;
    fn div_euclid(self, d: Self) -> Self;
    fn midpoint(self, y: Self) -> Self;
    fn to_degrees(self) -> Self;
    fn to_radians(self) -> Self;
    fn next_up(self) -> Self;
    fn next_down(self) -> Self;
    fn is_subnormal(self) -> bool;
}

macro_rules! half_types {
    ($($t:ident $of:ident;)*) => {$(
        impl Rusts for $t {
            fn rem_euclid(self, d: Self) -> Self {
                let rest = $of(self.to_f64() % d.to_f64());
                if rest.to_f64() < 0.0 { $of(rest.to_f64() + d.to_f64().abs()) } else { rest }
            }
            fn div_euclid(self, d: Self) -> Self {
                let whole = $of($of(self.to_f64() / d.to_f64()).to_f64().trunc()).to_f64();
                let towards = if d.to_f64() > 0.0 { -1.0 } else { 1.0 };
                $of(if self.to_f64() % d.to_f64() < 0.0 { whole + towards } else { whole })
            }
            fn midpoint(self, y: Self) -> Self {
                $of((self.to_f64() + y.to_f64()) / 2.0)
            }
            fn to_degrees(self) -> Self {
                $of(self.to_f64() * $of(180.0 / std::f64::consts::PI).to_f64())
            }
            fn to_radians(self) -> Self {
                $of(self.to_f64() * $of(std::f64::consts::PI / 180.0).to_f64())
            }
            fn next_up(self) -> Self {
                static SORTED: OnceLock<Vec<f64>> = OnceLock::new();
                if self.is_nan() { return self }
                let sorted = SORTED.get_or_init(|| {
                    let mut all: Vec<f64> = (0..=u16::MAX).map(|b| $t::from_bits(b).to_f64()).filter(|x| !x.is_nan()).collect();
                    all.sort_by(f64::total_cmp);
                    all
                });
                // The least of all greater numbers; of the two zeros, the one with this number's sign.
                let above = sorted.partition_point(|x| *x <= self.to_f64());
                let least = sorted.get(above).copied().unwrap_or(f64::INFINITY);
                $of(if least == 0.0 { least.copysign(self.to_f64()) } else { least })
            }
            fn next_down(self) -> Self {
                -(-self).next_up()
            }
            fn is_subnormal(self) -> bool {
                !self.is_normal() && self.is_finite() && self.to_f64() != 0.0
            }
        }
    )*};
}
half_types! { f16 f16_of; bf16 bf16_of; }

macro_rules! results {
    ($x:ident $y:ident; $($t:ident $b:ident $v:ident $w:ident $test:ident |$n:ident| $of:expr,)* ; $e:tt $c:tt) => {
        $(results! { @one $x $y $t $b $v $w $test |$n| $of, $e $c })*
    };
    (@one $x:ident $y:ident $t:ident $b:ident $v:ident $w:ident $test:ident |$n:ident| $of:expr, [$($e:expr,)*] [$($c:expr,)*]) => {
        gcn_kernel! {
            #[workgroup(64)]
            fn $v(a: &[$t], b: &[$t], out: &mut [$b], conditions: &mut [u32]) {
                let i = global_id().x;
                let ($x, $y) = (a[i], b[i]);
                let results = [$($e.to_bits()),*, V::<$t>::from_bits($x.to_bits()).to_bits()];
                #[unroll] for k in 0..results.len() { out[i + k as u32 * a.len()] = results[k]; }
                let results = [$($c as u32),*];
                #[unroll] for k in 0..results.len() { conditions[i + k as u32 * a.len()] = results[k]; }
            }

            #[workgroup(64)]
            fn $w(a: &[$t], b: &[$t], out: &mut [$b], conditions: &mut [u32]) {
                let i = workgroup_id().x;
                let $x = a[i];
                let $y = b[i];
                let results = [$($e.to_bits()),*, S::<$t>::from_bits($x.to_bits()).to_bits()];
                #[unroll] for k in 0..results.len() { out[i + k as u32 * a.len()] = results[k]; }
                let results = [$($c as u32),*];
                #[unroll] for k in 0..results.len() { conditions[i + k as u32 * a.len()] = results[k]; }
            }
        }

        #[test]
        fn $test() {
            let (names, conditions) = ([$(stringify!($e)),*, "from_bits"], [$(stringify!($c)),*]);
            let of = |$n: f64| -> $t { $of };
            let ends = [$t::MAX, $t::MIN, $t::MIN_POSITIVE, -$t::MIN_POSITIVE, $t::from_bits(1), $t::NAN, $t::INFINITY];
            let usual = [0.0, -0.0, 1.0, -1.0, 0.5, 3.0, -3.0, 360.0, f64::NEG_INFINITY].map(of);
            let special: Vec<$t> = ends.into_iter().chain(usual).collect();
            let mut rng = Random::new(stringify!($test).len() as u64 + 3);
            for target in TARGETS {
                for uniform in [false, true] {
                    let count = if uniform { 64 } else { samples(256) + 256 };
                    let mut any = || $t::from_bits(bits(&mut rng) as $b);
                    let mut pairs: Vec<($t, $t)> = (0..count).map(|_| (any(), any())).collect();
                    for i in 0..count {
                        if uniform { break }
                        match i {
                            0..256 => pairs[i] = (special[i / 16], special[i % 16]),
                            _ if i % 2 == 0 => pairs[i].0 = of(f64::from(pairs[i].1) * (i as f64 - 300.0) / 4.0),
                            _ => {}
                        }
                    }
                    let (a, b): (Vec<$t>, Vec<$t>) = pairs.into_iter().unzip();
                    let mut out = vec![0; count * names.len()];
                    let mut held = vec![0; count * conditions.len()];
                    let (device, args) = (Device::simulator(target), (&a[..], &b[..], &mut out[..], &mut held[..]));
                    if uniform {
                        $w.launch(&device, Grid::x(count as u32), args).unwrap();
                    } else {
                        $v.launch(&device, Grid::x(count as u32 / 64), args).unwrap();
                    }
                    for i in 0..count {
                        let ($x, $y) = (a[i], b[i]);
                        for (k, wanted) in [$($e),*, $x].into_iter().enumerate() {
                            let got = $t::from_bits(out[k * count + i]);
                            let same = got.to_bits() == wanted.to_bits() || got.is_nan() && wanted.is_nan();
                            assert!(same, "{target} {uniform} {:e} {:e}: {} is {wanted:e}, not {got:e}", $x, $y, names[k]);
                        }
                        for (k, wanted) in [$($c),*].into_iter().enumerate() {
                            assert_eq!(held[k * count + i] == 1, wanted, "{target} {uniform} {:e}: {}", $x, conditions[k]);
                        }
                    }
                }
            }
        }
    };
}

results! { x y;
    f16 u16 f16_v f16_s f16_methods |n| f16_of(n), bf16 u16 bf16_v bf16_s bf16_methods |n| bf16_of(n),
    f32 u32 f32_v f32_s f32_methods |n| n as f32, f64 u64 f64_v f64_s f64_methods |n| n,;
    [
        x.rem_euclid(y), x.div_euclid(y), x.midpoint(y), x.to_degrees(), x.to_radians(), x.next_up(), x.next_down(),
        x.signum(),
    ]
    [x.is_sign_negative(), x.is_sign_positive(), x.is_normal(), x.is_subnormal(),]
}
