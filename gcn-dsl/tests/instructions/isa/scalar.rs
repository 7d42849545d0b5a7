//! Scalar instructions: SCC in and out, tied destinations, hardware registers, program control; and misuse.

use gcn_dsl::isa::{self, Options};
use gcn_dsl::prelude::*;

use super::{TARGETS, assert_text, numbers};

gcn_kernel! {
    /// 128-bit sums in SGPRs, with the SCC output of each limb.
    #[workgroup(64)]
    fn chain(a: &[u32], b: &[u32], out: &mut [u32]) {
        let (a0, a1, a2, a3) = (a.uniform(0), a.uniform(1), a.uniform(2), a.uniform(3));
        let (b0, b1, b2, b3) = (b.uniform(0), b.uniform(1), b.uniform(2), b.uniform(3));
        let (s0, c) = isa::s_add_u32(a0, b0);
        let (s1, c) = isa::s_addc_u32(a1, b1, c);
        let (s2, c) = isa::s_addc_u32(a2, b2, c);
        let (s3, c) = isa::s_addc_u32(a3, b3, c);
        let (d0, borrow) = isa::s_sub_u32(a0, b0);
        let (d1, last) = isa::s_subb_u32(a1, b1, borrow);
        let i = lane_id();
        if i == 0 {
            out[0] = splat(s0);
            out[1] = splat(s1);
            out[2] = splat(s2);
            out[3] = splat(s3);
            out[4] = splat(isa::s_cselect_b32(1, 0, c));
            out[5] = splat(d0);
            out[6] = splat(d1);
            out[7] = select(last, 1u32, 0u32);
            // A carry that is used twice, and not immediately.
            out[8] = select(borrow, 1u32, 0u32) + select(borrow, 2u32, 0u32);
        }
    }
}

#[test]
fn scc_chains_are_wide_integers() {
    for (seed, target) in (0..20).flat_map(|seed| TARGETS.map(|t| (seed, t))) {
        let (a, b) = (numbers(4, 2 * seed + 151), numbers(4, 3 * seed + 157));
        let mut out = vec![0; 9];
        chain.launch(&Device::simulator(target), Grid::x(1), (&a, &b, &mut out)).unwrap();
        let wide = |x: &[u32]| x.iter().rev().fold(0u128, |n, limb| n << 32 | u128::from(*limb));
        let (sum, carry) = wide(&a).overflowing_add(wide(&b));
        assert_eq!((wide(&out[..4]), out[4]), (sum, u32::from(carry)), "{target} {seed}");
        let (low, borrow) = a[0].overflowing_sub(b[0]);
        let (difference, last) = (wide(&a[..2]) as u64).overflowing_sub(wide(&b[..2]) as u64);
        assert_eq!(wide(&out[5..7]), u128::from(difference), "{target} {seed}");
        assert_eq!((out[5], out[7]), (low, u32::from(last)), "{target} {seed}");
        assert_eq!(out[8], 3 * u32::from(borrow), "{target} {seed}");
    }
}

#[test]
fn a_carry_that_goes_straight_on_stays_in_scc() {
    let assembly = chain.build(Target::GFX942).unwrap().assembly(Comments::None);
    let lines: Vec<&str> = assembly.lines().map(str::trim).collect();
    let at = lines.iter().position(|l| l.starts_with("s_addc_u32")).unwrap();
    assert!(lines[at + 1].starts_with("s_addc_u32") && lines[at + 2].starts_with("s_addc_u32"), "{assembly}");
}

gcn_kernel! {
    /// Bit fields with SCC, conditional moves, bits that are set in place, and a comparison that gives SCC.
    #[workgroup(64)]
    fn fields(x: &[u32], out: &mut [u32]) {
        let v = x.uniform(0);
        let (field, nonzero) = isa::s_bfe_u32(v, 0x0008_0004);
        let (ones, any) = isa::s_bcnt1_i32_b32(v);
        let odd = isa::s_bitcmp1_b32(v, 0);
        let moved = isa::s_cmov_b32(v, 99, odd);
        let set = isa::s_bitset1_b32(v, 31);
        let (plus, overflow) = isa::s_addk_i32(v, -3);
        let mut result: u32 = 0;
        // An SCC result is an ordinary condition.
        if isa::s_cmp_gt_u32(v, 1000) {
            result = isa::s_cselect_b32(5, 6, odd);
        }
        if lane_id() == 0 {
            out[0] = splat(field);
            out[1] = select(nonzero, 1u32, 0u32);
            out[2] = splat(ones) as u32;
            out[3] = select(any, 1u32, 0u32);
            out[4] = splat(moved);
            out[5] = splat(set);
            out[6] = splat(plus) as u32;
            out[7] = select(overflow, 1u32, 0u32);
            out[8] = splat(result);
            out[9] = splat(v);
        }
    }
}

#[test]
fn scc_results_are_conditions() {
    for target in TARGETS {
        for v in [0, 1, 0xff0, 0x8000_0001, 0x8000_0002, 1001, 0xffff_ffff] {
            let mut out = vec![0; 10];
            fields.launch(&Device::simulator(target), Grid::x(1), (&[v], &mut out)).unwrap();
            let odd = v & 1 == 1;
            let (plus, overflow) = (v as i32).overflowing_sub(3);
            let field = v >> 4 & 0xff;
            let result = if v > 1000 { if odd { 5 } else { 6 } } else { 0 };
            let expected = [
                field,
                u32::from(field != 0),
                v.count_ones(),
                u32::from(v != 0),
                if odd { 99 } else { v },
                v | 1 << 31,
                plus as u32,
                u32::from(overflow),
                result,
                v,
            ];
            assert_eq!(out, expected, "{target} {v:#x}");
        }
    }
}

gcn_kernel! {
    /// The rounding mode is read, changed, used and restored; also hints that compute nothing.
    #[workgroup(64)]
    fn modes(x: &[f32], out: &mut [f32], mode: &mut [u32]) {
        let i = global_id().x;
        let rounding = isa::hwreg(1, 0, 2);
        let before = isa::s_getreg_b32(rounding);
        out[i] = x[i] + 1e-9;
        isa::s_setprio(3);
        isa::s_setreg_imm32_b32(rounding, 1);
        // The same sum is now rounded up, so the first result must not be reused for it.
        out[i + 64] = x[i] + 1e-9;
        isa::s_setreg_b32(rounding, before);
        out[i + 128] = x[i] + 1e-9;
        isa::s_setprio(0);
        isa::s_nop(3);
        isa::s_sleep(1);
        isa::v_nop();
        isa::s_barrier();
        if i == 0 {
            mode[0] = splat(before);
        }
    }
}

#[test]
fn modes_change_what_follows_them() {
    let x: Vec<f32> = (0..64).map(|i| 1.0 + i as f32).collect();
    for target in TARGETS {
        let (mut out, mut mode) = (vec![0.0; 192], vec![9; 1]);
        modes.launch(&Device::simulator(target), Grid::x(1), (&x, &mut out, &mut mode)).unwrap();
        for i in 0..64 {
            assert_eq!((out[i], out[i + 128]), (x[i], x[i]), "{target}");
            assert_eq!(out[i + 64], x[i].next_up(), "{target}");
        }
        assert_eq!(mode, [0]);
        let texts = [
            "s_setprio 3",
            "s_nop 3",
            "s_sleep 1",
            "v_nop",
            "s_barrier",
            "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2)",
        ];
        assert_text(&modes.build(target).unwrap(), &texts);
    }
}

/// The error of a kernel that must not build.
fn error(kernel: &impl Kernel, target: Target) -> String {
    kernel.build(target).err().map(|e| e.to_string()).unwrap_or_else(|| "it builds".into())
}

gcn_kernel! {
    #[workgroup(64)]
    fn no_such_modifier(x: &mut [u32]) {
        x[0] = isa::v_lshlrev_b32_dpp(0, 1, x[0], Options::new().clamp());
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn offset_out_of_range(x: *mut u32) {
        isa::global_store_dword((lane_id() * 4, x), 1u32, 5000);
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn no_such_control(x: &mut [u32]) {
        x[0] = isa::v_mov_b32_dpp(0, x[0], Options::new().row_shl(16));
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn later_cache_bit(x: *mut u32) {
        isa::global_store_dword_with((lane_id() * 4, x), 1u32, 0, Options::new().sc1());
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn immediate_out_of_range(x: &mut [u32]) {
        isa::s_sleep(1 << 20);
        x[0] = 1;
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn divergent_barrier(x: &mut [u32]) {
        let i = lane_id();
        if x[i] == 0 {
            isa::s_barrier();
            x[i] = 1;
        }
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn narrow_format(x: &mut [f32]) {
        let wide = Vector::<u32, 8>::from([splat(0u32), splat(0u32), splat(0u32), splat(0u32), splat(0u32), splat(0u32), splat(0u32), splat(0u32)]);
        let zero = Vector::<f32, 4>::from([splat(0.0f32), splat(0.0f32), splat(0.0f32), splat(0.0f32)]);
        // Format 4 is fp4, whose operands have four dwords.
        let d = isa::v_mfma_f32_16x16x128_f8f6f4_with(wide, wide, zero, Options::new().cbsz(4));
        x[0] = d.get(0);
    }
}

#[test]
fn misuse_is_an_error_at_the_call() {
    let cases = [
        (error(&no_such_modifier, Target::GFX942), "`v_lshlrev_b32_dpp` on gfx942 does not take `clamp`"),
        (error(&offset_out_of_range, Target::GFX942), "offset"),
        (error(&no_such_control, Target::GFX90A), "dpp"),
        (error(&immediate_out_of_range, Target::GFX90A), "simm16"),
        (error(&divergent_barrier, Target::GFX90A), "`s_barrier` under a varying condition"),
        (error(&narrow_format, Target::GFX950), "src0"),
        (error(&narrow_format, Target::GFX942), "does not exist on gfx942"),
    ];
    for (text, part) in cases {
        assert!(text.contains(part) && text.contains("isa/scalar.rs:"), "`{part}`: {text}");
    }
    // sc1 is called scc on gfx90a; earlier targets do not have it.
    assert_eq!(error(&later_cache_bit, Target::GFX90A), "it builds");
}
