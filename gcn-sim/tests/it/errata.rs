//! Tests the errata of the manuals that Mesa's compiler team found, as they describe them.

use gcn_isa::Target;

use super::harness::Case;

fn lanes(f: impl Fn(u32) -> u32) -> [u32; 64] {
    std::array::from_fn(|lane| f(lane as u32))
}

/// `v_sad_u32` computes the unsigned distance: for -5 and 0 it is 4294967291.
#[test]
fn v_sad_u32_is_unsigned() {
    for target in Target::REPRESENTATIVES {
        let out = Case::new(target)
            .v(1, [-5i32 as u32; 64])
            .run("v_sad_u32 v10, v1, 0, 0\nv_sad_u32 v11, 0, v1, 3");
        assert_eq!((out.v(10)[0], out.v(11)[63]), (4_294_967_291, 4_294_967_294));
    }
}

/// `s_bfe_*` write SCC, although the manuals say otherwise.
#[test]
fn s_bfe_sets_scc() {
    for (text, scc) in [
        ("s_bfe_u32 s20, s16, 0x40004", true),
        ("s_bfe_u32 s20, s16, 0x40000", false),
        ("s_bfe_i32 s20, s16, 0x40004", true),
        ("s_bfe_i32 s20, s16, 0", false),
        ("s_bfe_u64 s[20:21], s[16:17], 0x40004", true),
        ("s_bfe_u64 s[20:21], s[16:17], 0x40008", false),
        ("s_bfe_i64 s[20:21], s[16:17], 0x40004", true),
        ("s_bfe_i64 s[20:21], s[16:17], 0x40008", false),
    ] {
        for before in [0, 1] {
            let out = Case::new(Target::GFX942).s(16, 0xf0).run(&format!("s_cmp_eq_u32 1, {before}\n{text}"));
            assert_eq!(out.scc, scc, "{text}");
        }
    }
}

/// `v_bcnt_u32_b32` adds its second source.
#[test]
fn v_bcnt_counts_and_adds() {
    let out = Case::new(Target::GFX900).v(1, lanes(|l| l)).v(2, [100; 64]).run("v_bcnt_u32_b32 v10, v1, v2");
    assert_eq!(out.v(10), lanes(|l| 100 + l.count_ones()));
}

/// `v_alignbyte_b32` uses two bits of its third source, so it shifts by at most 24 bits.
#[test]
fn v_alignbyte_shifts_by_two_bits_of_its_third_source() {
    let case = Case::new(Target::GFX90A).v(1, [0x7766_5544; 64]).v(2, [0x3322_1100; 64]).v(3, lanes(|l| l));
    let out = case.run("v_alignbyte_b32 v10, v1, v2, v3");
    let expected = [0x3322_1100, 0x4433_2211, 0x5544_3322, 0x6655_4433];
    assert_eq!(out.v(10), lanes(|l| expected[(l % 4) as usize]));
}

/// LDS instructions do not use M0 as a limit: with M0 = 0 they can access all of LDS.
#[test]
fn m0_does_not_bound_lds() {
    let mut case = Case::new(Target::GFX900).v(1, lanes(|l| 4 * l));
    case.state.lds_bytes = 512;
    let out = case.run("s_mov_b32 m0, 0\nds_write_b32 v1, v1 offset:128\nds_read_b32 v10, v1 offset:128\ns_waitcnt lgkmcnt(0)");
    assert_eq!(out.v(10), lanes(|l| 4 * l));
}

/// Only the `addtid` forms read M0, as an address.
#[test]
fn m0_is_the_address_of_addtid() {
    let mut case = Case::new(Target::GFX942).v(1, lanes(|l| 7 * l));
    case.state.lds_bytes = 1024;
    let out = case.run(
        "s_movk_i32 m0, 0x100\nds_write_addtid_b32 v1\nv_mbcnt_lo_u32_b32 v2, -1, 0\nv_mbcnt_hi_u32_b32 v2, -1, v2\nv_lshlrev_b32 v2, 2, v2\nds_read_b32 v10, v2 offset:256\ns_waitcnt lgkmcnt(0)",
    );
    assert_eq!(out.v(10), lanes(|l| 7 * l));
}

/// In `v_mul_f32` and `v_mad_f32`, zero times infinity is NaN; in the `legacy` forms, zero times anything is zero (DX9 rules).
#[test]
fn legacy_multiplication_lets_zero_win() {
    let case = Case::new(Target::GFX908).v(1, [f32::INFINITY.to_bits(); 64]).v(2, [0; 64]);
    let out =
        case.run("v_mul_f32 v10, v1, v2\nv_mul_legacy_f32 v11, v1, v2\nv_mad_legacy_f32 v12, v1, v2, 1.0");
    assert!(f32::from_bits(out.v(10)[0]).is_nan());
    assert_eq!((out.v(11)[0], out.v(12)[0]), (0, 1f32.to_bits()));
}
