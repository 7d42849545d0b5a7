//! Matrix instructions: operands laid out by AMD's matrix instruction calculator give the plain matrix product.

use std::collections::BTreeMap;
use std::io::Read;

use gcn_isa::{Target, table};
use gcn_sim::{KernelState, Memory, Options};

use super::harness::{Kernel, Random, state, words};

/// Place of an element: (block, row, column) -> (register, lane, low bit, high bit).
type Places = BTreeMap<(usize, usize, usize), (usize, usize, u32, u32)>;

struct Layout {
    a: Places,
    b: Places,
    d: Places,
    index: Places,
}

type Key = (Target, String, String);

/// The calculator's tables, one per (target, instruction, modifiers).
fn layouts() -> BTreeMap<Key, Layout> {
    let mut text = String::new();
    let packed = &include_bytes!("../../../gcn-isa/tests/data/layouts.tsv.gz")[..];
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    let mut rows: BTreeMap<Key, BTreeMap<String, Places>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let n = |i: usize| cells[i].parse::<usize>().unwrap();
        let key = (cells[0].parse().unwrap(), cells[1].to_owned(), cells[2].to_owned());
        let places = rows.entry(key).or_default().entry(cells[3].to_owned()).or_default();
        // An element of 64 bits is named by its higher register.
        let register = if n(10) == 63 { n(7) - 1 } else { n(7) };
        for block in cells[4].split(',') {
            places.insert((block.parse().unwrap(), n(5), n(6)), (register, n(8), n(9) as u32, n(10) as u32));
        }
    }
    let plain: BTreeMap<Key, BTreeMap<String, Places>> =
        rows.iter().filter(|(k, _)| k.2.is_empty()).map(|(k, v)| (k.clone(), v.clone())).collect();
    rows.into_iter()
        .map(|(key, mut matrices)| {
            let base = &plain[&(key.0, key.1.clone(), String::new())];
            let mut take =
                |name: &str| matrices.remove(name).or_else(|| base.get(name).cloned()).unwrap_or_default();
            let layout = Layout { a: take("A"), b: take("B"), d: take("D"), index: take("K") };
            (key, layout)
        })
        .collect()
}

/// Element types by the type suffix of the mnemonic: (A, B).
fn types(instruction: &str) -> (&'static str, &'static str) {
    const PAIRS: [&str; 4] = ["bf8_bf8", "bf8_fp8", "fp8_bf8", "fp8_fp8"];
    if let Some(pair) = PAIRS.iter().find(|p| instruction.ends_with(*p)) {
        let (a, b) = pair.split_once('_').unwrap();
        return (a, b);
    }
    let ty = ["bf16", "xf32", "f16", "f32", "f64", "i8"]
        .into_iter()
        .find(|t| instruction.trim_end_matches("_1k").ends_with(t))
        .unwrap();
    (ty, ty)
}

/// Small values that every format holds exactly, and their bits.
fn encode(ty: &str, value: i32) -> u64 {
    let v = f64::from(value);
    match ty {
        "f64" => v.to_bits(),
        "f32" | "xf32" => u64::from((v as f32).to_bits()),
        "f16" => u64::from(half::f16::from_f64(v).to_bits()),
        "bf16" => u64::from(half::bf16::from_f64(v).to_bits()),
        "i8" => u64::from(value as i8 as u8),
        // e4m3fnuz and e5m2fnuz: biases 8 and 16.
        "fp8" => eight_bit(value, 3, 8),
        _ => eight_bit(value, 2, 16),
    }
}

/// A small integer as an 8-bit float with `fraction` fraction bits.
fn eight_bit(value: i32, fraction: u32, bias: u32) -> u64 {
    if value == 0 {
        return 0;
    }
    let magnitude = value.unsigned_abs();
    let exponent = magnitude.ilog2();
    let mantissa = (magnitude << fraction >> exponent) & ((1 << fraction) - 1);
    assert_eq!((mantissa | 1 << fraction) << exponent, magnitude << fraction, "{value} is not exact");
    u64::from(u32::from(value < 0) << 7 | (exponent + bias) << fraction | mantissa)
}

/// Registers of an operand, as many as its places need.
fn fill(places: &Places, ty: &str, value: impl Fn(usize, usize, usize) -> i32) -> Vec<[u32; 64]> {
    let wide = ty == "f64";
    let count = places.values().map(|p| p.0).max().unwrap_or(0) + 1 + usize::from(wide);
    let mut registers = vec![[0u32; 64]; count];
    for (&(block, row, col), &(register, lane, low, _)) in places {
        let bits = encode(ty, value(block, row, col));
        registers[register][lane] |= (bits << low) as u32;
        if wide {
            registers[register + 1][lane] = (bits >> 32) as u32;
        }
    }
    registers
}

/// Runs one matrix instruction on given registers; the result comes back.
fn run(
    target: Target,
    text: &str,
    a: &[[u32; 64]],
    b: &[[u32; 64]],
    c: &[[u32; 64]],
    index: &[u32; 64],
) -> Vec<[u32; 64]> {
    let mut load =
        String::from("s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_lshlrev_b32 v2, 2, v0\ns_waitcnt lgkmcnt(0)\n");
    let mut data = Vec::new();
    let mut place = |first: usize, registers: &[[u32; 64]]| {
        for (i, register) in registers.iter().enumerate() {
            load += &format!(
                "v_add_u32 v3, {:#x}, v2\nglobal_load_dword v{}, v3, s[4:5]\n",
                data.len() * 256,
                first + i
            );
            data.push(*register);
        }
    };
    place(10, a);
    place(20, b);
    place(40, c);
    place(8, std::slice::from_ref(index));
    let mut store = String::new();
    for i in 0..c.len() {
        store += &format!(
            "v_add_u32 v3, {:#x}, v2\nglobal_store_dword v3, v{}, s[4:5]\n",
            0x8000 + i * 256,
            80 + i
        );
    }
    let copy: String = (0..c.len()).map(|i| format!("v_mov_b32 v{}, v{}\n", 80 + i, 40 + i)).collect();
    let body =
        format!("{load}s_waitcnt vmcnt(0)\n{copy}s_nop 4\n{text}\ns_nop 15\ns_nop 15\n{store}s_endpgm");
    let kernel = Kernel { target, state: KernelState { ..state() }, text: body };
    let mut memory = Memory::new();
    let buffer = memory.alloc(0x1_0000);
    for (i, register) in data.iter().enumerate() {
        memory.write(buffer + 256 * i as u64, &super::harness::bytes(register)).unwrap();
    }
    kernel
        .run(&mut memory, [1, 1, 1], [64, 1, 1], &[buffer], &Options::default())
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    let read = |i: u64| words(&memory.read(buffer + 0x8000 + 256 * i, 256).unwrap()).try_into().unwrap();
    (0..c.len() as u64).map(read).collect()
}

fn range(count: usize, first: usize) -> String {
    if count == 1 { format!("v{first}") } else { format!("v[{first}:{}]", first + count - 1) }
}

fn modifiers(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.chunks(2).map(|pair| format!(" {}:{}", pair[0], pair[1])).collect()
}

/// The value of an element of D.
fn decode(ty: &str, registers: &[[u32; 64]], place: (usize, usize, u32, u32)) -> f64 {
    let low = registers[place.0][place.1];
    match ty {
        "f64" => f64::from_bits(u64::from(low) | u64::from(registers[place.0 + 1][place.1]) << 32),
        "i8" => f64::from(low as i32),
        _ => f64::from(f32::from_bits(low)),
    }
}

#[test]
fn every_matrix_instruction_multiplies_matrices() {
    let (mut plain, mut modified) = (0, 0);
    for ((target, instruction, mods), layout) in layouts() {
        if target == Target::GFX908 {
            continue;
        }
        let sparse = instruction.starts_with("v_smfmac");
        // The f64 form of blgp negates; that has its own test. The index sets of sparse instructions likewise.
        if !mods.is_empty() && (sparse || instruction.contains("f64")) {
            continue;
        }
        let printed = table::find_mnemonic(target, &instruction).next().unwrap().printed;
        let mut random = Random(instruction.len() as u64);
        let mut small = |limit: i32| (random.next() % (2 * limit as u64 + 1)) as i32 - limit;
        // One value per lane position, so that broadcast elements agree with what they broadcast.
        let mut by_place: BTreeMap<(usize, usize, u32, char), i32> = BTreeMap::new();
        for (places, matrix) in [(&layout.a, 'A'), (&layout.b, 'B')] {
            for p in places.values() {
                by_place.entry((p.0, p.1, p.2, matrix)).or_insert_with(|| small(7));
            }
        }
        let value = |places: &Places, matrix: char, at: (usize, usize, usize)| {
            let p = places[&at];
            by_place[&(p.0, p.1, p.2, matrix)]
        };
        let (a_type, b_type) = types(&instruction);
        let c: BTreeMap<_, i32> = layout.d.keys().map(|at| (*at, small(9))).collect();
        let c_type = if a_type == "f64" {
            "f64"
        } else if a_type == "i8" {
            "i32"
        } else {
            "f32"
        };
        let c_bits = |b, r, j| c[&(b, r, j)];
        let c_registers =
            if c_type == "i32" { fill_i32(&layout.d, c_bits) } else { fill(&layout.d, c_type, c_bits) };
        let k = layout.b.keys().map(|at| at.1).max().unwrap() + 1;
        let (a_registers, chosen, index) = if sparse {
            sparse_a(&layout, a_type, &mut random)
        } else {
            (fill(&layout.a, a_type, |b, r, c| value(&layout.a, 'A', (b, r, c))), BTreeMap::new(), [0; 64])
        };
        let b_registers = fill(&layout.b, b_type, |b, r, c| value(&layout.b, 'B', (b, r, c)));
        let third = if sparse { "v8".to_owned() } else { range(c_registers.len(), 40) };
        let text = format!(
            "{printed} {}, {}, {}, {third}{}",
            range(c_registers.len(), 80),
            range(a_registers.len(), 10),
            range(b_registers.len(), 20),
            modifiers(&mods)
        );
        let result = run(target, &text, &a_registers, &b_registers, &c_registers, &index);
        for (&(block, row, col), &place) in &layout.d {
            let product: i64 = (0..k)
                .map(|k| {
                    let a = if sparse {
                        chosen.get(&(row, k)).copied().unwrap_or(0)
                    } else {
                        value(&layout.a, 'A', (block, row, k))
                    };
                    i64::from(a) * i64::from(value(&layout.b, 'B', (block, k, col)))
                })
                .sum();
            let expected = (product + i64::from(c[&(block, row, col)])) as f64;
            assert_eq!(
                decode(a_type, &result, place),
                expected,
                "{target} {text}: block {block}, row {row}, column {col}"
            );
        }
        *(if mods.is_empty() { &mut plain } else { &mut modified }) += 1;
    }
    assert_eq!((plain, modified), (73, 55));
}

fn fill_i32(places: &Places, value: impl Fn(usize, usize, usize) -> i32) -> Vec<[u32; 64]> {
    let count = places.values().map(|p| p.0).max().unwrap_or(0) + 1;
    let mut registers = vec![[0u32; 64]; count];
    for (&(block, row, col), &(register, lane, ..)) in places {
        registers[register][lane] = value(block, row, col) as u32;
    }
    registers
}

/// Random compressed rows: registers of A, the element at each (row, k) that is not skipped, and the index register.
fn sparse_a(
    layout: &Layout,
    ty: &str,
    random: &mut Random,
) -> (Vec<[u32; 64]>, BTreeMap<(usize, usize), i32>, [u32; 64]) {
    let count = layout.a.values().map(|p| p.0).max().unwrap() + 1;
    let (mut registers, mut chosen, mut index) = (vec![[0u32; 64]; count], BTreeMap::new(), [0u32; 64]);
    for (&(_, row, k), &(register, lane, low, high)) in layout.a.iter().filter(|(at, _)| at.2 % 4 == 0) {
        let bits = (high - low).div_ceil(2);
        let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
        let pair = pairs[random.next() as usize % 6];
        for (i, position) in [pair.0, pair.1].into_iter().enumerate() {
            let value = (random.next() % 15) as i32 - 7;
            chosen.insert((row, k + position), value);
            registers[register][lane] |= (encode(ty, value) << (low + bits * i as u32)) as u32;
            let place = layout.index[&(0, row, k)];
            index[place.1] |= (position as u32) << (place.2 + 2 * i as u32);
        }
    }
    (registers, chosen, index)
}

/// One column of ones: D is the row sums of A, so special values show.
fn special(target: Target, text: &str, a: [u32; 2], b: [u32; 2], c: u32) -> f32 {
    let a: Vec<[u32; 64]> = a.iter().map(|w| [*w; 64]).collect();
    let b: Vec<[u32; 64]> = b.iter().map(|w| [*w; 64]).collect();
    let result = run(target, text, &a, &b, &[[c; 64]; 4], &[0; 64]);
    f32::from_bits(result[0][0])
}

#[test]
fn special_values_and_denormals() {
    let old = "v_mfma_f32_16x16x16f16 v[80:83], v[10:11], v[20:21], v[40:43]";
    let new = "v_mfma_f32_16x16x16_f16 v[80:83], v[10:11], v[20:21], v[40:43]";
    let (one, infinity, denormal) = (0x3c00_3c00, 0x7c00, 0x0001);
    assert_eq!(special(Target::GFX942, new, [infinity, 0], [one, one], 0), f32::INFINITY);
    assert!(special(Target::GFX942, new, [infinity, 0], [0, one], 0).is_nan());
    assert!(special(Target::GFX942, new, [one, 0], [one, 0], f32::NAN.to_bits()).is_nan());
    // 2^-24 in each of the four lanes groups; gfx90a takes f16 denormals as zero.
    assert_eq!(special(Target::GFX942, new, [denormal, 0], [one, one], 0), 4.0 * 2f32.powi(-24));
    assert_eq!(special(Target::GFX90A, old, [denormal, 0], [one, one], 0), 0.0);
    assert_eq!(special(Target::GFX942, new, [0, 0], [one, one], 1), f32::from_bits(1));
    assert_eq!(special(Target::GFX90A, old, [0, 0], [one, one], 1), 0.0);
}

#[test]
fn f64_negation_and_inline_constants() {
    let two = [[0; 64], [0x4000_0000u32; 64]];
    let run = |text: &str| {
        let result = run(Target::GFX942, text, &two, &two, &[[0; 64], [0x3ff0_0000; 64]], &[0; 64]);
        f64::from_bits(u64::from(result[0][5]) | u64::from(result[1][5]) << 32)
    };
    let base = "v_mfma_f64_4x4x4_4b_f64 v[80:81], v[10:11], v[20:21]";
    assert_eq!(run(&format!("{base}, v[40:41]")), 17.0);
    assert_eq!(run(&format!("{base}, v[40:41] neg:[1,0,0]")), -15.0);
    assert_eq!(run(&format!("{base}, v[40:41] neg:[1,0,1]")), -17.0);
    assert_eq!(run(&format!("{base}, 1.0")), 17.0);
    assert_eq!(run(&format!("{base}, 0")), 16.0);
}

#[test]
fn exec_does_not_mask_matrix_instructions() {
    let text =
        "s_mov_b64 exec, 1\nv_mfma_f32_4x4x1_16b_f32 v[80:83], v10, v20, 1.0\ns_nop 7\ns_mov_b64 exec, -1";
    let result =
        run(Target::GFX942, text, &[[3f32.to_bits(); 64]], &[[2f32.to_bits(); 64]], &[[0; 64]; 4], &[0; 64]);
    assert!(result.iter().all(|r| r.iter().all(|x| f32::from_bits(*x) == 7.0)));
}

/// Documented choice: fused multiply-adds for ascending k, starting from C.
#[test]
fn products_are_added_in_ascending_k() {
    let mut random = Random(21);
    let mut operand =
        || -> [u32; 64] { std::array::from_fn(|_| ((random.next() % 4096) as f32 / 512.0 - 4.0).to_bits()) };
    let (a, b, c) = (operand(), operand(), [operand(), operand(), operand(), operand()]);
    let result =
        run(Target::GFX942, "v_mfma_f32_16x16x4_f32 v[80:83], v10, v20, v[40:43]", &[a], &[b], &c, &[0; 64]);
    for row in 0..16 {
        for col in 0..16 {
            let at = |x: &[u32; 64], l: usize| f32::from_bits(x[l]);
            let (register, lane) = (row % 4, col + 16 * (row / 4));
            let expected = (0..4).fold(at(&c[register], lane), |acc, k| {
                at(&a, row + 16 * k).mul_add(at(&b, col + 16 * k), acc)
            });
            assert_eq!(at(&result[register], lane), expected);
        }
    }
}
