//! Instructions that came with gfx1250: results against plain Rust, and refusals with their reasons.

use std::collections::BTreeSet;

use gcn_isa::Target;
use gcn_isa::hazards::{Config, Grade};
use gcn_isa::table;
use gcn_isa::target::{Family, WaveSize};
use gcn_sim::{
    KernelState, Machine, Memory, Mode, Options, Sanitize, SimError, Stats, UserSgprs, coverage, run,
};
use half::{bf16, f16};

use super::harness::{assemble, state};

/// Runs `body` in one wave, whose lanes have `inputs` in v[2:3], v[4:5] and v[6:7]. Returns v[8:9] of each lane.
fn results(inputs: [[u64; 32]; 3], body: &str) -> [u64; 32] {
    let text = format!(
        "s_load_b64 s[2:3], s[0:1], 0x0
        v_lshlrev_b32 v1, 3, v0
        s_wait_kmcnt 0x0
        global_load_b64 v[2:3], v1, s[2:3]
        global_load_b64 v[4:5], v1, s[2:3] offset:256
        global_load_b64 v[6:7], v1, s[2:3] offset:512
        v_mov_b32 v8, 0
        v_mov_b32 v9, 0
        s_wait_loadcnt 0x0
        {body}
        global_store_b64 v1, v[8:9], s[2:3] offset:768
        s_endpgm"
    );
    let user_sgprs = UserSgprs { kernarg_segment_ptr: true, ..UserSgprs::default() };
    let (wave_size, lds_bytes) = (WaveSize::W32, 1024);
    let kernel = KernelState {
        wave_size,
        lds_bytes,
        private_bytes: 64,
        vgprs: 288,
        agprs: 0,
        sgprs: 32,
        user_sgprs,
        ..state()
    };
    let machine = Machine::new(Target::GFX1250, &assemble(Target::GFX1250, &text), kernel).unwrap();
    let mut memory = Memory::new();
    let at = memory.alloc(1024);
    let bytes: Vec<u8> = inputs.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    memory.write(at, &bytes).unwrap();
    run(&machine, &mut memory, [1, 1, 1], [32, 1, 1], &at.to_le_bytes(), &Options::default()).unwrap();
    let bytes = memory.read(at + 768, 256).unwrap();
    std::array::from_fn(|lane| u64::from_le_bytes(bytes[8 * lane..][..8].try_into().unwrap()))
}

#[test]
fn a_literal_of_64_bits_takes_part_in_a_multiply_add() {
    let a = std::array::from_fn(|i| (i as f64 * 1.7 - 11.3).to_bits());
    let b = std::array::from_fn(|i| (3.1 / (i as f64 + 0.7)).to_bits());
    let literal = f64::from_bits(0x3ff1_2345_6789_abcd);
    let added = results([a, b, [0; 32]], "v_fmaak_f64 v[8:9], v[2:3], v[4:5], 0x3ff123456789abcd");
    let multiplied = results([a, b, [0; 32]], "v_fmamk_f64 v[8:9], v[2:3], 0x3ff123456789abcd, v[4:5]");
    for lane in 0..32 {
        let [a, b] = [a[lane], b[lane]].map(f64::from_bits);
        assert_eq!(f64::from_bits(added[lane]), a.mul_add(b, literal));
        assert_eq!(f64::from_bits(multiplied[lane]), a.mul_add(literal, b));
    }
}

/// Both halves of a VOPD instruction read their sources before either writes, also if the first one has a result of 64 bits.
#[test]
fn the_second_half_reads_what_the_first_one_overwrites() {
    let old = std::array::from_fn(|i| 0x9e37_79b9_7f4a_7c15u64.rotate_left(i as u32));
    let a = std::array::from_fn(|i| (i as f64 * 1.7 - 11.3).to_bits());
    let b = std::array::from_fn(|i| (3.1 / (i as f64 + 0.7)).to_bits());
    for (half, shift) in [("v2", 0), ("v3", 32)] {
        let body = format!(
            "v_dual_add_f64 v[2:3], v[4:5], v[6:7] :: v_dual_mov_b32 v9, {half}\nv_mov_b32 v8, v9\nv_mov_b32 v9, v3"
        );
        let got = results([old, a, b], &body);
        for lane in 0..32 {
            let sum = (f64::from_bits(a[lane]) + f64::from_bits(b[lane])).to_bits();
            assert_eq!(got[lane], (old[lane] >> shift & 0xffff_ffff) | sum >> 32 << 32, "{half}");
        }
    }
}

/// Results are rounded correctly: the error bound of the hardware is not documented.
#[test]
fn transcendental_instructions_take_bf16() {
    let x: [bf16; 32] = std::array::from_fn(|i| bf16::from_f64(0.037 * 1.31f64.powi(i as i32)));
    let input = x.map(|x| u64::from(x.to_bits()));
    let list: [(&str, fn(f64) -> f64); 7] = [
        ("rcp", |x| 1.0 / x),
        ("rsq", |x| 1.0 / x.sqrt()),
        ("sqrt", f64::sqrt),
        ("exp", f64::exp2),
        ("log", f64::log2),
        ("tanh", f64::tanh),
        // In turns; of half a turn it is exactly 0.
        ("sin", |x| if (2.0 * x).fract() == 0.0 { 0.0 } else { (x.fract() * std::f64::consts::TAU).sin() }),
    ];
    for (name, f) in list {
        let plain = results([input, [0; 32], [0; 32]], &format!("v_{name}_bf16_e32 v8, v2"));
        let negated = results([input, [0; 32], [0; 32]], &format!("v_{name}_bf16_e64 v8, -v2"));
        for (lane, x) in x.iter().enumerate() {
            let near = |bits: u64, exact: f64| {
                let (got, rounded) = (bf16::from_bits(bits as u16), bf16::from_f32(exact as f32));
                got.is_nan() && rounded.is_nan() || got == rounded
            };
            assert!(near(plain[lane], f(x.to_f64())), "{name} of {x}: {:#x}", plain[lane]);
            assert!(near(negated[lane], f(-x.to_f64())), "{name} of -{x}: {:#x}", negated[lane]);
            assert_eq!(plain[lane] >> 16, 0, "{name}: the upper half is kept");
        }
    }
}

#[test]
fn packed_integers_have_the_least_and_the_greatest_of_three() {
    let inputs: [[u64; 32]; 3] = std::array::from_fn(|n| {
        std::array::from_fn(|i| {
            u64::from((i as u32 + 1).wrapping_mul(0x9e37_79b9).rotate_left(11 * n as u32))
        })
    });
    let list: [(&str, fn([u16; 3]) -> u16); 4] = [
        ("min3_u16", |x| x.into_iter().min().unwrap_or(0)),
        ("max3_u16", |x| x.into_iter().max().unwrap_or(0)),
        ("min3_i16", |x| x.into_iter().map(|x| x as i16).min().unwrap_or(0) as u16),
        ("max3_i16", |x| x.into_iter().map(|x| x as i16).max().unwrap_or(0) as u16),
    ];
    for (name, f) in list {
        let got = results(inputs, &format!("v_pk_{name} v8, v2, v4, v6"));
        for lane in 0..32 {
            let half = |shift: u32| u64::from(f(inputs.map(|x| (x[lane] >> shift) as u16))) << shift;
            assert_eq!(got[lane], half(0) | half(16), "{name}");
        }
    }
}

#[test]
fn long_branches_add_to_the_program_counter() {
    let body = "s_mov_b32 s6, 0
        v_add_nc_u32_e32 v8, 2, v8
        s_add_co_i32 s6, s6, 1
        s_cmp_eq_u32 s6, 3
        s_cbranch_scc1 out
        s_add_pc_i64 0xffffffffffffffe4
        out:
        s_add_pc_i64 4
        v_mov_b32_e32 v8, 0
        s_mov_b64 s[8:9], 4
        s_add_pc_i64 s[8:9]
        v_mov_b32_e32 v8, 0";
    assert_eq!(results([[0; 32]; 3], body), [6; 32]);
}

fn lanes(f: impl Fn(u32) -> u32) -> [u64; 32] {
    std::array::from_fn(|lane| f(lane as u32).into())
}

/// The result of a transcendental instruction is read too early only if the upper bits of its number are the same.
#[test]
fn strict_mode_compares_full_register_numbers() {
    let strict = |msb: &str| {
        let text = format!(
            "s_branch over
            s_nop 0
            over: s_set_vgpr_msb 0x40
            v_exp_f32_e32 v1, v2
            s_set_vgpr_msb {msb}
            v_add_f32_e32 v3, v1, v1
            s_endpgm"
        );
        let kernel = KernelState { wave_size: WaveSize::W32, vgprs: 512, agprs: 0, sgprs: 32, ..state() };
        let machine = Machine::new(Target::GFX1250, &assemble(Target::GFX1250, &text), kernel).unwrap();
        let options = Options { mode: Mode::Strict, ..Options::default() };
        run(&machine, &mut Memory::new(), [1, 1, 1], [32, 1, 1], &[], &options).map(|_| ())
    };
    strict("0x4000").unwrap();
    let error = strict("0x4005").unwrap_err().to_string();
    assert!(error.contains("trans"), "{error}");
}

/// HIP's `amd_warp_functions.h` states these results for its shuffles.
#[test]
fn lanes_read_other_lanes_of_their_group() {
    let data = lanes(|lane| 100 + lane);
    for (size, selector) in [(32, 5), (16, 3), (8, 2), (4, 1), (8, 40), (32, 31), (1, 0)] {
        let read = |name: &str, from: &dyn Fn(u32, u32) -> u32| {
            let got = results(
                [data, [0; 32], [0; 32]],
                &format!("v_permlane_{name}_b32 v8, v2, {selector}, {size}"),
            );
            assert_eq!(
                got,
                lanes(|lane| 100 + from(lane, lane / size * size)),
                "{name} {selector} of {size}"
            );
        };
        read("bcast", &|_, start| start + selector % size);
        read("up", &|lane, start| if lane - start < selector { lane } else { lane - selector });
        read("down", &|lane, start| if lane - start + selector < size { lane + selector } else { lane });
        read("xor", &|lane, start| if (lane - start) ^ selector < size { lane ^ selector } else { lane });
    }
}

/// The expected values are those in the tests of AMD's emulator (rocjitsu), or of plain Rust where no sum overflows.
#[test]
fn sums_with_limits_and_narrow_integers_are_those_of_amds_emulator() {
    let one = |a: u32, b: u32, c: u32, body: &str| {
        results([[a.into(); 32], [b.into(); 32], [c.into(); 32]], body)[7] as u32
    };
    let (a, b, c) = (0x8ad0_7530, 0xd8f0_2710, 0x8300_7d00);
    assert_eq!(one(a, b, c, "v_pk_add_max_i16 v8, v2, v4, v6"), 0x8300_7fff);
    assert_eq!(one(a, b, c, "v_pk_add_min_i16 v8, v2, v4, v6"), 0x8000_7d00);
    let (a, b, c) = (0x0064_ea60, 0x00c8_2710, 0x0190_fde8);
    assert_eq!(one(a, b, c, "v_pk_add_max_u16 v8, v2, v4, v6"), 0x0190_ffff);
    assert_eq!(one(a, b, c, "v_pk_add_min_u16 v8, v2, v4, v6"), 0x012c_fde8);
    for (name, expected) in [("max_i32", 0xffff_fffd), ("min_i32", 0xffff_fff6)] {
        assert_eq!(one(0xffff_fffb, 2, 0xffff_fff6, &format!("v_add_{name} v8, v2, v4, v6")), expected);
    }
    for (name, expected) in [("max_u32", 30), ("min_u32", 25)] {
        assert_eq!(one(10, 20, 25, &format!("v_add_{name} v8, v2, v4, v6")), expected);
    }
    assert_eq!(one(0x0807_f8f7, 0, 0, "v_sat_pk4_i4_i8 v8.l, v2"), 0x7788);
    assert_eq!(one(0xff10_0f00, 0, 0, "v_sat_pk4_u4_u8 v8.l, v2"), 0xfff0);
}

#[test]
fn tables_of_sixteen_elements_are_looked_up() {
    let numbers = 0x0123_4567_89ab_cdef_u64;
    let (low, high) = (0x0123_4567_89ab_cdef_u64, 0xfedc_ba98_7654_3210);
    let table = |bits: u32| {
        let all = u128::from(low) | u128::from(high) << 64;
        (0..16)
            .map(|i| (all >> (bits * (numbers >> (4 * i) & 15) as u32) & ((1 << bits) - 1)) << (bits * i))
            .sum::<u128>()
    };
    // The upper part of the table is source 0.
    let got =
        results([[high; 32], [low; 32], [numbers; 32]], "v_perm_pk16_b8_u4 v[8:11], v[2:3], v[4:5], v[6:7]");
    assert_eq!(got, [table(8) as u64; 32]);
    let got =
        results([[high; 32], [low; 32], [numbers; 32]], "v_perm_pk16_b6_u4 v[8:10], v2, v[4:5], v[6:7]");
    assert_eq!(got, [table(6) as u64; 32]);
    let got = results(
        [[low >> 32; 32], [low & 0xffff_ffff; 32], [numbers; 32]],
        "v_perm_pk16_b4_u4 v[8:9], v2, v4, v[6:7]",
    );
    assert_eq!(got, [table(4) as u64; 32]);
}

/// The value of an OCP e4m3 number other than NaN.
fn fp8(code: u32) -> f64 {
    let (sign, exponent, fraction) =
        (1.0 - 2.0 * f64::from(code >> 7 & 1), code >> 3 & 15, f64::from(code & 7) / 8.0);
    match exponent {
        0 => sign * fraction * 2f64.powi(-6),
        _ => sign * (1.0 + fraction) * 2f64.powi(exponent as i32 - 7),
    }
}

#[test]
fn eight_halves_are_divided_by_a_scale_and_become_bytes() {
    let code = |lane: usize, i: usize| ((8 * lane + i) as u32 * 37) & 0xfe;
    let pairs = |first: usize| {
        std::array::from_fn(|lane| {
            let half = |i: usize| u64::from(f16::from_f64(4.0 * fp8(code(lane, first + i))).to_bits());
            half(0) | half(1) << 16 | half(2) << 32 | half(3) << 48
        })
    };
    let scale = [4f32.to_bits().into(); 32];
    let got = results([pairs(0), pairs(4), scale], "v_cvt_scalef32_pk8_fp8_f16 v[8:9], v[2:5], v6");
    for (lane, got) in got.into_iter().enumerate() {
        assert_eq!(got.to_le_bytes().map(u32::from), std::array::from_fn(|i| code(lane, i)), "{lane}");
    }
}

/// Eight-bit floats and f16: against the definition of the OCP formats.
#[test]
fn eight_bit_floats_become_halves_and_back() {
    let codes = lanes(|lane| lane * 0x0404_0404 + 0x7800_0180);
    for byte in 0..4 {
        let got = results([codes, [0; 32], [0; 32]], &format!("v_cvt_f16_fp8_e64 v8.l, v2 byte_sel:{byte}"));
        for (lane, code) in codes.iter().map(|code| *code as u32 >> (8 * byte) & 0xff).enumerate() {
            let half = f16::from_bits(got[lane] as u16).to_f64();
            if code & 0x7f == 0x7f {
                assert!(half.is_nan());
            } else {
                assert_eq!(half, fp8(code), "{code:#x}");
            }
        }
    }
    // The upper byte of each half of bf8 is bf8: the format is the upper byte of f16.
    let got = results([lanes(|lane| lane * 0x0101), [0; 32], [0; 32]], "v_cvt_pk_f16_bf8 v8, v2");
    assert_eq!(got, lanes(|lane| lane << 8 | lane << 24));
    let got = results(
        [lanes(|lane| lane << 8 | (lane + 0x40) << 24), [0; 32], [0; 32]],
        "v_cvt_pk_bf8_f16 v8.l, v2",
    );
    assert_eq!(got, lanes(|lane| lane | (lane + 0x40) << 8));
}

#[test]
fn mixed_multiply_adds_take_bf16() {
    let x: [bf16; 32] = std::array::from_fn(|i| bf16::from_f64(0.73 * i as f64 - 9.1));
    let y = std::array::from_fn::<f32, 32, _>(|i| 1.7 / (i as f32 + 0.3));
    let inputs = [
        x.map(|x| u64::from(x.to_bits()) << 16),
        y.map(|y| y.to_bits().into()),
        y.map(|y| (-y).to_bits().into()),
    ];
    let whole = results(inputs, "v_fma_mix_f32_bf16 v8, v2, v4, v6 op_sel:[1,0,0] op_sel_hi:[1,0,0]");
    let low = results(inputs, "v_fma_mixlo_bf16 v8, v2, v4, v6 op_sel:[1,0,0] op_sel_hi:[1,0,0]");
    let high = results(inputs, "v_fma_mixhi_bf16 v8, v2, v4, v6 op_sel:[1,0,0] op_sel_hi:[1,0,0]");
    for lane in 0..32 {
        let exact = x[lane].to_f32().mul_add(y[lane], -y[lane]);
        assert_eq!(whole[lane] as u32, exact.to_bits());
        assert_eq!(low[lane], u64::from(bf16::from_f32(exact).to_bits()));
        assert_eq!(high[lane], u64::from(bf16::from_f32(exact).to_bits()) << 16);
    }
}

/// A value of which every byte differs from lane to lane.
fn different(lane: usize) -> u64 {
    0x1357_9bdf_0246_8ace ^ (lane as u64 * 0x0101_0101_0101_0101)
}

/// A flat address of a lane's scratch is what LLVM 22 computes when it casts a pointer: the base, plus the lane's number from bit 52 on, plus
/// the private address. LLVM casts back by subtracting the lower half of the base, and compares the upper halves to find out whether an
/// address is one of scratch.
#[test]
fn scratch_has_flat_addresses() {
    let input = std::array::from_fn(different);
    let cast = "v_mbcnt_lo_u32_b32 v20, -1, 0
        v_lshlrev_b32 v11, 20, v20
        v_mov_b32 v10, 24
        v_add_nc_u64 v[10:11], src_flat_scratch_base_lo, v[10:11]";
    let through = |access: &str| results([input, [0; 32], [0; 32]], &format!("{cast}\n{access}"));
    // Stored by a flat instruction and loaded by one of scratch, and the other way around.
    let stored = "flat_store_b64 v[10:11], v[2:3]
        s_wait_storecnt_dscnt 0x0
        scratch_load_b64 v[8:9], off, off offset:24
        s_wait_loadcnt 0x0";
    assert_eq!(through(stored), input);
    let loaded = "scratch_store_b64 off, v[2:3], off offset:20
        s_wait_storecnt 0x0
        flat_load_b64 v[8:9], v[10:11] offset:-4
        s_wait_loadcnt_dscnt 0x0";
    assert_eq!(through(loaded), input);
    let back = "v_xor_b32 v9, src_flat_scratch_base_hi, v11
        v_cmp_gt_u32 vcc_lo, 0x4000000, v9
        v_cndmask_b32 v9, 0, 1, vcc_lo
        v_subrev_nc_u32 v8, src_flat_scratch_base_lo, v10";
    assert_eq!(through(back), [1 << 32 | 24; 32]);
    let global = "v_xor_b32 v9, src_flat_scratch_base_hi, s3
        v_cmp_gt_u32 vcc_lo, 0x4000000, v9
        v_cndmask_b32 v8, 0, 1, vcc_lo
        v_mov_b32 v9, 0";
    assert_eq!(through(global), [0; 32]);
}

/// As in AMD's emulator, the offset in the register counts elements, and the others count bytes.
#[test]
fn the_offset_in_scratch_may_count_elements() {
    let input = std::array::from_fn(different);
    let body = "v_mov_b32 v20, 3
        s_mov_b32 s4, 8
        scratch_store_b64 v20, v[2:3], s4 offset:4 scale_offset
        s_wait_storecnt 0x0
        scratch_load_b64 v[8:9], off, off offset:36
        s_wait_loadcnt 0x0";
    assert_eq!(results([input, [0; 32], [0; 32]], body), input);
}

/// The fields are those that LLVM 22 reads to compute the ID of a workgroup, which is in no cluster.
#[test]
fn a_workgroup_is_in_no_cluster() {
    let read = |field: &str| {
        let body = format!("s_getreg_b32 s4, hwreg(HW_REG_IB_STS2, {field})\nv_mov_b32 v8, s4");
        run_strictly(&body).map_err(|error| assert!(error.contains("hardware register"), "{error}"))
    };
    assert_eq!(
        results([[7; 32]; 3], "s_getreg_b32 s4, hwreg(HW_REG_IB_STS2, 6, 4)\nv_mov_b32 v8, s4"),
        [0; 32]
    );
    assert_eq!(read("21, 4"), Ok(()));
    assert_eq!(read("6, 5"), Err(()));
}

/// The parts of M0 are those of the RDNA ISA; the upper bits of VGPRs are added, as LLVM 22 does.
#[test]
fn relative_moves_add_m0_to_full_numbers() {
    let input = std::array::from_fn(different);
    let run = |body: &str| results([input, [0; 32], [0; 32]], body);
    let low = input.map(|x| x & 0xffff_ffff);
    let high = input.map(|x| x >> 32);
    assert_eq!(run("s_mov_b32 m0, 2\nv_movrels_b32 v8, v1"), high);
    assert_eq!(run("s_mov_b32 m0, 5\nv_movreld_b32 v3, v2"), low);
    assert_eq!(run("s_mov_b32 m0, 1\nv_movrelsd_b32 v7, v2"), high);
    assert_eq!(run("s_mov_b32 m0, 0x50001\nv_movrelsd_2_b32 v3, v2"), high);
    let swapped = run("s_mov_b32 m0, 0x40001\nv_swaprel_b32 v4, v2\nv_mov_b32 v9, v3");
    assert_eq!(swapped, high, "v8 and v3 change places");
    let far = "s_set_vgpr_msb 0x40
        v_mov_b32 v5 /*v261*/, v3
        s_set_vgpr_msb 1
        s_mov_b32 m0, 3
        v_movrels_b32 v8, v2 /*v258*/
        s_set_vgpr_msb 0";
    assert_eq!(run(far), high);
}

/// Every matrix instruction runs, or is refused because no source states the layout; tensor operations and accesses to a cluster are
/// refused, too.
#[test]
fn what_no_source_describes_is_refused_with_the_reason() {
    let coverage = coverage(Target::GFX1250);
    let refused = |reason: &str| -> BTreeSet<&str> {
        coverage.refused.iter().filter(|r| r.reason.contains(reason)).map(|r| r.mnemonic).collect()
    };
    let layouts = refused("where the elements of its operands are");
    let rows = table::rows_of(Family::RDNA).iter().filter(|row| row.targets.contains(Target::GFX1250));
    let matrices: BTreeSet<&str> =
        rows.filter(|row| row.multiplies_matrices()).map(|row| row.entry.mnemonic).collect();
    let known = matrices.iter().filter(|name| coverage.known.contains(name)).count();
    let rest = matrices.iter().filter(|name| !coverage.known.contains(name) && !layouts.contains(**name));
    let rest: Vec<&&str> = rest.filter(|name| !name.contains("ld_scale")).collect();
    assert!(rest.is_empty(), "{rest:?}");
    assert_eq!(known, 41);
    assert!(refused("tensor").contains("tensor_load_to_lds"));
    assert!(coverage.refused.iter().any(|r| r.mnemonic == "cluster_load_b32"));
}

/// Runs `body` in a workgroup of `waves` waves, with v[2:3] and s[2:3] as the address of 4 KiB.
fn run_with(options: &Options, waves: u32, body: &str) -> Result<Stats, SimError> {
    run_in(&mut Memory::new(), options, waves, body).0
}

/// The same, with the address of the 4 KiB in `memory`.
fn run_in(memory: &mut Memory, options: &Options, waves: u32, body: &str) -> (Result<Stats, SimError>, u64) {
    let text = format!(
        "s_load_b64 s[2:3], s[0:1], 0x0
        s_wait_kmcnt 0x0
        v_mov_b32 v2, s2
        v_mov_b32 v3, s3
        {body}
        s_endpgm"
    );
    let user_sgprs = UserSgprs { kernarg_segment_ptr: true, ..UserSgprs::default() };
    let (wave_size, lds_bytes) = (WaveSize::W32, 1024);
    let kernel = KernelState { wave_size, lds_bytes, vgprs: 32, agprs: 0, sgprs: 32, user_sgprs, ..state() };
    let machine = Machine::new(Target::GFX1250, &assemble(Target::GFX1250, &text), kernel).unwrap();
    let at = memory.alloc(4096);
    memory.write(at, &[0; 4096]).unwrap();
    (run(&machine, memory, [1, 1, 1], [32 * waves, 1, 1], &at.to_le_bytes(), options), at)
}

fn run_strictly(body: &str) -> Result<(), String> {
    run_with(&Options::strict(), 1, body).map(|_| ()).map_err(|error| error.to_string())
}

/// Strict mode breaks the rule that the checker breaks: the same programs are in the checker's test of these operands.
#[test]
fn operands_are_read_before_they_change() {
    let store = "global_store_b32 v[2:3], v4, off";
    let over = "v_mov_b32 v4, 0";
    let broken = |lines: &[&str]| {
        let ran = run_strictly(&lines.join("\n"));
        ran.is_err_and(|error| {
            assert!(error.contains("waitcnt.operand-war"), "{error}");
            true
        })
    };
    assert!(broken(&[store, over]));
    assert!(!broken(&[store, "s_wait_xcnt 0x0", over]));
    let younger = "global_store_b32 v[2:3], v6, off";
    assert!(!broken(&[store, younger, "s_wait_xcnt 0x1", over]));
    assert!(broken(&[store, younger, "s_wait_xcnt 0x2", over]));
    let load = "global_load_b32 v5, v[2:3], off";
    assert!(!broken(&[store, load, "s_wait_loadcnt 0x0", over]));
    assert!(broken(&[store, load, over]));
    assert!(broken(&[load, store, "s_wait_loadcnt 0x0", over]));
    let scalar = "s_load_b32 s4, s[2:3], 0x0";
    assert!(!broken(&[store, scalar, over]));
    assert!(!broken(&[scalar, store, younger, "s_wait_xcnt 0x1", over]));
    // A load that overwrites its own address reads it first, and so do loads before it.
    assert!(!broken(&[load, "s_wait_loadcnt 0x0", "global_load_b32 v2, v[2:3], off"]));
}

#[test]
fn scc_that_a_barrier_writes_late() {
    let first = "s_barrier_signal_isfirst -1";
    let read = "s_cselect_b32 s4, 1, 0";
    for (lines, rule) in [
        (&[first, read, "s_barrier_wait -1"][..], Some("waitcnt.raw")),
        (&[first, "s_cmp_eq_u32 s0, s1", "s_barrier_wait -1"], Some("waitcnt.waw")),
        (&[first, "s_wait_kmcnt 0x0", read, "s_barrier_wait -1"], None),
        (&[first, "s_barrier_wait -1", read], None),
        (&[first, "s_mov_b32 s4, 0", "s_barrier_wait -1", "s_cmp_eq_u32 s0, s1"], None),
    ] {
        let ran = run_strictly(&lines.join("\n"));
        match rule {
            Some(rule) => {
                let error = ran.expect_err(rule);
                assert!(error.contains(rule) && error.contains("scc"), "{error}");
            }
            None => ran.unwrap_or_else(|error| panic!("{lines:?}: {error}")),
        }
    }
}

/// The states are those of AMD's emulator (rocjitsu, `lds_barrier_cell`): four arrivals complete a phase.
#[test]
fn barriers_in_lds_count_arrivals() {
    let initial = 3u64 << 32 | 3;
    let state = |phase: u64, pending: u64| 3 << 32 | phase << 16 | pending;
    let body = |arrive: &str| {
        format!(
            "s_mov_b32 exec_lo, 1
            v_mov_b32 v20, 0
            ds_store_b64 v20, v[2:3]
            s_wait_dscnt 0x0
            {arrive}
            ds_load_b64 v[8:9], v20
            s_wait_dscnt 0x0
            s_mov_b32 exec_lo, -1"
        )
    };
    let data = |count| [[initial; 32], [count; 32], [0; 32]];
    for (count, after) in [
        (0, initial),
        (1, state(0, 2)),
        (3, state(0, 0)),
        (4, state(0xffff, 3)),
        (5, state(0xffff, 2)),
        (12, state(0xfffd, 3)),
    ] {
        let arrive = "ds_atomic_barrier_arrive_rtn_b64 v[10:11], v20, v[4:5]";
        assert_eq!(results(data(count), &body(arrive))[0], after, "{count}");
    }
    let twice = "ds_atomic_async_barrier_arrive_b64 v20
        ds_atomic_async_barrier_arrive_b64 v20
        s_wait_asynccnt 0x0";
    assert_eq!(results(data(0), &body(twice))[0], state(0, 1));
}

/// The offset counts for memory and for LDS, whose addresses wrap around.
#[test]
fn asynchronous_copies_of_bytes_and_with_an_offset() {
    let input = std::array::from_fn(|lane| 0x0706_0504_0302_0100 + lane as u64 * 0x0101_0101_0101_0101);
    let copied = results(
        [input, [0; 32], [0; 32]],
        "v_lshlrev_b32 v20, 3, v0
        v_subrev_nc_u32 v21, 4, v20
        v_mov_b32 v10, 0
        v_mov_b32 v11, 0
        ds_store_b64 v20, v[10:11]
        s_wait_dscnt 0x0
        global_load_async_to_lds_b8 v21, v1, s[2:3] offset:5
        s_wait_asynccnt 0x0
        ds_load_b64 v[8:9], v20
        s_wait_dscnt 0x0",
    );
    let expected: [u64; 32] = std::array::from_fn(|lane| (input[lane] >> 40 & 0xff) << 8);
    assert_eq!(copied, expected);
}

/// The rules and kinds of findings that a run of two waves in each mode reports. Rules of the grade *documented*: whether a copy may be
/// outstanding at a barrier then depends on the bytes that the other wave accesses.
fn reported(body: &str) -> [Vec<String>; 3] {
    let rules = Config::at_least(Grade::Documented);
    let strict = run_with(&Options { rules, ..Options::strict() }, 2, body);
    let strict = strict.err().map(|error| error.to_string()).into_iter().collect();
    let faithful = run_with(&Options { rules, ..Options::faithful() }, 2, body).unwrap();
    let races = Options { sanitize: Sanitize::RACES, findings: 10, ..Options::default() };
    let races = run_with(&races, 2, body).unwrap();
    let stale = faithful.stale.iter().map(|stale| stale.hazard.rule.clone());
    [strict, stale.collect(), races.findings.iter().map(|finding| format!("{:?}", finding.kind)).collect()]
}

/// One wave copies and comes to a barrier, after which the other wave accesses LDS.
#[test]
fn copies_that_are_outstanding_at_a_barrier() {
    let late = |copy: &str, wait: &str, late: &str, access: &str| {
        format!(
            "v_lshlrev_b32 v5, 2, v0
            v_readfirstlane_b32 s4, v0
            s_cmp_eq_u32 s4, 0
            s_cbranch_scc0 other
            {copy}
            {wait}
            s_barrier_signal -1
            {late}
            s_barrier_wait -1
            s_endpgm
            other:
            v_subrev_nc_u32 v6, 0x80, v5
            s_barrier_signal -1
            s_barrier_wait -1
            {access}
            s_wait_dscnt 0x0"
        )
    };
    let body = |copy: &str, wait: &str, access: &str| late(copy, wait, "", access);
    let load = "global_load_async_to_lds_b32 v5, v5, s[2:3]";
    let store = "global_store_async_from_lds_b32 v5, v5, s[2:3]";
    let none = [const { Vec::<String>::new() }; 3];
    for (copy, access, elsewhere, rule) in [
        (load, "ds_load_b32 v7, v6", "ds_load_b32 v7, v6 offset:512", Some("barrier.lds-dma")),
        (load, "ds_store_b32 v6, v0", "ds_store_b32 v6, v0 offset:512", Some("barrier.lds-dma")),
        // Rules of this grade allow reads to be outstanding at a barrier.
        (store, "ds_store_b32 v6, v0", "ds_store_b32 v6, v0 offset:512", None),
    ] {
        let [strict, faithful, races] = reported(&body(copy, "", access));
        assert_eq!(strict.len(), usize::from(rule.is_some()), "{strict:?}");
        assert_eq!(faithful, Vec::from_iter(rule));
        assert!(strict.iter().all(|text| rule.is_some_and(|rule| text.contains(rule))), "{strict:?}");
        assert!(strict.iter().all(|text| text.contains("s_wait_asynccnt 0x0")), "{strict:?}");
        assert_eq!(races, ["LdsRace"], "{copy}, then {access}");
        assert_eq!(reported(&body(copy, "s_wait_asynccnt 0x0", access)), none);
        assert_eq!(reported(&body(copy, "", elsewhere)), none);
        // Once all waves have arrived, the other may pass the barrier, so that a wait after the arrival comes too late.
        let [strict, faithful, races] = reported(&late(copy, "", "s_wait_asynccnt 0x0", access));
        assert_eq!(strict.len(), usize::from(rule.is_some()), "{strict:?}");
        assert_eq!(faithful, Vec::from_iter(rule));
        assert_eq!(races, ["LdsRace"], "{copy}, then {access}");
    }
    assert_eq!(reported(&body(store, "", "ds_load_b32 v7, v6")), none, "two reads");
    let cautious = run_with(&Options::strict(), 2, &body(store, "", "ds_store_b32 v6, v0")).unwrap_err();
    assert!(cautious.to_string().contains("barrier.lds-read"), "{cautious}");
}

/// Undefined bits go through the halves of pairs, through sums of 64 bits, and through registers that M0 selects, as through other
/// instructions: the lowest byte of each result is defined, the upper half is not.
#[test]
fn undefined_bits_go_through_pairs_and_relative_moves() {
    let findings = |body: &str| {
        let options = Options { sanitize: Sanitize::REGISTERS, findings: 10, ..Options::default() };
        let text = format!(
            "v_lshlrev_b32 v10, 16, v21
            s_lshl_b32 s10, s20, 16
            v_mov_b32 v11, 0
            s_mov_b32 s11, 0
            v_mov_b32 v1, 0
            {body}
            v_lshlrev_b32 v1, 2, v0
            global_store_b32 v1, v12, s[2:3]"
        );
        run_with(&options, 1, &text).unwrap_or_else(|e| panic!("{body}: {e}")).findings.len()
    };
    for (make, result) in [
        ("v_mov_b32 v14, v10", "v14"),
        ("v_dual_mov_b32 v15, 0 :: v_dual_lshlrev_b32 v14, 16, v21", "v14"),
        ("v_dual_mov_b32 v15, 0 :: v_dual_add_nc_u32 v14, 5, v10", "v14"),
        ("v_dual_mov_b32 v15, 0 :: v_dual_sub_nc_u32 v14, 5, v10", "v14"),
        ("v_dual_mov_b32 v14, v10 :: v_dual_mov_b32 v15, 0", "v14"),
        ("v_mad_u32 v14, v10, v0, v0", "v14"),
        ("v_mad_nc_u64_u32 v[14:15], v10, v0, v[0:1]", "v14"),
        ("v_mad_nc_i64_i32 v[14:15], v10, v0, v[0:1]", "v14"),
        ("v_add_nc_u64 v[14:15], v[10:11], v[0:1]", "v14"),
        ("v_sub_nc_u64 v[14:15], v[0:1], v[10:11]", "v14"),
        ("v_mul_u64 v[14:15], v[10:11], v[0:1]", "v14"),
        ("s_mul_u64 s[14:15], s[10:11], 3", "s14"),
        ("s_mov_b32 m0, 2\nv_movrels_b32 v14, v8", "v14"),
        ("s_mov_b32 m0, 2\nv_movreld_b32 v12, v10", "v14"),
        ("s_mov_b32 m0, 2\nv_movrelsd_b32 v12, v8", "v14"),
        ("s_mov_b32 m0, 0x40002\nv_movrelsd_2_b32 v10, v8", "v14"),
        ("s_mov_b32 m0, 0x40002\nv_swaprel_b32 v10, v8", "v14"),
        ("s_mov_b32 m0, 2\ns_movrels_b32 s14, s8", "s14"),
        ("s_mov_b32 m0, 2\ns_movrels_b64 s[14:15], s[8:9]", "s14"),
        ("s_mov_b32 m0, 2\ns_movreld_b32 s12, s10", "s14"),
        ("s_mov_b32 m0, 2\ns_movreld_b64 s[12:13], s[10:11]", "s14"),
        ("s_mov_b32 m0, 0x40002\ns_movrelsd_2_b32 s10, s8", "s14"),
    ] {
        let part = |mask: &str| findings(&format!("{make}\nv_and_b32 v12, {mask}, {result}"));
        assert_eq!(part("0xff"), 0, "{make}");
        assert_eq!(part("0xff0000"), 1, "{make}");
    }
}

/// A copy from LDS may read what the wave writes to LDS after it (LLVM's documentation of asynchronous operations).
#[test]
fn a_copy_from_lds_reads_before_it_is_done() {
    let body = |wait: &str, write: &str| {
        format!(
            "v_lshlrev_b32 v5, 2, v0\nglobal_store_async_from_lds_b32 v5, v5, s[2:3]\n{wait}\n{write}\ns_wait_dscnt 0x0"
        )
    };
    let write = "ds_store_b32 v5, v0";
    let error = run_strictly(&body("", write)).unwrap_err();
    assert!(error.contains("waitcnt.async-lds-read") && error.contains("s_wait_asynccnt 0x0"), "{error}");
    let faithful = run_with(&Options::faithful(), 1, &body("s_wait_storecnt 0x0", write)).unwrap();
    assert_eq!(faithful.stale[0].hazard.rule, "waitcnt.async-lds-read");
    for (wait, write) in
        [("s_wait_asynccnt 0x0", write), ("", "ds_store_b32 v5, v0 offset:512"), ("", "ds_load_b32 v6, v5")]
    {
        assert_eq!(run_strictly(&body(wait, write)), Ok(()), "{wait}, {write}");
    }
    // In faithful mode the copy reads as late as it may.
    let stored = |wait: &str, end: &str| {
        let text = format!(
            "v_lshlrev_b32 v5, 2, v0
            v_mov_b32 v7, 3
            ds_store_b32 v5, v7
            s_wait_dscnt 0x0
            {}
            {end}",
            body(wait, write)
        );
        let mut memory = Memory::new();
        let (ran, at) = run_in(&mut memory, &Options::faithful(), 1, &text);
        ran.unwrap_or_else(|e| panic!("{text}: {e}"));
        u32::from_le_bytes(memory.read(at + 4 * 9, 4).unwrap()[..].try_into().unwrap())
    };
    for end in ["s_wait_asynccnt 0x0", ""] {
        assert_eq!((stored("s_wait_asynccnt 0x0", end), stored("", end)), (3, 9), "{end}");
    }
}
