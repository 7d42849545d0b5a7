//! Results of memory instructions that independent sources state: AMD's emulator, LLVM, and compiled code.

use gcn_isa::Target;
use gcn_sim::{Memory, Options};

use super::harness::{Kernel, bytes, state, words};

/// Runs `body` with the address of these words in s[4:5]; returns the words afterwards.
fn after(target: Target, denorm_32: u8, body: &str, before: &[u32]) -> Vec<u32> {
    let text = format!(
        "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_mov_b32 v3, 0\ns_waitcnt lgkmcnt(0)\n{body}\ns_endpgm"
    );
    let mut state = state();
    state.float_mode.denorm_32 = denorm_32;
    state.lds_bytes = 64;
    let mut memory = Memory::new();
    let buffer = memory.alloc(4 * before.len());
    memory.write(buffer, &bytes(before)).unwrap();
    let kernel = Kernel { target, state, text };
    kernel
        .run(&mut memory, [1, 1, 1], [1, 1, 1], &[buffer], &Options::default())
        .unwrap_or_else(|e| panic!("{e}"));
    words(&memory.read(buffer, 4 * before.len()).unwrap())
}

/// VOFFSET and the instruction's offset are added in 32 bits: AMD's emulator does so, and IREE's code relies on it.
#[test]
fn the_offset_of_a_buffer_wraps_at_32_bits() {
    let descriptor = "s_and_b32 s5, s5, 0xffff\ns_mov_b32 s6, 16\ns_mov_b32 s7, 0x27000\nv_mov_b32 v1, -16\n";
    for (name, access, right) in [
        ("a load", "buffer_load_dword v2, v1, s[4:7], 0 offen offset:20", 12),
        ("the last word", "buffer_load_dword v2, v1, s[4:7], 0 offen offset:28", 14),
        ("the word after it", "buffer_load_dword v2, v1, s[4:7], 0 offen offset:32", 0),
        (
            "no wrap of the second word",
            "v_mov_b32 v1, -4\nbuffer_load_dwordx2 v[4:5], v1, s[4:7], 0 offen\ns_waitcnt vmcnt(0)\nv_mov_b32 v2, v5",
            0,
        ),
        (
            "a store",
            "v_mov_b32 v2, 7\nbuffer_store_dword v2, v1, s[4:7], 0 offen offset:16\ns_waitcnt vmcnt(0)\nglobal_load_dword v2, v3, s[4:5]",
            7,
        ),
        ("an atomic", "v_mov_b32 v2, 1\nbuffer_atomic_add v2, v1, s[4:7], 0 offen offset:20 RETURNED", 12),
    ] {
        let body =
            format!("{descriptor}{access}\ns_waitcnt vmcnt(0)\nglobal_store_dword v3, v2, s[4:5] offset:16");
        for target in Target::REPRESENTATIVES {
            let later = matches!(target, Target::GFX942 | Target::GFX950);
            let body = body.replace("RETURNED", if later { "sc0" } else { "glc" });
            let out = after(target, 3, &body, &[11, 12, 13, 14, 99]);
            assert_eq!(out[4], right, "{name} on {target}");
        }
    }
}

/// SOFFSET in the range check of a raw buffer: gfx942 and gfx950 include it (AMD's emulator, LLVM issue 169230); according to the manual,
/// earlier targets do not (MI100 ISA 9.1.5). In a structured buffer only the index is checked.
#[test]
fn soffset_is_in_the_range_check_of_later_targets() {
    let descriptor = "s_and_b32 s5, s5, 0xffff\ns_mov_b32 s6, 16\ns_mov_b32 s7, 0x27000\ns_mov_b32 s8, 12\n";
    let store = "s_waitcnt vmcnt(0)\nglobal_store_dword v3, v4, s[4:5] offset:24";
    let raw = format!("{descriptor}buffer_load_dword v4, v3, s[4:7], s8 offen offset:8\n{store}");
    let inside = format!("{descriptor}buffer_load_dword v4, v3, s[4:7], s8 offen\n{store}");
    let structured = format!(
        "{descriptor}s_or_b32 s5, s5, 0x40000\nbuffer_load_dword v4, v3, s[4:7], s8 idxen offset:8\ns_and_b32 s5, s5, 0xffff\n{store}"
    );
    for target in Target::REPRESENTATIVES {
        let run = |body: &str| after(target, 3, body, &[11, 12, 13, 14, 0, 55, 99])[6];
        let counts = matches!(target, Target::GFX942 | Target::GFX950);
        assert_eq!(run(&raw), if counts { 0 } else { 55 }, "{target}");
        assert_eq!(run(&inside), 14, "{target}");
        assert_eq!(run(&structured), 55, "{target}");
    }
}

/// On gfx908 and gfx90a, LLVM uses this instruction only if denormals may be flushed, and AMD's emulator flushes them. MODE has no effect.
#[test]
fn float_additions_in_memory_flush_on_gfx908_and_gfx90a() {
    let descriptor = "s_and_b32 s5, s5, 0xffff\ns_mov_b32 s6, 16\ns_mov_b32 s7, 0x27000\n";
    for (target, right) in
        [(Target::GFX908, 0), (Target::GFX90A, 0), (Target::GFX942, 2), (Target::GFX950, 2)]
    {
        for access in
            ["global_atomic_add_f32 v3, v2, s[4:5]", "buffer_atomic_add_f32 v2, v3, s[4:7], 0 offen"]
        {
            for denorm_32 in [0, 3] {
                let body = format!("{descriptor}v_mov_b32 v2, 1\n{access}\ns_waitcnt vmcnt(0)");
                assert_eq!(after(target, denorm_32, &body, &[1, 0, 0, 0])[0], right, "{access} on {target}");
            }
        }
    }
}

/// Float atomics in LDS follow MODE (LLVM; AMD's emulator). If both values are quiet NaNs, the old one stays.
#[test]
fn floats_in_lds_follow_mode() {
    let run = |denorm_32: u8, old: u32, data: u32, access: &str| {
        let body = format!(
            "v_mov_b32 v4, {old:#x}\nv_mov_b32 v2, {data:#x}\nv_mov_b32 v5, 7\nds_write_b32 v3, v4\ns_waitcnt lgkmcnt(0)\n\
             {access}\ns_waitcnt lgkmcnt(0)\nds_read_b32 v6, v3\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v3, v6, s[4:5]"
        );
        after(Target::GFX942, denorm_32, &body, &[0])[0]
    };
    for access in ["ds_add_f32 v3, v2", "ds_add_rtn_f32 v7, v3, v2"] {
        assert_eq!((run(0, 1, 1, access), run(3, 1, 1, access)), (0, 2));
    }
    // If denormals are flushed, two different denormals compare as equal.
    for access in ["ds_cmpst_f32 v3, v2, v5", "ds_cmpst_rtn_f32 v7, v3, v2, v5"] {
        assert_eq!((run(0, 1, 2, access), run(3, 1, 2, access)), (7, 1));
    }
    for access in ["ds_min_f32 v3, v2", "ds_max_f32 v3, v2"] {
        assert_eq!(run(3, 0x7fc0_0001, 0x7fc0_0002, access), 0x7fc0_0001);
        assert_eq!(run(3, 0x7fc0_0001, 0x3f80_0000, access), 0x3f80_0000);
        assert_eq!(run(3, 0x3f80_0000, 0x7fc0_0001, access), 0x3f80_0000);
    }
    let (infinity, negative) = (0x7f80_0000, 0xff80_0000);
    assert_eq!(run(3, infinity, negative, "ds_add_f32 v3, v2"), 0x7fc0_0000);
}
