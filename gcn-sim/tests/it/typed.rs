//! Typed buffer accesses, loads to LDS, the rarer LDS instructions, and scalar stores and atomics, compared with byte arrays and with the
//! formats' definitions in f64.

use gcn_isa::Target;
use gcn_sim::{KernelState, Memory, Options};
use gcn_test_support::Random;

use super::harness::{Kernel, state, words};

/// Memory before and after the run, and v10 to v25 after it.
struct Done {
    before: Vec<u8>,
    after: Vec<u8>,
    v: Vec<[u32; 64]>,
}

/// The size in bytes of the buffer at s[4:5].
const BYTES: usize = 2048;

/// Runs `body` on one wave: v20 is 4 * lane, v21 is 16 * lane, and s[8:11] is a raw buffer resource for the memory at s[4:5].
fn run(target: Target, body: &str) -> Done {
    let mut text = format!(
        "s_load_dwordx4 s[4:7], s[0:1], 0x0\nv_lshlrev_b32 v20, 2, v0\nv_lshlrev_b32 v21, 4, v0\nv_mov_b32 v40, v20\ns_waitcnt lgkmcnt(0)
         s_mov_b32 s8, s4\ns_mov_b32 s9, s5\ns_movk_i32 s10, {BYTES}\ns_mov_b32 s11, 0x20000
         v_mov_b32 v22, s4\nv_mov_b32 v23, s5\nv_add_co_u32 v22, vcc, v22, v21\nv_addc_co_u32 v23, vcc, 0, v23, vcc\n"
    );
    for register in 10..20 {
        text += &format!("v_mov_b32 v{register}, 0xa5a5a5a5\n");
    }
    text += &format!("{body}\ns_waitcnt vmcnt(0) lgkmcnt(0)\n");
    for register in 10..26 {
        text += &format!(
            "v_add_u32 v41, {}, v40\nglobal_store_dword v41, v{register}, s[6:7]\n",
            (register - 10) * 256
        );
    }
    text += "s_endpgm";
    let mut memory = Memory::new();
    let (buffer, output) = (memory.alloc(BYTES), memory.alloc(16 * 256));
    let mut random = Random::new(11);
    let before: Vec<u8> = (0..BYTES).map(|_| random.next_u64() as u8).collect();
    memory.write(buffer, &before).unwrap();
    let kernel =
        Kernel { target, state: KernelState { lds_bytes: 4096, private_bytes: 64, ..state() }, text };
    kernel
        .run(&mut memory, [1, 1, 1], [64, 1, 1], &[buffer, output], &Options::default())
        .unwrap_or_else(|e| panic!("{e}\n{}", kernel.text));
    let registers = words(&memory.read(output, 16 * 256).unwrap());
    let v = registers.chunks(64).map(|c| c.try_into().unwrap()).collect();
    Done { before, after: memory.read(buffer, BYTES).unwrap(), v }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    (0..4).map(|i| u32::from(bytes[at + i]) << (8 * i)).sum()
}

fn field(bytes: &[u8], at: usize, low: usize, count: usize) -> u32 {
    (0..count).map(|i| u32::from(bytes[at + (low + i) / 8] >> ((low + i) % 8) & 1) << i).sum()
}

/// Data formats: the number, and the sizes in bits of the components, lowest component first.
const DATA: [(u32, &[usize]); 14] = [
    (1, &[8]),
    (2, &[16]),
    (3, &[8, 8]),
    (4, &[32]),
    (5, &[16, 16]),
    (6, &[11, 11, 10]),
    (7, &[10, 11, 11]),
    (8, &[2, 10, 10, 10]),
    (9, &[10, 10, 10, 2]),
    (10, &[8, 8, 8, 8]),
    (11, &[32, 32]),
    (12, &[16, 16, 16, 16]),
    (13, &[32, 32, 32]),
    (14, &[32, 32, 32, 32]),
];

/// The value of a float with five exponent bits and no sign, by definition.
fn small_float(x: u32, fraction: u32) -> f64 {
    let (e, f) = (x >> fraction, f64::from(x & ((1 << fraction) - 1)) / f64::from(1u32 << fraction));
    match e {
        0 => f * 2f64.powi(-14),
        31 if f == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + f) * 2f64.powi(e as i32 - 15),
    }
}

/// The contents of a register after loading a component of `bits` bits, by number format.
fn loaded(number: u32, bits: usize, x: u32) -> u32 {
    let signed = i64::from(x) - if x >> (bits - 1) == 1 { 1i64 << bits } else { 0 };
    let (all, half) = (((1u64 << bits) - 1) as f64, ((1u64 << (bits - 1)) - 1) as f64);
    let float = match number {
        _ if bits == 32 => return x,
        0 => f64::from(x) / all,
        1 => (signed as f64 / half).max(-1.0),
        2 => f64::from(x),
        3 => signed as f64,
        4 => return x,
        5 => return signed as u32,
        _ if bits == 16 => f64::from(half::f16::from_bits(x as u16)),
        _ => small_float(x, bits as u32 - 5),
    };
    (float as f32).to_bits()
}

/// True if the number format is possible for the data format: float components have at least ten bits.
fn sensible(number: u32, components: &[usize]) -> bool {
    number != 7 || components.iter().all(|b| *b >= 10)
}

fn same(a: u32, b: u32) -> bool {
    a == b || f32::from_bits(a).is_nan() && f32::from_bits(b).is_nan()
}

#[test]
fn typed_loads_of_every_format() {
    let mut checked = 0;
    for (data, components) in DATA {
        for number in [0u32, 1, 2, 3, 4, 5, 7].into_iter().filter(|n| sensible(*n, components)) {
            let body = format!(
                "tbuffer_load_format_xyzw v[10:13], v21, s[8:11], dfmt:{data}, nfmt:{number}, 0 offen offset:4"
            );
            let done = run(Target::GFX942, &body);
            for lane in 0..64 {
                let mut low = 0;
                for n in 0..4 {
                    let want = components.get(n).map_or(0, |bits| {
                        let x = field(&done.before, 16 * lane + 4, low, *bits);
                        low += bits;
                        loaded(number, *bits, x)
                    });
                    let got = done.v[n][lane];
                    assert!(
                        same(want, got),
                        "{body}\nlane {lane}, component {n}: want {want:#x}, got {got:#x}"
                    );
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 10_000, "{checked}");
}

/// A load and a store with the same format copy what the format can represent, which here is everything that memory can contain.
#[test]
fn typed_stores_of_every_format() {
    for (data, components) in DATA {
        for number in [0u32, 1, 2, 3, 4, 5, 7].into_iter().filter(|n| sensible(*n, components)) {
            // Copies every element to an address 1024 bytes higher, through registers.
            let format = format!("s[8:11], dfmt:{data}, nfmt:{number}, 0 offen");
            let body = format!(
                "tbuffer_load_format_xyzw v[10:13], v21, {format}\ns_waitcnt vmcnt(0)\ntbuffer_store_format_xyzw v[10:13], v21, {format} offset:1024"
            );
            let done = run(Target::GFX90A, &body);
            let bytes = components.iter().sum::<usize>() / 8;
            for lane in 0..64 {
                for i in 0..16 {
                    let at = 16 * lane + i;
                    let same_float_nan = number == 7 && i < bytes;
                    let want = if i < bytes { done.before[at] } else { done.before[at + 1024] };
                    let got = done.after[at + 1024];
                    if want != got && same_float_nan {
                        // Only the bits of a NaN may change.
                        let mut low = 0;
                        let nan = components.iter().any(|bits| {
                            let x = field(&done.before, 16 * lane, low, *bits);
                            low += bits;
                            f32::from_bits(loaded(7, *bits, x)).is_nan()
                        });
                        assert!(nan, "{body}\nlane {lane} byte {i}");
                    } else if number == 1 {
                        // The two most negative encodings of a normalised component both mean -1.
                        check_snorm(&body, &done, components, lane);
                    } else {
                        assert_eq!(got, want, "{body}\nlane {lane} byte {i}");
                    }
                }
            }
        }
    }
}

fn check_snorm(body: &str, done: &Done, components: &[usize], lane: usize) {
    let mut low = 0;
    for bits in components {
        let value = |bytes: &[u8], at: usize| loaded(1, *bits, field(bytes, at, low, *bits));
        let (want, got) = (value(&done.before, 16 * lane), value(&done.after, 16 * lane + 1024));
        assert!(same(want, got), "{body}\nlane {lane}: {want:#x} {got:#x}");
        low += bits;
    }
}

#[test]
fn conversions_at_the_ends_of_normalised_formats() {
    let cases: [(u32, f32, u32); 12] = [
        (0, 2.0, 0xff),
        (0, -1.0, 0),
        (0, f32::NAN, 0),
        (0, 0.5, 128),
        (1, 1.5, 127),
        (1, -9.0, 0x81),
        (1, 0.5, 64),
        (2, 300.0, 255),
        (2, 7.9, 7),
        (3, -200.0, 0x80),
        (3, -1.5, 0xff),
        (0, 1.0 / 255.0, 1),
    ];
    for (number, value, want) in cases {
        let body = format!(
            "v_mov_b32 v10, {:#x}\ntbuffer_store_format_x v10, v21, s[8:11], dfmt:1, nfmt:{number}, 0 offen",
            value.to_bits()
        );
        let done = run(Target::GFX942, &body);
        assert!((0..64).all(|lane| u32::from(done.after[16 * lane]) == want), "{number} {value}");
    }
}

#[test]
fn formats_and_component_selection_come_from_the_resource() {
    // 8_8_8_8 unsigned: X is component W, Y is one, Z is zero, W is component X.
    let word3 = 7 | 1 << 3 | 4 << 9 | 4 << 12 | 10 << 15;
    let resource = format!("s_mov_b32 s11, {word3:#x}\n");
    let done =
        run(Target::GFX942, &format!("{resource}buffer_load_format_xyzw v[10:13], v21, s[8:11], 0 offen"));
    for lane in 0..64 {
        let bytes = &done.before[16 * lane..16 * lane + 4];
        let want = [u32::from(bytes[3]), 1, 0, u32::from(bytes[0])];
        assert_eq!(std::array::from_fn(|n| done.v[n][lane]), want);
    }
    let body = format!(
        "{resource}v_mov_b32 v10, 0x11\nv_mov_b32 v11, 0x22\nv_mov_b32 v12, 0x33\nv_mov_b32 v13, 0x44\nbuffer_store_format_xyzw v[10:13], v21, s[8:11], 0 offen"
    );
    let done = run(Target::GFX908, &body);
    assert!((0..64).all(|lane| done.after[16 * lane..16 * lane + 4] == [0x44, 0, 0, 0x11]));
    // With an invalid format or an index out of range, loads give 0 and stores write nothing.
    let done = run(
        Target::GFX942,
        "s_mov_b32 s11, 0xfac\nbuffer_load_format_x v10, v21, s[8:11], 0 offen\nbuffer_store_format_x v10, v21, s[8:11], 0 offen\ns_mov_b32 s11, 0x27fac\ns_movk_i32 s10, 16\nbuffer_load_format_x v11, v21, s[8:11], 0 offen",
    );
    assert_eq!((done.v[0], &done.after), ([0; 64], &done.before));
    assert!((0..64).all(|lane| (done.v[1][lane] == 0) == (lane > 0)));
}

#[test]
fn sixteen_bit_components() {
    // 16_16_16_16 float and 8_8_8_8 signed.
    let done = run(
        Target::GFX900,
        "tbuffer_load_format_d16_xyz v[10:11], v21, s[8:11], dfmt:12, nfmt:7, 0 offen\ntbuffer_load_format_d16_xy v12, v21, s[8:11], dfmt:10, nfmt:5, 0 offen\ntbuffer_load_format_d16_x v13, v21, s[8:11], dfmt:2, nfmt:4, 0 offen\ns_mov_b32 s11, 0x14fac\nbuffer_load_format_d16_hi_x v14, v21, s[8:11], 0 offen",
    );
    for lane in 0..64 {
        let half = |n: usize| field(&done.before, 16 * lane, 16 * n, 16);
        let byte = |n: usize| i32::from(done.before[16 * lane + n] as i8) as u32 & 0xffff;
        let nan = |x: u32| x & 0x7c00 == 0x7c00 && x & 0x3ff != 0;
        for (n, got) in
            [done.v[0][lane] & 0xffff, done.v[0][lane] >> 16, done.v[1][lane]].into_iter().enumerate()
        {
            assert!(got == half(n) || nan(got) && nan(half(n)), "lane {lane}: {got:#x} {:#x}", half(n));
        }
        assert_eq!(done.v[2][lane], byte(0) | byte(1) << 16);
        // gfx900 has no ECC, so the other half is kept.
        assert_eq!(done.v[3][lane], half(0) | 0xa5a5_0000);
        assert_eq!(done.v[4][lane], half(0) << 16 | 0xa5a5);
    }
    let done = run(
        Target::GFX942,
        "v_mov_b32 v10, 0x3c00c000\ns_mov_b32 s11, 0x17fac\ntbuffer_store_format_d16_xy v10, v21, s[8:11], dfmt:11, nfmt:7, 0 offen\nbuffer_store_format_d16_hi_x v10, v21, s[8:11], 0 offen offset:8",
    );
    for lane in 0..64 {
        let at = 16 * lane;
        assert_eq!((word(&done.after, at), word(&done.after, at + 4)), ((-2f32).to_bits(), 1f32.to_bits()));
        assert_eq!(field(&done.after, at + 8, 0, 16), 0x3c00);
    }
}

#[test]
fn loads_to_lds() {
    let cases: [(Target, &str, usize, fn(&[u8], usize) -> Vec<u32>); 9] = [
        (Target::GFX950, "global_load_lds_dwordx4 v21, s[4:5]", 16, |b, at| {
            (0..4).map(|i| word(b, at + 4 * i)).collect()
        }),
        (Target::GFX950, "global_load_lds_dwordx3 v[22:23], off", 12, |b, at| {
            (0..3).map(|i| word(b, at + 4 * i)).collect()
        }),
        (Target::GFX950, "buffer_load_dwordx4 v21, s[8:11], 0 offen lds", 16, |b, at| {
            (0..4).map(|i| word(b, at + 4 * i)).collect()
        }),
        (Target::GFX942, "global_load_lds_dword v21, s[4:5]", 4, |b, at| vec![word(b, at)]),
        (Target::GFX942, "global_load_lds_ubyte v21, s[4:5]", 4, |b, at| vec![u32::from(b[at])]),
        (Target::GFX942, "global_load_lds_sshort v21, s[4:5]", 4, |b, at| {
            vec![i32::from(i16::from_le_bytes([b[at], b[at + 1]])) as u32]
        }),
        (Target::GFX942, "buffer_load_sbyte v21, s[8:11], 0 offen lds", 4, |b, at| {
            vec![i32::from(b[at] as i8) as u32]
        }),
        (Target::GFX90A, "buffer_load_ushort v21, s[8:11], 0 offen lds", 4, |b, at| {
            vec![field(b, at, 0, 16)]
        }),
        // The format is 16-bit unsigned.
        (
            Target::GFX908,
            "s_mov_b32 s11, 0x14fac\nbuffer_load_format_x v21, s[8:11], 0 offen lds",
            4,
            |b, at| vec![field(b, at, 0, 16)],
        ),
    ];
    for (target, load, size, expected) in cases {
        let body = format!(
            "s_movk_i32 m0, 0x400\n{load}\ns_waitcnt vmcnt(0)\nv_mul_u32_u24 v30, {size}, v0\nds_read_b32 v10, v30 offset:1024\nds_read_b32 v11, v30 offset:1028\nds_read_b32 v12, v30 offset:1032\nds_read_b32 v13, v30 offset:1036"
        );
        let done = run(target, &body);
        for lane in 0..64 {
            let want = expected(&done.before, 16 * lane);
            let got: Vec<u32> = (0..want.len()).map(|n| done.v[n][lane]).collect();
            assert_eq!(got, want, "{target} {load} lane {lane}");
        }
    }
    // A copy from LDS to a buffer, on the targets that have the instruction.
    let done = run(
        Target::GFX906,
        "s_movk_i32 m0, 0x100\nv_add_u32 v30, 7, v0\nds_write_b32 v20, v30 offset:256\ns_waitcnt lgkmcnt(0)\nbuffer_store_lds_dword s[8:11], 0 offset:64 lds",
    );
    assert!((0..64).all(|lane| word(&done.after, 64 + 4 * lane) == 7 + lane as u32));
}

/// The 16 lanes of a group load a matrix of 16 columns, row after row; lane j gets column j.
#[test]
fn transposing_reads() {
    for (name, bits, words) in
        [("b64_tr_b16", 16, 2), ("b64_tr_b8", 8, 2), ("b64_tr_b4", 4, 2), ("b96_tr_b6", 6, 3)]
    {
        // Memory is copied to LDS unchanged; each lane addresses its part of its group's matrix.
        let bytes = 4 * words;
        let body = format!(
            "global_load_dwordx4 v[30:33], v21, s[4:5]\ns_waitcnt vmcnt(0)\nds_write_b128 v21, v[30:33]\ns_waitcnt lgkmcnt(0)\nv_mul_u32_u24 v34, {bytes}, v0\nds_read_{name} v[10:{}], v34",
            9 + words
        );
        let done = run(Target::GFX950, &body);
        let rows = 32 * words / bits;
        for lane in 0..64 {
            let (group, j) = (lane / 16, lane % 16);
            for row in 0..rows {
                let want = field(&done.before, group * 16 * bytes, (row * 16 + j) * bits, bits);
                let registers: Vec<u8> = (0..words).flat_map(|n| done.v[n][lane].to_le_bytes()).collect();
                assert_eq!(field(&registers, 0, row * bits, bits), want, "{name} lane {lane} row {row}");
            }
        }
    }
}

#[test]
fn lds_by_lane_number_and_counters() {
    let done = run(
        Target::GFX942,
        "s_movk_i32 m0, 0x80\nv_add_u32 v30, 5, v0\nds_write_addtid_b32 v30 offset:16\nds_read_addtid_b32 v10 offset:20\nds_read_b32 v11, v20 offset:144",
    );
    for lane in 0..64u32 {
        assert_eq!(done.v[1][lane as usize], 5 + lane);
        assert_eq!(done.v[0][lane as usize], if lane < 63 { 6 + lane } else { 0 });
    }
    let done = run(
        Target::GFX90A,
        "s_movk_i32 m0, 0x40\nv_mov_b32 v30, 0x50\nv_mov_b32 v31, 100\nds_write_b32 v30, v31\ns_mov_b64 exec, 0xff\nds_append v10 offset:16\ns_mov_b64 exec, 0xf00\nds_consume v10 offset:16\ns_mov_b64 exec, 0\nds_append v10 offset:16\ns_mov_b64 exec, -1\nds_read_b32 v11, v30",
    );
    for lane in 0..64 {
        let want = match lane {
            0..8 => 100,
            8..12 => 108,
            _ => 0xa5a5_a5a5,
        };
        assert_eq!((done.v[0][lane], done.v[1][lane]), (want, 104));
    }
}

#[test]
fn exchanges_of_two() {
    let prepare = "v_add_u32 v30, 0x100, v0\nv_add_u32 v31, 0x200, v0\nv_add_u32 v32, 0x300, v0\nv_add_u32 v33, 0x400, v0\nv_add_u32 v34, 0x500, v0\nv_add_u32 v35, 0x600, v0\nds_write_b128 v21, v[30:33]\n";
    let done = run(
        Target::GFX908,
        &format!(
            "{prepare}ds_wrxchg2_rtn_b32 v[10:11], v21, v34, v35 offset0:3 offset1:1\nds_read_b128 v[12:15], v21"
        ),
    );
    for lane in 0..64 {
        let got: [u32; 6] = std::array::from_fn(|n| done.v[n][lane] - lane as u32);
        assert_eq!(got, [0x400, 0x200, 0x100, 0x600, 0x300, 0x500]);
    }
    let done = run(
        Target::GFX942,
        &format!(
            "{prepare}ds_wrxchg2_rtn_b64 v[10:13], v21, v[34:35], v[30:31] offset1:1\nds_read_b128 v[14:17], v21"
        ),
    );
    for lane in 0..64 {
        let got: [u32; 8] = std::array::from_fn(|n| done.v[n][lane] - lane as u32);
        assert_eq!(got, [0x100, 0x200, 0x300, 0x400, 0x500, 0x600, 0x100, 0x200]);
    }
    for (name, unit, wide) in [("b32", 256, false), ("b64", 512, true)] {
        let (d, a, b) = if wide { ("v[10:13]", "v[30:31]", "v[32:33]") } else { ("v[10:11]", "v30", "v32") };
        let done = run(
            Target::GFX90A,
            &format!(
                "{prepare}v_lshlrev_b32 v36, 3, v0\nds_wrxchg2st64_rtn_{name} {d}, v36, {a}, {b} offset0:1 offset1:2\nds_read_b32 v14, v36 offset:{unit}\nds_read_b32 v15, v36 offset:{}",
                2 * unit
            ),
        );
        // Lanes are processed in order, so an earlier lane does not read what a later lane wrote at the same address.
        for lane in 0..64 {
            assert_eq!(done.v[4][lane], 0x100 + lane as u32, "{name}");
            let overwritten = lane + 64 * usize::from(wide) >= 64 && lane >= unit / 8;
            assert!(
                overwritten || done.v[5][lane] == 0x300 + lane as u32 || done.v[5][lane] < 0x400,
                "{name}"
            );
        }
    }
    let done = run(
        Target::GFX942,
        "v_mov_b32 v30, 0x11\nv_mov_b32 v31, 0x22\nv_lshlrev_b32 v34, 3, v0\nds_write_b64 v34, v[30:31]\nv_bfrev_b32 v32, v0\nv_or_b32 v32, 3, v32\nv_xor_b32 v33, 0x80000000, v32\nds_condxchg32_rtn_b64 v[10:11], v34, v[32:33] offset:4\nds_read_b64 v[12:13], v34",
    );
    for lane in 0..64u32 {
        // The offset of 4 is rounded down. The first datum is marked in odd lanes, the second in even lanes.
        let datum = lane.reverse_bits() & 0x7fff_ffff | 3;
        let want = if lane % 2 == 1 { [0x11, 0x22, datum, 0x22] } else { [0x11, 0x22, 0x11, datum] };
        assert_eq!(std::array::from_fn(|n| done.v[n][lane as usize]), want, "lane {lane}");
    }
}

#[test]
fn lds_operations_on_a_second_address() {
    let cases: [(&str, fn(i64, i64) -> i64); 14] = [
        ("add_src2_u32", |o, d| o + d),
        ("sub_src2_u32", |o, d| o - d),
        ("rsub_src2_u32", |o, d| d - o),
        ("inc_src2_u32", |o, d| if o >= d { 0 } else { o + 1 }),
        ("dec_src2_u32", |o, d| if o == 0 || o > d { d } else { o - 1 }),
        ("min_src2_u32", i64::min),
        ("max_src2_u32", i64::max),
        ("min_src2_i32", |o, d| i64::from((o as i32).min(d as i32))),
        ("max_src2_i32", |o, d| i64::from((o as i32).max(d as i32))),
        ("and_src2_b32", |o, d| o & d),
        ("or_src2_b32", |o, d| o | d),
        ("xor_src2_b32", |o, d| (o | d) - (o & d)),
        ("write_src2_b32", |_, d| d),
        ("add_src2_f32", |o, d| i64::from((f32::from_bits(o as u32) + f32::from_bits(d as u32)).to_bits())),
    ];
    let prepare =
        "global_load_dwordx4 v[30:33], v21, s[4:5]\ns_waitcnt vmcnt(0)\nds_write_b128 v21, v[30:33]\n";
    for (name, f) in cases {
        // The second address is two words further; the distance is in the offset, or in the upper half of the address.
        for (address, offset) in
            [("v_mov_b32 v34, v21", "offset:2"), ("v_or_b32 v34, 0x40000, v21", "offset:32768")]
        {
            let body = format!("{prepare}{address}\nds_{name} v34 {offset}\nds_read_b128 v[10:13], v21");
            let done = run(Target::GFX908, &body);
            for lane in 0..64 {
                let at = |n: usize| word(&done.before, 16 * lane + 4 * n);
                let want = [f(i64::from(at(0)), i64::from(at(2))) as u32, at(1), at(2), at(3)];
                let got = std::array::from_fn(|n| done.v[n][lane]);
                assert!(
                    want == got || name.ends_with("f32") && same(want[0], got[0]),
                    "{name} {want:x?} {got:x?}"
                );
            }
        }
    }
    for (name, f) in [
        ("add_src2_u64", (|o, d| o.wrapping_add(d)) as fn(u64, u64) -> u64),
        ("min_src2_i64", |o, d| (o as i64).min(d as i64) as u64),
        ("max_src2_f64", |o, d| {
            let (x, y) = (f64::from_bits(o), f64::from_bits(d));
            if x.is_nan() || y.is_nan() { o } else { x.max(y).to_bits() }
        }),
        ("write_src2_b64", |_, d| d),
        ("dec_src2_u64", |o, d| if o == 0 || o > d { d } else { o - 1 }),
    ] {
        let done =
            run(Target::GFX900, &format!("{prepare}ds_{name} v21 offset:2\nds_read_b64 v[10:11], v21"));
        for lane in 0..64 {
            let pair = |n: usize| {
                u64::from(word(&done.before, 16 * lane + n))
                    | u64::from(word(&done.before, 16 * lane + n + 4)) << 32
            };
            let got = u64::from(done.v[0][lane]) | u64::from(done.v[1][lane]) << 32;
            let nan = f64::from_bits(pair(0)).is_nan() || f64::from_bits(pair(8)).is_nan();
            assert!(got == f(pair(0), pair(8)) || name.ends_with("f64") && nan, "{name} lane {lane}");
        }
    }
}

/// The bit reversal that the manual prints for a full FFT, where it is counted from 1.
#[test]
fn swizzling_for_an_fft() {
    const REVERSED: [u32; 32] = [
        0, 16, 8, 24, 4, 20, 12, 28, 2, 18, 10, 26, 6, 22, 14, 30, 1, 17, 9, 25, 5, 21, 13, 29, 3, 19, 11,
        27, 7, 23, 15, 31,
    ];
    let done = run(
        Target::GFX942,
        "ds_swizzle_b32 v10, v0 offset:0xe000\nds_swizzle_b32 v11, v0 offset:0xe010\nds_swizzle_b32 v12, v0 offset:0xe01f",
    );
    for lane in 0..64 {
        let group = lane as u32 / 32 * 32;
        assert_eq!(done.v[0][lane], group + REVERSED[lane % 32]);
        // With mask 0x10, each half of 16 lanes is reversed separately.
        let half = lane as u32 % 32 / 16 * 16;
        assert_eq!(done.v[1][lane], group + half + REVERSED[lane % 16] / 2);
        assert_eq!(done.v[2][lane], lane as u32);
    }
}

#[test]
fn scalar_stores() {
    let done = run(
        Target::GFX900,
        "s_mov_b32 s16, 0x11111111\ns_mov_b32 s17, 0x22222222\ns_mov_b32 s18, 0x33333333\ns_mov_b32 s19, 0x44444444\ns_movk_i32 s24, 0x100\ns_movk_i32 s25, 1\ns_store_dword s16, s[4:5], 0x10\ns_store_dwordx2 s[16:17], s[4:5], s24\ns_store_dwordx4 s[16:19], s[4:5], 0x40\ns_buffer_store_dwordx2 s[18:19], s[8:11], 0x80\ns_buffer_store_dwordx4 s[16:19], s[8:11], 0x7f8\ns_scratch_store_dword s17, s[4:5], s25\ns_waitcnt lgkmcnt(0)\ns_scratch_load_dwordx2 s[20:21], s[4:5], s25\ns_buffer_load_dwordx2 s[22:23], s[8:11], 0x7fc\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v10, s20\nv_mov_b32 v11, s21\nv_mov_b32 v12, s22\nv_mov_b32 v13, s23",
    );
    let mut want = done.before.clone();
    let mut put = |at: usize, x: u32| want[at..at + 4].copy_from_slice(&x.to_le_bytes());
    put(0x10, 0x1111_1111);
    [(0x100, 0x1111_1111), (0x104, 0x2222_2222)].into_iter().for_each(|(at, x)| put(at, x));
    [0x1111_1111, 0x2222_2222, 0x3333_3333, 0x4444_4444]
        .into_iter()
        .enumerate()
        .for_each(|(i, x)| put(0x40 + 4 * i, x));
    [(0x80, 0x3333_3333), (0x84, 0x4444_4444)].into_iter().for_each(|(at, x)| put(at, x));
    // Two of the last four words are inside the buffer. For scratch, the SGPR offset counts units of 64 bytes.
    [(0x7f8, 0x1111_1111), (0x7fc, 0x2222_2222)].into_iter().for_each(|(at, x)| put(at, x));
    put(0x40, 0x2222_2222);
    assert_eq!(done.after, want);
    assert_eq!((done.v[0][0], done.v[1][0]), (0x2222_2222, 0x2222_2222));
    assert_eq!((done.v[2][0], done.v[3][0]), (0x2222_2222, 0));
}

#[test]
fn scalar_atomics() {
    let cases: [(&str, fn(u64, u64, u64) -> u64); 13] = [
        ("swap", |_, d, _| d),
        ("cmpswap", |o, d, c| if o == c { d } else { o }),
        ("add", |o, d, _| o.wrapping_add(d)),
        ("sub", |o, d, _| o.wrapping_sub(d)),
        ("umin", |o, d, _| o.min(d)),
        ("umax", |o, d, _| o.max(d)),
        ("and", |o, d, _| o & d),
        ("or", |o, d, _| o | d),
        ("xor", |o, d, _| o ^ d),
        ("inc", |o, d, _| if o >= d { 0 } else { o + 1 }),
        ("dec", |o, d, _| if o == 0 || o > d { d } else { o - 1 }),
        ("smin", |o, d, _| o.min(d)),
        ("smax", |o, d, _| o.max(d)),
    ];
    // All numbers are positive even as signed numbers, so signed and unsigned forms agree; signs are tested below.
    let (old, datum) = (0x1234_5678u32, 0x1234_5679u32);
    for (name, f) in cases {
        for (suffix, words) in [("", 1), ("_x2", 2)] {
            for (prefix, base) in [("s_atomic", "s[4:5]"), ("s_buffer_atomic", "s[8:11]")] {
                for compare in [old, old + 1] {
                    let count = if name == "cmpswap" { 2 * words } else { words };
                    let data = if count == 1 { "s16".to_owned() } else { format!("s[16:{}]", 15 + count) };
                    // The data are the new value (upper word 7), then the comparand (upper word 9).
                    let (second, fourth) = if words == 2 { (7, 9) } else { (compare, 0) };
                    let third = if words == 2 { compare } else { 0 };
                    let body = format!(
                        "v_mov_b32 v30, {old:#x}\nv_mov_b32 v31, 9\nv_mov_b32 v32, 0\nglobal_store_dwordx2 v32, v[30:31], s[4:5] offset:16\ns_waitcnt vmcnt(0)\ns_mov_b32 s16, {datum:#x}\ns_mov_b32 s17, {second:#x}\ns_mov_b32 s18, {third:#x}\ns_mov_b32 s19, {fourth}\n{prefix}_{name}{suffix} {data}, {base}, 0x10 glc\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v10, s16\nv_mov_b32 v11, s17"
                    );
                    let done = run(Target::GFX90A, &body);
                    let join = |low: u32, high: u64| {
                        if words == 2 { u64::from(low) | high << 32 } else { u64::from(low) }
                    };
                    let want =
                        f(join(old, 9), join(datum, 7), join(compare, 9)) & (u64::MAX >> (64 - 32 * words));
                    let got = join(word(&done.after, 16), u64::from(word(&done.after, 20)));
                    let returned = join(done.v[0][0], u64::from(done.v[1][0]));
                    assert_eq!((got, returned), (want, join(old, 9)), "{prefix}_{name}{suffix}");
                }
            }
        }
    }
    // Tests signs, forms without a result, and addresses outside of the buffer.
    let done = run(
        Target::GFX906,
        "v_mov_b32 v30, -5\nv_mov_b32 v32, 0\nglobal_store_dword v32, v30, s[4:5]\nglobal_store_dword v32, v30, s[4:5] offset:4\ns_waitcnt vmcnt(0)\ns_mov_b32 s16, 3\ns_atomic_smax s16, s[4:5], 0x0\ns_atomic_umax s16, s[4:5], 0x4\ns_mov_b32 s17, 8\ns_buffer_atomic_add s17, s[8:11], 0x800 glc\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v10, s16\nv_mov_b32 v11, s17",
    );
    assert_eq!((word(&done.after, 0), word(&done.after, 4) as i32), (3, -5));
    assert_eq!((done.v[0][0], done.v[1][0]), (3, 0));
}
