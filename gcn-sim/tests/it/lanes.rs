//! Compares, lane masks, cross-lane moves, DPP and SDWA.

use gcn_isa::Target;
use gcn_test_support::Random;

use super::harness::Case;

const IOTA: [u32; 64] = {
    let mut lanes = [0; 64];
    let mut i = 0;
    while i < 64 {
        lanes[i] = 100 + i as u32;
        i += 1;
    }
    lanes
};

fn mask(f: impl Fn(usize) -> bool) -> u64 {
    (0..64).filter(|&l| f(l)).map(|l| 1u64 << l).sum()
}

#[test]
fn every_compare_of_every_type() {
    let mut random = Random::new(5);
    let words = random.words::<64>(&[
        0,
        1,
        0x7fc0_0000,
        0x3f80_0000,
        0xbf80_0000,
        0x8000_0000,
        0x7f80_0000,
        0x7e00_3c00,
        0x3c00,
    ]);
    let others = random.words::<64>(&[
        0,
        1,
        0x7fc0_0000,
        0x3f80_0000,
        0xbf80_0000,
        0x8000_0000,
        0x7f80_0000,
        0x7e00_3c00,
        0x3c00,
    ]);
    let highs = random.words::<64>(&[0, 0x3ff0_0000, 0x7ff8_0000, 0x8000_0000]);
    let case = Case::new(Target::GFX942)
        .v(2, words)
        .v(3, highs)
        .v(4, others)
        .v(5, std::array::from_fn(|l| highs[l ^ 1]));
    let mut checked = 0;
    type Order = fn(Option<std::cmp::Ordering>) -> bool;
    let floats: [(&str, Order); 16] = [
        ("f", |_| false),
        ("lt", |o| o.is_some_and(std::cmp::Ordering::is_lt)),
        ("eq", |o| o.is_some_and(std::cmp::Ordering::is_eq)),
        ("le", |o| o.is_some_and(std::cmp::Ordering::is_le)),
        ("gt", |o| o.is_some_and(std::cmp::Ordering::is_gt)),
        ("lg", |o| o.is_some_and(std::cmp::Ordering::is_ne)),
        ("ge", |o| o.is_some_and(std::cmp::Ordering::is_ge)),
        ("o", |o| o.is_some()),
        ("u", |o| o.is_none()),
        ("nge", |o| !o.is_some_and(std::cmp::Ordering::is_ge)),
        ("nlg", |o| !o.is_some_and(std::cmp::Ordering::is_ne)),
        ("ngt", |o| !o.is_some_and(std::cmp::Ordering::is_gt)),
        ("nle", |o| !o.is_some_and(std::cmp::Ordering::is_le)),
        ("neq", |o| !o.is_some_and(std::cmp::Ordering::is_eq)),
        ("nlt", |o| !o.is_some_and(std::cmp::Ordering::is_lt)),
        ("tru", |_| true),
    ];
    let ints: [(&str, Order); 8] = [
        ("f", |_| false),
        ("lt", |o| o.is_some_and(std::cmp::Ordering::is_lt)),
        ("eq", |o| o.is_some_and(std::cmp::Ordering::is_eq)),
        ("le", |o| o.is_some_and(std::cmp::Ordering::is_le)),
        ("gt", |o| o.is_some_and(std::cmp::Ordering::is_gt)),
        ("ne", |o| o.is_some_and(std::cmp::Ordering::is_ne)),
        ("ge", |o| o.is_some_and(std::cmp::Ordering::is_ge)),
        ("t", |_| true),
    ];
    let order = |ty: &str, lane: usize| {
        let (a, b) = (words[lane], others[lane]);
        let (wa, wb) =
            (u64::from(a) | u64::from(highs[lane]) << 32, u64::from(b) | u64::from(highs[lane ^ 1]) << 32);
        let half = |x: u32| half::f16::from_bits(x as u16).to_f64();
        match ty {
            "f32" => f32::from_bits(a).partial_cmp(&f32::from_bits(b)),
            "f16" => half(a).partial_cmp(&half(b)),
            "f64" => f64::from_bits(wa).partial_cmp(&f64::from_bits(wb)),
            "i32" => (a as i32).partial_cmp(&(b as i32)),
            "u32" => a.partial_cmp(&b),
            "i16" => (a as i16).partial_cmp(&(b as i16)),
            "u16" => (a as u16).partial_cmp(&(b as u16)),
            "i64" => (wa as i64).partial_cmp(&(wb as i64)),
            _ => wa.partial_cmp(&wb),
        }
    };
    let active = 0xffff_0fff_ffff_fff0u64;
    for (types, conditions) in [
        (&["f16", "f32", "f64"][..], &floats[..]),
        (&["i16", "u16", "i32", "u32", "i64", "u64"][..], &ints[..]),
    ] {
        for ty in types {
            let operands = if ty.ends_with("64") { "v[2:3], v[4:5]" } else { "v2, v4" };
            for (name, holds) in conditions {
                let out = case.run(&format!(
                    "s_mov_b32 exec_lo, {:#x}\ns_mov_b32 exec_hi, {:#x}\nv_cmp_{name}_{ty} vcc, {operands}\nv_cmpx_{name}_{ty} s[16:17], {operands}",
                    active as u32, active >> 32
                ));
                let expected = mask(|l| active >> l & 1 == 1 && holds(order(ty, l)));
                assert_eq!(out.vcc(), expected, "v_cmp_{name}_{ty}");
                assert_eq!((out.s_pair(16), out.exec()), (expected, expected), "v_cmpx_{name}_{ty}");
                checked += 2;
            }
        }
    }
    assert_eq!(checked, 2 * (3 * 16 + 6 * 8));
}

#[test]
fn classes() {
    let special: [(f32, u32); 10] = [
        (f32::from_bits(0x7f80_0001), 0),
        (f32::NAN, 1),
        (f32::NEG_INFINITY, 2),
        (-1.0, 3),
        (-1e-40, 4),
        (-0.0, 5),
        (0.0, 6),
        (1e-40, 7),
        (2.0, 8),
        (f32::INFINITY, 9),
    ];
    let values = std::array::from_fn(|l| special[l % 10].0.to_bits());
    for bit in 0..10 {
        let out = Case::new(Target::GFX90A)
            .v(1, values)
            .run(&format!("v_mov_b32 v2, {:#x}\nv_cmp_class_f32 vcc, v1, v2", 1 << bit));
        assert_eq!(out.vcc(), mask(|l| special[l % 10].1 == bit), "class {bit}");
    }
}

#[test]
fn carries_and_selects() {
    let a = std::array::from_fn(|l| if l % 3 == 0 { u32::MAX } else { l as u32 });
    let out = Case::new(Target::GFX942).v(1, a).v(2, [1; 64]).v(3, [7; 64]).run(
        "v_add_co_u32 v10, vcc, v1, v2\nv_addc_co_u32 v11, vcc, v3, v3, vcc\nv_sub_co_u32 v12, s[16:17], v2, v1
         v_subb_co_u32 v13, s[18:19], v3, v3, s[16:17]\nv_cndmask_b32 v14, v1, v2, s[16:17]\nv_cndmask_b32_e64 v15, 0, -1, s[16:17]",
    );
    for lane in 0..64 {
        let carry = u32::from(lane % 3 == 0);
        assert_eq!((out.v(10)[lane], out.v(11)[lane]), (a[lane].wrapping_add(1), 14 + carry));
        let borrow = u32::from(a[lane] > 1);
        assert_eq!(
            (out.v(12)[lane], out.v(13)[lane]),
            (1u32.wrapping_sub(a[lane]), 0u32.wrapping_sub(borrow))
        );
        assert_eq!(out.v(14)[lane], if borrow == 1 { 1 } else { a[lane] });
        assert_eq!(out.v(15)[lane], 0u32.wrapping_sub(borrow));
    }
    assert_eq!(out.s_pair(16), mask(|l| a[l] > 1));
    assert_eq!(out.s_pair(18), out.s_pair(16));
}

#[test]
fn lane_reads_and_writes() {
    let out = Case::new(Target::GFX90A).v(1, IOTA).run(
        "v_readlane_b32 s16, v1, 5\ns_mov_b32 s17, 63\nv_readlane_b32 s18, v1, s17\ns_mov_b64 exec, 0xf0\nv_readfirstlane_b32 s19, v1
         v_mov_b32 v10, 1\ns_mov_b64 exec, 0\nv_readfirstlane_b32 s20, v1\nv_writelane_b32 v10, s17, 40\nv_mov_b32 v11, 9\ns_mov_b64 exec, -1",
    );
    assert_eq!([16, 18, 19, 20].map(|r| out.s(r)), [105, 163, 104, 100]);
    assert_eq!((out.v(10)[3], out.v(10)[4], out.v(10)[7], out.v(10)[8], out.v(10)[40]), (0, 1, 1, 0, 63));
    assert_eq!(out.v(11), [0; 64]);
}

#[test]
fn accumulation_registers() {
    let out = Case::new(Target::GFX942)
        .v(1, IOTA)
        .run("v_accvgpr_write_b32 a7, v1\nv_accvgpr_mov_b32 a8, a7\nv_accvgpr_read_b32 v10, a8\nv_swap_b32 v10, v1\nv_accvgpr_write_b32 a7, 1.0\nv_accvgpr_read_b32 v11, a7");
    assert_eq!((out.v(10)[9], out.v(1)[9], out.v(11)[0]), (109, 109, 0x3f80_0000));
}

#[test]
fn dpp_moves_lanes() {
    let case = Case::new(Target::GFX942)
        .v(1, IOTA)
        .v(10, [1; 64])
        .v(11, [1; 64])
        .v(12, [1; 64])
        .v(13, [1; 64])
        .v(14, [1; 64])
        .v(15, [1; 64]);
    let out = case.run(
        "s_nop 4\nv_mov_b32_dpp v10, v1 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf\nv_mov_b32_dpp v11, v1 row_shr:1 row_mask:0xf bank_mask:0xf
         v_mov_b32_dpp v12, v1 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0\nv_mov_b32_dpp v13, v1 row_bcast:15 row_mask:0xa bank_mask:0xf
         v_add_u32_dpp v14, v1, v1 row_ror:4 row_mask:0x3 bank_mask:0x1\nv_mov_b32_dpp v15, v1 row_newbcast:3 row_mask:0xf bank_mask:0xf",
    );
    for lane in 0..64usize {
        let row = lane / 16 * 16;
        assert_eq!(out.v(10)[lane], 100 + (lane ^ 3) as u32);
        let shifted = 99 + lane as u32;
        assert_eq!(out.v(11)[lane], if lane % 16 == 0 { 1 } else { shifted });
        assert_eq!(out.v(12)[lane], if lane % 16 == 0 { 0 } else { shifted });
        assert_eq!(out.v(13)[lane], if lane / 16 % 2 == 1 { 99 + row as u32 } else { 1 });
        let rotated = (row + (lane % 16 + 12) % 16) as u32;
        assert_eq!(out.v(14)[lane], if lane < 32 && lane % 16 < 4 { 200 + rotated + lane as u32 } else { 1 });
        assert_eq!(out.v(15)[lane], 103 + row as u32);
    }
}

#[test]
fn dpp_does_not_read_inactive_lanes() {
    let out = Case::new(Target::GFX90A).v(1, IOTA).v(10, [1; 64]).v(11, [1; 64]).run(
        "s_mov_b64 exec, 0xfe\ns_nop 4\nv_mov_b32_dpp v10, v1 row_shr:1 row_mask:0xf bank_mask:0xf
         v_mov_b32_dpp v11, v1 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0",
    );
    assert_eq!(out.v(10)[..4], [1, 1, 101, 102]);
    assert_eq!(out.v(11)[..4], [1, 0, 101, 102]);
}

#[test]
fn sdwa_selects_parts() {
    let out = Case::new(Target::GFX942).v(1, [0x8182_8384; 64]).v(2, [0x0102_0304; 64]).v(10, [0xaaaa_aaaa; 64]).v(11, [0xaaaa_aaaa; 64]).run(
        "v_add_u32_sdwa v10, v1, v2 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0 src1_sel:BYTE_1
         v_mov_b32_sdwa v11, sext(v1) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1
         v_add_u16_sdwa v12, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:WORD_1
         v_lshlrev_b32_sdwa v13, v2, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3 src1_sel:DWORD",
    );
    assert_eq!(out.v(10)[0], 0xaa87_aaaa);
    assert_eq!(out.v(11)[0], 0xffff_8182);
    assert_eq!(out.v(12)[0], 0x8486_0000);
    assert_eq!(out.v(13)[0], 0x0305_0708);
}

#[test]
fn lds_lane_permutations() {
    let out = Case::new(Target::GFX90A).v(1, IOTA).v(2, std::array::from_fn(|l| 4 * (63 - l as u32))).v(3, std::array::from_fn(|l| 4 * (l as u32 / 2))).run(
        "ds_bpermute_b32 v10, v2, v1\nds_permute_b32 v11, v3, v1\nds_swizzle_b32 v12, v1 offset:swizzle(SWAP,16)
         ds_swizzle_b32 v13, v1 offset:swizzle(QUAD_PERM,1,0,3,2)\nds_swizzle_b32 v14, v1 offset:swizzle(BROADCAST,32,31)\ns_waitcnt lgkmcnt(0)",
    );
    for lane in 0..64u32 {
        let at = |r: usize| out.v(r)[lane as usize];
        assert_eq!(at(10), 163 - lane);
        assert_eq!(at(11), if lane < 32 { 101 + 2 * lane } else { 0 });
        assert_eq!((at(12), at(13), at(14)), (100 + (lane ^ 16), 100 + (lane ^ 1), 100 + (lane | 31)));
    }
}

#[test]
fn vgpr_numbers_are_relative_to_m0() {
    let out = Case::new(Target::GFX90A).v(1, [11; 64]).v(2, [22; 64]).v(3, [33; 64]).v(14, [7; 64]).s(16, 2).run(
        "s_set_gpr_idx_on s16, gpr_idx(SRC0)\nv_mov_b32 v10, v1\ns_set_gpr_idx_idx 1\nv_add_u32 v11, v1, v1
         s_set_gpr_idx_mode gpr_idx(DST)\ns_set_gpr_idx_idx s16\nv_mov_b32 v10, v2\ns_set_gpr_idx_off\nv_mov_b32 v13, v1",
    );
    assert_eq!([10, 11, 12, 13].map(|r| out.v(r)[5]), [33, 33, 22, 11]);
}
