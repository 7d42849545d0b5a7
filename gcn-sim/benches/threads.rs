//! Measures the speed-up by a second host thread, by kind of code. Independent workgroups are run alternately by one thread and by two, so
//! that other work on the machine slows both measurements.
//!
//! Prints the wave-instructions per second (of the best round) and their ratio. Where Linux reports it, also prints the processor time that
//! two threads need for the work of one, as a ratio: with 1.00 the threads do not slow each other down, whatever else the machine does.

use std::time::{Duration, Instant};

use gcn_emit::encode::encode_program;
use gcn_emit::text::parse_program;
use gcn_isa::Target;
use gcn_sim::{FloatMode, KernelState, Machine, Memory, Options, run, with_threads};

const ROUNDS: usize = 12;
const WORKGROUPS: u32 = 64;
const WAVES: u32 = 4;

/// Kinds of code: name, loop body, number of trips.
const KINDS: [(&str, &str, u32); 5] = [
    (
        "valu",
        "v_fma_f32 v5, v4, v1, v7\nv_add_u32 v1, v2, v3\nv_mul_f32 v4, v1, v3\nv_and_b32 v6, v5, v1\n",
        400,
    ),
    ("lds", "ds_write_b32 v2, v3\nds_read_b32 v4, v2\ns_waitcnt lgkmcnt(0)\ns_barrier\n", 200),
    (
        "global",
        "global_load_dword v4, v2, s[6:7]\ns_waitcnt vmcnt(0)\nglobal_store_dword v2, v4, s[6:7]\n",
        200,
    ),
    ("scalar", "s_add_u32 s8, s9, s10\ns_lshl_b32 s11, s8, 2\ns_and_b32 s12, s8, s9\n", 2000),
    ("matrix", "v_mfma_f32_32x32x8_f16 v[32:47], v[2:3], v[4:5], v[32:47]\n", 100),
];

/// A kernel in which each wave repeats `body` on memory of its workgroup.
fn machine(body: &str, trips: u32) -> Machine {
    let text = format!(
        "s_load_dwordx2 s[6:7], s[0:1], 0x0\nv_lshlrev_b32 v2, 2, v0\nv_mov_b32 v3, 1.0\ns_waitcnt lgkmcnt(0)\n\
         s_lshl_b32 s2, s2, 12\ns_add_u32 s6, s6, s2\ns_addc_u32 s7, s7, 0\ns_movk_i32 s4, {trips}\nloop:\n{}\
         s_sub_u32 s4, s4, 1\ns_cmp_lg_u32 s4, 0\ns_cbranch_scc1 loop\ns_endpgm",
        body.repeat(8)
    );
    let program = parse_program(&text, Target::GFX942, "bench").expect("the bench kernel parses");
    let code = encode_program(&program).expect("the bench kernel encodes").bytes;
    let float_mode = FloatMode { denorm_32: 3, ..FloatMode::default() };
    let state = KernelState { lds_bytes: 4096, vgprs: 64, agprs: 0, float_mode, ..KernelState::default() };
    Machine::new(Target::GFX942, &code, state).expect("the bench kernel loads")
}

/// The processor time of this process in clock ticks (`proc_pid_stat(5)`, `utime` and `stime`).
fn ticks() -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    Some(fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?)
}

fn main() {
    println!("{:8} {:>12} {:>12} {:>6} {:>15}", "", "1 thread", "2 threads", "ratio", "processor time");
    for (name, body, trips) in KINDS {
        let machine = machine(body, trips);
        let mut memory = Memory::new();
        let buffer = memory.alloc(WORKGROUPS as usize * 4096);
        let options = Options { parallel: true, ..Options::default() };
        let (mut best, mut spent, mut instructions) = ([Duration::MAX; 2], [0; 2], 0);
        for (round, threads) in (0..ROUNDS).flat_map(|round| [(round, 1), (round, 2)]) {
            let (before, started) = (ticks(), Instant::now());
            let launch = || {
                let size = [64 * WAVES, 1, 1];
                run(&machine, &mut memory, [WORKGROUPS, 1, 1], size, &buffer.to_le_bytes(), &options)
            };
            let stats = with_threads(Some(threads), launch);
            instructions = stats.expect("the bench kernel runs").wave_instructions;
            // The first round is a warm-up and does not count.
            if round > 0 {
                best[threads - 1] = best[threads - 1].min(started.elapsed());
                spent[threads - 1] += ticks().zip(before).map_or(0, |(after, before)| after - before);
            }
        }
        let [one, two] = best.map(|best| instructions as f64 / best.as_secs_f64() / 1e6);
        let processor = spent[1] as f64 / spent[0].max(1) as f64;
        println!("{name:8} {one:>8.2} M/s {two:>8.2} M/s {:>6.2} {processor:>15.2}", two / one);
    }
}
