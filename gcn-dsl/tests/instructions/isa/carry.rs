//! Several results, carries, tied accumulators, and flags that are not in the instruction's text.

use gcn_dsl::{isa, prelude::*};

use super::{TARGETS, assert_text, floats, numbers};

gcn_kernel! {
    /// 96-bit sums and differences, limb by limb.
    #[workgroup(64)]
    fn wide(a: &[u32], b: &[u32], sum: &mut [u32], difference: &mut [u32]) {
        let i = global_id().x * 3;
        let (s0, carry) = isa::v_add_co_u32(a[i], b[i]);
        let (s1, carry) = isa::v_addc_co_u32(a[i + 1], b[i + 1], carry);
        let (s2, _) = isa::v_addc_co_u32(a[i + 2], b[i + 2], carry);
        let (d0, borrow) = isa::v_sub_co_u32(a[i], b[i]);
        let (d1, borrow) = isa::v_subb_co_u32(a[i + 1], b[i + 1], borrow);
        let (d2, _) = isa::v_subbrev_co_u32(b[i + 2], a[i + 2], borrow);
        sum[i] = s0;
        sum[i + 1] = s1;
        sum[i + 2] = s2;
        difference[i] = d0;
        difference[i + 1] = d1;
        difference[i + 2] = d2;
    }
}

#[test]
fn chains_of_carries_are_wide_integers() {
    let (a, b) = (numbers(192, 3), numbers(192, 5));
    let wide_of = |x: &[u32]| x.iter().rev().fold(0u128, |n, limb| n << 32 | u128::from(*limb));
    for target in TARGETS {
        let (mut sum, mut difference) = (vec![0; 192], vec![0; 192]);
        wide.launch(&Device::simulator(target), Grid::x(1), (&a, &b, &mut sum, &mut difference)).unwrap();
        for i in (0..192).step_by(3) {
            let (x, y) = (wide_of(&a[i..i + 3]), wide_of(&b[i..i + 3]));
            let mask = (1u128 << 96) - 1;
            assert_eq!(wide_of(&sum[i..i + 3]), x.wrapping_add(y) & mask, "{target} {i}");
            assert_eq!(wide_of(&difference[i..i + 3]), x.wrapping_sub(y) & mask, "{target} {i}");
        }
    }
}

gcn_kernel! {
    /// The sequence of instructions that divides exactly: scale, Newton iteration, fix up.
    #[workgroup(64)]
    fn divide(a: &[f32], b: &[f32], q: &mut [f32]) {
        let i = global_id().x;
        let (x, y) = (a[i], b[i]);
        let (den, _) = isa::v_div_scale_f32(y, y, x);
        let (num, scaled) = isa::v_div_scale_f32(x, y, x);
        let r = isa::v_rcp_f32(den);
        let e = isa::v_fma_f32(isa::neg(den), r, 1.0f32);
        let r = isa::v_fmac_f32(r, e, r);
        let n = isa::v_mul_f32(num, r);
        let e = isa::v_fma_f32(isa::neg(den), n, num);
        let n = isa::v_fmac_f32(n, e, r);
        let e = isa::v_fma_f32(isa::neg(den), n, num);
        let n = isa::v_div_fmas_f32(e, r, n, scaled);
        q[i] = isa::v_div_fixup_f32(n, y, x);
    }
}

#[test]
fn the_division_instructions_divide() {
    let (mut a, mut b) = (floats(512, 21), floats(512, 23));
    let special = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MIN_POSITIVE, 1e-45, f32::MAX];
    for (i, (x, y)) in special.iter().flat_map(|x| special.map(|y| (*x, y))).enumerate() {
        (a[i], b[i]) = (x, y);
    }
    for target in TARGETS.into_iter().filter(|t| *t >= Target::GFX906) {
        let mut q = vec![0.0; 512];
        divide.launch(&Device::simulator(target), Grid::x(8), (&a, &b, &mut q)).unwrap();
        for i in 0..512 {
            let expected = a[i] / b[i];
            assert!(
                q[i].to_bits() == expected.to_bits() || (q[i].is_nan() && expected.is_nan()),
                "{target}: {} / {} = {expected}, not {}",
                a[i],
                b[i],
                q[i]
            );
        }
    }
}

gcn_kernel! {
    /// a * b + c with a 64-bit c, and whether the sum overflowed.
    #[workgroup(64)]
    fn mad64(a: &[u32], b: &[u32], c: &[u64], out: &mut [u64], over: &mut [u32]) {
        let i = global_id().x;
        let (x, carry) = isa::v_mad_u64_u32(a[i], b[i], c[i]);
        out[i] = x;
        over[i] = isa::v_cndmask_b32(0, 1, carry);
    }
}

#[test]
fn mad_u64_u32_has_a_carry() {
    let (a, b) = (numbers(64, 31), numbers(64, 33));
    let c: Vec<u64> = numbers(64, 35).iter().map(|x| u64::MAX - u64::from(*x) * 0x8000_0003).collect();
    for target in TARGETS {
        let (mut out, mut over) = (vec![0; 64], vec![0; 64]);
        mad64.launch(&Device::simulator(target), Grid::x(1), (&a, &b, &c, &mut out, &mut over)).unwrap();
        for i in 0..64 {
            let exact = u128::from(a[i]) * u128::from(b[i]) + u128::from(c[i]);
            assert_eq!((out[i], u128::from(over[i])), (exact as u64, exact >> 64), "{target} {i}");
        }
        assert!(over.contains(&1) && over.contains(&0));
    }
}

gcn_kernel! {
    /// Modifiers: of sources, of the result, of packed halves.
    #[workgroup(64)]
    fn modified(x: &[f32], y: &[f32], out: &mut [f32], halves: &mut [u32]) {
        let i = global_id().x;
        let n = x.len();
        out[i] = isa::v_add_f32_with(isa::neg(isa::abs(x[i])), y[i], isa::Options::new().clamp());
        // Output multipliers take effect only while denormals are flushed and IEEE mode is off: bits 9:4 of MODE.
        let denormals = isa::hwreg(1, 4, 6);
        let before = isa::s_getreg_b32(denormals);
        isa::s_setreg_imm32_b32(denormals, 0);
        out[i + n] = isa::v_mul_f32_with(x[i], isa::abs(y[i]), isa::Options::new().omod(isa::Omod::Mul4));
        isa::s_setreg_b32(denormals, before);
        out[i + 2 * n] = isa::v_sub_f32(x[i], isa::neg(y[i]));
        let one = Vector::<u16, 2>::from([splat(1u16), splat(3u16)]);
        let two = Vector::<u16, 2>::from([splat(100u16), splat(65535u16)]);
        // Each half of `one` is added to the other half of `two`; the sums saturate.
        let crossed = isa::v_pk_add_u16_with(one, two, isa::Options::new().op_sel(2).op_sel_hi(1).clamp());
        halves[i] = isa::v_mov_b32(crossed);
    }
}

#[test]
fn modifiers_change_sources_and_results() {
    let small =
        |seed| -> Vec<f32> { numbers(64, seed).iter().map(|x| (*x % 4096) as f32 / 512.0 - 4.0).collect() };
    let (x, y) = (small(41), small(43));
    for target in TARGETS {
        let (mut out, mut halves) = (vec![0.0; 192], vec![0; 64]);
        modified.launch(&Device::simulator(target), Grid::x(1), (&x, &y, &mut out, &mut halves)).unwrap();
        for i in 0..64 {
            assert_eq!(out[i], (y[i] - x[i].abs()).clamp(0.0, 1.0), "{target} {i}");
            assert_eq!(out[i + 64], x[i] * y[i].abs() * 4.0, "{target} {i}");
            assert_eq!(out[i + 128], x[i] + y[i], "{target} {i}");
            assert_eq!(halves[i], 103 << 16 | 65535, "{target}");
        }
    }
    let kernel = modified.build(Target::GFX942).unwrap();
    assert_text(&kernel, &["clamp", "mul:4", "op_sel:[0,1] op_sel_hi:[1,0]", "-|v"]);
}

gcn_kernel! {
    /// A literal in the encoding, a truth table, and a value for M0.
    #[workgroup(64)]
    fn literals(x: &[f32], out: &mut [f32]) {
        let i = global_id().x;
        let n = x.len();
        out[i] = isa::v_fmaak_f32(x[i], x[i], 0x4048_f5c3);
        out[i + n] = isa::v_fmamk_f32(x[i], 0x4048_f5c3, x[i]);
        out[i + 2 * n] = isa::v_fmac_f32_with(x[i], x[i], x[i], isa::Options::new().clamp());
    }
}

#[test]
fn literals_stand_in_the_encoding() {
    let x: Vec<f32> = (0..64).map(|i| i as f32 / 8.0 - 3.0).collect();
    let c = f32::from_bits(0x4048_f5c3);
    // gfx90a has only the MAD forms of these instructions.
    let mut out = vec![0.0; 192];
    literals.launch(&Device::simulator(Target::GFX942), Grid::x(1), (&x, &mut out)).unwrap();
    for i in 0..64 {
        assert_eq!(out[i], x[i].mul_add(x[i], c));
        assert_eq!(out[i + 64], x[i].mul_add(c, x[i]));
        assert_eq!(out[i + 128], x[i].mul_add(x[i], x[i]).clamp(0.0, 1.0));
    }
    let error = literals.build(Target::GFX90A).unwrap_err().to_string();
    assert!(
        error.contains("`v_fmaak_f32` does not exist on gfx90a") && error.contains("carry.rs:"),
        "{error}"
    );
}
