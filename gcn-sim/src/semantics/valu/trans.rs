//! Transcendental instructions.
//!
//! The hardware's results are specified by an error bound (1 ulp for f32 and f16, a relative error of about 2^-27 for the f64
//! instructions); the exact bits are not documented. The simulator computes in f64 and rounds once, so its results are within that bound,
//! and correctly rounded except for rare double roundings. The f32 instructions do not support denormals: inputs and results are flushed
//! regardless of MODE.

use super::read::Fetch;
use super::write::{modify_f16, modify_f32};
use super::{op1, op2};
use crate::core::fault::Next;
use crate::core::machine::{Cx, Step};
use crate::core::value::{Half, LANES, Ty, Value};
use crate::fp::{bf16_to_f32, f32_to_bf16, flush32, pick_nan32, pick_nan64};
use crate::semantics::op::{Op, Ops};

pub(crate) fn add(ops: &mut Ops) {
    for name in ["v_rcp_f32", "v_rcp_iflag_f32"] {
        ops.add(name, f32_by(|x| 1.0 / x));
    }
    ops.add("v_rsq_f32", f32_by(|x| 1.0 / x.sqrt()));
    ops.add("v_sqrt_f32", f32_by(f64::sqrt));
    for name in ["v_exp_f32", "v_exp_legacy_f32"] {
        ops.add(name, f32_by(f64::exp2));
    }
    for name in ["v_log_f32", "v_log_legacy_f32"] {
        ops.add(name, f32_by(f64::log2));
    }
    ops.add("v_sin_f32", f32_by(|x| periodic(x, f64::sin)));
    ops.add("v_cos_f32", f32_by(|x| periodic(x, f64::cos)));
    ops.add("v_tanh_f32", f32_by(f64::tanh));

    scalars(ops);
    ops.add("v_rcp_f16", f16_by(|x| 1.0 / x));
    ops.add("v_rsq_f16", f16_by(|x| 1.0 / x.sqrt()));
    ops.add("v_sqrt_f16", f16_by(f64::sqrt));
    ops.add("v_exp_f16", f16_by(f64::exp2));
    ops.add("v_log_f16", f16_by(f64::log2));
    ops.add("v_sin_f16", f16_by(|x| periodic(x, f64::sin)));
    ops.add("v_cos_f16", f16_by(|x| periodic(x, f64::cos)));
    ops.add("v_tanh_f16", f16_by(f64::tanh));

    ops.add("v_rcp_bf16", bf16_by(|x| 1.0 / x));
    ops.add("v_rsq_bf16", bf16_by(|x| 1.0 / x.sqrt()));
    ops.add("v_sqrt_bf16", bf16_by(f64::sqrt));
    ops.add("v_exp_bf16", bf16_by(f64::exp2));
    ops.add("v_log_bf16", bf16_by(f64::log2));
    ops.add("v_sin_bf16", bf16_by(|x| periodic(x, f64::sin)));
    ops.add("v_cos_bf16", bf16_by(|x| periodic(x, f64::cos)));
    ops.add("v_tanh_bf16", bf16_by(f64::tanh));

    ops.add("v_rcp_f64", f64_by(|x| 1.0 / x));
    ops.add("v_rsq_f64", f64_by(|x| 1.0 / x.sqrt()));
    ops.add("v_sqrt_f64", f64_by(f64::sqrt));
    ops.add("v_trig_preop_f64", op2(|a: f64, b: u32| trig_preop(a, b)));
}

fn f32_by(f: impl Fn(f64) -> f64 + Copy + Send + Sync + 'static) -> Op {
    op1(move |a: f32| single_of(f, a))
}

fn single_of(f: impl Fn(f64) -> f64, a: f32) -> f32 {
    let x = f32::from_bits(flush32(a.to_bits()));
    let r = f(f64::from(x)) as f32;
    f32::from_bits(flush32(pick_nan32([a, 0.0, 0.0], r).to_bits()))
}

fn f16_by(f: impl Fn(f64) -> f64 + Copy + Send + Sync + 'static) -> Op {
    op1(move |a: Half| half_of(f, a))
}

fn half_of(f: impl Fn(f64) -> f64, a: Half) -> Half {
    Half(pick_nan32([a.0, 0.0, 0.0], f(f64::from(a.0)) as f32))
}

/// Computed like f16: denormals are kept.
fn bf16_by(f: impl Fn(f64) -> f64 + Copy + Send + Sync + 'static) -> Op {
    op1(move |a: u16| {
        let a = bf16_to_f32(a);
        f32_to_bf16(pick_nan32([a, 0.0, 0.0], f(f64::from(a)) as f32))
    })
}

fn f64_by(f: impl Fn(f64) -> f64 + Copy + Send + Sync + 'static) -> Op {
    op1(move |a: f64| pick_nan64([a, 0.0, 0.0], f(a)))
}

/// Transcendental instructions with a scalar operand and result.
fn scalars(ops: &mut Ops) {
    let list: [(&'static str, &'static str, fn(f64) -> f64); 5] = [
        ("v_s_exp_f32", "v_s_exp_f16", f64::exp2),
        ("v_s_log_f32", "v_s_log_f16", f64::log2),
        ("v_s_rcp_f32", "v_s_rcp_f16", |x| 1.0 / x),
        ("v_s_rsq_f32", "v_s_rsq_f16", |x| 1.0 / x.sqrt()),
        ("v_s_sqrt_f32", "v_s_sqrt_f16", f64::sqrt),
    ];
    for (single, half, f) in list {
        ops.add(
            single,
            Op::new(move |cx: &mut Cx<'_>, s: &Step| {
                let a = f32::from_bits(u32::fetch(cx, s, 0, Ty::F32, &mut [0; LANES])?[0]);
                cx.w.s[s.sdst as usize] = modify_f32(&cx.w.mode, s, single_of(f, a).to_bits());
                Ok(Next::Fall)
            })
            .result(Ty::F32),
        );
        ops.add(
            half,
            Op::new(move |cx: &mut Cx<'_>, s: &Step| {
                let a = Half::from_raw(u32::fetch(cx, s, 0, Ty::F16, &mut [0; LANES])?[0]);
                cx.w.s[s.sdst as usize] = modify_f16(&cx.w.mode, s, half_of(f, a).into_raw());
                Ok(Next::Fall)
            })
            .result(Ty::F16),
        );
    }
}

/// `f(2 pi x)`. The period in x is 1, so the argument is reduced exactly; an infinity gives NaN.
fn periodic(x: f64, f: impl Fn(f64) -> f64) -> f64 {
    if x.is_infinite() {
        return f64::NAN;
    }
    // Sines and cosines of multiples of a quarter turn are exact numbers, so they are special cases.
    let turn = x.fract();
    let angle = f(turn * std::f64::consts::TAU);
    if (turn * 4.0).fract() == 0.0 { angle.round() } else { angle }
}

/// 2/pi in binary: 1201 bits after the point, most significant first.
const TWO_OVER_PI: [u64; 19] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_6bab,
];

/// A 53-bit segment of 2/pi for the argument reduction of sine and cosine (GCN3 ISA, `V_TRIG_PREOP_F64`): the segment with number
/// `segment`, moved by the exponent of large arguments, and scaled to its position.
fn trig_preop(a: f64, segment: u32) -> f64 {
    let exponent = (a.to_bits() >> 52 & 0x7ff) as i32;
    let mut shift = (segment & 0x1f) as i32 * 53;
    if exponent > 1077 {
        shift += exponent - 1077;
    }
    let bit = |i: i32| -> u64 {
        let word = TWO_OVER_PI.get((i / 64) as usize).copied().unwrap_or(0);
        word >> (63 - i % 64) & 1
    };
    let mantissa = (0..53).fold(0u64, |m, i| m << 1 | bit(shift + i));
    let scale = -53 - shift + if exponent >= 1968 { 128 } else { 0 };
    super::float64::ldexp64(mantissa as f64, scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quarter_turns_are_exact() {
        let sine = |x| periodic(x, f64::sin);
        assert_eq!([0.0, 0.25, 0.5, 0.75, -0.25, 7.25].map(sine), [0.0, 1.0, 0.0, -1.0, -1.0, 1.0]);
        assert_eq!(periodic(0.5, f64::cos), -1.0);
        assert!(sine(f64::INFINITY).is_nan());
    }

    #[test]
    fn the_first_segment_is_two_over_pi() {
        assert!((trig_preop(1.0, 0) - std::f64::consts::FRAC_2_PI).abs() < 1e-15);
        assert!(trig_preop(1.0, 1) < 2f64.powi(-52));
    }
}
