//! Reductions and scans of a wave and of its segments.

use gcn_dsl::lang::{Arithmetic, Integer, LoadAt};
use gcn_dsl::prelude::*;
use gcn_test_support::Random;

use super::{FLOAT_OPS, Sample, TARGETS, expected, masks, options, places};

/// Sum, product, min and max of widths 64, 32 and 16, each as reduction, inclusive and exclusive scan.
fn arithmetic<T: Arithmetic>(x: V<T>, y: V<T>) -> Vec<V<T>> {
    macro_rules! width {
        ($w:literal) => {
            vec![
                Lanes::<$w>::sum(x),
                Lanes::<$w>::inclusive_sum(x),
                Lanes::<$w>::exclusive_sum(x),
                Lanes::<$w>::product(y),
                Lanes::<$w>::inclusive_product(y),
                Lanes::<$w>::exclusive_product(y),
                Lanes::<$w>::min(x),
                Lanes::<$w>::inclusive_min(x),
                Lanes::<$w>::exclusive_min(x),
                Lanes::<$w>::max(x),
                Lanes::<$w>::inclusive_max(x),
                Lanes::<$w>::exclusive_max(x),
            ]
        };
    }
    // In waves of 32 lanes the segments of 32 are computed twice, so that the results have the same positions.
    let all = if wave_size() == 64 { width!(64) } else { width!(32) };
    [all, width!(32), width!(16)].concat()
}

/// And, or and xor in the same order.
fn bitwise<T: Integer>(x: V<T>) -> Vec<V<T>> {
    macro_rules! width {
        ($w:literal) => {
            vec![
                Lanes::<$w>::and(x),
                Lanes::<$w>::inclusive_and(x),
                Lanes::<$w>::exclusive_and(x),
                Lanes::<$w>::or(x),
                Lanes::<$w>::inclusive_or(x),
                Lanes::<$w>::exclusive_or(x),
                Lanes::<$w>::xor(x),
                Lanes::<$w>::inclusive_xor(x),
                Lanes::<$w>::exclusive_xor(x),
            ]
        };
    }
    // In waves of 32 lanes the segments of 32 are computed twice, so that the results have the same positions.
    let all = if wave_size() == 64 { width!(64) } else { width!(32) };
    [all, width!(32), width!(16)].concat()
}

fn none<T>(_: V<T>) -> Vec<V<T>> {
    Vec::new()
}

macro_rules! kernels {
    ($($t:ident $bits:ident $masked:ident $plain:ident;)*) => {$(
        gcn_kernel! {
            #[workgroup(64)]
            fn $masked(x: &[$t], y: &[$t], active: &[u32], out: &mut [$t]) {
                let i = global_id().x;
                if active[i] != 0 {
                    let results = comptime { [arithmetic(x.load_at(i), y.load_at(i)), $bits(x.load_at(i))].concat() };
                    #[unroll] for k in 0..results.len() {
                        out[i + k as u32 * x.len()] = results[k];
                    }
                }
            }

            #[workgroup(64)]
            fn $plain(x: &[$t], y: &[$t], out: &mut [$t]) {
                let i = global_id().x;
                let results = comptime { [arithmetic(x.load_at(i), y.load_at(i)), $bits(x.load_at(i))].concat() };
                #[unroll] for k in 0..results.len() {
                    out[i + k as u32 * x.len()] = results[k];
                }
            }
        }
    )*};
}

kernels! {
    i8 bitwise masked_i8 plain_i8; u8 bitwise masked_u8 plain_u8; i16 bitwise masked_i16 plain_i16;
    u16 bitwise masked_u16 plain_u16; i32 bitwise masked_i32 plain_i32; u32 bitwise masked_u32 plain_u32;
    i64 bitwise masked_i64 plain_i64; u64 bitwise masked_u64 plain_u64; f16 none masked_f16 plain_f16;
    bf16 none masked_bf16 plain_bf16; f32 none masked_f32 plain_f32; f64 none masked_f64 plain_f64;
}

/// Compares all results of a launch. The operand of each operation is `x`, except that of products, which is `y`.
fn compare<T: Sample>(what: &str, lanes: usize, x: &[T], y: &[T], active: &[bool], ops: usize, out: &[T]) {
    let n = x.len();
    let place = |op: usize, width: usize, spread: usize| match op {
        0..4 => width * 12 + op * 3 + spread,
        _ => 36 + width * 9 + (op - 4) * 3 + spread,
    };
    for op in 0..ops {
        let operand = if op == 1 { y } else { x };
        for (w, width) in [lanes, 32, 16].into_iter().enumerate() {
            for start in (0..n).step_by(width) {
                let segment = start..start + width;
                let wanted = expected(op, &operand[segment.clone()], &active[segment.clone()]);
                for (i, wanted) in segment.zip(wanted) {
                    for spread in 0..3 {
                        let got = out[place(op, w, spread) * n + i];
                        // The reduction of a segment without active lanes is not checked, because no lane reads it.
                        let ok = !active[i] || got == wanted[spread];
                        assert!(
                            ok,
                            "{what} op {op} width {width} lane {i} spread {spread}: {got:?}, not {:?}",
                            wanted[spread]
                        );
                    }
                }
            }
        }
    }
}

macro_rules! tests {
    ($($t:ident $ops:expr, $masked:ident $plain:ident $test:ident;)*) => {$(
        #[test]
        fn $test() {
            let n = 128;
            let mut rng = Random::new(stringify!($t).len() as u64 + $ops as u64);
            for (target, wave) in places() {
                let device = Device::simulator(target);
                let built = $masked.build_with(target, &options(wave)).unwrap();
                let (lanes, on) = (wave.lanes() as usize, format!("{target} in waves of {}", wave.lanes()));
                for round in 0..6 {
                    let x: Vec<$t> = (0..n).map(|_| Sample::term(&mut rng)).collect();
                    let y: Vec<$t> = (0..n).map(|_| Sample::factor(&mut rng)).collect();
                    let mut out = vec![<$t>::default(); 63 * n];
                    let active = masks(&mut rng, n, round);
                    let flags: Vec<u32> = active.iter().map(|a| u32::from(*a)).collect();
                    device.launch(&$masked, &built, Grid::x(2), (&x, &y, &flags, &mut out)).unwrap();
                    compare(&format!("{on} round {round}"), lanes, &x, &y, &active, $ops, &out);
                    if round == 0 {
                        let built = $plain.build_with(target, &options(wave)).unwrap();
                        device.launch(&$plain, &built, Grid::x(2), (&x, &y, &mut out)).unwrap();
                        compare(&format!("{on} whole"), lanes, &x, &y, &active, $ops, &out);
                    }
                }
            }
        }
    )*};
}

const INT_OPS: usize = FLOAT_OPS + 3;

tests! {
    i8 INT_OPS, masked_i8 plain_i8 reductions_of_i8;
    u8 INT_OPS, masked_u8 plain_u8 reductions_of_u8;
    i16 INT_OPS, masked_i16 plain_i16 reductions_of_i16;
    u16 INT_OPS, masked_u16 plain_u16 reductions_of_u16;
    i32 INT_OPS, masked_i32 plain_i32 reductions_of_i32;
    u32 INT_OPS, masked_u32 plain_u32 reductions_of_u32;
    i64 INT_OPS, masked_i64 plain_i64 reductions_of_i64;
    u64 INT_OPS, masked_u64 plain_u64 reductions_of_u64;
    f16 FLOAT_OPS, masked_f16 plain_f16 reductions_of_f16;
    bf16 FLOAT_OPS, masked_bf16 plain_bf16 reductions_of_bf16;
    f32 FLOAT_OPS, masked_f32 plain_f32 reductions_of_f32;
    f64 FLOAT_OPS, masked_f64 plain_f64 reductions_of_f64;
}

gcn_kernel! {
    #[workgroup(64)]
    fn nans(x: &[f32], active: &[u32], out: &mut [f32]) {
        let i = global_id().x;
        if active[i] != 0 {
            out[i] = wave_min(x[i]);
            out[i + 64] = wave_max(x[i]);
            out[i + 128] = wave_sum(x[i]);
        }
    }
}

#[test]
fn a_nan_loses_against_numbers_and_zeros_keep_their_sign() {
    let active: Vec<u32> = (0..64).map(|i| u32::from(i % 3 != 0)).collect();
    for target in TARGETS {
        let run = |x: &[f32]| {
            let mut out = vec![0f32; 192];
            nans.launch(&Device::simulator(target), Grid::x(1), (x, &active, &mut out)).unwrap();
            [out[1], out[65], out[129]]
        };
        let mut x = vec![f32::NAN; 64];
        assert!(run(&x).iter().all(|r| r.is_nan()), "{target}");
        x[7] = 2.5;
        assert_eq!(run(&x)[..2], [2.5, 2.5], "{target}");
        assert!(run(&x)[2].is_nan(), "{target}");
        assert!(run(&[-0.0; 64])[2].is_sign_negative(), "{target}");
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn whole(x: &[f32], out: &mut [f32]) {
        out[workgroup_id().x] = wave_sum(x[global_id().x]);
    }

    #[workgroup(64)]
    fn part(x: &[f32], out: &mut [f32]) {
        let i = global_id().x;
        if x[i] > 0.0 {
            out[i] = wave_inclusive_sum(x[i]);
        }
    }
}

#[test]
fn a_step_is_one_instruction() {
    for target in TARGETS {
        let text = whole.build(target).unwrap().assembly(Comments::None);
        let count = |text: &str, what: &str| text.matches(what).count();
        assert_eq!(
            (count(&text, "v_add_f32_dpp"), count(&text, "v_readlane_b32")),
            (6, 1),
            "{target}\n{text}"
        );
        assert_eq!((count(&text, "exec"), count(&text, "v_mov_b32_dpp")), (0, 0), "{target}\n{text}");
        let text = part.build(target).unwrap().assembly(Comments::None);
        assert_eq!(
            (count(&text, "v_add_f32_dpp"), count(&text, "s_or_saveexec_b64")),
            (6, 1),
            "{target}\n{text}"
        );
    }
}
