//! Arithmetic of SOP1, SOP2, SOPC and SOPK.

use super::{s1, s1c, s2, s2c, sc};
use crate::core::fault::Next;
use crate::core::machine::{Cx, Step};
use crate::semantics::op::{Op, Ops};

pub(crate) fn add(ops: &mut Ops) {
    moves(ops);
    arithmetic(ops);
    logic32(ops);
    logic64(ops);
    shifts(ops);
    counting(ops);
    bit_fields(ops);
    compares(ops);
    immediates(ops);
    exec_masks(ops);
}

fn moves(ops: &mut Ops) {
    for name in ["s_mov_b32", "s_movrels_b32", "s_movreld_b32", "s_movrelsd_2_b32"] {
        ops.add(name, s1(|a: u32| a));
    }
    for name in ["s_mov_b64", "s_movrels_b64", "s_movreld_b64"] {
        ops.add(name, s1(|a: u64| a));
    }
    ops.add("s_cmov_b32", if_scc(s1(|a: u32| a)));
    ops.add("s_cmov_b64", if_scc(s1(|a: u64| a)));
    ops.add("s_cselect_b32", s2c(|a: u32, b: u32, scc| (if scc { a } else { b }, scc)));
    ops.add("s_cselect_b64", s2c(|a: u64, b: u64, scc| (if scc { a } else { b }, scc)));
    ops.add("s_sext_i32_i8", s1(|a: u32| i32::from(a as i8)));
    ops.add("s_sext_i32_i16", s1(|a: u32| i32::from(a as i16)));
    ops.add("s_pack_ll_b32_b16", s2(|a: u32, b: u32| a & 0xffff | b << 16));
    ops.add("s_pack_lh_b32_b16", s2(|a: u32, b: u32| a & 0xffff | b & 0xffff_0000));
    ops.add("s_pack_hl_b32_b16", s2(|a: u32, b: u32| a >> 16 | b << 16));
    ops.add("s_pack_hh_b32_b16", s2(|a: u32, b: u32| a >> 16 | b & 0xffff_0000));
}

/// Executes `op` only if SCC is set.
fn if_scc(op: Op) -> Op {
    let exec = op.exec;
    Op::new(move |cx: &mut Cx<'_>, s: &Step| if cx.w.scc { Ok(exec.run(cx, s)?) } else { Ok(Next::Fall) })
}

fn arithmetic(ops: &mut Ops) {
    ops.add("s_add_u32", s2c(|a: u32, b: u32, _| a.overflowing_add(b)));
    ops.add("s_sub_u32", s2c(|a: u32, b: u32, _| a.overflowing_sub(b)));
    ops.add("s_add_i32", s2c(|a: i32, b: i32, _| a.overflowing_add(b)));
    ops.add("s_sub_i32", s2c(|a: i32, b: i32, _| a.overflowing_sub(b)));
    ops.add(
        "s_addc_u32",
        s2c(|a: u32, b: u32, scc| {
            let sum = u64::from(a) + u64::from(b) + u64::from(scc);
            (sum as u32, sum >> 32 != 0)
        }),
    );
    ops.add(
        "s_subb_u32",
        s2c(|a: u32, b: u32, scc| {
            let difference = u64::from(a).wrapping_sub(u64::from(b)).wrapping_sub(u64::from(scc));
            (difference as u32, difference >> 32 != 0)
        }),
    );
    ops.add("s_abs_i32", s1c(|a: i32| (a.wrapping_abs(), a != 0)));
    // The difference wraps around before its absolute value is taken.
    ops.add(
        "s_absdiff_i32",
        s2c(|a: i32, b: i32, _| {
            let d = a.wrapping_sub(b).wrapping_abs();
            (d, d != 0)
        }),
    );
    ops.add("s_min_i32", s2c(|a: i32, b: i32, _| (a.min(b), a < b)));
    // SCC is set if S0 is the maximum, even if both sources are equal: AMD's later pseudo-code compares with >=, and the MI100 manual's "if
    // S0 was max" does not exclude equal sources.
    ops.add("s_max_i32", s2c(|a: i32, b: i32, _| (a.max(b), a >= b)));
    ops.add("s_min_u32", s2c(|a: u32, b: u32, _| (a.min(b), a < b)));
    ops.add("s_max_u32", s2c(|a: u32, b: u32, _| (a.max(b), a >= b)));
    ops.add("s_mul_i32", s2(|a: u32, b: u32| a.wrapping_mul(b)));
    ops.add("s_add_nc_u64", s2(|a: u64, b: u64| a.wrapping_add(b)));
    ops.add("s_sub_nc_u64", s2(|a: u64, b: u64| a.wrapping_sub(b)));
    ops.add("s_mul_u64", s2(|a: u64, b: u64| a.wrapping_mul(b)));
    ops.add("s_mul_hi_u32", s2(|a: u32, b: u32| ((u64::from(a) * u64::from(b)) >> 32) as u32));
    ops.add("s_mul_hi_i32", s2(|a: i32, b: i32| ((i64::from(a) * i64::from(b)) >> 32) as i32));
    for (name, shift) in
        [("s_lshl1_add_u32", 1), ("s_lshl2_add_u32", 2), ("s_lshl3_add_u32", 3), ("s_lshl4_add_u32", 4)]
    {
        ops.add(
            name,
            s2c(move |a: u32, b: u32, _| {
                let sum = (u64::from(a) << shift) + u64::from(b);
                (sum as u32, sum >> 32 != 0)
            }),
        );
    }
}

fn logic32(ops: &mut Ops) {
    let list: [(&'static str, fn(u32, u32) -> u32); 8] = [
        ("s_and_b32", |a, b| a & b),
        ("s_or_b32", |a, b| a | b),
        ("s_xor_b32", |a, b| a ^ b),
        ("s_andn2_b32", |a, b| a & !b),
        ("s_orn2_b32", |a, b| a | !b),
        ("s_nand_b32", |a, b| !(a & b)),
        ("s_nor_b32", |a, b| !(a | b)),
        ("s_xnor_b32", |a, b| !(a ^ b)),
    ];
    for (name, f) in list {
        ops.add(name, s2c(move |a: u32, b: u32, _| (f(a, b), f(a, b) != 0)));
    }
    ops.add("s_not_b32", s1c(|a: u32| (!a, !a != 0)));
    ops.add("s_wqm_b32", s1c(|a: u32| (whole_quads(u64::from(a)) as u32, a != 0)));
    ops.add("s_quadmask_b32", s1c(|a: u32| (quad_mask(u64::from(a)) as u32, a != 0)));
}

fn logic64(ops: &mut Ops) {
    let list: [(&'static str, fn(u64, u64) -> u64); 8] = [
        ("s_and_b64", |a, b| a & b),
        ("s_or_b64", |a, b| a | b),
        ("s_xor_b64", |a, b| a ^ b),
        ("s_andn2_b64", |a, b| a & !b),
        ("s_orn2_b64", |a, b| a | !b),
        ("s_nand_b64", |a, b| !(a & b)),
        ("s_nor_b64", |a, b| !(a | b)),
        ("s_xnor_b64", |a, b| !(a ^ b)),
    ];
    for (name, f) in list {
        ops.add(name, s2c(move |a: u64, b: u64, _| (f(a, b), f(a, b) != 0)));
    }
    ops.add("s_not_b64", s1c(|a: u64| (!a, !a != 0)));
    ops.add("s_wqm_b64", s1c(|a: u64| (whole_quads(a), a != 0)));
    ops.add("s_quadmask_b64", s1c(|a: u64| (quad_mask(a), a != 0)));
}

/// Sets all bits of every aligned group of four bits that has any bit set.
fn whole_quads(a: u64) -> u64 {
    let any = (a | a >> 1 | a >> 2 | a >> 3) & 0x1111_1111_1111_1111;
    any * 0xf
}

/// Bit i of the result is set if any bit of the i-th group of four bits is set.
fn quad_mask(a: u64) -> u64 {
    (0..16).fold(0, |mask, i| mask | u64::from(a >> (4 * i) & 0xf != 0) << i)
}

fn shifts(ops: &mut Ops) {
    let nonzero32 = |d: u32| (d, d != 0);
    let nonzero64 = |d: u64| (d, d != 0);
    ops.add("s_lshl_b32", s2c(move |a: u32, b: u32, _| nonzero32(a << (b & 31))));
    ops.add("s_lshr_b32", s2c(move |a: u32, b: u32, _| nonzero32(a >> (b & 31))));
    ops.add("s_ashr_i32", s2c(move |a: i32, b: u32, _| nonzero32((a >> (b & 31)) as u32)));
    ops.add("s_lshl_b64", s2c(move |a: u64, b: u32, _| nonzero64(a << (b & 63))));
    ops.add("s_lshr_b64", s2c(move |a: u64, b: u32, _| nonzero64(a >> (b & 63))));
    ops.add("s_ashr_i64", s2c(move |a: i64, b: u32, _| nonzero64((a >> (b & 63)) as u64)));
}

/// The bit position `at` if one was found, otherwise -1.
fn position(found: bool, at: u32) -> u32 {
    if found { at } else { u32::MAX }
}

fn counting(ops: &mut Ops) {
    ops.add("s_brev_b32", s1(u32::reverse_bits));
    ops.add("s_brev_b64", s1(u64::reverse_bits));
    ops.add("s_bcnt0_i32_b32", s1c(|a: u32| (a.count_zeros(), a.count_zeros() != 0)));
    ops.add("s_bcnt1_i32_b32", s1c(|a: u32| (a.count_ones(), a != 0)));
    ops.add("s_bcnt0_i32_b64", s1c(|a: u64| (a.count_zeros(), a.count_zeros() != 0)));
    ops.add("s_bcnt1_i32_b64", s1c(|a: u64| (a.count_ones(), a != 0)));
    ops.add("s_ff0_i32_b32", s1(|a: u32| position(a != u32::MAX, a.trailing_ones())));
    ops.add("s_ff1_i32_b32", s1(|a: u32| position(a != 0, a.trailing_zeros())));
    ops.add("s_ff0_i32_b64", s1(|a: u64| position(a != u64::MAX, a.trailing_ones())));
    ops.add("s_ff1_i32_b64", s1(|a: u64| position(a != 0, a.trailing_zeros())));
    ops.add("s_flbit_i32_b32", s1(|a: u32| position(a != 0, a.leading_zeros())));
    ops.add("s_flbit_i32_b64", s1(|a: u64| position(a != 0, a.leading_zeros())));
    ops.add("s_flbit_i32", s1(|a: i32| crate::semantics::valu::int32::first_bit_unlike_sign(a)));
    ops.add(
        "s_flbit_i32_i64",
        s1(|a: i64| {
            let flipped = a ^ a >> 63;
            position(flipped != 0, flipped.leading_zeros())
        }),
    );
}

fn bit_fields(ops: &mut Ops) {
    ops.add("s_bfm_b32", s2(|a: u32, b: u32| ((1u32 << (a & 31)) - 1) << (b & 31)));
    ops.add("s_bfm_b64", s2(|a: u32, b: u32| ((1u64 << (a & 63)) - 1) << (b & 63)));
    // S1 contains the offset in bits 4:0 (5:0 for 64-bit values) and the width in bits 22:16. These instructions set SCC; the manuals are
    // wrong about that (Mesa's errata).
    ops.add("s_bfe_u32", s2c(|a: u32, b: u32, _| scc_of(field(u64::from(a), b & 31, b >> 16 & 0x7f) as u32)));
    ops.add(
        "s_bfe_u64",
        s2c(|a: u64, b: u32, _| {
            let d = field(a, b & 63, b >> 16 & 0x7f);
            (d, d != 0)
        }),
    );
    ops.add(
        "s_bfe_i32",
        s2c(|a: i32, b: u32, _| {
            let width = (b >> 16 & 0x7f).min(32);
            scc_of(signed_field(i64::from(a), b & 31, width) as u32)
        }),
    );
    ops.add(
        "s_bfe_i64",
        s2c(|a: i64, b: u32, _| {
            let d = signed_field(a, b & 63, (b >> 16 & 0x7f).min(64));
            (d, d != 0)
        }),
    );
    for (name, value) in [("s_bitset0_b32", false), ("s_bitset1_b32", true)] {
        ops.add(name, bit_set(31, value, false));
    }
    for (name, value) in [("s_bitset0_b64", false), ("s_bitset1_b64", true)] {
        ops.add(name, bit_set(63, value, true));
    }
    ops.add(
        "s_bitreplicate_b64_b32",
        s1(|a: u32| (0..32).fold(0u64, |d, i| d | (u64::from(a >> i & 1) * 3) << (2 * i))),
    );
    ops.add("s_bitcmp0_b32", sc(|a: u32, b: u32| a >> (b & 31) & 1 == 0));
    ops.add("s_bitcmp1_b32", sc(|a: u32, b: u32| a >> (b & 31) & 1 == 1));
    ops.add("s_bitcmp0_b64", sc(|a: u64, b: u32| a >> (b & 63) & 1 == 0));
    ops.add("s_bitcmp1_b64", sc(|a: u64, b: u32| a >> (b & 63) & 1 == 1));
}

fn scc_of(d: u32) -> (u32, bool) {
    (d, d != 0)
}

fn field(a: u64, offset: u32, width: u32) -> u64 {
    let mask = if width >= 64 { u64::MAX } else { (1u64 << width) - 1 };
    a >> offset & mask
}

fn signed_field(a: i64, offset: u32, width: u32) -> i64 {
    if width == 0 { 0 } else { a >> offset << (64 - width) >> (64 - width) }
}

fn bit_set(position_mask: u32, value: bool, wide: bool) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let at = cx.scalar(&s.src[0], crate::core::value::Ty::B32)? & position_mask;
        let n = s.sdst as usize;
        let old = if wide { cx.w.pair(n) } else { u64::from(cx.w.s[n]) };
        let new = old & !(1 << at) | u64::from(value) << at;
        if wide {
            cx.w.set_pair(n, new);
        } else {
            cx.w.s[n] = new as u32;
        }
        Ok(Next::Fall)
    })
}

fn compares(ops: &mut Ops) {
    ops.add("s_cmp_eq_i32", sc(|a: i32, b: i32| a == b));
    ops.add("s_cmp_lg_i32", sc(|a: i32, b: i32| a != b));
    ops.add("s_cmp_gt_i32", sc(|a: i32, b: i32| a > b));
    ops.add("s_cmp_ge_i32", sc(|a: i32, b: i32| a >= b));
    ops.add("s_cmp_lt_i32", sc(|a: i32, b: i32| a < b));
    ops.add("s_cmp_le_i32", sc(|a: i32, b: i32| a <= b));
    ops.add("s_cmp_eq_u32", sc(|a: u32, b: u32| a == b));
    ops.add("s_cmp_lg_u32", sc(|a: u32, b: u32| a != b));
    ops.add("s_cmp_gt_u32", sc(|a: u32, b: u32| a > b));
    ops.add("s_cmp_ge_u32", sc(|a: u32, b: u32| a >= b));
    ops.add("s_cmp_lt_u32", sc(|a: u32, b: u32| a < b));
    ops.add("s_cmp_le_u32", sc(|a: u32, b: u32| a <= b));
    ops.add("s_cmp_eq_u64", sc(|a: u64, b: u64| a == b));
    ops.add("s_cmp_lg_u64", sc(|a: u64, b: u64| a != b));
    let signed: [(&'static str, fn(i32, i32) -> bool); 6] = [
        ("s_cmpk_eq_i32", |a, k| a == k),
        ("s_cmpk_lg_i32", |a, k| a != k),
        ("s_cmpk_gt_i32", |a, k| a > k),
        ("s_cmpk_ge_i32", |a, k| a >= k),
        ("s_cmpk_lt_i32", |a, k| a < k),
        ("s_cmpk_le_i32", |a, k| a <= k),
    ];
    for (name, f) in signed {
        ops.add(name, compare_immediate(move |a, k| f(a as i32, i32::from(k as i16))));
    }
    let unsigned: [(&'static str, fn(u32, u32) -> bool); 6] = [
        ("s_cmpk_eq_u32", |a, k| a == k),
        ("s_cmpk_lg_u32", |a, k| a != k),
        ("s_cmpk_gt_u32", |a, k| a > k),
        ("s_cmpk_ge_u32", |a, k| a >= k),
        ("s_cmpk_lt_u32", |a, k| a < k),
        ("s_cmpk_le_u32", |a, k| a <= k),
    ];
    for (name, f) in unsigned {
        ops.add(name, compare_immediate(move |a, k| f(a, u32::from(k as u16))));
    }
}

fn compare_immediate(f: impl Fn(u32, i64) -> bool + Send + Sync + 'static) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let a = cx.scalar(&s.src[0], crate::core::value::Ty::B32)?;
        cx.w.scc = f(a, s.imm);
        Ok(Next::Fall)
    })
}

fn immediates(ops: &mut Ops) {
    let move_immediate = || {
        Op::new(|cx: &mut Cx<'_>, s: &Step| {
            cx.w.s[s.sdst as usize] = i32::from(s.imm as i16) as u32;
            Ok(Next::Fall)
        })
    };
    ops.add("s_movk_i32", move_immediate());
    ops.add("s_cmovk_i32", if_scc(move_immediate()));
    ops.add(
        "s_addk_i32",
        Op::new(|cx: &mut Cx<'_>, s: &Step| {
            let (sum, overflow) = (cx.w.s[s.sdst as usize] as i32).overflowing_add(i32::from(s.imm as i16));
            (cx.w.s[s.sdst as usize], cx.w.scc) = (sum as u32, overflow);
            Ok(Next::Fall)
        }),
    );
    ops.add(
        "s_mulk_i32",
        Op::new(|cx: &mut Cx<'_>, s: &Step| {
            let d = &mut cx.w.s[s.sdst as usize];
            *d = d.wrapping_mul(i32::from(s.imm as i16) as u32);
            Ok(Next::Fall)
        }),
    );
}

fn exec_masks(ops: &mut Ops) {
    let list: [([&'static str; 2], fn(u64, u64) -> u64); 10] = [
        (["s_and_saveexec_b64", "s_and_saveexec_b32"], |a, exec| a & exec),
        (["s_or_saveexec_b64", "s_or_saveexec_b32"], |a, exec| a | exec),
        (["s_xor_saveexec_b64", "s_xor_saveexec_b32"], |a, exec| a ^ exec),
        (["s_andn2_saveexec_b64", "s_andn2_saveexec_b32"], |a, exec| a & !exec),
        (["s_orn2_saveexec_b64", "s_orn2_saveexec_b32"], |a, exec| a | !exec),
        (["s_nand_saveexec_b64", "s_nand_saveexec_b32"], |a, exec| !(a & exec)),
        (["s_nor_saveexec_b64", "s_nor_saveexec_b32"], |a, exec| !(a | exec)),
        (["s_xnor_saveexec_b64", "s_xnor_saveexec_b32"], |a, exec| !(a ^ exec)),
        (["s_andn1_saveexec_b64", "s_andn1_saveexec_b32"], |a, exec| !a & exec),
        (["s_orn1_saveexec_b64", "s_orn1_saveexec_b32"], |a, exec| !a | exec),
    ];
    for ([wide, narrow], f) in list {
        ops.add(wide, exec_mask(f, true));
        ops.add(narrow, exec_word(f, true));
    }
    let and: [([&'static str; 2], fn(u64, u64) -> u64); 2] = [
        (["s_andn1_wrexec_b64", "s_andn1_wrexec_b32"], |a, exec| !a & exec),
        (["s_andn2_wrexec_b64", "s_andn2_wrexec_b32"], |a, exec| a & !exec),
    ];
    for ([wide, narrow], f) in and {
        ops.add(wide, exec_mask(f, false));
        ops.add(narrow, exec_word(f, false));
    }
}

/// EXEC = f(S0, EXEC). D becomes the old EXEC if `save` is set, otherwise the new one.
fn exec_mask(f: fn(u64, u64) -> u64, save: bool) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let a = cx.scalar_wide(&s.src[0], crate::core::value::Ty::B64)?;
        let old = cx.w.exec();
        let new = f(a, old);
        cx.w.set_pair(s.sdst as usize, if save { old } else { new });
        cx.w.set_exec(new);
        cx.w.scc = new != 0;
        Ok(Next::Fall)
    })
}

/// As [`exec_mask`], for the 32-bit EXEC.
fn exec_word(f: fn(u64, u64) -> u64, save: bool) -> Op {
    const EXEC: usize = gcn_isa::reg::EXEC.index as usize;
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let a = cx.scalar(&s.src[0], crate::core::value::Ty::B32)?;
        let old = cx.w.s[EXEC];
        let new = f(a.into(), old.into()) as u32;
        cx.w.s[s.sdst as usize] = if save { old } else { new };
        cx.w.s[EXEC] = new;
        cx.w.scc = new != 0;
        Ok(Next::Fall)
    })
}
