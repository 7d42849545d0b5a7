//! Instructions that access other lanes or a part of a register: tied destinations, DPP, SDWA, halves.

use gcn_dsl::{isa, isa::Options, prelude::*};

use super::{TARGETS, assert_text, numbers};

gcn_kernel! {
    /// One lane is replaced, one lane is read, and two registers are exchanged.
    #[workgroup(64)]
    fn lanes(x: &[u32], y: &[u32], k: u32, v: u32, out: &mut [u32]) {
        let i = global_id().x;
        let n = x.len();
        let one = isa::v_readlane_b32(x[i], k);
        out[i] = isa::v_writelane_b32(x[i], v, k);
        out[i + n] = isa::v_writelane_b32(y[i], one, 5);
        let (a, b) = isa::v_swap_b32(x[i], y[i]);
        out[i + 2 * n] = a;
        out[i + 3 * n] = b;
        out[i + 4 * n] = x[i] - y[i];
    }
}

#[test]
fn lanes_are_written_and_registers_swapped() {
    let (x, y) = (numbers(64, 51), numbers(64, 53));
    for target in TARGETS {
        for k in [0, 17, 63] {
            let mut out = vec![0; 64 * 5];
            lanes.launch(&Device::simulator(target), Grid::x(1), (&x, &y, k, 7, &mut out)).unwrap();
            for i in 0..64 {
                assert_eq!(out[i], if i == k as usize { 7 } else { x[i] }, "{target} {k} {i}");
                assert_eq!(out[i + 64], if i == 5 { x[k as usize] } else { y[i] }, "{target} {k} {i}");
                assert_eq!((out[i + 128], out[i + 192]), (y[i], x[i]));
                // The exchanged values are still available to other instructions.
                assert_eq!(out[i + 256], x[i].wrapping_sub(y[i]));
            }
        }
    }
}

gcn_kernel! {
    /// Shifts in rows of 16, with and without an old value; a broadcast to some rows.
    #[workgroup(64)]
    fn dpp(x: &[u32], old: &[u32], out: &mut [u32]) {
        let i = global_id().x;
        let n = x.len();
        out[i] = isa::v_mov_b32_dpp(old[i], x[i], Options::new().row_shr(3));
        out[i + n] = isa::v_mov_b32_dpp(old[i], x[i], Options::new().row_shr(3).bound_ctrl());
        out[i + 2 * n] = isa::v_add_u32_dpp(old[i], x[i], 10u32 + old[i], Options::new().row_mirror().row_mask(0b0110));
        out[i + 3 * n] = isa::v_mov_b32_dpp(old[i], x[i], Options::new().quad_perm([3, 3, 0, 1]));
        out[i + 4 * n] = isa::v_mov_b32_dpp(old[i], x[i], Options::new().row_newbcast(9).bank_mask(0b1000));
    }
}

#[test]
fn dpp_keeps_the_old_value_where_nothing_is_written() {
    let (x, old) = (numbers(64, 61), numbers(64, 63));
    for target in TARGETS.into_iter().filter(|t| *t >= Target::GFX90A) {
        let mut out = vec![0; 64 * 5];
        dpp.launch(&Device::simulator(target), Grid::x(1), (&x, &old, &mut out)).unwrap();
        for i in 0..64 {
            let shifted = (i % 16 >= 3).then(|| x[i - 3]);
            assert_eq!(out[i], shifted.unwrap_or(old[i]), "{target} {i}");
            assert_eq!(out[i + 64], shifted.unwrap_or(0), "{target} {i}");
            let mirrored = x[i / 16 * 16 + 15 - i % 16].wrapping_add(10u32.wrapping_add(old[i]));
            assert_eq!(out[i + 128], if (16..48).contains(&i) { mirrored } else { old[i] }, "{target} {i}");
            assert_eq!(out[i + 192], x[i / 4 * 4 + [3, 3, 0, 1][i % 4]], "{target} {i}");
            let bank = i % 16 / 4 == 3;
            assert_eq!(out[i + 256], if bank { x[i / 16 * 16 + 9] } else { old[i] }, "{target} {i}");
        }
    }
}

gcn_kernel! {
    /// Bytes and words of registers.
    #[workgroup(64)]
    fn sdwa(x: &[u32], y: &[u32], out: &mut [u32]) {
        let i = global_id().x;
        let n = x.len();
        let bytes = Options::new().src0_sel(isa::Sel::Byte2).src1_sel(isa::Sel::Word1);
        out[i] = isa::v_add_u32_sdwa(0, x[i], y[i], bytes);
        // The sum is written to byte 1; the other bytes are unchanged.
        out[i + n] = isa::v_add_u32_sdwa(y[i], x[i], y[i], bytes.dst_sel(isa::Sel::Byte1));
        out[i + 2 * n] =
            isa::v_add_u32_sdwa(y[i], isa::sext(x[i]), y[i], bytes.dst_sel(isa::Sel::Word0).dst_unused(isa::DstUnused::Pad));
        let below = isa::v_cmp_lt_u32_sdwa(x[i], y[i], bytes);
        out[i + 3 * n] = isa::v_cndmask_b32(0, 1, below);
    }
}

#[test]
fn sdwa_selects_parts() {
    let (x, y) = (numbers(64, 71), numbers(64, 73));
    for target in TARGETS {
        let mut out = vec![0; 64 * 4];
        sdwa.launch(&Device::simulator(target), Grid::x(1), (&x, &y, &mut out)).unwrap();
        for i in 0..64 {
            let (a, b) = (x[i] >> 16 & 0xff, y[i] >> 16);
            assert_eq!(out[i], a + b, "{target} {i}");
            assert_eq!(out[i + 64], y[i] & !0xff00 | ((a + b) & 0xff) << 8, "{target} {i}");
            let signed = a as u8 as i8 as u32;
            assert_eq!(out[i + 128], signed.wrapping_add(b) & 0xffff, "{target} {i}");
            assert_eq!(out[i + 192], u32::from(a < b), "{target} {i}");
        }
    }
}

gcn_kernel! {
    /// 16-bit results in one half of a register; the other half is unchanged.
    #[workgroup(64)]
    fn halves(x: &[u32], y: &[u32], out: &mut [u32]) {
        let i = global_id().x;
        let n = x.len();
        let low = isa::v_mad_u16_with(y[i], x[i], 3u32, 1u32, Options::new());
        out[i] = low;
        out[i + n] = isa::v_mad_u16_with(y[i], x[i], 3u32, 1u32, Options::new().op_sel(0b1001));
        out[i + 2 * n] = isa::v_mad_u16(x[i], 3u32, 1u32) & 0xffff;
    }
}

#[test]
fn the_half_that_is_not_written_keeps_its_value() {
    let (x, y) = (numbers(64, 81), numbers(64, 83));
    for target in TARGETS {
        let mut out = vec![0; 64 * 3];
        halves.launch(&Device::simulator(target), Grid::x(1), (&x, &y, &mut out)).unwrap();
        let mad = |v: u32| (v & 0xffff).wrapping_mul(3).wrapping_add(1) & 0xffff;
        for i in 0..64 {
            assert_eq!(out[i], y[i] & 0xffff_0000 | mad(x[i]), "{target} {i}");
            assert_eq!(out[i + 64], y[i] & 0xffff | mad(x[i] >> 16) << 16, "{target} {i}");
            assert_eq!(out[i + 128], mad(x[i]), "{target} {i}");
        }
    }
}

gcn_kernel! {
    /// Comparisons that also write EXEC: the following code is executed by all lanes again.
    #[workgroup(64)]
    fn exec(x: &[u32], limit: u32, out: &mut [u32], masks: &mut [u64]) {
        let i = global_id().x;
        let below = isa::v_cmpx_lt_u32(x[i], limit);
        out[i] = isa::v_cndmask_b32(1, 2, below);
        let (old, new, any) = isa::s_and_saveexec_b64(below);
        out[i] = out[i] + 10;
        if i == 0 {
            masks[0] = splat(old);
            masks[1] = splat(new);
            masks[2] = select(any, 1u64, 0u64);
        }
    }
}

#[test]
fn exec_is_given_back() {
    let x = numbers(64, 91);
    for target in TARGETS {
        for limit in [0, 1 << 31] {
            let (mut out, mut masks) = (vec![0; 64], vec![0; 3]);
            exec.launch(&Device::simulator(target), Grid::x(1), (&x, limit, &mut out, &mut masks)).unwrap();
            let expected: Vec<u32> = x.iter().map(|x| if *x < limit { 12 } else { 11 }).collect();
            assert_eq!(out, expected, "{target}");
            let mask = x.iter().enumerate().fold(0u64, |m, (i, x)| m | u64::from(*x < limit) << i);
            assert_eq!(masks, [u64::MAX, mask, u64::from(mask != 0)], "{target}");
        }
    }
}

gcn_kernel! {
    /// Matrix instructions on tuples, with a broadcast of A's blocks.
    #[workgroup(64)]
    #[targets(gfx942)]
    fn matrix(a: &[f32], out: &mut [f32]) {
        let i = global_id().x;
        let zero = Vector::<f32, 4>::from([splat(0.0f32), splat(0.0f32), splat(0.0f32), splat(0.0f32)]);
        let d = isa::v_mfma_f32_4x4x1_16b_f32_with(a[i], 1.0f32 + a[i], zero, Options::new().cbsz(4).abid(2));
        let d = isa::v_mfma_f32_4x4x1_16b_f32(a[i], 1.0f32 + a[i], d);
        #[unroll]
        for r in 0..4 {
            out[i * 4 + r] = d.get(r as usize);
        }
    }
}

#[test]
fn a_matrix_instruction_broadcasts_a_block() {
    let a: Vec<f32> = (0..64).map(|i| (i * 7 % 32) as f32 - 9.0).collect();
    let mut out = vec![0.0; 256];
    matrix.launch(&Device::simulator(Target::GFX942), Grid::x(1), (&a, &mut out)).unwrap();
    // 16 blocks of 4 x 4: lane 4 b + j has column j of B and row j of A of block b; register r is row r.
    for lane in 0..64 {
        for r in 0..4 {
            let block = lane / 4;
            let b = 1.0 + a[lane];
            let expected = a[4 * 2 + r] * b + a[4 * block + r] * b;
            assert_eq!(out[lane * 4 + r], expected, "lane {lane} row {r}");
        }
    }
    assert_text(&matrix.build(Target::GFX942).unwrap(), &["cbsz:4 abid:2"]);
}
