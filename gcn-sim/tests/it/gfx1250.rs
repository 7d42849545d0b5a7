//! Instructions that came with gfx1250: results against plain Rust, and refusals with their reasons.

use std::collections::BTreeSet;

use gcn_isa::Target;
use gcn_isa::table;
use gcn_isa::target::{Family, WaveSize};
use gcn_sim::{KernelState, Machine, Memory, Options, UserSgprs, coverage, run};
use half::bf16;

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
    let kernel =
        KernelState { wave_size: WaveSize::W32, vgprs: 32, agprs: 0, sgprs: 32, user_sgprs, ..state() };
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
    let rest: Vec<&&str> =
        matrices.iter().filter(|name| !coverage.known.contains(name) && !layouts.contains(**name)).collect();
    assert!(rest.is_empty(), "{rest:?}");
    assert!(known >= 20, "{known}");
    for sparse_or_scaled in
        ["v_swmmac_f32_16x16x64_f16", "v_wmma_scale_f32_16x16x128_f8f6f4", "v_wmma_f32_16x16x128_f8f6f4"]
    {
        assert!(layouts.contains(sparse_or_scaled), "{sparse_or_scaled}");
    }
    assert!(refused("tensor").contains("tensor_load_to_lds"));
    assert!(coverage.refused.iter().any(|r| r.mnemonic == "cluster_load_b32"));
}
