//! Tests which accesses are indivisible while other host threads access the same bytes.

use gcn_isa::Target;
use gcn_sim::{KernelState, Machine, Memory, Options, run, with_threads};

use super::harness::{assemble, state, words};

/// The number of rounds of each loop, enough that accesses of two threads collide.
const ROUNDS: u32 = 20_000;

/// Two workgroups of one lane, each on a separate thread. The first runs `writer` with the number of the round in v4 to v7. The second runs
/// `reader`, which sets SCC if it has read a valid value; rounds in which it has not are counted in the word at 0x80. The memory is at
/// s[4:5] and v[2:3], and s[12:15] is a buffer resource for it. Each workgroup continues until the other has ended.
fn machine(target: Target, writer: &str, reader: &str) -> Machine {
    let looped = |name: &str, body: &str, flags: [u32; 2]| {
        format!(
            "{name}:
             v_mov_b32 v4, s8\nv_mov_b32 v5, s8\nv_mov_b32 v6, s8\nv_mov_b32 v7, s8
             {body}
             s_add_u32 s8, s8, 1
             s_cmp_lt_u32 s8, {ROUNDS}
             s_cbranch_scc1 {name}
             v_mov_b32 v10, 1
             global_store_dword v[2:3], v10, off offset:{}
             global_load_dword v10, v[2:3], off offset:{} glc
             s_waitcnt vmcnt(0)
             v_readfirstlane_b32 s11, v10
             s_cmp_eq_u32 s11, 0
             s_cbranch_scc1 {name}\n",
            flags[0], flags[1]
        )
    };
    let text = format!(
        "s_load_dwordx2 s[4:5], s[0:1], 0x0
         s_mov_b32 s8, 0
         s_mov_b32 s9, 0
         s_mov_b64 exec, 1
         s_waitcnt lgkmcnt(0)
         v_mov_b32 v2, s4
         v_mov_b32 v3, s5
         s_mov_b64 s[12:13], s[4:5]
         s_movk_i32 s14, 0x100
         s_mov_b32 s15, 0x20000
         s_cmp_eq_u32 s2, 0
         s_cbranch_scc0 second
         {}
         s_endpgm
         second:
         {}
         v_mov_b32 v10, s9
         global_store_dword v[2:3], v10, off offset:0x80
         s_endpgm",
        looped("write", writer, [0xc0, 0xc4]),
        looped("read", &format!("{reader}\ns_cselect_b32 s10, 0, 1\ns_add_u32 s9, s9, s10"), [0xc4, 0xc0]),
    );
    let state = KernelState { vgprs: 32, sgprs: 32, ..state() };
    Machine::new(target, &assemble(target, &text), state).unwrap()
}

/// Runs both workgroups; returns the memory afterwards.
fn meet(machine: &Machine, options: Options) -> Vec<u32> {
    let mut memory = Memory::new();
    let buffer = memory.alloc(256);
    let options = Options { parallel: true, ..options };
    let mut launch = || run(machine, &mut memory, [2, 1, 1], [1, 1, 1], &buffer.to_le_bytes(), &options);
    with_threads(Some(2), &mut launch).unwrap();
    words(&memory.read(buffer, 256).unwrap())
}

/// Each aligned group of eight bytes that an instruction loads or stores is accessed indivisibly, also in wider accesses: the manuals and
/// LLVM's memory model guarantee this for 64-bit atomic loads and stores, which are the plain instructions.
#[test]
fn aligned_eight_bytes_are_whole() {
    let equal = "v_readfirstlane_b32 s20, v14\nv_readfirstlane_b32 s21, v15\ns_cmp_eq_u32 s20, s21";
    let load = |load: &str| format!("{load}\ns_waitcnt vmcnt(0) lgkmcnt(0)\n{equal}");
    let pairs = [
        ("global_store_dwordx2 v[2:3], v[4:5], off", "global_load_dwordx2 v[14:15], v[2:3], off glc"),
        ("flat_store_dwordx2 v[2:3], v[4:5]", "flat_load_dwordx2 v[14:15], v[2:3] glc"),
        (
            "buffer_store_dwordx2 v[4:5], off, s[12:15], 0",
            "buffer_load_dwordx2 v[14:15], off, s[12:15], 0 glc",
        ),
        ("global_store_dwordx4 v[2:3], v[4:7], off", "global_load_dwordx4 v[12:15], v[2:3], off glc"),
        // The aligned pair begins with the second dword.
        (
            "global_store_dwordx3 v[2:3], v[4:6], off offset:4",
            "global_load_dwordx3 v[13:15], v[2:3], off offset:4 glc",
        ),
        ("global_store_dwordx2 v[2:3], v[4:5], off", "s_load_dwordx2 s[20:21], s[4:5], 0x0"),
        ("global_atomic_swap_x2 v[2:3], v[4:5], off", "global_load_dwordx2 v[14:15], v[2:3], off glc"),
    ];
    let ways = pairs.map(|pair| (pair, Options::default()));
    // The other modes record accesses, and faithful mode undoes stores.
    let watched = [Options::strict(), Options::faithful()].map(|options| (pairs[0], options));
    for ((store, read), options) in ways.into_iter().chain(watched) {
        let reader = if read.starts_with("s_load") {
            format!("s_dcache_inv\n{read}\ns_waitcnt lgkmcnt(0)\ns_cmp_eq_u32 s20, s21")
        } else {
            load(read)
        };
        let writer = format!("s_nop 4\n{store}\ns_waitcnt vmcnt(0)");
        let after = meet(&machine(Target::GFX908, &writer, &reader), options);
        assert_eq!(after[32], 0, "{store}; {read}: torn reads, {:?}", options.mode);
    }
}

/// A store to a part of eight bytes does not change the other part, whatever other threads do to that part.
#[test]
fn narrower_stores_lose_nothing_of_their_neighbours() {
    for (first, second, mask) in
        [("dword", "dword", u32::MAX), ("short", "short", 0xffff), ("byte", "byte", 0xff)]
    {
        let bytes = mask.count_ones() / 8;
        let load = if bytes == 4 { "dword".to_owned() } else { format!("u{second}") };
        let writer = format!("global_store_{first} v[2:3], v4, off\ns_waitcnt vmcnt(0)");
        let reader = format!(
            "global_store_{second} v[2:3], v4, off offset:{bytes}\ns_waitcnt vmcnt(0)
             global_load_{load} v14, v[2:3], off offset:{bytes} glc\ns_waitcnt vmcnt(0)
             v_readfirstlane_b32 s20, v14\ns_and_b32 s21, s8, {mask:#x}\ns_cmp_eq_u32 s20, s21"
        );
        let after = meet(&machine(Target::GFX908, &writer, &reader), Options::default());
        assert_eq!(after[32], 0, "{second}: lost stores");
    }
}
