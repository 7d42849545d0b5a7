//! Tests memory instructions exhaustively: every load, store and atomic of every segment, against byte arrays and arithmetic on old and new
//! values. Also tests the scalar instructions that no other test covers.

use gcn_isa::{Target, table};
use gcn_sim::{KernelState, Memory, Options};
use gcn_test_support::Random;

use super::harness::{Case, Kernel, state, words};

/// A target that has the instruction, if there is one.
fn target_of(name: &str) -> Option<Target> {
    [Target::GFX942, Target::GFX90A, Target::GFX908, Target::GFX950, Target::GFX900]
        .into_iter()
        .find(|t| table::find_mnemonic(*t, name).next().is_some())
}

/// Runs `body`; returns v10 to v13 and the memory afterwards. The lane's 16 bytes are at v[22:23], at v21 relative to s[4:5], and at v21 in
/// the buffer resource s[8:11].
fn run(target: Target, body: &str) -> ([[u32; 64]; 4], Vec<u8>, Vec<u8>) {
    let text = format!(
        "s_load_dwordx4 s[4:7], s[0:1], 0x0\nv_lshlrev_b32 v20, 4, v0\nv_mov_b32 v21, v20\ns_waitcnt lgkmcnt(0)
         s_mov_b32 s8, s4\ns_mov_b32 s9, s5\ns_movk_i32 s10, 1024\ns_mov_b32 s11, 0x20000
         v_mov_b32 v22, s4\nv_mov_b32 v23, s5\nv_add_co_u32 v22, vcc, v22, v21\nv_addc_co_u32 v23, vcc, 0, v23, vcc
         v_mov_b32 v10, 0xaaaabbbb\nv_mov_b32 v11, 0xccccdddd\nv_mov_b32 v12, 0xeeeeffff\nv_mov_b32 v13, 0x12345678
         {body}\ns_waitcnt vmcnt(0) lgkmcnt(0)\nglobal_store_dwordx4 v20, v[10:13], s[6:7]\ns_endpgm"
    );
    let mut memory = Memory::new();
    let (buffer, output) = (memory.alloc(1024), memory.alloc(1024));
    let mut random = Random::new(19);
    let before: Vec<u8> = (0..1024).map(|_| random.next_u64() as u8).collect();
    memory.write(buffer, &before).unwrap();
    let kernel =
        Kernel { target, state: KernelState { lds_bytes: 2048, private_bytes: 64, ..state() }, text };
    kernel
        .run(&mut memory, [1, 1, 1], [64, 1, 1], &[buffer, output], &Options::default())
        .unwrap_or_else(|e| panic!("{e}\n{}", kernel.text));
    let out = words(&memory.read(output, 1024).unwrap());
    let registers = std::array::from_fn(|n| std::array::from_fn(|lane| out[4 * lane + n]));
    (registers, before, memory.read(buffer, 1024).unwrap())
}

/// Little-endian bytes as a number.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |x, b| x << 8 | u64::from(*b))
}

/// The address operands of a segment as text, combined with the data operand.
fn operands(segment: &str, data: &str, load: bool) -> String {
    match (segment, load) {
        ("global", true) => format!("{data}, v21, s[4:5]"),
        ("global", false) => format!("v21, {data}, s[4:5]"),
        ("flat", true) => format!("{data}, v[22:23]"),
        ("flat", false) => format!("v[22:23], {data}"),
        ("buffer", _) => format!("{data}, v21, s[8:11], 0 offen"),
        (_, true) => format!("{data}, v30, off"),
        (_, false) => format!("v30, {data}, off"),
    }
}

fn range(words: usize) -> String {
    if words == 1 { "v10".to_owned() } else { format!("v[10:{}]", 9 + words) }
}

const OLD: u32 = 0xaaaa_bbbb;

/// Suffix, size in bytes, and the contents of the first register given the loaded bytes.
const LOADS: [(&str, usize, fn(u64) -> u32); 14] = [
    ("ubyte", 1, |x| x as u32),
    ("sbyte", 1, |x| i32::from(x as i8) as u32),
    ("ushort", 2, |x| x as u32),
    ("sshort", 2, |x| i32::from(x as i16) as u32),
    ("dword", 4, |x| x as u32),
    ("dwordx2", 8, |x| x as u32),
    ("dwordx3", 12, |x| x as u32),
    ("dwordx4", 16, |x| x as u32),
    ("ubyte_d16", 1, |x| x as u32 | OLD & 0xffff_0000),
    ("ubyte_d16_hi", 1, |x| (x as u32) << 16 | OLD & 0xffff),
    ("sbyte_d16", 1, |x| i32::from(x as i8) as u32 & 0xffff | OLD & 0xffff_0000),
    ("sbyte_d16_hi", 1, |x| (i32::from(x as i8) as u32) << 16 | OLD & 0xffff),
    ("short_d16", 2, |x| x as u32 | OLD & 0xffff_0000),
    ("short_d16_hi", 2, |x| (x as u32) << 16 | OLD & 0xffff),
];

/// The segments with a target that has scratch loads from VGPR addresses. gfx900 has no ECC, so 16-bit loads keep the other half.
#[test]
fn every_load_of_every_segment() {
    for segment in ["global", "flat", "buffer", "scratch"] {
        for (suffix, bytes, expected) in LOADS {
            // Scratch is first filled with data from memory.
            let prepare = if segment == "scratch" {
                "global_load_dwordx4 v[24:27], v21, s[4:5]\nv_mov_b32 v30, 4\ns_waitcnt vmcnt(0)\nscratch_store_dwordx4 v30, v[24:27], off\ns_waitcnt vmcnt(0)\n"
            } else {
                ""
            };
            let data = range(bytes.div_ceil(4));
            let body = format!("{prepare}{segment}_load_{suffix} {}", operands(segment, &data, true));
            let (v, before, _) = run(Target::GFX900, &body);
            for lane in 0..64 {
                let at = 16 * lane;
                assert_eq!(v[0][lane], expected(number(&before[at..at + bytes.min(8)])), "{body}");
                for n in 1..bytes / 4 {
                    assert_eq!(u64::from(v[n][lane]), number(&before[at + 4 * n..at + 4 * n + 4]), "{body}");
                }
            }
        }
    }
}

#[test]
fn every_store_of_every_segment() {
    let data: Vec<u8> = [0xaaaa_bbbbu32, 0xcccc_dddd, 0xeeee_ffff, 0x1234_5678]
        .iter()
        .flat_map(|w| w.to_le_bytes())
        .collect();
    for segment in ["global", "flat", "buffer", "scratch"] {
        for (suffix, from, bytes) in [
            ("byte", 0, 1),
            ("short", 0, 2),
            ("dword", 0, 4),
            ("dwordx2", 0, 8),
            ("dwordx3", 0, 12),
            ("dwordx4", 0, 16),
            ("byte_d16_hi", 2, 1),
            ("short_d16_hi", 2, 2),
        ] {
            let registers = range(usize::div_ceil(bytes, 4));
            let mut body = format!("{segment}_store_{suffix} {}", operands(segment, &registers, false));
            if segment == "scratch" {
                // Stores to scratch and loads back: scratch keeps the rest of its contents.
                body = format!(
                    "global_load_dwordx4 v[24:27], v21, s[4:5]\nv_mov_b32 v30, 4\ns_waitcnt vmcnt(0)\nscratch_store_dwordx4 v30, v[24:27], off\n{body}\ns_waitcnt vmcnt(0)\nscratch_load_dwordx4 v[24:27], v30, off\ns_waitcnt vmcnt(0)\nglobal_store_dwordx4 v21, v[24:27], s[4:5]"
                );
            }
            let (_, before, after) = run(Target::GFX908, &body);
            for (at, byte) in after.iter().enumerate() {
                let inside = at % 16 < bytes;
                let want = if inside { data[from + at % 16] } else { before[at] };
                assert_eq!(*byte, want, "{body} byte {at}");
            }
        }
    }
}

/// Computes the new value from the old one, the datum and a second datum.
type Modify = fn(u64, u64, u64) -> u64;

fn halves(a: u64, b: u64, f: fn(u16, u16) -> u16) -> u64 {
    u64::from(f(a as u16, b as u16)) | u64::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16
}

fn add_f16(a: u16, b: u16) -> u16 {
    half::f16::from_f64(f64::from(half::f16::from_bits(a)) + f64::from(half::f16::from_bits(b))).to_bits()
}

fn add_bf16(a: u16, b: u16) -> u16 {
    half::bf16::from_f32(f32::from(half::bf16::from_bits(a)) + f32::from(half::bf16::from_bits(b))).to_bits()
}

fn f(x: u64) -> f64 {
    f64::from_bits(x)
}

fn s(x: u64) -> f32 {
    f32::from_bits(x as u32)
}

fn low(x: u64) -> i32 {
    x as i32
}

/// The name in the vector formats and in LDS (with its type), whether it is 64-bit, and its meaning. Global compares take the new value
/// first, LDS compares the comparand.
const ATOMICS: &[(&str, &str, bool, Modify)] = &[
    ("swap", "wrxchg_b32", false, |_, d, _| d),
    ("cmpswap", "", false, |o, d, c| if o == c { d } else { o }),
    ("", "cmpst_b32", false, |o, c, d| if o == c { d } else { o }),
    ("", "cmpst_f32", false, |o, c, d| if s(o) == s(c) { d } else { o }),
    ("add", "add_u32", false, |o, d, _| (o + d) & 0xffff_ffff),
    ("sub", "sub_u32", false, |o, d, _| o.wrapping_sub(d) & 0xffff_ffff),
    ("", "rsub_u32", false, |o, d, _| d.wrapping_sub(o) & 0xffff_ffff),
    ("smin", "min_i32", false, |o, d, _| if low(o) < low(d) { o } else { d }),
    ("smax", "max_i32", false, |o, d, _| if low(o) > low(d) { o } else { d }),
    ("umin", "min_u32", false, |o, d, _| o.min(d)),
    ("umax", "max_u32", false, |o, d, _| o.max(d)),
    ("and", "and_b32", false, |o, d, _| o & d),
    ("or", "or_b32", false, |o, d, _| o | d),
    ("xor", "xor_b32", false, |o, d, _| o ^ d),
    ("", "mskor_b32", false, |o, d, e| o & !d | e),
    ("inc", "inc_u32", false, |o, d, _| if o >= d { 0 } else { o + 1 }),
    ("dec", "dec_u32", false, |o, d, _| if o == 0 || o > d { d } else { o - 1 }),
    ("", "wrap_b32", false, |o, d, e| if o >= d { o - d } else { (o + e) & 0xffff_ffff }),
    ("add_f32", "add_f32", false, |o, d, _| u64::from((s(o) + s(d)).to_bits())),
    ("", "min_f32", false, |o, d, _| u64::from(s(o).min(s(d)).to_bits())),
    ("", "max_f32", false, |o, d, _| u64::from(s(o).max(s(d)).to_bits())),
    ("pk_add_f16", "pk_add_f16", false, |o, d, _| halves(o, d, add_f16)),
    ("pk_add_bf16", "pk_add_bf16", false, |o, d, _| halves(o, d, add_bf16)),
    ("swap_x2", "wrxchg_b64", true, |_, d, _| d),
    ("cmpswap_x2", "", true, |o, d, c| if o == c { d } else { o }),
    ("", "cmpst_b64", true, |o, c, d| if o == c { d } else { o }),
    ("", "cmpst_f64", true, |o, c, d| if f(o) == f(c) { d } else { o }),
    ("add_x2", "add_u64", true, |o, d, _| o.wrapping_add(d)),
    ("sub_x2", "sub_u64", true, |o, d, _| o.wrapping_sub(d)),
    ("", "rsub_u64", true, |o, d, _| d.wrapping_sub(o)),
    ("smin_x2", "min_i64", true, |o, d, _| if (o as i64) < d as i64 { o } else { d }),
    ("smax_x2", "max_i64", true, |o, d, _| if (o as i64) > d as i64 { o } else { d }),
    ("umin_x2", "min_u64", true, |o, d, _| o.min(d)),
    ("umax_x2", "max_u64", true, |o, d, _| o.max(d)),
    ("and_x2", "and_b64", true, |o, d, _| o & d),
    ("or_x2", "or_b64", true, |o, d, _| o | d),
    ("xor_x2", "xor_b64", true, |o, d, _| o ^ d),
    ("", "mskor_b64", true, |o, d, e| o & !d | e),
    ("inc_x2", "inc_u64", true, |o, d, _| if o >= d { 0 } else { o + 1 }),
    ("dec_x2", "dec_u64", true, |o, d, _| if o == 0 || o > d { d } else { o - 1 }),
    ("add_f64", "add_f64", true, |o, d, _| (f(o) + f(d)).to_bits()),
    ("min_f64", "min_f64", true, |o, d, _| f(o).min(f(d)).to_bits()),
    ("max_f64", "max_f64", true, |o, d, _| f(o).max(f(d)).to_bits()),
];

/// Loads a datum for each lane. In most lanes it is finite and of a similar magnitude as the old value; in some it equals the old value.
const DATUM: &str = "global_load_dwordx4 v[12:15], v21, s[4:5]\ns_waitcnt vmcnt(0)\nv_xor_b32 v10, 0x1234, v12\nv_xor_b32 v11, 0x8001, v13\nv_and_b32 v16, 3, v0\nv_cmp_eq_u32 vcc, 0, v16\nv_cndmask_b32 v12, v10, v12, vcc\nv_cndmask_b32 v13, v11, v13, vcc\n";

/// The operands that DATUM produces: the old value, the datum in v[10:11], and the second datum in v[12:13].
fn data(before: &[u8], lane: usize, wide: bool) -> [u64; 3] {
    let old = number(&before[16 * lane..16 * lane + 8]);
    let first = old ^ 0x8001_0000_1234;
    let second = if lane.is_multiple_of(4) { old } else { first };
    let mask = if wide { u64::MAX } else { 0xffff_ffff };
    [old & mask, first & mask, second & mask]
}

fn is_nan(x: u64, name: &str) -> bool {
    let any = |x: u64| match name {
        n if n.contains("bf16") => [x, x >> 16].iter().any(|x| half::bf16::from_bits(*x as u16).is_nan()),
        n if n.contains("f16") => [x, x >> 16].iter().any(|x| half::f16::from_bits(*x as u16).is_nan()),
        n if n.contains("f32") => s(x).is_nan(),
        n if n.contains("f64") => f(x).is_nan(),
        _ => false,
    };
    any(x)
}

#[test]
fn every_atomic_of_every_segment() {
    let mut checked = 0;
    for (suffix, _, wide, meaning) in ATOMICS.iter().filter(|a| !a.0.is_empty()) {
        for segment in ["global", "flat", "buffer"] {
            let name = format!("{segment}_atomic_{suffix}");
            let Some(target) = target_of(&name) else { continue };
            let words = (1 + usize::from(*wide)) * (1 + usize::from(suffix.starts_with("cmp")));
            // A compare takes the new value and then the comparand. For 32 bits these are in v10 and v11, so v11 gets the second datum.
            let gather = if words == 2 && !wide { "v_mov_b32 v11, v12\n" } else { "" };
            let result = if *wide { "v[14:15]" } else { "v14" };
            let glc = if target.is_gfx940_family() { "sc0" } else { "glc" };
            let texts = match segment {
                "buffer" => vec![(format!("{name} {} {glc}", operands(segment, &range(words), false)), true)],
                _ => {
                    let address = operands(segment, &range(words), false);
                    vec![
                        (format!("{name} {address}"), false),
                        (format!("{name} {result}, {address} {glc}"), true),
                    ]
                }
            };
            for (text, returns) in texts {
                let keep = if segment == "buffer" { "v_mov_b32 v14, v10\nv_mov_b32 v15, v11\n" } else { "" };
                let body = format!(
                    "{DATUM}{gather}{text}\ns_waitcnt vmcnt(0)\n{keep}v_mov_b32 v10, v14\nv_mov_b32 v11, v15"
                );
                // Some atomics exist in only one of the two forms.
                let form = if returns { "rtn" } else { "nortn" };
                if !table::find_mnemonic(target, &name).any(|row| row.form.starts_with(form)) {
                    continue;
                }
                let (v, before, after) = run(target, &body);
                for lane in 0..64 {
                    let [old, first, second] = data(&before, lane, *wide);
                    let bytes = 4 + 4 * usize::from(*wide);
                    let got = number(&after[16 * lane..16 * lane + bytes]);
                    let want = meaning(old, first, second);
                    let nan = is_nan(want, suffix) || is_nan(old, suffix) || is_nan(first, suffix);
                    assert!(
                        got == want || nan,
                        "{text} lane {lane}: {old:#x} {first:#x}: {got:#x}, not {want:#x}"
                    );
                    if returns {
                        let upper = if *wide { u64::from(v[1][lane]) << 32 } else { 0 };
                        assert_eq!(u64::from(v[0][lane]) | upper, old, "{text}");
                    }
                }
                checked += 1;
            }
        }
    }
    assert!(checked > 120, "{checked}");
}

#[test]
fn every_atomic_of_lds() {
    let mut checked = 0;
    for (_, suffix, wide, meaning) in ATOMICS.iter().filter(|a| !a.1.is_empty()) {
        let (operation, ty) = suffix.rsplit_once('_').unwrap();
        for name in [format!("ds_{suffix}"), format!("ds_{operation}_rtn_{ty}")] {
            let Some(target) = target_of(&name) else { continue };
            let row = table::find_mnemonic(target, &name).next().unwrap();
            let returns = name.contains("_rtn_");
            let pair =
                |first: usize| if *wide { format!("v[{first}:{}]", first + 1) } else { format!("v{first}") };
            let mut text = format!("{name} ");
            if returns {
                text += &format!("{}, ", pair(14));
            }
            text += &format!("v21, {}", pair(10));
            if row.operands.iter().any(|o| o.name == "data1") {
                text += &format!(", {}", pair(12));
            }
            let body = format!(
                "{DATUM}global_load_dwordx2 v[24:25], v21, s[4:5]\ns_waitcnt vmcnt(0)\nds_write_b64 v21, v[24:25]\n{text}\nds_read_b64 v[24:25], v21\ns_waitcnt lgkmcnt(0)\nglobal_store_dwordx2 v21, v[24:25], s[4:5]\nv_mov_b32 v10, v14\nv_mov_b32 v11, v15"
            );
            let (v, before, after) = run(target, &body);
            for lane in 0..64 {
                let [old, first, second] = data(&before, lane, *wide);
                let bytes = 4 + 4 * usize::from(*wide);
                let got = number(&after[16 * lane..16 * lane + bytes]);
                let want = meaning(old, first, second);
                let nan = is_nan(want, suffix) || is_nan(old, suffix) || is_nan(first, suffix);
                assert!(
                    got == want || nan,
                    "{text} lane {lane}: {old:#x} {first:#x}: {got:#x}, not {want:#x}"
                );
                if returns {
                    let upper = if *wide { u64::from(v[1][lane]) << 32 } else { 0 };
                    assert_eq!(u64::from(v[0][lane]) | upper, old, "{text}");
                }
            }
            checked += 1;
        }
    }
    assert!(checked > 60, "{checked}");
}

/// Tests LDS reads of every width; on gfx900 a 16-bit read keeps the other half.
#[test]
fn every_read_of_lds() {
    for (suffix, bytes, expected) in LOADS {
        let name = match suffix {
            "ubyte" => "u8",
            "sbyte" => "i8",
            "ushort" => "u16",
            "sshort" => "i16",
            "dword" => "b32",
            "dwordx2" => "b64",
            "dwordx3" => "b96",
            "dwordx4" => "b128",
            "ubyte_d16" => "u8_d16",
            "ubyte_d16_hi" => "u8_d16_hi",
            "sbyte_d16" => "i8_d16",
            "sbyte_d16_hi" => "i8_d16_hi",
            "short_d16" => "u16_d16",
            _ => "u16_d16_hi",
        };
        let data = range(bytes.div_ceil(4));
        let body = format!(
            "global_load_dwordx4 v[24:27], v21, s[4:5]\ns_waitcnt vmcnt(0)\nds_write_b128 v21, v[24:27]\nds_nop\nds_read_{name} {data}, v21"
        );
        let (v, before, _) = run(Target::GFX900, &body);
        for lane in 0..64 {
            let at = 16 * lane;
            assert_eq!(v[0][lane], expected(number(&before[at..at + bytes.min(8)])), "{body}");
            for n in 1..bytes / 4 {
                assert_eq!(u64::from(v[n][lane]), number(&before[at + 4 * n..at + 4 * n + 4]), "{body}");
            }
        }
    }
}

/// The operands are `s16`, `s17`, `s[24:25]`, `s[26:27]`; the result is in `s20` or `s[20:21]`, and SCC if it changes.
type ScalarRow = (&'static str, fn(u32, u32, u64, u64) -> (u64, Option<bool>));

fn flag(x: u64) -> (u64, Option<bool>) {
    (x, Some(x != 0))
}

fn bits(x: u64, value: u64, count: u32) -> u32 {
    (0..count).find(|n| x >> n & 1 == value).unwrap_or(u32::MAX)
}

const SCALAR: &[ScalarRow] = &[
    ("s_bcnt0_i32_b32 s20, s16", |a, _, _, _| flag((0..32).filter(|n| a >> n & 1 == 0).count() as u64)),
    ("s_bcnt1_i32_b32 s20, s16", |a, _, _, _| flag((0..32).filter(|n| a >> n & 1 == 1).count() as u64)),
    ("s_bcnt0_i32_b64 s20, s[24:25]", |_, _, x, _| flag((0..64).filter(|n| x >> n & 1 == 0).count() as u64)),
    ("s_ff0_i32_b32 s20, s16", |a, _, _, _| (u64::from(bits(u64::from(a), 0, 32)), None)),
    ("s_ff0_i32_b64 s20, s[24:25]", |_, _, x, _| (u64::from(bits(x, 0, 64)), None)),
    ("s_flbit_i32_b64 s20, s[24:25]", |_, _, x, _| (u64::from(bits(x.reverse_bits(), 1, 64)), None)),
    ("s_flbit_i32_i64 s20, s[24:25]", |_, _, x, _| {
        let other = 1 - (x >> 63);
        (u64::from((1..64).find(|n| x >> (63 - n) & 1 == other).unwrap_or(u32::MAX)), None)
    }),
    ("s_brev_b64 s[20:21], s[24:25]", |_, _, x, _| ((0..64).map(|n| (x >> n & 1) << (63 - n)).sum(), None)),
    ("s_bfm_b64 s[20:21], s16, s17", |a, b, _, _| {
        ((0..64).filter(|n| *n < a % 64).map(|n| 1u64.checked_shl(n + b % 64).unwrap_or(0)).sum(), None)
    }),
    ("s_not_b64 s[20:21], s[24:25]", |_, _, x, _| flag(u64::MAX - x)),
    ("s_nand_b32 s20, s16, s17", |a, b, _, _| flag(u64::from(u32::MAX - (a & b)))),
    ("s_nor_b32 s20, s16, s17", |a, b, _, _| flag(u64::from(u32::MAX - (a | b)))),
    ("s_xor_b32 s20, s16, s17", |a, b, _, _| flag(u64::from((a | b) - (a & b)))),
    ("s_andn2_b32 s20, s16, s17", |a, b, _, _| flag(u64::from(a - (a & b)))),
    ("s_nand_b64 s[20:21], s[24:25], s[26:27]", |_, _, x, y| flag(u64::MAX - (x & y))),
    ("s_xnor_b64 s[20:21], s[24:25], s[26:27]", |_, _, x, y| flag(u64::MAX - ((x | y) - (x & y)))),
    ("s_orn2_b64 s[20:21], s[24:25], s[26:27]", |_, _, x, y| flag(x | (u64::MAX - y))),
    ("s_nor_b64 s[20:21], s[24:25], s[26:27]", |_, _, x, y| flag(u64::MAX - (x | y))),
    ("s_lshr_b32 s20, s16, s17", |a, b, _, _| flag(u64::from(a) / (1 << (b % 32)))),
    ("s_lshl1_add_u32 s20, s16, s17", |a, b, _, _| sum(2 * u64::from(a) + u64::from(b))),
    ("s_lshl3_add_u32 s20, s16, s17", |a, b, _, _| sum(8 * u64::from(a) + u64::from(b))),
    ("s_lshl4_add_u32 s20, s16, s17", |a, b, _, _| sum(16 * u64::from(a) + u64::from(b))),
    ("s_min_u32 s20, s16, s17", |a, b, _, _| (u64::from(a.min(b)), Some(a < b))),
    ("s_max_i32 s20, s16, s17", |a, b, _, _| {
        (u64::from((a as i32).max(b as i32) as u32), Some(a as i32 >= b as i32))
    }),
    ("s_pack_ll_b32_b16 s20, s16, s17", |a, b, _, _| {
        (u64::from(a % 0x1_0000 + (b % 0x1_0000) * 0x1_0000), None)
    }),
    ("s_pack_hh_b32_b16 s20, s16, s17", |a, b, _, _| {
        (u64::from(a / 0x1_0000 + b / 0x1_0000 * 0x1_0000), None)
    }),
    ("s_quadmask_b64 s[20:21], s[24:25]", |_, _, x, _| {
        flag((0..16).filter(|n| x >> (4 * n) & 15 != 0).map(|n| 1 << n).sum())
    }),
    ("s_wqm_b64 s[20:21], s[24:25]", |_, _, x, _| {
        flag((0..16).filter(|n| x >> (4 * n) & 15 != 0).map(|n| 15 << (4 * n)).sum())
    }),
    ("s_bfe_i64 s[20:21], s[24:25], s17", |_, b, x, _| {
        let (offset, width) = (b % 64, (b >> 16 & 127).min(64));
        let field = (i128::from(x as i64) >> offset) & ((1i128 << width) - 1);
        let negative = width > 0 && field >> (width - 1) & 1 == 1;
        flag((if negative { field - (1i128 << width) } else { field }) as u64)
    }),
    ("s_mov_b32 s20, s16\ns_bitset0_b32 s20, s17", |a, b, _, _| (u64::from(a & !(1 << (b % 32))), None)),
    ("s_mov_b32 s20, s16\ns_bitset1_b32 s20, s17", |a, b, _, _| (u64::from(a | 1 << (b % 32)), None)),
    ("s_mov_b64 s[20:21], s[24:25]\ns_bitset0_b64 s[20:21], s17", |_, b, x, _| (x & !(1 << (b % 64)), None)),
    ("s_mov_b64 s[20:21], s[24:25]\ns_bitset1_b64 s[20:21], s17", |_, b, x, _| (x | 1 << (b % 64), None)),
    ("s_mov_b32 s20, s16\ns_mulk_i32 s20, 0x8003", |a, _, _, _| {
        ((i64::from(a as i32) * -32765) as u64 & 0xffff_ffff, None)
    }),
    ("s_mov_b32 s20, s16\ns_addk_i32 s20, 0x7fff", |a, _, _, _| {
        let sum = i64::from(a as i32) + 0x7fff;
        (sum as u64 & 0xffff_ffff, Some(sum != i64::from(sum as i32)))
    }),
    ("s_mov_b32 s20, s17\ns_cmp_lt_u32 s16, s17\ns_cmov_b32 s20, s16", |a, b, _, _| {
        (u64::from(a.min(b)), Some(a < b))
    }),
    ("s_mov_b64 s[20:21], s[26:27]\ns_cmp_gt_u32 s16, s17\ns_cmov_b64 s[20:21], s[24:25]", |a, b, x, y| {
        (if a > b { x } else { y }, Some(a > b))
    }),
    ("s_mov_b32 s20, s17\ns_cmp_ge_i32 s16, s17\ns_cmovk_i32 s20, 0xfff0", |a, b, _, _| {
        (u64::from(if a as i32 >= b as i32 { 0xffff_fff0 } else { b }), Some(a as i32 >= b as i32))
    }),
    ("s_mov_b32 s20, 0\ns_cmp_le_i32 s16, s17", |a, b, _, _| (0, Some(a as i32 <= b as i32))),
    ("s_mov_b32 s20, 0\ns_cmp_lg_i32 s16, s17", |a, b, _, _| (0, Some(a != b))),
    ("s_mov_b32 s20, 0\ns_bitcmp0_b32 s16, s17", |a, b, _, _| (0, Some(a >> (b % 32) & 1 == 0))),
    ("s_mov_b32 s20, 0\ns_bitcmp1_b64 s[24:25], s17", |_, b, x, _| (0, Some(x >> (b % 64) & 1 == 1))),
    ("s_mov_b32 s20, 0\ns_cmpk_eq_i32 s16, 0x8000", |a, _, _, _| (0, Some(a as i32 == -0x8000))),
    ("s_mov_b32 s20, 0\ns_cmpk_lg_i32 s16, 0x8000", |a, _, _, _| (0, Some(a as i32 != -0x8000))),
    ("s_mov_b32 s20, 0\ns_cmpk_gt_i32 s16, 0x8000", |a, _, _, _| (0, Some(a as i32 > -0x8000))),
    ("s_mov_b32 s20, 0\ns_cmpk_ge_i32 s16, 31", |a, _, _, _| (0, Some(a as i32 >= 31))),
    ("s_mov_b32 s20, 0\ns_cmpk_le_i32 s16, 31", |a, _, _, _| (0, Some(a as i32 <= 31))),
    ("s_mov_b32 s20, 0\ns_cmpk_eq_u32 s16, 0x8000", |a, _, _, _| (0, Some(a == 0x8000))),
    ("s_mov_b32 s20, 0\ns_cmpk_lg_u32 s16, 0x8000", |a, _, _, _| (0, Some(a != 0x8000))),
    ("s_mov_b32 s20, 0\ns_cmpk_ge_u32 s16, 0x8000", |a, _, _, _| (0, Some(a >= 0x8000))),
    ("s_mov_b32 s20, 0\ns_cmpk_lt_u32 s16, 0x8000", |a, _, _, _| (0, Some(a < 0x8000))),
    ("s_mov_b32 s20, 0\ns_cmpk_le_u32 s16, 0x8000", |a, _, _, _| (0, Some(a <= 0x8000))),
];

fn sum(x: u64) -> (u64, Option<bool>) {
    (x & 0xffff_ffff, Some(x >> 32 != 0))
}

#[test]
fn scalar_instructions() {
    const SPECIAL: [u32; 12] = [
        0,
        1,
        31,
        32,
        0x7fff_ffff,
        0x8000_0000,
        u32::MAX,
        0xffff_8000,
        0x8000,
        0x0010_0004,
        0x0040_0000,
        0x0021_001f,
    ];
    let mut random = Random::new(41);
    for (text, meaning) in SCALAR {
        for _ in 0..24 {
            let words = random.words::<64>(&SPECIAL);
            let wide = |i: usize| u64::from(words[i]) | u64::from(words[i + 1]) << 32;
            let mut case = Case::new(Target::GFX908);
            for (i, register) in [16, 17, 24, 25, 26, 27].into_iter().enumerate() {
                case = case.s(register, words[i]);
            }
            for scc in [false, true] {
                let out =
                    case.run(&format!("s_mov_b64 s[20:21], 0\ns_cmp_eq_u32 0, {}\n{text}", u32::from(!scc)));
                let (want, want_scc) = meaning(words[0], words[1], wide(2), wide(4));
                let got = if text.contains("s[20:21]") { out.s_pair(20) } else { u64::from(out.s(20)) };
                assert_eq!(got, want, "{text}\n{:x?}", &words[..6]);
                assert_eq!(out.scc, want_scc.unwrap_or(scc), "{text}: SCC\n{:x?}", &words[..6]);
            }
        }
    }
}

#[test]
fn hints_and_caches_change_nothing() {
    let cases: [(Target, &str); 4] = [
        (Target::GFX908, "buffer_wbinvl1\nbuffer_wbinvl1_vol"),
        (Target::GFX90A, "buffer_wbl2\nbuffer_invl2"),
        (Target::GFX942, "buffer_wbl2 sc0 sc1\nbuffer_inv sc0 sc1"),
        (
            Target::GFX900,
            "s_dcache_inv\ns_dcache_inv_vol\ns_dcache_wb\ns_dcache_wb_vol\ns_icache_inv\ns_incperflevel 1\ns_decperflevel 1\ns_setkill 0\ns_sethalt 0\ns_setprio 3\ns_sleep 1\ns_ttracedata\ns_wakeup",
        ),
    ];
    for (target, text) in cases {
        let out = Case::new(target).v(1, [5; 64]).s(16, 7).run(&format!("s_cmp_eq_u32 0, 0\n{text}"));
        assert_eq!((out.v(1), out.s(16), out.scc, out.exec()), ([5; 64], 7, true, u64::MAX), "{text}");
    }
}

#[test]
fn branches_on_masks_and_for_debuggers() {
    for (branch, vcc, exec, taken) in [
        ("s_cbranch_vccz", 0u64, u64::MAX, true),
        ("s_cbranch_vccz", 1 << 63, u64::MAX, false),
        ("s_cbranch_vccnz", 1 << 63, u64::MAX, true),
        ("s_cbranch_vccnz", 0, u64::MAX, false),
        ("s_cbranch_execnz", 0, 1 << 40, true),
        ("s_cbranch_execnz", 0, 0, false),
        ("s_cbranch_cdbgsys", 0, u64::MAX, false),
        ("s_cbranch_cdbguser", 0, u64::MAX, false),
        ("s_cbranch_cdbgsys_or_user", 0, u64::MAX, false),
        ("s_cbranch_cdbgsys_and_user", 0, u64::MAX, false),
    ] {
        let out = Case::new(Target::GFX906).run(&format!(
            "s_mov_b32 s20, 1\ns_mov_b32 vcc_lo, {:#x}\ns_mov_b32 vcc_hi, {:#x}\ns_mov_b32 exec_lo, {:#x}\ns_mov_b32 exec_hi, {:#x}\ns_nop 4\n{branch} over\ns_mov_b32 s20, 0\nover: s_nop 0",
            vcc as u32, vcc >> 32, exec as u32, exec >> 32
        ));
        assert_eq!(out.s(20) == 1, taken, "{branch} {vcc:#x} {exec:#x}");
    }
}

#[test]
fn masks_are_saved_and_written() {
    let (mask, exec) = (0xff00_ff00_1234_5678u64, 0x0ff0_0ff0_ffff_0000u64);
    let cases: [(&str, u64, bool); 6] = [
        ("s_nand_saveexec_b64", !(mask & exec), true),
        ("s_nor_saveexec_b64", !(mask | exec), true),
        ("s_xnor_saveexec_b64", !(mask ^ exec), true),
        ("s_orn1_saveexec_b64", !mask | exec, true),
        ("s_orn2_saveexec_b64", mask | !exec, true),
        ("s_andn1_wrexec_b64", !mask & exec, false),
    ];
    for (name, new, saves) in cases {
        let out = Case::new(Target::GFX942).run(&format!(
            "s_mov_b32 s16, {:#x}\ns_mov_b32 s17, {:#x}\ns_mov_b32 exec_lo, {:#x}\ns_mov_b32 exec_hi, {:#x}\n{name} s[20:21], s[16:17]",
            mask as u32, mask >> 32, exec as u32, exec >> 32
        ));
        assert_eq!(
            (out.exec(), out.s_pair(20), out.scc),
            (new, if saves { exec } else { new }, new != 0),
            "{name}"
        );
    }
}

#[test]
fn relative_moves_returns_and_clocks() {
    let out = Case::new(Target::GFX90A).s(18, 3).s(19, 4).run(
        "s_mov_b32 m0, 2\ns_movrels_b64 s[20:21], s[16:17]\ns_movreld_b64 s[22:23], s[18:19]\ns_memtime s[26:27]\ns_memrealtime s[28:29]\ns_waitcnt lgkmcnt(0)",
    );
    assert_eq!((out.s_pair(20), out.s_pair(24)), (3 | 4 << 32, 3 | 4 << 32));
    // The real-time clock is slower.
    let (time, real_time) = (out.s_pair(26), out.s_pair(28));
    assert!(0 < real_time && real_time < time && time < 1000, "{time} {real_time}");
    for back in ["s_rfe_b64 s[26:27]", "s_rfe_restore_b64 s[26:27], 0"] {
        // The call stores the address of the instruction after it.
        let out = Case::new(Target::GFX900).run(&format!(
            "s_mov_b32 s20, 0\ns_branch start\nleave: {back}\nstart: s_call_b64 s[26:27], leave\ns_add_u32 s20, s20, 5"
        ));
        assert_eq!(out.s(20), 5, "{back}");
    }
}

/// A loop that waits for a time by the 100 MHz clock waits for that long, and at most a twentieth (plus the last reading) too long. Its
/// number of trips hardly depends on the time. A hundred readings between other work take a hundred times the latency.
#[test]
fn loops_that_wait_for_a_time_end_soon() {
    for ticks in [2_000u64, 100_000, 20_000_000] {
        let out = Case::new(Target::GFX942).run(&format!(
            "s_mov_b32 s20, 0\ns_memrealtime s[26:27]\ns_waitcnt lgkmcnt(0)\nagain: s_sleep 10\ns_add_u32 s20, s20, 1\n\
             s_memrealtime s[28:29]\ns_waitcnt lgkmcnt(0)\ns_sub_u32 s30, s28, s26\ns_cmp_lt_u32 s30, 0x{ticks:x}\ns_cbranch_scc1 again"
        ));
        let (waited, turns) = (out.s_pair(28) - out.s_pair(26), u64::from(out.s(20)));
        // A trip takes 640 cycles, of which a tick has 21; one trip may be superfluous.
        let most = (ticks + ticks / 20 + 40).min(ticks + 2_000 + 40);
        assert!((ticks..=most).contains(&waited), "{ticks}: {waited}");
        // Without the growing cost of readings, a trip would take 31 ticks or more.
        assert!(turns <= ticks / 31 + 1 && turns < 200 + ticks / 2_000, "{ticks}: {turns}");
    }
    let work = "s_memtime s[26:27]\n".to_owned() + &"s_nop 0\n".repeat(256) + "s_waitcnt lgkmcnt(0)\n";
    let out = Case::new(Target::GFX942).run(&work.repeat(100));
    assert!(out.s_pair(26) < 100 * (258 + 41), "{}", out.s_pair(26));
}

#[test]
fn long_scalar_loads_and_other_ends() {
    for (words, end) in [(8usize, "s_endpgm_saved"), (16, "s_endpgm_ordered_ps_done")] {
        let mut text = format!(
            "s_load_dwordx4 s[4:7], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\ns_load_dwordx{words} s[16:{}], s[4:5], 0x8\ns_waitcnt lgkmcnt(0)\n",
            15 + words
        );
        for n in 0..words {
            text +=
                &format!("v_mov_b32 v2, s{}\nglobal_store_dword v1, v2, s[6:7] offset:{}\n", 16 + n, 256 * n);
        }
        text += end;
        let mut memory = Memory::new();
        let (input, output) = (memory.alloc(128), memory.alloc(4096));
        let data: Vec<u8> = (0..128u32).map(|i| (i * 3) as u8).collect();
        memory.write(input, &data).unwrap();
        let kernel = Kernel { target: Target::GFX908, state: state(), text };
        kernel.run(&mut memory, [1, 1, 1], [64, 1, 1], &[input, output], &Options::default()).unwrap();
        for n in 0..words as u64 {
            let expected = &data[8 + 4 * n as usize..12 + 4 * n as usize];
            assert_eq!(memory.read(output + 256 * n, 4).unwrap(), expected);
        }
    }
}
