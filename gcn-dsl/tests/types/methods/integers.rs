//! Integers: `wrapping_`, `saturating_`, `overflowing_`, Euclidean division, roots, logarithms, multiples.

#![allow(clippy::unnecessary_min_or_max, reason = "one expression for signed and unsigned types")]

use gcn_dsl::prelude::*;
use gcn_test_support::Random;

use super::Word;
use crate::{TARGETS, bits, samples};

/// A kernel on varying values, one on uniform values, and the test of both, for each type.
macro_rules! results {
    ($x:ident $y:ident $d:ident $n:ident $s:ident $u:ident; $($t:ident $ut:ident $st:ident $v:ident $w:ident $test:ident,)* ; $e:tt) => {
        $(results! { @one $x $y $d $n $s $u $t $ut $st $v $w $test $e })*
    };
    (@one $x:ident $y:ident $d:ident $n:ident $s:ident $u:ident $t:ident $ut:ident $st:ident $v:ident $w:ident $test:ident
        [$($e:expr,)*]) => {
        gcn_kernel! {
            #[allow(unused_variables, reason = "each list of calls takes some")]
            #[workgroup(64)]
            fn $v(a: &[$t], b: &[$t], c: &[$t], shift: &[u32], out: &mut [u64]) {
                let i = global_id().x;
                let ($x, $y, $d, $n) = (a[i], b[i], c[i], shift[i]);
                let ($s, $u) = ($y as $st, $y as $ut);
                let results = [$(($e) as u64),*];
                #[unroll] for k in 0..results.len() { out[i + k as u32 * a.len()] = results[k]; }
            }

            /// The same with uniform values, one wave for each element.
            #[allow(unused_variables, reason = "each list of calls takes some")]
            #[workgroup(64)]
            fn $w(a: &[$t], b: &[$t], c: &[$t], shift: &[u32], out: &mut [u64]) {
                let i = workgroup_id().x;
                let $x = a[i];
                let $y = b[i];
                let $d = c[i];
                let $n = shift[i];
                let ($s, $u) = ($y as $st, $y as $ut);
                let results = [$(($e) as u64),*];
                #[unroll] for k in 0..results.len() { out[i + k as u32 * a.len()] = results[k]; }
            }
        }

        #[test]
        fn $test() {
            let names = [$(stringify!($e)),*];
            let mut rng = Random::new(stringify!($test).len() as u64 + 7);
            for (t, target) in TARGETS.into_iter().enumerate() {
                for uniform in [false, true] {
                    let count = if uniform { 64 } else { samples(512) };
                    let mut sample = || -> Vec<$t> { (0..count).map(|_| bits(&mut rng) as $t).collect() };
                    let (mut a, mut b, mut c) = (sample(), sample(), sample());
                    let shift: Vec<u32> = sample().iter().map(|s| *s as u32 & 255).collect();
                    c.iter_mut().filter(|c| **c == 0).for_each(|c| *c = 3);
                    // The extreme values with -1 and its neighbours, equal numbers, multiples.
                    for i in 0..16 {
                        a[i] = [$t::MIN, $t::MAX, 0, 1, $t::MIN + 1, $t::MAX - 1, (0 as $t).wrapping_sub(1), 16][i % 8];
                        c[i] = [(0 as $t).wrapping_sub(1), 2][i / 8];
                        b[i] = a[(i + t) % 8];
                        a[i + 16] = c[i + 16].wrapping_mul(a[i + 16] >> 4u32);
                    }
                    let mut out = vec![0; count * names.len()];
                    let (device, args) = (Device::simulator(target), (&a[..], &b[..], &c[..], &shift[..], &mut out[..]));
                    if uniform {
                        $w.launch(&device, Grid::x(count as u32), args).unwrap();
                    } else {
                        $v.launch(&device, Grid::x(count as u32 / 64), args).unwrap();
                    }
                    for i in 0..count {
                        let ($x, $y, $d, $n) = (a[i], b[i], c[i], shift[i]);
                        let ($s, $u) = ($y as $st, $y as $ut);
                        let _ = ($s, $u);
                        for (k, wanted) in [$(Word::word($e)),*].into_iter().enumerate() {
                            let got = out[k * count + i];
                            assert_eq!(
                                got as $t, wanted as $t,
                                "{target} uniform {uniform} x {} y {} d {} n {}: {}", $x, $y, $d, $n, names[k],
                            );
                        }
                    }
                }
            }
        }
    };
}

results! { x y d n s u;
    u8 u8 i8 u8_all_v u8_all_s u8_all, i8 u8 i8 i8_all_v i8_all_s i8_all,
    u16 u16 i16 u16_all_v u16_all_s u16_all, i16 u16 i16 i16_all_v i16_all_s i16_all,
    u32 u32 i32 u32_all_v u32_all_s u32_all, i32 u32 i32 i32_all_v i32_all_s i32_all,
    u64 u64 i64 u64_all_v u64_all_s u64_all, i64 u64 i64 i64_all_v i64_all_s i64_all,; [
    x.wrapping_div_euclid(d), x.wrapping_rem_euclid(d), x.wrapping_div(d), x.wrapping_rem(d), x.wrapping_shl(n),
    x.wrapping_shr(n), x.wrapping_pow(5), x.saturating_pow(3), x.saturating_div(d), x.overflowing_pow(3).0,
    x.overflowing_pow(3).1, x.overflowing_shl(n).0, x.overflowing_shl(n).1, x.overflowing_shr(n).0,
    x.overflowing_shr(n).1, x.overflowing_neg().0, x.overflowing_neg().1, x.overflowing_div(d).0,
    x.overflowing_div(d).1, x.overflowing_rem(d).0, x.overflowing_rem(d).1, x.unbounded_shl(n), x.unbounded_shr(n),
    x.leading_ones(), x.trailing_ones(), x.to_be(), x.to_le(), x.max(1).ilog2(), x.max(1).ilog10(), x.max(0).isqrt(),
    x.midpoint(y), x.wrapping_rem_euclid(16), x.wrapping_div_euclid(16), (x >> 1u32).div_euclid(d),
    (x >> 1u32).rem_euclid(d), x.checked_add(y).unwrap_or(d), x.checked_sub(y).unwrap_or(d), x.checked_mul(y).unwrap_or(d),
    x.checked_add(y).is_some(), x.checked_sub(y).is_some(), x.checked_mul(y).is_none(), x.checked_div(d).unwrap_or(y),
    x.checked_div(y & 1).is_some(), x.checked_rem(d).unwrap_or(y), x.checked_rem(y & 1).is_some(),
    x.checked_div_euclid(d).unwrap_or(y), x.checked_div_euclid(y & 1).is_some(), x.checked_rem_euclid(d).unwrap_or(y),
    x.checked_rem_euclid(y & 1).is_some(), x.checked_shl(n).unwrap_or(y), x.checked_shr(n).unwrap_or(y),
    x.checked_neg().unwrap_or(y), x.checked_pow(3).unwrap_or(y), x.checked_ilog2().unwrap_or(77),
    x.checked_ilog10().unwrap_or(77),
] }

results! { x y d n s u;
    u8 u8 i8 u8_own_v u8_own_s u8_own, u16 u16 i16 u16_own_v u16_own_s u16_own,
    u32 u32 i32 u32_own_v u32_own_s u32_own, u64 u64 i64 u64_own_v u64_own_s u64_own,; [
    x.cast_signed(), (x >> 1u32).next_power_of_two(), x.div_ceil(d),
    (x >> 1u32).next_multiple_of(d >> 1u32 | 1), x.is_multiple_of(d), x.is_multiple_of(y & 3), x.wrapping_add_signed(s),
    x.saturating_add_signed(s), x.overflowing_add_signed(s).0, x.overflowing_add_signed(s).1,
    x.checked_add_signed(s).unwrap_or(d), x.wrapping_sub_signed(s), x.saturating_sub_signed(s),
    x.overflowing_sub_signed(s).0, x.overflowing_sub_signed(s).1, x.checked_sub_signed(s).unwrap_or(d),
    x.checked_next_power_of_two().unwrap_or(d),
    x.checked_next_multiple_of(d).unwrap_or(y), x.checked_next_multiple_of(y & 3).is_some(),
] }

results! { x y d n s u;
    i8 u8 i8 i8_own_v i8_own_s i8_own, i16 u16 i16 i16_own_v i16_own_s i16_own,
    i32 u32 i32 i32_own_v i32_own_s i32_own, i64 u64 i64 i64_own_v i64_own_s i64_own,; [
    x.cast_unsigned(), x.unsigned_abs(), x.is_positive(), x.is_negative(), x.signum(), x.wrapping_abs(),
    x.overflowing_abs().0, x.overflowing_abs().1, x.saturating_abs(), x.saturating_neg(), x.wrapping_add_unsigned(u),
    x.wrapping_sub_unsigned(u), x.saturating_add_unsigned(u), x.saturating_sub_unsigned(u),
    x.overflowing_add_unsigned(u).0, x.overflowing_add_unsigned(u).1, x.overflowing_sub_unsigned(u).0,
    x.overflowing_sub_unsigned(u).1, x.checked_abs().unwrap_or(y), x.checked_isqrt().unwrap_or(y),
    x.checked_add_unsigned(u).unwrap_or(y), x.checked_sub_unsigned(u).unwrap_or(y),
] }

gcn_kernel! {
    #[workgroup(64)]
    fn by_sixteen(x: &[i32], out: &mut [i32]) {
        let i = global_id().x;
        out[i] = x[i].rem_euclid(16) + x[i].div_euclid(16);
    }
}

/// The index of a ring buffer, as usually written, costs a mask and not a division.
#[test]
fn by_a_power_of_two_is_a_mask_and_a_shift() {
    let text = by_sixteen.build(Target::GFX942).unwrap().assembly(Comments::None);
    assert!(text.contains("v_and_b32") && text.contains("v_ashrrev_i32"), "{text}");
    assert!(!text.contains("v_rcp"), "{text}");
}
