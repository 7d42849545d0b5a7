//! Conversions between numeric types.

use super::{op1, op2, round1};
use crate::core::value::{Half, HalfBits};
use crate::fp::{self, Round, soft};
use crate::semantics::op::Ops;

pub(crate) fn add(ops: &mut Ops) {
    between_floats(ops);
    from_integers(ops);
    to_integers(ops);
    packed(ops);
}

fn between_floats(ops: &mut Ops) {
    use soft::Format;
    let half = |r: Round, a: f32| {
        HalfBits(soft::convert(Format::F32, Format::F16, r, u64::from(a.to_bits())) as u16)
    };
    ops.add("v_cvt_f16_f32", op1(|a: f32| HalfBits(fp::f32_to_f16(a))).directed(round1(half)));
    ops.add("v_cvt_f32_f16", op1(|a: Half| fp::pick_nan32([a.0, 0.0, 0.0], a.0)));
    ops.add("v_cvt_f32_bf16", op1(|a: u16| fp::bf16_to_f32(a)));
    let single =
        |r: Round, a: f64| f32::from_bits(soft::convert(Format::F64, Format::F32, r, a.to_bits()) as u32);
    ops.add(
        "v_cvt_f32_f64",
        op1(move |a: f64| if a.is_nan() { single(Round::NearestEven, a) } else { a as f32 })
            .directed(round1(single)),
    );
    ops.add(
        "v_cvt_f64_f32",
        op1(|a: f32| {
            if a.is_nan() {
                f64::from_bits(soft::convert(
                    Format::F32,
                    Format::F64,
                    Round::NearestEven,
                    u64::from(a.to_bits()),
                ))
            } else {
                f64::from(a)
            }
        }),
    );
}

fn int_to_f32(r: Round, negative: bool, magnitude: u64) -> f32 {
    f32::from_bits(soft::from_int(soft::Format::F32, r, negative, magnitude) as u32)
}

fn int_to_f16(r: Round, negative: bool, magnitude: u64) -> HalfBits {
    HalfBits(soft::from_int(soft::Format::F16, r, negative, magnitude) as u16)
}

fn from_integers(ops: &mut Ops) {
    ops.add(
        "v_cvt_f32_i32",
        op1(|a: i32| a as f32)
            .directed(round1(|r, a: i32| int_to_f32(r, a < 0, u64::from(a.unsigned_abs())))),
    );
    ops.add(
        "v_cvt_f32_u32",
        op1(|a: u32| a as f32).directed(round1(|r, a: u32| int_to_f32(r, false, u64::from(a)))),
    );
    ops.add("v_cvt_f64_i32", op1(|a: i32| f64::from(a)));
    ops.add("v_cvt_f64_u32", op1(|a: u32| f64::from(a)));
    ops.add(
        "v_cvt_f16_i16",
        op1(|a: i16| Half(f32::from(a)))
            .directed(round1(|r, a: i16| int_to_f16(r, a < 0, u64::from(a.unsigned_abs())))),
    );
    ops.add(
        "v_cvt_f16_u16",
        op1(|a: u16| Half(f32::from(a))).directed(round1(|r, a: u16| int_to_f16(r, false, u64::from(a)))),
    );
    ops.add("v_cvt_f32_ubyte0", op1(|a: u32| (a & 0xff) as f32));
    ops.add("v_cvt_f32_ubyte1", op1(|a: u32| (a >> 8 & 0xff) as f32));
    ops.add("v_cvt_f32_ubyte2", op1(|a: u32| (a >> 16 & 0xff) as f32));
    ops.add("v_cvt_f32_ubyte3", op1(|a: u32| (a >> 24) as f32));
    // A signed 4-bit number in units of 1/16.
    ops.add("v_cvt_off_f32_i4", op1(|a: u32| ((a << 28) as i32 >> 28) as f32 / 16.0));
}

fn to_integers(ops: &mut Ops) {
    // Rust's casts truncate, saturate and convert NaN to 0, as the hardware does.
    ops.add("v_cvt_i32_f32", op1(|a: f32| a as i32));
    ops.add("v_cvt_u32_f32", op1(|a: f32| a as u32));
    ops.add("v_cvt_i32_f64", op1(|a: f64| a as i32));
    ops.add("v_cvt_u32_f64", op1(|a: f64| a as u32));
    ops.add("v_cvt_i16_f16", op1(|a: Half| a.0 as i16));
    ops.add("v_cvt_u16_f16", op1(|a: Half| a.0 as u16));
    // The addition is rounded to f32, to nearest even, as in AMD's pseudo-code; LLVM selects the instruction for exactly this computation.
    ops.add("v_cvt_rpi_i32_f32", op1(|a: f32| (a + 0.5).floor() as i32));
    ops.add("v_cvt_flr_i32_f32", op1(|a: f32| a.floor() as i32));
    ops.add("v_cvt_i32_i16", op1(|a: i16| i32::from(a)));
    ops.add("v_cvt_u32_u16", op1(|a: u16| u32::from(a)));
    ops.add("v_cvt_norm_i16_f16", op1(|a: Half| norm_i16(a.0)));
    ops.add("v_cvt_norm_u16_f16", op1(|a: Half| norm_u16(a.0)));
}

/// Converts a value in -1..=1 to a signed normalized integer.
fn norm_i16(x: f32) -> i16 {
    (f64::from(x).clamp(-1.0, 1.0) * 32_767.0).round_ties_even() as i16
}

/// Converts a value in 0..=1 to an unsigned normalized integer.
fn norm_u16(x: f32) -> u16 {
    (f64::from(x).clamp(0.0, 1.0) * 65_535.0).round_ties_even() as u16
}

fn pair(low: u16, high: u16) -> u32 {
    u32::from(low) | u32::from(high) << 16
}

fn packed(ops: &mut Ops) {
    let towards_zero = |a: f32| {
        soft::convert(soft::Format::F32, soft::Format::F16, Round::Zero, u64::from(a.to_bits())) as u16
    };
    ops.add("v_cvt_pkrtz_f16_f32", op2(move |a: f32, b: f32| pair(towards_zero(a), towards_zero(b))));
    ops.add("v_cvt_pknorm_i16_f32", op2(|a: f32, b: f32| pair(norm_i16(a) as u16, norm_i16(b) as u16)));
    ops.add("v_cvt_pknorm_u16_f32", op2(|a: f32, b: f32| pair(norm_u16(a), norm_u16(b))));
    ops.add("v_cvt_pknorm_i16_f16", op2(|a: Half, b: Half| pair(norm_i16(a.0) as u16, norm_i16(b.0) as u16)));
    ops.add("v_cvt_pknorm_u16_f16", op2(|a: Half, b: Half| pair(norm_u16(a.0), norm_u16(b.0))));
    ops.add("v_cvt_pk_u16_u32", op2(|a: u32, b: u32| pair(a.min(0xffff) as u16, b.min(0xffff) as u16)));
    ops.add("v_cvt_pk_i16_i32", op2(|a: i32, b: i32| pair(clamp_i16(a), clamp_i16(b))));
    ops.add("v_cvt_pk_u16_f32", op2(|a: f32, b: f32| pair(a as u16, b as u16)));
    ops.add("v_cvt_pk_i16_f32", op2(|a: f32, b: f32| pair(a as i16 as u16, b as i16 as u16)));
    ops.add("v_pack_b32_f16", op2(|a: HalfBits, b: HalfBits| pair(a.0, b.0)));
    // Rounded to nearest even regardless of MODE (AMD's pseudo-code sets ROUND_MODE for these two instructions).
    ops.add("v_cvt_pk_f16_f32", op2(|a: f32, b: f32| pair(fp::f32_to_f16(a), fp::f32_to_f16(b))));
    ops.add("v_cvt_pk_bf16_f32", op2(|a: f32, b: f32| pair(fp::f32_to_bf16(a), fp::f32_to_bf16(b))));
}

fn clamp_i16(x: i32) -> u16 {
    x.clamp(-0x8000, 0x7fff) as u16
}
