//! Compares loads, stores and atomics of every width with operations on byte arrays.

use gcn_isa::Target;
use gcn_sim::{KernelState, Machine, Memory, Options, SimError, Space};
use gcn_test_support::Random;

use super::harness::{Kernel, assemble, state, words};

/// Loads each lane's datum from `in` (first argument) and stores a dword to `out` (second argument).
fn each_lane(target: Target, body: &str, lds_bytes: u32) -> Kernel {
    Kernel {
        target,
        state: KernelState { lds_bytes, private_bytes: 64, ..state() },
        text: format!(
            "s_load_dwordx4 s[4:7], s[0:1], 0x0\nv_lshlrev_b32 v20, 2, v0\nv_lshlrev_b32 v21, 4, v0\nv_mov_b32 v10, -1\ns_waitcnt lgkmcnt(0)
             v_mov_b32 v22, s4\nv_mov_b32 v23, s5\nv_add_co_u32 v22, vcc, v22, v21\nv_addc_co_u32 v23, vcc, 0, v23, vcc
             {body}\ns_waitcnt vmcnt(0) lgkmcnt(0)\nglobal_store_dword v20, v10, s[6:7]\ns_endpgm"
        ),
    }
}

/// Runs the kernel on 16 bytes per lane; returns the input bytes, the output words and the memory after the run.
fn run(kernel: &Kernel) -> (Vec<u8>, Vec<u32>, Vec<u8>) {
    let mut memory = Memory::new();
    let (input, output) = (memory.alloc(1024), memory.alloc(256));
    let mut random = Random::new(3);
    let bytes: Vec<u8> = (0..1024).map(|_| random.next_u64() as u8).collect();
    memory.write(input, &bytes).unwrap();
    let result = kernel.run(&mut memory, [1, 1, 1], [64, 1, 1], &[input, output], &Options::default());
    result.unwrap_or_else(|e| panic!("{e}\n{}", kernel.text));
    (bytes, words(&memory.read(output, 256).unwrap()), memory.read(input, 1024).unwrap())
}

fn sign_extend(value: u32, bits: u32) -> u32 {
    ((value << (32 - bits)) as i32 >> (32 - bits)) as u32
}

fn get(bytes: &[u8], at: usize, count: usize) -> u32 {
    (0..count).map(|i| u32::from(bytes[at + i]) << (8 * i)).sum()
}

/// Suffix, and the expected register given the bytes at the address (the register was all ones before; with SRAM ECC the other half is
/// cleared).
const SMALL_LOADS: &[(&str, fn(&[u8], usize) -> u32)] = &[
    ("ubyte", |b, at| get(b, at, 1)),
    ("sbyte", |b, at| sign_extend(get(b, at, 1), 8)),
    ("ushort", |b, at| get(b, at, 2)),
    ("sshort", |b, at| sign_extend(get(b, at, 2), 16)),
    ("dword", |b, at| get(b, at, 4)),
    ("ubyte_d16", |b, at| get(b, at, 1)),
    ("sbyte_d16", |b, at| sign_extend(get(b, at, 1), 8) & 0xffff),
    ("short_d16_hi", |b, at| get(b, at, 2) << 16),
    ("ubyte_d16_hi", |b, at| get(b, at, 1) << 16),
];

#[test]
fn loads_of_every_segment_and_width() {
    for target in [Target::GFX90A, Target::GFX942] {
        for (suffix, expected) in SMALL_LOADS {
            for body in [
                format!("global_load_{suffix} v10, v21, s[4:5] offset:5"),
                format!("global_load_{suffix} v10, v[22:23], off offset:5"),
                format!("flat_load_{suffix} v10, v[22:23] offset:5"),
                format!(
                    "s_mov_b32 s6, 0x400\ns_mov_b32 s7, 0\nbuffer_load_{suffix} v10, v21, s[4:7], 0 offen offset:5\ns_load_dwordx2 s[6:7], s[0:1], 0x8"
                ),
            ] {
                let (bytes, out, _) = run(&each_lane(target, &body, 0));
                for lane in 0..64 {
                    // The last two lanes' words could exceed the end of a raw buffer only past byte 1024, which they do not.
                    assert_eq!(out[lane], expected(&bytes, 16 * lane + 5), "{body} lane {lane}");
                }
            }
        }
        for (suffix, count) in [("dwordx2", 2), ("dwordx3", 3), ("dwordx4", 4)] {
            for word in 0..count {
                let body = format!(
                    "global_load_{suffix} v[30:{}], v21, s[4:5]\ns_waitcnt vmcnt(0)\nv_mov_b32 v10, v{}",
                    29 + count,
                    30 + word
                );
                let (bytes, out, _) = run(&each_lane(target, &body, 0));
                assert!((0..64).all(|l| out[l] == get(&bytes, 16 * l + 4 * word, 4)), "{body}");
            }
        }
    }
}

#[test]
fn sixteen_bit_loads_keep_the_other_half_without_ecc() {
    let kernel = each_lane(Target::GFX90A, "global_load_short_d16 v10, v21, s[4:5]", 0);
    let machine = gcn_sim::Machine::new(
        kernel.target,
        &super::harness::assemble(kernel.target, &kernel.text),
        kernel.state.clone(),
    );
    let machine = machine.unwrap().with_sram_ecc(false);
    let mut memory = Memory::new();
    let (input, output) = (memory.alloc(1024), memory.alloc(256));
    let kernarg: Vec<u8> = [input, output].iter().flat_map(|a| a.to_le_bytes()).collect();
    gcn_sim::run(&machine, &mut memory, [1, 1, 1], [64, 1, 1], &kernarg, &Options::default()).unwrap();
    assert_eq!(words(&memory.read(output, 256).unwrap()), [0xffff_0000; 64]);
}

#[test]
fn stores_write_only_their_bytes() {
    for (body, bytes) in [
        ("global_store_byte v21, v10, s[4:5] offset:3", vec![(3, 0xaa)]),
        ("global_store_short v[22:23], v10, off offset:2", vec![(2, 0xaa), (3, 0xbb)]),
        ("flat_store_byte_d16_hi v[22:23], v10 offset:7", vec![(7, 0xcc)]),
        ("global_store_short_d16_hi v21, v10, s[4:5]", vec![(0, 0xcc), (1, 0xdd)]),
        (
            "global_store_dwordx2 v21, v[10:11], s[4:5] offset:1",
            (1..9).zip([0xaa, 0xbb, 0xcc, 0xdd, 1, 0, 0, 0]).collect(),
        ),
        (
            "flat_store_dwordx3 v[22:23], v[10:12] offset:4",
            (4..16).zip([0xaa, 0xbb, 0xcc, 0xdd, 1, 0, 0, 0, 2, 0, 0, 0]).collect(),
        ),
    ] {
        let kernel = each_lane(
            Target::GFX942,
            &format!("v_mov_b32 v10, 0xddccbbaa\nv_mov_b32 v11, 1\nv_mov_b32 v12, 2\n{body}"),
            0,
        );
        let (before, _, after) = run(&kernel);
        for at in 0..1024 {
            let expected =
                bytes.iter().find(|(offset, _)| at % 16 == *offset).map_or(before[at], |(_, byte)| *byte);
            assert_eq!(after[at], expected, "{body} byte {at}");
        }
    }
}

#[test]
fn lds_widths_and_two_address_forms() {
    // Each lane writes 16 bytes at 16 times its number, and reads those of its neighbour.
    let write = "global_load_dwordx4 v[30:33], v21, s[4:5]\nv_xor_b32 v24, 16, v21\ns_waitcnt vmcnt(0)\n";
    let cases: &[(&str, &str, fn(&[u8], usize) -> u32)] = &[
        ("ds_write_b128 v21, v[30:33]", "ds_read_b32 v10, v24 offset:4", |b, at| get(b, at + 4, 4)),
        (
            "ds_write_b64 v21, v[30:31]\nds_write_b64 v21, v[32:33] offset:8",
            "ds_read_u8 v10, v24 offset:9",
            |b, at| get(b, at + 9, 1),
        ),
        ("ds_write2_b64 v21, v[30:31], v[32:33] offset1:1", "ds_read_i8 v10, v24 offset:2", |b, at| {
            sign_extend(get(b, at + 2, 1), 8)
        }),
        ("ds_write2_b32 v21, v30, v31 offset0:2 offset1:3", "ds_read_i16 v10, v24 offset:10", |b, at| {
            sign_extend(get(b, at + 2, 2), 16)
        }),
        (
            "ds_write_b96 v21, v[30:32]",
            "ds_read_b96 v[10:12], v24\ns_waitcnt lgkmcnt(0)\nv_xor_b32 v10, v11, v12",
            |b, at| get(b, at + 4, 4) ^ get(b, at + 8, 4),
        ),
        (
            "ds_write_b128 v21, v[30:33]",
            "ds_read2_b32 v[10:11], v24 offset0:3 offset1:1\ns_waitcnt lgkmcnt(0)\nv_sub_u32 v10, v10, v11",
            |b, at| get(b, at + 12, 4).wrapping_sub(get(b, at + 4, 4)),
        ),
        (
            "ds_write_b128 v21, v[30:33]",
            "ds_read2_b64 v[10:13], v24 offset1:1\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v10, v13",
            |b, at| get(b, at + 12, 4),
        ),
        (
            "ds_write_b8 v21, v30\nds_write_b16 v21, v30 offset:2\nds_write_b8_d16_hi v21, v30 offset:1",
            "ds_read_b32 v10, v24",
            |b, at| get(b, at, 1) | get(b, at + 2, 1) << 8 | get(b, at, 2) << 16,
        ),
        ("ds_write_b128 v21, v[30:33]", "ds_read_u16_d16_hi v10, v24 offset:3", |b, at| {
            get(b, at + 3, 2) << 16
        }),
    ];
    for (store, load, expected) in cases {
        let kernel = each_lane(Target::GFX90A, &format!("{write}{store}\n{load}"), 1024);
        let (bytes, out, _) = run(&kernel);
        for lane in 0..64 {
            assert_eq!(out[lane], expected(&bytes, 16 * (lane ^ 1)), "{store}; {load} lane {lane}");
        }
    }
    let far = "v_mov_b32 v30, 5\nv_mov_b32 v31, 6\nds_write2st64_b32 v20, v30, v31 offset0:1 offset1:2\nds_read2st64_b32 v[10:11], v20 offset0:2 offset1:1\ns_waitcnt lgkmcnt(0)\nv_lshl_or_b32 v10, v10, 8, v11";
    let (_, out, _) = run(&each_lane(Target::GFX942, far, 1024));
    assert_eq!(out, [0x605; 64]);
}

#[test]
fn flat_addresses_reach_lds_and_scratch() {
    let body = "s_mov_b64 s[8:9], src_shared_base\nv_mov_b32 v25, s9\nv_mov_b32 v24, v20\nv_mov_b32 v30, v0\nflat_store_dword v[24:25], v30\ns_waitcnt vmcnt(0) lgkmcnt(0)\nv_xor_b32 v26, 4, v20\nds_read_b32 v10, v26";
    let (_, out, _) = run(&each_lane(Target::GFX942, body, 256));
    assert!((0..64).all(|l| out[l] == l as u32 ^ 1));
    let body = "v_mov_b32 v24, 8\nv_mov_b32 v30, v0\nscratch_store_dword v24, v30, off offset:4\nscratch_store_byte off, v21, off offset:16\ns_waitcnt vmcnt(0)\ns_movk_i32 s8, 12\nscratch_load_dword v10, off, s8\nscratch_load_ubyte v11, v24, off offset:8\ns_waitcnt vmcnt(0)\nv_lshl_or_b32 v10, v11, 16, v10";
    let (_, out, _) = run(&each_lane(Target::GFX942, body, 0));
    assert!((0..64u32).all(|l| out[l as usize] == l | ((16 * l) & 0xff) << 16));
}

#[test]
fn buffer_resources_bound_their_accesses() {
    // 256 records of one byte: lanes 16 and up are out of range. Components are checked one by one.
    let resource = "s_mov_b32 s6, 0x104\ns_mov_b32 s7, 0x20000\n";
    let restore = "\ns_load_dwordx2 s[6:7], s[0:1], 0x8";
    let body = format!(
        "{resource}buffer_load_dwordx2 v[10:11], v21, s[4:7], 0 offen\ns_waitcnt vmcnt(0)\nv_mov_b32 v12, v11{restore}\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v20, v12, s[6:7]"
    );
    let (bytes, out, _) = run(&each_lane(Target::GFX942, &body, 0));
    for lane in 0..64 {
        assert_eq!(out[lane], if lane <= 16 { get(&bytes, 16 * lane, 4) } else { 0 }, "lane {lane}");
    }
    let body =
        format!("{resource}v_mov_b32 v30, 7\nbuffer_store_dwordx2 v[30:31], v21, s[4:7], 0 offen{restore}");
    let (before, _, after) = run(&each_lane(Target::GFX90A, &body, 0));
    for lane in 0..64 {
        assert_eq!(get(&after, 16 * lane, 4), if lane <= 16 { 7 } else { get(&before, 16 * lane, 4) });
        // Lane 16's second component is at byte 260, which is out of range.
        let second = get(&after, 16 * lane + 4, 4);
        assert_eq!(second, if lane < 16 { 0 } else { get(&before, 16 * lane + 4, 4) }, "lane {lane}");
    }
    // A structured buffer of stride 16 with 20 records: index and offset come from a pair of VGPRs.
    let body = format!(
        "s_or_b32 s5, s5, 0x100000\ns_movk_i32 s6, 20\ns_mov_b32 s7, 0\nv_mov_b32 v24, v0\nv_mov_b32 v25, 4\nbuffer_load_dword v10, v[24:25], s[4:7], 0 idxen offen offset:4{restore}"
    );
    let (bytes, out, _) = run(&each_lane(Target::GFX942, &body, 0));
    for lane in 0..64 {
        assert_eq!(out[lane], if lane < 20 { get(&bytes, 16 * lane + 8, 4) } else { 0 }, "lane {lane}");
    }
    // An atomic that is out of range is dropped and returns 0.
    let body =
        format!("{resource}v_mov_b32 v10, 1\nbuffer_atomic_add v10, v21, s[4:7], 0 offen glc{restore}");
    let (before, out, after) = run(&each_lane(Target::GFX90A, &body, 0));
    for lane in 0..64 {
        let old = get(&before, 16 * lane, 4);
        let (result, new) = if lane <= 16 { (old, old.wrapping_add(1)) } else { (0, old) };
        assert_eq!((out[lane], get(&after, 16 * lane, 4)), (result, new));
    }
}

#[test]
fn atomics_return_the_old_value_and_leave_the_new() {
    let operand = 0x8000_0005u32;
    let cases: &[(&str, fn(u32, u32) -> u32)] = &[
        ("swap", |_, d| d),
        ("add", |o, d| o.wrapping_add(d)),
        ("sub", |o, d| o.wrapping_sub(d)),
        ("smin", |o, d| if (o as i32) < d as i32 { o } else { d }),
        ("umax", |o, d| if o > d { o } else { d }),
        ("and", |o, d| o & d),
        ("or", |o, d| o | d),
        ("xor", |o, d| o ^ d),
        ("inc", |o, d| if o >= d { 0 } else { o + 1 }),
        ("dec", |o, d| if o == 0 || o > d { d } else { o - 1 }),
    ];
    for (name, new) in cases {
        let body = format!("v_mov_b32 v30, {operand:#x}\nglobal_atomic_{name} v10, v21, v30, s[4:5] sc0");
        let (before, out, after) = run(&each_lane(Target::GFX942, &body, 0));
        for lane in 0..64 {
            let old = get(&before, 16 * lane, 4);
            assert_eq!(
                (out[lane], get(&after, 16 * lane, 4)),
                (old, new(old, operand)),
                "{name} lane {lane}"
            );
        }
    }
    // The order of the comparand and the new value: global takes {new, compare}, LDS {compare, new}.
    let body = "global_load_dword v31, v21, s[4:5]\ns_waitcnt vmcnt(0)\nv_mov_b32 v30, 77\nv_cndmask_b32 v31, v31, v30, vcc\nglobal_atomic_cmpswap v10, v21, v[30:31], s[4:5] glc";
    let (_, _, after) = run(&each_lane(Target::GFX90A, &format!("s_mov_b64 vcc, 1\n{body}"), 0));
    assert_ne!(get(&after, 0, 4), 77);
    assert!((1..64).all(|l| get(&after, 16 * l, 4) == 77));
    let body = "v_mov_b32 v30, 3\nv_mov_b32 v31, 8\nds_write_b32 v20, v30\nds_cmpst_rtn_b32 v10, v20, v30, v31\nds_add_u32 v20, v31\nds_max_rtn_u32 v11, v20, v30\nds_read_b32 v12, v20\ns_waitcnt lgkmcnt(0)\nv_lshl_or_b32 v10, v11, 8, v10\nv_lshl_or_b32 v10, v12, 16, v10";
    let (_, out, _) = run(&each_lane(Target::GFX942, body, 256));
    assert_eq!(out, [0x0010_1003; 64]);
    // 64-bit and float forms, with all lanes at one address.
    let body = "v_mov_b32 v30, 1.0\nv_mov_b32 v31, 0\nv_mov_b32 v32, 0\nv_mov_b32 v33, 0x3ff00000\nds_write_b32 v31, v31\nds_write_b64 v31, v[31:32] offset:8\nds_add_f32 v31, v30\nds_add_f64 v31, v[32:33] offset:8\nds_read_b32 v10, v31\nds_read_b32 v11, v31 offset:12\ns_waitcnt lgkmcnt(0)\nv_xor_b32 v10, v10, v11";
    let (_, out, _) = run(&each_lane(
        Target::GFX90A,
        &body
            .replace("v[31:32]", "v[34:35]")
            .replace("ds_write_b64", "v_mov_b32 v34, 0\nv_mov_b32 v35, 0\nds_write_b64"),
        256,
    ));
    assert_eq!(out, [64f32.to_bits() ^ (64f64.to_bits() >> 32) as u32; 64]);
}

#[test]
fn scalar_loads_and_buffer_bounds() {
    let body = "s_mov_b32 s8, 8\ns_load_dword s9, s[4:5], s8\ns_load_dwordx2 s[10:11], s[4:5], 0x10\ns_mov_b64 s[12:13], s[4:5]\ns_movk_i32 s14, 20\ns_mov_b32 s15, 0\ns_buffer_load_dwordx4 s[16:19], s[12:15], 0xc\ns_waitcnt lgkmcnt(0)\ns_xor_b32 s9, s9, s11\ns_xor_b32 s9, s9, s16\ns_or_b32 s18, s18, s19\ns_add_u32 s9, s9, s18\nv_mov_b32 v10, s9";
    let (bytes, out, _) = run(&each_lane(Target::GFX942, body, 0));
    assert_eq!(out, [get(&bytes, 8, 4) ^ get(&bytes, 0x14, 4) ^ get(&bytes, 0xc, 4); 64]);
}

#[test]
fn loads_to_lds_use_m0() {
    let body = "s_movk_i32 m0, 64\ns_nop 1\nglobal_load_lds_dword v21, s[4:5] offset:4\ns_waitcnt vmcnt(0)\nds_read_b32 v10, v20 offset:68";
    let (bytes, out, _) = run(&each_lane(Target::GFX942, body, 1024));
    assert!((0..64).all(|l| out[l] == get(&bytes, 16 * l + 4, 4)));
}

#[test]
fn accesses_out_of_bounds_name_lane_address_and_neighbour() {
    let kernel = each_lane(Target::GFX942, "global_load_dword v10, v21, s[4:5] offset:20", 0);
    let mut memory = Memory::new();
    let (input, output) = (memory.alloc(1024), memory.alloc(256));
    let error =
        kernel.run(&mut memory, [1, 1, 1], [64, 1, 1], &[input, output], &Options::default()).unwrap_err();
    let SimError::OutOfBounds(oob) = &error else { panic!("{error}") };
    assert_eq!((oob.lane, oob.address, oob.space, oob.write), (Some(63), input + 1028, Space::Global, false));
    assert_eq!(oob.nearest.map(|r| (r.base, r.bytes)), Some((input, 1024)));
    assert_eq!(oob.site.text, "global_load_dword v10, v21, s[4:5] offset:20");
    let message = error.to_string();
    assert!(message.contains("reads 4 bytes of global memory out of bounds in lane 63"), "{message}");
    assert!(message.contains("1024 bytes at 0x100000000, 4 bytes before this address"), "{message}");

    let lds = each_lane(Target::GFX90A, "ds_write_b64 v21, v[10:11] offset:4", 1016);
    let error =
        lds.run(&mut memory, [1, 1, 1], [64, 1, 1], &[input, output], &Options::default()).unwrap_err();
    let SimError::OutOfBounds(oob) = error else { panic!("{error}") };
    assert_eq!((oob.lane, oob.address, oob.space, oob.write), (Some(63), 1012, Space::Lds, true));

    let null = Kernel { text: "s_load_dword s2, s[0:1], 0x0\ns_endpgm".to_owned(), ..lds };
    let machine =
        gcn_sim::Machine::new(null.target, &super::harness::assemble(null.target, &null.text), null.state)
            .unwrap();
    let error =
        gcn_sim::run(&machine, &mut memory, [1, 1, 1], [64, 1, 1], &[], &Options::default()).unwrap_err();
    assert!(matches!(error, SimError::OutOfBounds(oob) if oob.lane.is_none() && oob.bytes == 4));
}

#[test]
fn atomics_must_be_aligned() {
    let kernel = each_lane(Target::GFX942, "global_atomic_add v21, v0, s[4:5] offset:2", 0);
    let mut memory = Memory::new();
    let (input, output) = (memory.alloc(1024), memory.alloc(256));
    let error =
        kernel.run(&mut memory, [1, 1, 1], [64, 1, 1], &[input, output], &Options::default()).unwrap_err();
    assert!(matches!(error, SimError::Misaligned { lane: 0, alignment: 4, .. }), "{error}");
}

/// Runtimes allocate whole cache lines for arguments, and compilers load four dwords even if fewer are left.
#[test]
fn the_segment_of_arguments_is_whole_cache_lines() {
    let load = |offset: u32| {
        let text = format!("s_load_dwordx4 s[4:7], s[0:1], {offset:#x}\ns_waitcnt lgkmcnt(0)\ns_endpgm");
        let kernel = Kernel { target: Target::GFX942, state: state(), text };
        let mut memory = Memory::new();
        // The arguments have 24 bytes, and the memory for them ends with the cache line, at 64.
        kernel.run(&mut memory, [1, 1, 1], [64, 1, 1], &[1, 2, 3], &Options::default())
    };
    assert!(load(20).is_ok() && load(48).is_ok());
    let SimError::OutOfBounds(bad) = load(52).unwrap_err() else { panic!("another error") };
    assert_eq!((bad.space, bad.bytes), (Space::Global, 4));
}

/// Consecutive lanes, at every offset from a word of the host's memory, with all lanes active and with one inactive: suffix, bytes of a
/// lane, number of registers.
#[test]
fn consecutive_lanes() {
    const DATA: [(&str, usize, usize); 6] = [
        ("byte", 1, 1),
        ("short", 2, 1),
        ("dword", 4, 1),
        ("dwordx2", 8, 2),
        ("dwordx3", 12, 3),
        ("dwordx4", 16, 4),
    ];
    for ((suffix, size, registers), start, exec) in DATA
        .into_iter()
        .flat_map(|datum| (0..9).map(move |start| (datum, start)))
        .flat_map(|(datum, start)| [(datum, start, u64::MAX), (datum, start, !(1 << 37))])
    {
        for (place, address) in [("v21", "s[4:5]"), ("v[22:23]", "off")] {
            let load = match suffix {
                "byte" | "short" => format!("u{suffix}"),
                other => other.to_string(),
            };
            let last = 10 + registers - 1;
            let list = if registers == 1 { "v10".to_string() } else { format!("v[10:{last}]") };
            let store = if address == "off" { "v[24:25]" } else { "v21" };
            let base = if address == "off" { "off" } else { "s[6:7]" };
            let text = format!(
                "s_load_dwordx4 s[4:7], s[0:1], 0x0\nv_mul_u32_u24 v21, {size}, v0\nv_mov_b32 v10, -1\ns_waitcnt lgkmcnt(0)
                 v_mov_b32 v22, s4\nv_mov_b32 v23, s5\nv_add_co_u32 v22, vcc, v22, v21\nv_addc_co_u32 v23, vcc, 0, v23, vcc
                 v_mov_b32 v24, s6\nv_mov_b32 v25, s7\nv_add_co_u32 v24, vcc, v24, v21\nv_addc_co_u32 v25, vcc, 0, v25, vcc
                 s_mov_b32 exec_lo, {:#x}\ns_mov_b32 exec_hi, {:#x}
                 global_load_{load} {list}, {place}, {address} offset:{start}\ns_waitcnt vmcnt(0)
                 global_store_{suffix} {store}, {list}, {base} offset:{start}\ns_endpgm",
                exec as u32,
                (exec >> 32) as u32
            );
            // The last lane's data end at the end of the allocation.
            let bytes = start + 64 * size;
            let mut memory = Memory::new();
            let (input, output) = (memory.alloc(bytes), memory.alloc(bytes));
            let data: Vec<u8> = (0..bytes).map(|i| (i * 7 + i / 256 + 1) as u8).collect();
            memory.write(input, &data).unwrap();
            memory.write(output, &vec![0xaa; bytes]).unwrap();
            let kernel = Kernel { target: Target::GFX942, state: state(), text };
            let result =
                kernel.run(&mut memory, [1, 1, 1], [64, 1, 1], &[input, output], &Options::default());
            result.unwrap_or_else(|e| panic!("{e}\n{}", kernel.text));
            let mut expected = vec![0xaa; bytes];
            for lane in (0..64).filter(|lane| exec >> lane & 1 == 1) {
                let at = start + lane * size;
                expected[at..at + size].copy_from_slice(&data[at..at + size]);
            }
            assert_eq!(memory.read(output, bytes).unwrap(), expected, "{}", kernel.text);
        }
    }
}

/// Scalar loads of one or two bytes read only these bytes: the last bytes of a buffer can be loaded although nothing follows them.
#[test]
fn scalar_loads_of_parts_read_nothing_else() {
    let target = Target::GFX1201;
    let code = assemble(
        target,
        "s_load_b128 s[4:7], s[0:1], 0x0
         s_wait_kmcnt 0x0
         s_load_i8 s8, s[4:5], 0x6
         s_load_u8 s9, s[4:5], 0x6
         s_load_i16 s10, s[4:5], 0x4
         s_load_u16 s11, s[4:5], 0x4
         s_wait_kmcnt 0x0
         v_mov_b32 v0, s8
         v_mov_b32 v1, s9
         v_mov_b32 v2, s10
         v_mov_b32 v3, s11
         v_mov_b32 v4, 0
         global_store_b128 v4, v[0:3], s[6:7]
         s_endpgm",
    );
    let machine = Machine::new(target, &code, KernelState { vgprs: 8, ..state() }).unwrap();
    let mut memory = Memory::new();
    let (bytes, out) = (memory.alloc(7), memory.alloc(16));
    memory.write(bytes, &[1, 2, 3, 4, 0xfe, 0xff, 0x85]).unwrap();
    let kernarg: Vec<u8> = [bytes, out].iter().flat_map(|address| address.to_le_bytes()).collect();
    gcn_sim::run(&machine, &mut memory, [1; 3], [1; 3], &kernarg, &Options::strict()).unwrap();
    let found = words(&memory.read(out, 16).unwrap());
    assert_eq!(found, [-123i32 as u32, 0x85, -2i32 as u32, 0xfffe]);
}
