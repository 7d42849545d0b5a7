//! Compares integer vector instructions with arithmetic in wider types.

use gcn_isa::Target;

use super::harness::{Case, Lanes};
use super::table::Out::{D, W};
use super::table::{Row, check};

fn wide(x: u32) -> i128 {
    i128::from(x)
}

fn signed(x: u32) -> i128 {
    i128::from(x as i32)
}

fn s16(x: u32) -> i64 {
    i64::from(x as u16 as i16)
}

fn s24(x: u32) -> i64 {
    i64::from((x << 8) as i32 >> 8)
}

fn bits(x: u64, low: u32, count: u32) -> u64 {
    (0..count).filter(|i| low + i < 64).map(|i| (x >> (low + i) & 1) << i).sum()
}

const WORDS: &[Row] = &[
    ("v_mov_b32 v10, v1", |i| W(i.a)),
    ("v_mov_b32 v10, 0x12345678", |_| W(0x1234_5678)),
    ("v_not_b32 v10, v1", |i| W(u32::MAX - i.a)),
    ("v_bfrev_b32 v10, v1", |i| W((0..32).map(|n| (i.a >> n & 1) << (31 - n)).sum())),
    ("v_ffbl_b32 v10, v1", |i| W((0..32).find(|n| i.a >> n & 1 == 1).unwrap_or(u32::MAX))),
    ("v_ffbh_u32 v10, v1", |i| W((0..32).find(|n| i.a >> (31 - n) & 1 == 1).unwrap_or(u32::MAX))),
    ("v_ffbh_i32 v10, v1", |i| W((1..32).find(|n| i.a >> (31 - n) & 1 != i.a >> 31).unwrap_or(u32::MAX))),
    ("v_and_b32 v10, v1, v2", |i| W((0..32).map(|n| (i.a >> n & i.b >> n & 1) << n).sum())),
    ("v_or_b32 v10, v1, v2", |i| W(i.a | i.b)),
    ("v_xor_b32 v10, v1, v2", |i| W((i.a | i.b) - (i.a & i.b))),
    ("v_xnor_b32 v10, v1, v2", |i| W(!((i.a | i.b) - (i.a & i.b)))),
    ("v_lshlrev_b32 v10, v1, v2", |i| W((u64::from(i.b) << (i.a % 32)) as u32)),
    ("v_lshrrev_b32 v10, v1, v2", |i| W((u64::from(i.b) >> (i.a % 32)) as u32)),
    ("v_ashrrev_i32 v10, v1, v2", |i| W((signed(i.b) >> (i.a % 32)) as u32)),
    ("v_bfm_b32 v10, v1, v2", |i| W((((1u64 << (i.a % 32)) - 1) << (i.b % 32)) as u32)),
    ("v_bcnt_u32_b32 v10, v1, v2", |i| W((0..32).map(|n| i.a >> n & 1).sum::<u32>().wrapping_add(i.b))),
    ("v_add_u32 v10, v1, v2", |i| W((wide(i.a) + wide(i.b)) as u32)),
    ("v_add_u32 v10, s16, v2", |i| W(i.b)),
    ("v_add_u32 v10, -16, v2", |i| W((wide(i.b) - 16) as u32)),
    ("v_add_u32_e64 v10, v1, v2 clamp", |i| W((wide(i.a) + wide(i.b)).min(0xffff_ffff) as u32)),
    ("v_sub_u32 v10, v1, v2", |i| W((wide(i.a) - wide(i.b)) as u32)),
    ("v_sub_u32_e64 v10, v1, v2 clamp", |i| W((wide(i.a) - wide(i.b)).max(0) as u32)),
    ("v_subrev_u32 v10, v1, v2", |i| W((wide(i.b) - wide(i.a)) as u32)),
    ("v_add_i32 v10, v1, v2", |i| W((signed(i.a) + signed(i.b)) as u32)),
    ("v_add_i32 v10, v1, v2 clamp", |i| {
        W((signed(i.a) + signed(i.b)).clamp(-0x8000_0000, 0x7fff_ffff) as u32)
    }),
    ("v_sub_i32 v10, v1, v2 clamp", |i| {
        W((signed(i.a) - signed(i.b)).clamp(-0x8000_0000, 0x7fff_ffff) as u32)
    }),
    ("v_min_i32 v10, v1, v2", |i| W(signed(i.a).min(signed(i.b)) as u32)),
    ("v_max_i32 v10, v1, v2", |i| W(signed(i.a).max(signed(i.b)) as u32)),
    ("v_min_u32 v10, v1, v2", |i| W(i.a.min(i.b))),
    ("v_max_u32 v10, v1, v2", |i| W(i.a.max(i.b))),
    ("v_mul_lo_u32 v10, v1, v2", |i| W((wide(i.a) * wide(i.b)) as u32)),
    ("v_mul_hi_u32 v10, v1, v2", |i| W(((wide(i.a) * wide(i.b)) >> 32) as u32)),
    ("v_mul_hi_i32 v10, v1, v2", |i| W(((signed(i.a) * signed(i.b)) >> 32) as u32)),
    ("v_mul_i32_i24 v10, v1, v2", |i| W((s24(i.a) * s24(i.b)) as u32)),
    ("v_mul_hi_i32_i24 v10, v1, v2", |i| W(((s24(i.a) * s24(i.b)) >> 32) as u32)),
    ("v_mul_u32_u24 v10, v1, v2", |i| W((wide(i.a % (1 << 24)) * wide(i.b % (1 << 24))) as u32)),
    ("v_mul_hi_u32_u24 v10, v1, v2", |i| W(((wide(i.a % (1 << 24)) * wide(i.b % (1 << 24))) >> 32) as u32)),
    ("v_mad_i32_i24 v10, v1, v2, v3", |i| W((s24(i.a) * s24(i.b)).wrapping_add(i64::from(i.c)) as u32)),
    ("v_mad_u32_u24 v10, v1, v2, v3", |i| {
        W((wide(i.a % (1 << 24)) * wide(i.b % (1 << 24)) + wide(i.c)) as u32)
    }),
    ("v_add3_u32 v10, v1, v2, v3", |i| W((wide(i.a) + wide(i.b) + wide(i.c)) as u32)),
    ("v_lshl_add_u32 v10, v1, v2, v3", |i| W(((wide(i.a) << (i.b % 32)) + wide(i.c)) as u32)),
    ("v_add_lshl_u32 v10, v1, v2, v3", |i| W(((wide(i.a) + wide(i.b)) << (i.c % 32)) as u32)),
    ("v_lshl_or_b32 v10, v1, v2, v3", |i| W((wide(i.a) << (i.b % 32) | wide(i.c)) as u32)),
    ("v_and_or_b32 v10, v1, v2, v3", |i| W(i.a & i.b | i.c)),
    ("v_or3_b32 v10, v1, v2, v3", |i| W(!(!i.a & !i.b & !i.c))),
    ("v_xad_u32 v10, v1, v2, v3", |i| W((wide(i.a ^ i.b) + wide(i.c)) as u32)),
    ("v_bfe_u32 v10, v1, v2, v3", |i| W(bits(u64::from(i.a), i.b % 32, i.c % 32) as u32)),
    ("v_bfe_i32 v10, v1, v2, v3", |i| {
        let (value, width) = (bits(i.a as i32 as u64, i.b % 32, i.c % 32) as i64, i.c % 32);
        W(if width == 0 {
            0
        } else if value >> (width - 1) & 1 == 1 {
            value - (1 << width)
        } else {
            value
        } as u32)
    }),
    ("v_bfi_b32 v10, v1, v2, v3", |i| {
        W((0..32).map(|n| (if i.a >> n & 1 == 1 { i.b } else { i.c } >> n & 1) << n).sum())
    }),
    ("v_alignbit_b32 v10, v1, v2, v3", |i| W((((wide(i.a) << 32) + wide(i.b)) >> (i.c % 32)) as u32)),
    ("v_alignbyte_b32 v10, v1, v2, v3", |i| W((((wide(i.a) << 32) + wide(i.b)) >> (8 * (i.c % 4))) as u32)),
    ("v_min3_i32 v10, v1, v2, v3", |i| W([i.a, i.b, i.c].into_iter().map(signed).min().unwrap() as u32)),
    ("v_max3_u32 v10, v1, v2, v3", |i| W([i.a, i.b, i.c].into_iter().max().unwrap())),
    ("v_med3_i32 v10, v1, v2, v3", |i| {
        let mut all = [i.a, i.b, i.c].map(signed);
        all.sort_unstable();
        W(all[1] as u32)
    }),
    ("v_med3_u32 v10, v1, v2, v3", |i| {
        let mut all = [i.a, i.b, i.c];
        all.sort_unstable();
        W(all[1])
    }),
    ("v_perm_b32 v10, v1, v2, v3", |i| {
        let source: Vec<u32> =
            i.b.to_le_bytes().into_iter().chain(i.a.to_le_bytes()).map(u32::from).collect();
        let byte = |s: u8| match s {
            0..=7 => source[s as usize],
            8 => 255 * (i.b >> 15 & 1),
            9 => 255 * (i.b >> 31),
            10 => 255 * (i.a >> 15 & 1),
            11 => 255 * (i.a >> 31),
            12 => 0,
            _ => 255,
        };
        W(i.c.to_le_bytes().iter().rev().fold(0, |w, s| w << 8 | byte(*s)))
    }),
    // The distance is unsigned: v_sad_u32(-5, 0, 0) is an example in Mesa's errata.
    ("v_sad_u32 v10, v1, v2, v3", |i| W((wide(i.a.max(i.b) - i.a.min(i.b)) + wide(i.c)) as u32)),
    ("v_sad_u8 v10, v1, v2, v3", |i| {
        let distance: u32 =
            i.a.to_le_bytes().iter().zip(i.b.to_le_bytes()).map(|(a, b)| u32::from(a.abs_diff(b))).sum();
        W(distance.wrapping_add(i.c))
    }),
    ("v_sad_u16 v10, v1, v2, v3", |i| {
        let distance = (i.a % 65536).abs_diff(i.b % 65536) + (i.a / 65536).abs_diff(i.b / 65536);
        W(distance.wrapping_add(i.c))
    }),
    ("v_mbcnt_lo_u32_b32 v10, v1, v2", |i| {
        W((0..i.lane.min(32)).map(|n| i.a >> n & 1).sum::<u32>().wrapping_add(i.b))
    }),
    ("v_mbcnt_hi_u32_b32 v10, v1, v2", |i| {
        W((0..i.lane.saturating_sub(32)).map(|n| i.a >> n & 1).sum::<u32>().wrapping_add(i.b))
    }),
];

const WIDE: &[Row] = &[
    ("v_lshlrev_b64 v[10:11], v1, v[4:5]", |i| D((u128::from(i.x) << (i.a % 64)) as u64)),
    ("v_lshrrev_b64 v[10:11], v1, v[4:5]", |i| D((u128::from(i.x) >> (i.a % 64)) as u64)),
    ("v_ashrrev_i64 v[10:11], v1, v[4:5]", |i| D((i128::from(i.x as i64) >> (i.a % 64)) as u64)),
    ("v_mad_u64_u32 v[10:11], s[16:17], v1, v2, v[4:5]", |i| {
        D((u128::from(i.a) * u128::from(i.b) + u128::from(i.x)) as u64)
    }),
    ("v_mad_i64_i32 v[10:11], s[16:17], v1, v2, v[4:5]", |i| {
        D((signed(i.a) * signed(i.b) + i128::from(i.x as i64)) as u64)
    }),
];

const HALVES: &[Row] = &[
    ("v_add_u16 v10, v1, v2", |i| W((i.a % 65536 + i.b % 65536) % 65536)),
    ("v_sub_u16 v10, v1, v2", |i| W((65536 + i.a % 65536 - i.b % 65536) % 65536)),
    ("v_subrev_u16 v10, v1, v2", |i| W((65536 + i.b % 65536 - i.a % 65536) % 65536)),
    ("v_mul_lo_u16 v10, v1, v2", |i| W((i.a % 65536).wrapping_mul(i.b % 65536) % 65536)),
    ("v_lshlrev_b16 v10, v1, v2", |i| W((i.b % 65536) << (i.a % 16) & 0xffff)),
    ("v_lshrrev_b16 v10, v1, v2", |i| W((i.b % 65536) >> (i.a % 16))),
    ("v_ashrrev_i16 v10, v1, v2", |i| W((s16(i.b) >> (i.a % 16)) as u32 & 0xffff)),
    ("v_min_i16 v10, v1, v2", |i| W(s16(i.a).min(s16(i.b)) as u32 & 0xffff)),
    ("v_max_u16 v10, v1, v2", |i| W((i.a % 65536).max(i.b % 65536))),
    // VOP3 forms with op_sel keep the other half of the destination.
    ("v_mad_u16 v10, v1, v2, v3", |i| {
        W(i.old & 0xffff_0000 | (i.a % 65536).wrapping_mul(i.b % 65536).wrapping_add(i.c) & 0xffff)
    }),
    ("v_mad_i16 v10, v1, v2, v3 op_sel:[1,0,0,1]", |i| {
        W(i.old & 0xffff | ((s16(i.a >> 16) * s16(i.b) + s16(i.c)) as u32) << 16)
    }),
    ("v_add_i16 v10, v1, v2 clamp", |i| {
        W(i.old & 0xffff_0000 | (s16(i.a) + s16(i.b)).clamp(-32768, 32767) as u32 & 0xffff)
    }),
    ("v_mad_u32_u16 v10, v1, v2, v3", |i| W((i.a % 65536 * (i.b % 65536)).wrapping_add(i.c))),
    ("v_mad_i32_i16 v10, v1, v2, v3", |i| W((s16(i.a) * s16(i.b) + i64::from(i.c as i32)) as u32)),
    ("v_med3_i16 v10, v1, v2, v3", |i| {
        let mut all = [i.a, i.b, i.c].map(s16);
        all.sort_unstable();
        W(i.old & 0xffff_0000 | all[1] as u32 & 0xffff)
    }),
    ("v_pk_add_u16 v10, v1, v2", |i| W(pack(i.a, i.b, |a, b| a + b))),
    ("v_pk_sub_i16 v10, v1, v2 clamp", |i| W(pack(i.a, i.b, |a, b| (sx(a) - sx(b)).clamp(-32768, 32767)))),
    ("v_pk_mul_lo_u16 v10, v1, v2", |i| W(pack(i.a, i.b, |a, b| a * b))),
    ("v_pk_mad_i16 v10, v1, v2, v3", |i| {
        W((pack(i.a, i.b, |a, b| sx(a) * sx(b)).wrapping_add(i.c) & 0xffff)
            | ((pack(i.a, i.b, |a, b| sx(a) * sx(b)) >> 16).wrapping_add(i.c >> 16) << 16))
    }),
    ("v_pk_lshlrev_b16 v10, v1, v2", |i| W(pack(i.a, i.b, |a, b| b << (a % 16)))),
    ("v_pk_ashrrev_i16 v10, v1, v2", |i| W(pack(i.a, i.b, |a, b| sx(b) >> (a % 16)))),
    ("v_pk_max_i16 v10, v1, v2", |i| W(pack(i.a, i.b, |a, b| sx(a).max(sx(b))))),
    ("v_pk_min_u16 v10, v1, v2 op_sel:[1,0] op_sel_hi:[0,1]", |i| {
        W(pack(i.a.rotate_left(16), i.b, std::cmp::Ord::min))
    }),
    ("v_dot4_i32_i8 v10, v1, v2, v3", |i| {
        let products =
            i.a.to_le_bytes()
                .into_iter()
                .zip(i.b.to_le_bytes())
                .map(|(a, b)| i64::from(a as i8) * i64::from(b as i8));
        W((products.sum::<i64>() + i64::from(i.c as i32)) as u32)
    }),
    ("v_dot4_u32_u8 v10, v1, v2, v3", |i| {
        let products =
            i.a.to_le_bytes().into_iter().zip(i.b.to_le_bytes()).map(|(a, b)| u64::from(a) * u64::from(b));
        W((products.sum::<u64>() + u64::from(i.c)) as u32)
    }),
    ("v_dot2_i32_i16 v10, v1, v2, v3", |i| {
        W((s16(i.a) * s16(i.b) + s16(i.a >> 16) * s16(i.b >> 16) + i64::from(i.c as i32)) as u32)
    }),
    ("v_dot8_u32_u4 v10, v1, v2, v3", |i| {
        W((0..8).map(|n| (i.a >> (4 * n) & 15) * (i.b >> (4 * n) & 15)).sum::<u32>().wrapping_add(i.c))
    }),
    ("v_dot8_i32_i4 v10, v1, v2, v3", |i| {
        let nibble = |x: u32, n: u32| i64::from((x >> (4 * n) << 28) as i32 >> 28);
        W(((0..8).map(|n| nibble(i.a, n) * nibble(i.b, n)).sum::<i64>() + i64::from(i.c as i32)) as u32)
    }),
    ("v_dot4c_i32_i8 v10, v1, v2", |i| {
        let products =
            i.a.to_le_bytes()
                .into_iter()
                .zip(i.b.to_le_bytes())
                .map(|(a, b)| i64::from(a as i8) * i64::from(b as i8));
        W((products.sum::<i64>() + i64::from(i.old as i32)) as u32)
    }),
    ("v_sat_pk_u8_i16 v10, v1", |i| {
        W(s16(i.a).clamp(0, 255) as u32 | (s16(i.a >> 16).clamp(0, 255) as u32) << 8)
    }),
];

fn sx(x: i64) -> i64 {
    i64::from(x as i16)
}

/// Applies `f` to both halves as unsigned numbers.
fn pack(a: u32, b: u32, f: fn(i64, i64) -> i64) -> u32 {
    let half = |a: u32, b: u32| f(i64::from(a % 65536), i64::from(b % 65536)) as u32 & 0xffff;
    half(a, b) | half(a >> 16, b >> 16) << 16
}

#[test]
fn words() {
    check(Target::GFX942, WORDS, |x| x);
    check(Target::GFX90A, WORDS, |x| x % 0x1_0005);
}

#[test]
fn pairs() {
    check(Target::GFX90A, WIDE, |x| x);
    let gfx942: &[Row] = &[
        ("v_mov_b64 v[10:11], v[4:5]", |i| D(i.x)),
        ("v_lshl_add_u64 v[10:11], v[4:5], v1, v[6:7]", |i| D((i.x << (i.a % 8)).wrapping_add(i.y))),
    ];
    check(Target::GFX942, WIDE, |x| x);
    check(Target::GFX942, gfx942, |x| x % 5);
}

#[test]
fn halves() {
    check(Target::GFX942, HALVES, |x| x);
    check(Target::GFX90A, HALVES, |x| x ^ 0x0003_0000);
}

#[test]
fn screen_partitions_are_those_of_the_manuals_table() {
    // The first rows of the manual's table (CDNA2 ISA, V_SCREEN_PARTITION_4SE_B32).
    let table = [
        0x1, 0x3, 0x7, 0xf, 0x5, 0xf, 0xf, 0xf, 0x7, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0x2, 0x6, 0xe,
        0xf, 0xa, 0xf, 0xf, 0xf, 0xb,
    ];
    // The engine of a tile, computed from pixel coordinates: {x[5] ^ y[6], y[5] ^ x[6]}.
    let engine = |x: u32, y: u32| (x >> 5 & 1 ^ y >> 6 & 1) * 2 + (y >> 5 & 1 ^ x >> 6 & 1);
    for target in Target::REPRESENTATIVES {
        for group in 0..4 {
            let select: Lanes = std::array::from_fn(|lane| 0xab00 + 64 * group + lane as u32);
            let out = Case::new(target).v(1, select).run("v_screen_partition_4se_b32 v10, v1");
            for (lane, found) in out.v(10).into_iter().enumerate() {
                let at = 64 * group as usize + lane;
                if let Some(expected) = table.get(at) {
                    assert_eq!(found, *expected, "{target}: entry {at:#x}");
                }
                let pixel = |shift: usize| 32 * (at as u32 >> shift & 3);
                let (x0, y0, mut x1, mut y1) = (pixel(6), pixel(4), pixel(2), pixel(0));
                (x1, y1) = (if x1 < x0 { x1 + 128 } else { x1 }, if y1 < y0 { y1 + 128 } else { y1 });
                let mut expected = 0;
                for (x, y) in (x0..=x1).flat_map(|x| (y0..=y1).map(move |y| (x, y))) {
                    expected |= 1 << engine(x, y);
                }
                if x1 - x0 >= 96 || y1 - y0 >= 96 {
                    expected = 0xf;
                }
                assert_eq!(found, expected, "{target}: entry {at:#x}");
            }
        }
    }
}
