//! Measures the wave-instructions per second in functional mode, by kind of code. One item is one instruction of one wave.

use divan::Bencher;
use divan::counter::ItemsCount;
use gcn_emit::encode::encode_program;
use gcn_emit::text::parse_program;
use gcn_isa::Target;
use gcn_isa::target::WaveSize;
use gcn_sim::{FloatMode, KernelState, Machine, MatrixArithmetic, Memory, Options, run};

fn main() {
    divan::main();
}

/// Loop bodies of about 32 instructions.
const INTEGER: &str =
    "v_add_u32 v1, v2, v3\nv_lshl_add_u32 v4, v1, 2, v3\nv_and_b32 v5, v4, v1\nv_mul_lo_u32 v6, v5, v4\n";
const FLOAT: &str =
    "v_add_f32 v1, v7, v3\nv_mul_f32 v4, v1, v3\nv_fma_f32 v5, v4, v1, v7\nv_fma_f32 v6, v5, v4, v7\n";
const SCALAR: &str = "s_add_u32 s6, s7, s8\ns_lshl_b32 s9, s6, 2\ns_and_b64 s[10:11], s[6:7], s[8:9]\ns_cselect_b32 s12, s6, s7\n";
const MASKED: &str = "v_cmp_lt_u32 vcc, v2, v3\nv_cndmask_b32 v4, v2, v3, vcc\nv_add_co_u32 v5, vcc, v4, v3\nv_addc_co_u32 v6, vcc, v5, v3, vcc\n";
const LDS: &str = "ds_write_b32 v2, v3\nds_read_b32 v4, v2\nds_write_b128 v5, v[8:11]\nds_read_b128 v[12:15], v5\ns_waitcnt lgkmcnt(0)\n";
/// As `LDS`, but the addresses of the lanes are not consecutive.
const LDS_ANYWHERE: &str = "ds_write_b32 v9, v3\nds_read_b32 v4, v9\nds_write_b128 v10, v[16:19]\nds_read_b128 v[12:15], v10\ns_waitcnt lgkmcnt(0)\n";
const GLOBAL: &str = "global_store_dword v2, v3, s[20:21]\nglobal_load_dword v4, v2, s[20:21]\nglobal_store_dwordx4 v5, v[16:19], s[20:21]\nglobal_load_dwordx4 v[12:15], v5, s[20:21]\ns_waitcnt vmcnt(0)\n";
const GLOBAL_ANYWHERE: &str = "global_store_dword v9, v3, s[20:21]\nglobal_load_dword v4, v9, s[20:21]\nglobal_store_dwordx4 v10, v[16:19], s[20:21]\nglobal_load_dwordx4 v[12:15], v10, s[20:21]\ns_waitcnt vmcnt(0)\n";
const DOUBLE: &str = "v_add_f64 v[12:13], v[2:3], v[6:7]\nv_mul_f64 v[14:15], v[12:13], v[2:3]\nv_fma_f64 v[16:17], v[14:15], v[12:13], v[6:7]\nv_fma_f64 v[18:19], v[16:17], v[14:15], v[6:7]\n";
/// Matrix instructions: name, target, text, and the number of multiplications and additions of one instruction.
const MATRIX: [(&str, Target, &str, u64); 13] = [
    ("f16", Target::GFX942, "v_mfma_f32_32x32x8_f16 v[32:47], v[2:3], v[4:5], v[32:47]", 16_384),
    ("bf16", Target::GFX942, "v_mfma_f32_32x32x8_bf16 v[32:47], v[2:3], v[4:5], v[32:47]", 16_384),
    ("f32", Target::GFX942, "v_mfma_f32_32x32x2_f32 v[32:47], v2, v4, v[32:47]", 4096),
    ("xf32", Target::GFX942, "v_mfma_f32_16x16x8_xf32 v[32:35], v[2:3], v[4:5], v[32:35]", 4096),
    ("f64", Target::GFX942, "v_mfma_f64_16x16x4_f64 v[32:39], v[2:3], v[6:7], v[32:39]", 2048),
    ("i8", Target::GFX942, "v_mfma_i32_32x32x16_i8 v[32:47], v[2:3], v[4:5], v[32:47]", 32_768),
    ("fp8", Target::GFX942, "v_mfma_f32_32x32x16_fp8_fp8 v[32:47], v[2:3], v[4:5], v[32:47]", 32_768),
    ("exact f16", Target::GFX908, "v_mfma_f32_32x32x8f16 a[0:15], v[2:3], v[4:5], a[0:15]", 16_384),
    ("exact bf16", Target::GFX908, "v_mfma_f32_32x32x4bf16 a[0:15], v2, v4, a[0:15]", 8192),
    ("tree f16", Target::GFX90A, "v_mfma_f32_32x32x8f16 v[32:47], v[2:3], v[4:5], v[32:47]", 16_384),
    ("tree bf16", Target::GFX90A, "v_mfma_f32_32x32x4bf16 v[32:47], v2, v4, v[32:47]", 8192),
    // Counted like the dense product that it replaces.
    ("sparse", Target::GFX942, "v_smfmac_f32_32x32x16_f16 v[32:47], v[2:3], v[4:7], v8", 32_768),
    (
        "mx",
        Target::GFX950,
        "v_mfma_scale_f32_32x32x64_f8f6f4 v[32:47], v[8:15], v[16:23], v[32:47], v24, v25",
        131_072,
    ),
];

/// Mnemonics of the loop bodies and their names on RDNA 3, for waves of 32 lanes.
const OF_RDNA: [(&str, &str); 9] = [
    ("v_add_u32", "v_add_nc_u32"),
    ("v_addc_co_u32", "v_add_co_ci_u32"),
    ("vcc", "vcc_lo"),
    ("ds_write_", "ds_store_"),
    ("ds_read_", "ds_load_"),
    ("store_dwordx4", "store_b128"),
    ("load_dwordx4", "load_b128"),
    ("store_dword", "store_b32"),
    ("load_dword", "load_b32"),
];

/// A kernel that repeats `body` in a loop. `s[20:21]` contains the address at which [`Memory`] places its first allocation.
fn machine(target: Target, body: &str, unroll: usize, trips: u32) -> Machine {
    let rdna = target.has_workgroup_processors();
    let named = |text: String| match rdna {
        true => OF_RDNA.iter().fold(text, |text, (old, new)| text.replace(old, new)),
        false => text,
    };
    let text = named(format!(
        "v_lshlrev_b32 v2, 2, v0\nv_lshlrev_b32 v5, 4, v0\nv_cvt_f32_i32 v7, v0\nv_mov_b32 v3, 1.0\nv_mul_u32_u24 v8, 37, v0\nv_and_b32 v8, 63, v8\nv_lshlrev_b32 v9, 2, v8\nv_lshlrev_b32 v10, 4, v8\ns_mov_b32 s20, 0\ns_mov_b32 s21, 1\nv_mov_b32 v24, 0x7f7f7f7f\nv_mov_b32 v25, 0x7f7f7f7f\ns_mov_b32 s4, {trips}\nloop:\n{}s_sub_u32 s4, s4, 1\ns_cmp_lg_u32 s4, 0\ns_cbranch_scc1 loop\ns_endpgm",
        body.repeat(unroll)
    ));
    let program = parse_program(&text, target, "bench").expect("the bench kernel parses");
    let code = encode_program(&program).expect("the bench kernel encodes").bytes;
    let float_mode = FloatMode { denorm_32: 3, ..FloatMode::default() };
    let wave_size = if rdna { WaveSize::W32 } else { WaveSize::W64 };
    let agprs = if rdna { 0 } else { 16 };
    let state =
        KernelState { lds_bytes: 4096, vgprs: 64, agprs, wave_size, float_mode, ..KernelState::default() };
    Machine::new(target, &code, state).expect("the bench kernel loads")
}

fn bench(bencher: Bencher<'_, '_>, target: Target, body: &str, trips: u32, options: Options) {
    let machine = machine(target, body, 8, trips);
    let lanes = machine.state().wave_size.lanes();
    let mut memory = Memory::new();
    assert_eq!(memory.alloc(1 << 16), 1 << 32);
    let mut once = || {
        run(&machine, &mut memory, [1, 1, 1], [lanes, 1, 1], &[], &options).expect("the bench kernel runs")
    };
    let items = once().wave_instructions;
    bencher.counter(ItemsCount::new(items)).bench_local(once);
}

/// A body by its name.
fn body(name: &str) -> &'static str {
    match name {
        "integer" => INTEGER,
        "float" => FLOAT,
        "masked" => MASKED,
        "scalar" => SCALAR,
        "double" => DOUBLE,
        "global" => GLOBAL,
        "global anywhere" => GLOBAL_ANYWHERE,
        "lds anywhere" => LDS_ANYWHERE,
        _ => LDS,
    }
}

#[divan::bench(args = ["integer", "float", "double", "masked", "scalar", "lds", "lds anywhere", "global", "global anywhere"])]
fn functional(bencher: Bencher<'_, '_>, name: &str) {
    bench(bencher, Target::GFX942, body(name), 2000, Options::default());
}

/// The same code in waves of 32 lanes: equal throughput in lanes means twice as many instructions per second.
#[divan::bench(args = ["integer", "float", "double", "masked", "scalar", "lds", "lds anywhere", "global", "global anywhere"])]
fn wave32(bencher: Bencher<'_, '_>, name: &str) {
    bench(bencher, Target::GFX1100, body(name), 2000, Options::default());
}

#[divan::bench(args = ["integer", "float", "lds"])]
fn strict(bencher: Bencher<'_, '_>, name: &str) {
    let body = body(name);
    let padded = body.replace('\n', "\ns_nop 4\n");
    let body = if body == LDS { body.replace('\n', "\ns_waitcnt lgkmcnt(0)\n") } else { padded };
    bench(bencher, Target::GFX942, &body, 500, Options::strict());
}

/// One item is one multiplication or addition.
#[divan::bench(args = MATRIX.map(|(name, ..)| name))]
fn matrix_flops(bencher: Bencher<'_, '_>, name: &str) {
    matrix(bencher, name, MatrixArithmetic::Hardware);
}

/// The same with matrix products computed as chains of fused multiply-adds.
#[divan::bench(args = MATRIX.map(|(name, ..)| name))]
fn chain_flops(bencher: Bencher<'_, '_>, name: &str) {
    matrix(bencher, name, MatrixArithmetic::Chain);
}

fn matrix(bencher: Bencher<'_, '_>, name: &str, arithmetic: MatrixArithmetic) {
    let (_, target, body, flops) = MATRIX.into_iter().find(|row| row.0 == name).unwrap_or(MATRIX[0]);
    let machine = machine(target, &format!("{body}\n"), 8, 100).with_matrix(arithmetic);
    let mut memory = Memory::new();
    let options = Options::default();
    let once =
        || run(&machine, &mut memory, [1, 1, 1], [64, 1, 1], &[], &options).expect("the bench kernel runs");
    bencher.counter(ItemsCount::new(800 * flops)).bench_local(once);
}
