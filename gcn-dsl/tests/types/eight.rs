//! 8-bit floats: all codes converted to f32 and other types, and f32 near every code and every tie converted back, in
//! the format of each target.

use gcn_dsl::prelude::*;
use gcn_test_support::Random;

use super::bits;

const WITH_EIGHT_BITS: [Target; 2] = [Target::GFX942, Target::GFX950];

/// An f32 whose last bit is set if it is inexact, so that rounding it again is equivalent to one rounding.
fn odd(x: f64) -> f32 {
    let near = x as f32;
    if f64::from(near) == x || x.is_nan() {
        return near;
    }
    let towards_zero = near.to_bits() - u32::from(f64::from(near).abs() > x.abs());
    f32::from_bits(towards_zero | 1)
}

macro_rules! kernels {
    ($($t:ident $widen:ident $narrow:ident $test:ident;)*) => {$(
        gcn_kernel! {
            #[workgroup(64)]
            fn $widen(x: &[$t], singles: &mut [f32], halves: &mut [f16], ints: &mut [i32], same: &mut [$t], sums: &mut [f32]) {
                let i = global_id().x;
                singles[i] = x[i] as f32;
                halves[i] = x[i] as f16;
                ints[i] = x[i] as i32;
                same[i] = shuffle_xor(x[i], 1);
                sums[i] = select(x[i] < x[0], 1.0, 0.0);
            }

            #[workgroup(64)]
            fn $narrow(x: &[f32], y: &[f64], k: &[i32], out: &mut [$t]) {
                let i = global_id().x;
                out[i] = x[i] as $t;
                out[i + x.len()] = y[i] as $t;
                out[i + 2 * x.len()] = k[i] as $t;
                out[i + 3 * x.len()] = (k[i] > 0) as $t;
            }
        }

        #[test]
        fn $test() {
            for target in WITH_EIGHT_BITS {
                let codes: Vec<$t> = (0..=255).map($t::from_bits).collect();
                let (mut singles, mut halves, mut ints) = (vec![0f32; 256], vec![f16::ZERO; 256], vec![0i32; 256]);
                let (mut same, mut less) = (vec![$t::default(); 256], vec![0f32; 256]);
                let args = (&codes[..], &mut singles[..], &mut halves[..], &mut ints[..], &mut same[..], &mut less[..]);
                $widen.launch(&Device::simulator(target), Grid::x(4), args).unwrap();
                for (i, code) in codes.iter().enumerate() {
                    let wanted = code.to_f32(target);
                    assert!(singles[i].to_bits() == wanted.to_bits() || singles[i].is_nan() && wanted.is_nan(), "{target} {i}");
                    assert!(halves[i].to_f32() == wanted || wanted.is_nan());
                    assert_eq!(ints[i], wanted as i32, "{target} {i}");
                    assert_eq!(same[i], codes[i ^ 1]);
                    assert_eq!(less[i] == 1.0, wanted < 0.0, "{target} {i}");
                }

                let mut x: Vec<f32> = codes.iter().map(|c| c.to_f32(target)).collect();
                for i in 0..255 {
                    // The tie between two neighbours, and the floats next to it.
                    let tie = (f64::from(x[i]) + f64::from(x[i + 1])) as f32 / 2.0;
                    x.extend([tie, f32::from_bits(tie.to_bits().wrapping_add(1)), f32::from_bits(tie.to_bits().wrapping_sub(1))]);
                }
                let mut rng = Random::new(8);
                x.resize_with(4096, || f32::from_bits(bits(&mut rng) as u32));
                // As f64, slightly more than the tie; as f32, the difference would be lost.
                let y: Vec<f64> = x.iter().map(|x| f64::from(*x) * (1.0 + 2f64.powi(-50))).collect();
                let k: Vec<i32> = (0..4096).map(|i| if i < 2048 { i } else { bits(&mut rng) as i32 }).collect();
                let mut out = vec![$t::default(); 4 * 4096];
                $narrow.launch(&Device::simulator(target), Grid::x(64), (&x, &y, &k, &mut out)).unwrap();
                let nan = |code: $t| code.to_f32(target).is_nan();
                for i in 0..4096 {
                    let wanted = $t::from_f32(x[i], target);
                    assert!(out[i] == wanted || nan(out[i]) && nan(wanted), "{target} {:e}: {:?}, not {wanted:?}", x[i], out[i]);
                    let wanted = $t::from_f32(odd(y[i]), target);
                    let got = out[i + 4096];
                    assert!(got == wanted || nan(got) && nan(wanted), "{target} {:e}: {got:?}, not {wanted:?}", y[i]);
                    let wanted = $t::from_f32(k[i] as f32, target);
                    assert!(out[i + 8192] == wanted || nan(wanted) && nan(out[i + 8192]), "{target} {}", k[i]);
                    assert_eq!(out[i + 12288].to_f32(target), if k[i] > 0 { 1.0 } else { 0.0 });
                }
            }
        }
    )*};
}

kernels! {
    f8e4m3 widen_e4 narrow_e4 f8e4m3_is_the_targets;
    f8e5m2 widen_e5 narrow_e5 f8e5m2_is_the_targets;
}

#[test]
fn a_target_without_them_is_refused_at_the_cast() {
    let error = widen_e4.build(Target::GFX90A).unwrap_err().to_string();
    assert!(error.contains("v_cvt_f32_fp8") && error.contains("gfx942, gfx950"), "{error}");
}
