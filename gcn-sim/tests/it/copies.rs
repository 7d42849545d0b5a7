//! When loads to LDS write LDS: immediately in functional mode, after the wave has waited in faithful mode.

use gcn_isa::Target;
use gcn_sim::{Memory, Mode, Options, run, timed};

use super::harness::{assemble, state};

/// Loads 64 dwords to LDS, reads them from LDS with or without a wait, and stores the values that were read.
fn copy(target: Target, wait: &str, mode: Option<Mode>) -> Vec<u32> {
    let body = format!(
        "s_load_dwordx4 s[4:7], s[0:1], 0x0
        v_lshlrev_b32 v1, 2, v0
        v_mov_b32 v3, 0
        ds_write_b32 v1, v3
        s_waitcnt lgkmcnt(0)
        s_mov_b32 s8, s4
        s_mov_b32 s9, s5
        s_mov_b32 s10, 0x100
        s_mov_b32 s11, 0x20000
        s_mov_b32 m0, 0
        s_nop 0
        buffer_load_dword v1, s[8:11], 0 offen lds
        {wait}
        ds_read_b32 v2, v1
        s_waitcnt lgkmcnt(0)
        global_store_dword v1, v2, s[6:7]
        s_endpgm"
    );
    let machine = gcn_sim::Machine::new(target, &assemble(target, &body), kernel()).unwrap();
    let mut memory = Memory::new();
    let (from, to) = (memory.alloc(256), memory.alloc(256));
    let data: Vec<u8> = (0..64u32).flat_map(|i| (i + 7).to_le_bytes()).collect();
    memory.write(from, &data).unwrap();
    let kernarg: Vec<u8> = [from, to].iter().flat_map(|a| a.to_le_bytes()).collect();
    match mode {
        Some(mode) => {
            let options = Options { mode, ..Options::default() };
            run(&machine, &mut memory, [1, 1, 1], [64, 1, 1], &kernarg, &options).unwrap();
        }
        None => {
            let config = timed::Config::default();
            timed::run(&machine, &mut memory, [1, 1, 1], [64, 1, 1], &kernarg, &config).unwrap();
        }
    }
    let bytes = memory.read(to, 256).unwrap();
    bytes.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)).collect()
}

fn kernel() -> gcn_sim::KernelState {
    let user_sgprs = gcn_sim::UserSgprs { kernarg_segment_ptr: true, ..Default::default() };
    gcn_sim::KernelState { lds_bytes: 1024, vgprs: 32, agprs: 0, sgprs: 32, user_sgprs, ..state() }
}

#[test]
fn a_copy_to_lds_is_there_when_it_was_waited_for() {
    let copied: Vec<u32> = (7..71).collect();
    for target in [Target::GFX90A, Target::GFX942, Target::GFX950] {
        for mode in [Some(Mode::Functional), Some(Mode::Strict), Some(Mode::Faithful), None] {
            assert_eq!(copy(target, "s_waitcnt vmcnt(0)", mode), copied, "{target} {mode:?}");
        }
        // Without the wait, the hardware reads the old contents, because a memory access takes hundreds of cycles.
        for mode in [Some(Mode::Faithful), None] {
            assert_eq!(copy(target, "s_waitcnt vmcnt(1)", mode), [0; 64], "{target} {mode:?}");
        }
    }
}
