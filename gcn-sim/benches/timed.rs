//! Measures wave-instructions per second in timed mode and, for comparison, in functional mode, by kind of code. One item is one
//! instruction of one wave.

use divan::Bencher;
use divan::counter::ItemsCount;
use gcn_emit::encode::encode_program;
use gcn_emit::text::parse_program;
use gcn_isa::Target;
use gcn_sim::timed::{self, Config};
use gcn_sim::{FloatMode, KernelState, Machine, Memory, Options, run};

fn main() {
    divan::main();
}

/// The number of work-items in the workgroup: two waves for each SIMD.
const ITEMS: u32 = 512;

const KINDS: [&str; 6] = ["integer", "float", "scalar", "lds", "global", "matrix"];

/// The loop body with this name, and the number of copies of it in the loop.
fn body(name: &str) -> (&'static str, usize) {
    match name {
        "integer" => (
            "v_add_u32 v1, v2, v3\nv_lshl_add_u32 v4, v1, 2, v3\nv_and_b32 v5, v4, v1\nv_mul_lo_u32 v6, v5, v4\n",
            8,
        ),
        "float" => (
            "v_add_f32 v1, v7, v3\nv_mul_f32 v4, v1, v3\nv_fma_f32 v5, v4, v1, v7\nv_fma_f32 v6, v5, v4, v7\n",
            8,
        ),
        "scalar" => (
            "s_add_u32 s6, s7, s8\ns_lshl_b32 s9, s6, 2\ns_and_b64 s[10:11], s[6:7], s[8:9]\ns_cselect_b32 s12, s6, s7\n",
            8,
        ),
        "lds" => (
            "ds_write_b32 v2, v3\nds_read_b32 v4, v2\nds_write_b128 v20, v[8:11]\nds_read_b128 v[12:15], v20\ns_waitcnt lgkmcnt(0)\n",
            8,
        ),
        "global" => (
            "global_load_dword v4, v2, s[2:3]\nglobal_load_dwordx4 v[12:15], v20, s[2:3]\ns_waitcnt vmcnt(0)\nglobal_store_dword v2, v4, s[2:3]\n",
            4,
        ),
        _ => ("v_mfma_f32_32x32x8_f16 v[32:47], v[2:3], v[4:5], v[32:47]\nv_add_f32 v1, v7, v3\n", 4),
    }
}

/// A kernel that repeats the loop body.
fn machine(name: &str, trips: u32) -> Machine {
    let (body, unroll) = body(name);
    let text = format!(
        "s_load_dwordx2 s[2:3], s[0:1], 0x0\nv_lshlrev_b32 v2, 2, v0\nv_lshlrev_b32 v20, 4, v0\nv_cvt_f32_i32 v7, v0\n\
         v_mov_b32 v3, 1.0\ns_mov_b32 s4, {trips}\ns_waitcnt lgkmcnt(0)\nloop:\n{}s_sub_u32 s4, s4, 1\ns_cmp_lg_u32 s4, 0\n\
         s_cbranch_scc1 loop\ns_endpgm",
        body.repeat(unroll)
    );
    let program = parse_program(&text, Target::GFX942, "bench").expect("the bench kernel parses");
    let code = encode_program(&program).expect("the bench kernel encodes").bytes;
    let float_mode = FloatMode { denorm_32: 3, ..FloatMode::default() };
    let state = KernelState { lds_bytes: 16_384, vgprs: 64, agprs: 0, float_mode, ..KernelState::default() };
    Machine::new(Target::GFX942, &code, state).expect("the bench kernel loads")
}

fn trips(name: &str) -> u32 {
    // Enough trips that the time for setting up the model is negligible.
    match name {
        "matrix" => 20,
        "lds" | "global" => 60,
        _ => 600,
    }
}

#[divan::bench(args = KINDS)]
fn functional(bencher: Bencher<'_, '_>, name: &str) {
    let machine = machine(name, trips(name));
    let mut memory = Memory::new();
    let buffer = memory.alloc(1 << 16).to_le_bytes();
    let options = Options::default();
    let mut once = || {
        run(&machine, &mut memory, [1, 1, 1], [ITEMS, 1, 1], &buffer, &options)
            .expect("the bench kernel runs")
    };
    let items = once().wave_instructions;
    bencher.counter(ItemsCount::new(items)).bench_local(once);
}

#[divan::bench(args = KINDS)]
fn timed(bencher: Bencher<'_, '_>, name: &str) {
    let machine = machine(name, trips(name));
    let mut memory = Memory::new();
    let buffer = memory.alloc(1 << 16).to_le_bytes();
    let config = Config::one_cu();
    let mut once = || {
        timed::run(&machine, &mut memory, [1, 1, 1], [ITEMS, 1, 1], &buffer, &config)
            .expect("the bench kernel runs")
    };
    let items = once().instructions;
    bencher.counter(ItemsCount::new(items)).bench_local(once);
}
