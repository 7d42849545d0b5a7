//! MODE.FP16_OVFL: an f16 result that overflows is the largest finite number; a result that is infinite because of its operands or a
//! division by zero remains infinite (LLVM AMDGPU guide, FP16_OVFL).

use gcn_isa::Target;
use gcn_sim::{FloatMode, KernelState};
use gcn_test_support::Random;
use half::f16;

use super::harness::{Case, state};

fn case(target: Target) -> Case {
    let float_mode = FloatMode { denorm_32: 3, denorm_16_64: 3, fp16_overflow: true, ..FloatMode::default() };
    Case { state: KernelState { float_mode, ..state() }, ..Case::new(target) }
}

const GREATEST: u32 = 0x7bff;
const INFINITE: u32 = 0x7c00;

/// The f16 nearest to an exact value. `by_operands`: an infinity is caused by the operands and not by overflow.
fn expected(exact: f64, by_operands: bool) -> u32 {
    let near = f16::from_f64(exact);
    if near.is_infinite() && !by_operands {
        return GREATEST | u32::from(near.to_bits() & 0x8000);
    }
    near.to_bits().into()
}

/// Halves near the range in which sums and products overflow, and special values.
fn halves(random: &mut Random) -> [u32; 64] {
    std::array::from_fn(|_| {
        let r = random.next_u64();
        match r % 8 {
            0 => *random.pick(&[0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x0000, 0x8000, 0x0001, 0x7bfe]),
            1..4 => 0x5400 + (r >> 8) as u32 % 0x2800 + (r as u32 >> 4 & 0x8000),
            _ => 0x3000 + (r >> 8) as u32 % 0x2800,
        }
    })
}

#[test]
fn arithmetic_that_overflows_is_finite() {
    let ops: [(&str, fn(f64, f64) -> f64); 3] =
        [("v_add_f16", |a, b| a + b), ("v_sub_f16", |a, b| a - b), ("v_mul_f16", |a, b| a * b)];
    let mut random = Random::new(3);
    let mut clamped = 0;
    for _ in 0..30 {
        let (a, b) = (halves(&mut random), halves(&mut random));
        let value = |x: u32| f16::from_bits(x as u16);
        for (name, exact) in ops {
            let out = case(Target::GFX942).v(1, a).v(2, b).run(&format!("{name} v3, v1, v2")).v(3);
            let packed = name.replace("v_", "v_pk_").replace("pk_sub", "pk_add");
            let (low, high) = (a.map(|a| a | 0x4000_0000), b.map(|b| b | 0x7bff_0000));
            let both = case(Target::GFX942).v(1, low).v(2, high).run(&format!("{packed} v3, v1, v2")).v(3);
            for lane in 0..64 {
                let (x, y) = (value(a[lane]), value(b[lane]));
                let wanted = expected(exact(x.to_f64(), y.to_f64()), x.is_infinite() || y.is_infinite());
                if !value(wanted).is_nan() {
                    assert_eq!(out[lane], wanted, "{name} {x} {y}");
                    if !name.contains("sub") {
                        assert_eq!(both[lane] & 0xffff, wanted, "{packed} {x} {y}");
                    }
                }
                clamped += u32::from(wanted & 0x7fff == GREATEST);
            }
            // 2 and 65504 are in the high halves.
            assert!(both.iter().all(|x| x >> 16 == GREATEST), "{packed}");
        }
    }
    assert!(clamped > 300, "{clamped}");
}

#[test]
fn other_results_that_are_rounded_to_f16() {
    // Instruction, v1, v2, v3, and the result with the mode and without it. v0 is 0x1111_2222 before.
    const KEPT: u32 = 0x1111_2222;
    let big = 1e6f32.to_bits();
    let infinite = f32::INFINITY.to_bits();
    let cases: [(&str, [u32; 3], u32, u32); 18] = [
        ("v_fma_f16 v0, v1, v2, v3", [0x7bff, 0x4000, 0x3c00], GREATEST, INFINITE),
        ("v_fma_f16 v0, v1, v2, v3", [0x7bff, 0x4000, 0xfc00], 0xfc00, 0xfc00),
        ("v_fma_f16 v0, -v1, v2, v3", [0x7bff, 0x4000, 0x3c00], 0xfbff, 0xfc00),
        ("v_pk_fma_f16 v0, v1, v2, v3", [0x7bff_3c00, 0x4000_4000, 0x7c00_3c00], 0x7c00_4200, 0x7c00_4200),
        ("v_cvt_f16_f32 v0, v1", [big, 0, 0], GREATEST, INFINITE),
        ("v_cvt_f16_f32 v0, v1", [infinite, 0, 0], INFINITE, INFINITE),
        ("v_cvt_f16_f32 v0, -v1", [big, 0, 0], 0xfbff, 0xfc00),
        ("v_cvt_f16_u16 v0, v1", [0xffff, 0, 0], GREATEST, INFINITE),
        ("v_ldexp_f16 v0, v1, v2", [0x3c00, 0x0014, 0], GREATEST, INFINITE),
        ("v_ldexp_f16 v0, v1, v2", [0x3c00, 0x7c00, 0], GREATEST, INFINITE),
        ("v_ldexp_f16 v0, v1, v2", [0x7c00, 0x0001, 0], INFINITE, INFINITE),
        // 1 / 2^-24 overflows; 1 / 0 is an exact infinity.
        ("v_rcp_f16 v0, v1", [0x0001, 0, 0], GREATEST, INFINITE),
        ("v_rcp_f16 v0, v1", [0x8000, 0, 0], 0xfc00, 0xfc00),
        ("v_exp_f16 v0, v1", [0x4e00, 0, 0], GREATEST, INFINITE),
        (
            "v_fma_mixlo_f16 v0, v1, v2, v3",
            [big, big, 0],
            KEPT & 0xffff_0000 | GREATEST,
            KEPT & 0xffff_0000 | INFINITE,
        ),
        (
            "v_fma_mixhi_f16 v0, v1, v2, v3",
            [big, infinite, 0],
            INFINITE << 16 | KEPT & 0xffff,
            INFINITE << 16 | KEPT & 0xffff,
        ),
        (
            "v_fma_f16 v0, v1, v2, v3 op_sel:[0,0,0,1]",
            [0x7bff, 0x4000, 0],
            GREATEST << 16 | KEPT & 0xffff,
            INFINITE << 16 | KEPT & 0xffff,
        ),
        (
            "v_mul_f16_sdwa v0, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:WORD_0",
            [0x7bff_0000, 0x4000, 0],
            GREATEST << 16 | KEPT & 0xffff,
            INFINITE << 16 | KEPT & 0xffff,
        ),
    ];
    for (text, sources, with, without) in cases {
        let [a, b, c] = sources.map(|x| [x; 64]);
        let prepared = |case: Case| case.v(0, [KEPT; 64]).v(1, a).v(2, b).v(3, c).run(text).v(0);
        // Some encodings keep the other half of the register, which this test ignores.
        let own = if with <= 0xffff { 0xffff } else { u32::MAX };
        let prepared = |case: Case| prepared(case).map(|x| x & own);
        assert_eq!(prepared(case(Target::GFX942)), [with; 64], "{text}");
        let off = FloatMode { denorm_32: 3, ..FloatMode::default() };
        let plain = Case { state: KernelState { float_mode: off, ..state() }, ..Case::new(Target::GFX942) };
        assert_eq!(prepared(plain), [without; 64], "{text} without the mode");
    }
}

/// Lanes that are not written keep infinities from before.
#[test]
fn inactive_lanes_are_left_alone() {
    let out = case(Target::GFX90A)
        .v(1, [0x7bff; 64])
        .v(3, [INFINITE; 64])
        .run("s_mov_b64 exec, 15\nv_add_f16 v3, v1, v1\ns_mov_b64 exec, -1")
        .v(3);
    for (lane, x) in out.into_iter().enumerate() {
        assert_eq!(x, if lane < 4 { GREATEST } else { INFINITE }, "{lane}");
    }
}
