//! Matrix instructions whose operands are laid out according to AMD's matrix instruction calculator: the result must be the plain matrix
//! product.

use std::collections::BTreeMap;
use std::io::Read;

use gcn_isa::{Target, table};
use gcn_sim::{KernelState, Memory, Options};
use gcn_test_support::Random;

use super::harness::{Kernel, state, words};

/// The location of each element: (block, row, column) -> (register, lane, low bit, high bit).
type Places = BTreeMap<(usize, usize, usize), (usize, usize, u32, u32)>;

struct Layout {
    a: Places,
    b: Places,
    d: Places,
    index: Places,
    /// Whether A, B and C are negated.
    negated: [bool; 3],
}

type Key = (Target, String, String);

/// The calculator's tables, one for each (target, instruction, modifiers).
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
        // The calculator names a 64-bit element by its higher register.
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
            // In f64 instructions, the field contains negations.
            let field = key.2.strip_prefix("blgp ").filter(|_| key.1.contains("f64"));
            let bits = field.map_or(0u8, |f| f.parse().unwrap());
            let negated = [0, 1, 2].map(|bit| bits >> bit & 1 == 1);
            let layout = Layout { a: take("A"), b: take("B"), d: take("D"), index: take("K"), negated };
            (key, layout)
        })
        .collect()
}

/// The element types of A and B, from the type suffix of the mnemonic.
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

/// The encoding of a small value that every format represents exactly, in the format of `target`.
fn encode(target: Target, ty: &str, v: f64) -> u64 {
    let value = v as i32;
    match ty {
        "f64" => v.to_bits(),
        "f32" | "xf32" => u64::from((v as f32).to_bits()),
        "f16" => u64::from(half::f16::from_f64(v).to_bits()),
        "bf16" => u64::from(half::bf16::from_f64(v).to_bits()),
        "i8" => u64::from(value as i8 as u8),
        // NaN in e4m3fnuz and e5m2fnuz, whose biases are 8 and 16; those of the OCP formats are 7 and 15.
        _ if v.is_nan() && target != Target::GFX950 => 0x80,
        _ if v.is_nan() => 0x7f,
        "bf8" if v.is_infinite() => 0x7c | u64::from(v < 0.0) << 7,
        "fp8" => eight_bit(value, 3, if target == Target::GFX950 { 7 } else { 8 }),
        _ => eight_bit(value, 2, if target == Target::GFX950 { 15 } else { 16 }),
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

/// The contents of an operand's registers; there are as many as its layout needs.
fn fill(
    target: Target,
    places: &Places,
    ty: &str,
    value: impl Fn(usize, usize, usize) -> f64,
) -> Vec<[u32; 64]> {
    let wide = ty == "f64";
    let count = places.values().map(|p| p.0).max().unwrap_or(0) + 1 + usize::from(wide);
    let mut registers = vec![[0u32; 64]; count];
    for (&(block, row, col), &(register, lane, low, _)) in places {
        let bits = encode(target, ty, value(block, row, col));
        registers[register][lane] |= (bits << low) as u32;
        if wide {
            registers[register + 1][lane] = (bits >> 32) as u32;
        }
    }
    registers
}

/// Runs one matrix instruction on the given registers; returns the result.
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
    // On gfx908, accumulators are in separate registers.
    let old = target == Target::GFX908;
    let each = |f: &dyn Fn(usize) -> String| -> String { (0..c.len()).map(f).collect() };
    let copy = if old {
        each(&|i| format!("v_accvgpr_write_b32 a{i}, v{}\n", 40 + i))
    } else {
        each(&|i| format!("v_mov_b32 v{}, v{}\n", 80 + i, 40 + i))
    };
    let back = if old { each(&|i| format!("v_accvgpr_read_b32 v{}, a{i}\n", 80 + i)) } else { String::new() };
    let body =
        format!("{load}s_waitcnt vmcnt(0)\n{copy}s_nop 4\n{text}\ns_nop 15\ns_nop 15\n{back}{store}s_endpgm");
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

/// The values of an input: one for each position in a lane, so that broadcast elements agree with the elements from which they are copied.
type Values = BTreeMap<(usize, usize, u32, char), f64>;

fn value_at(values: &Values, places: &Places, matrix: char, at: (usize, usize, usize)) -> f64 {
    let p = places[&at];
    values[&(p.0, p.1, p.2, matrix)]
}

/// A matrix instruction with its layout.
struct Instruction<'a> {
    target: Target,
    name: &'a str,
    modifiers: &'a str,
    layout: &'a Layout,
}

impl Instruction<'_> {
    fn is_sparse(&self) -> bool {
        self.name.starts_with("v_smfmac")
    }

    fn accumulator(&self) -> &'static str {
        match types(self.name).0 {
            "f64" => "f64",
            "i8" => "i32",
            _ => "f32",
        }
    }

    /// The instruction's text, with A from v10, B from v20, C from v40 (the index is in v8) and D from v80 on; on gfx908, C and D are from
    /// `a0` on.
    fn text(&self, counts: [usize; 3]) -> String {
        let printed = table::find_mnemonic(self.target, self.name).next().unwrap().printed;
        let [a, b, c] = counts;
        let (d, third) = if self.target == Target::GFX908 {
            let accumulator = range(c, 0).replace('v', "a");
            (accumulator.clone(), accumulator)
        } else {
            (range(c, 80), range(c, 40))
        };
        let third = if self.is_sparse() { "v8".to_owned() } else { third };
        let negations = self.layout.negated.map(u8::from);
        let modifiers = if self.layout.negated.contains(&true) {
            format!(" neg:[{},{},{}]", negations[0], negations[1], negations[2])
        } else {
            modifiers(self.modifiers)
        };
        format!("{printed} {d}, {}, {}, {third}{modifiers}", range(a, 10), range(b, 20))
    }

    /// Runs the instruction on the values, and compares every element of the result with the plain matrix product in f64.
    fn check(&self, values: &Values, c: &BTreeMap<(usize, usize, usize), f64>, random: &mut Random) {
        let (target, layout) = (self.target, self.layout);
        let (a_type, b_type) = types(self.name);
        let c_type = self.accumulator();
        let c_registers = if c_type == "i32" {
            fill_i32(&layout.d, |b, r, j| c[&(b, r, j)] as i32)
        } else {
            fill(target, &layout.d, c_type, |b, r, j| c[&(b, r, j)])
        };
        let k = layout.b.keys().map(|at| at.1).max().unwrap() + 1;
        let a_value = |at| value_at(values, &layout.a, 'A', at);
        let (a_registers, chosen, index) = if self.is_sparse() {
            sparse_a(target, layout, a_type, random)
        } else {
            let registers = fill(target, &layout.a, a_type, |b, r, c| a_value((b, r, c)));
            (registers, BTreeMap::new(), [0; 64])
        };
        let b_registers =
            fill(target, &layout.b, b_type, |b, r, c| value_at(values, &layout.b, 'B', (b, r, c)));
        let text = self.text([a_registers.len(), b_registers.len(), c_registers.len()]);
        let result = run(target, &text, &a_registers, &b_registers, &c_registers, &index);
        let sign = |matrix: usize| if layout.negated[matrix] { -1.0 } else { 1.0 };
        for (&(block, row, col), &place) in &layout.d {
            let product: f64 = (0..k)
                .map(|k| {
                    let a = if self.is_sparse() {
                        chosen.get(&(row, k)).copied().map_or(0.0, f64::from)
                    } else {
                        a_value((block, row, k))
                    };
                    sign(0) * a * (sign(1) * value_at(values, &layout.b, 'B', (block, k, col)))
                })
                .sum();
            let expected = product + sign(2) * c[&(block, row, col)];
            let got = decode(a_type, &result, place);
            assert!(
                got == expected || got.is_nan() && expected.is_nan(),
                "{target} {text}: block {block}, row {row}, column {col}: {got}, not {expected}"
            );
        }
    }

    /// Small numbers for A and B.
    fn small_values(&self, random: &mut Random) -> Values {
        let mut values = Values::new();
        for (places, matrix) in [(&self.layout.a, 'A'), (&self.layout.b, 'B')] {
            for p in places.values() {
                values.entry((p.0, p.1, p.2, matrix)).or_insert_with(|| small(random, 7));
            }
        }
        values
    }
}

fn small(random: &mut Random, limit: i32) -> f64 {
    f64::from((random.next_u64() % (2 * limit as u64 + 1)) as i32 - limit)
}

/// Calls `f` for every instruction and setting of modifiers that the calculator lists. Calls it again for the instructions of gfx942 on
/// gfx950, which has them with other 8-bit formats.
fn each_instruction(mut f: impl FnMut(&Instruction<'_>)) {
    for ((target, name, modifiers), layout) in &layouts() {
        f(&Instruction { target: *target, name, modifiers, layout });
        if *target == Target::GFX942 && table::find_mnemonic(Target::GFX950, name).next().is_some() {
            f(&Instruction { target: Target::GFX950, name, modifiers, layout });
        }
    }
}

#[test]
fn every_matrix_instruction_multiplies_matrices() {
    let (mut plain, mut modified) = (BTreeMap::new(), BTreeMap::new());
    each_instruction(|instruction| {
        let mut random = Random::new(instruction.name.len() as u64);
        let values = instruction.small_values(&mut random);
        let c = instruction.layout.d.keys().map(|at| (*at, small(&mut random, 9))).collect();
        instruction.check(&values, &c, &mut random);
        let count = if instruction.modifiers.is_empty() { &mut plain } else { &mut modified };
        *count.entry(instruction.target).or_insert(0) += 1;
    });
    use Target::{GFX90A, GFX908, GFX942, GFX950};
    assert_eq!(plain, BTreeMap::from([(GFX908, 20), (GFX90A, 27), (GFX942, 46), (GFX950, 44)]));
    assert_eq!(modified, BTreeMap::from([(GFX908, 30), (GFX90A, 40), (GFX942, 24), (GFX950, 24)]));
}

/// Infinities and NaN in A give the results of IEEE arithmetic, in any order of additions.
#[test]
fn special_values_spread_as_in_ieee_arithmetic() {
    let mut checked = 0;
    each_instruction(|instruction| {
        let ty = types(instruction.name).0;
        if ty == "i8" || instruction.is_sparse() || !instruction.modifiers.is_empty() {
            return;
        }
        let has_infinity = match ty {
            "fp8" => false,
            "bf8" => instruction.target == Target::GFX950,
            _ => true,
        };
        let mut random = Random::new(7);
        let infinities = [f64::INFINITY, f64::NEG_INFINITY].into_iter().filter(|_| has_infinity);
        for special in infinities.chain([f64::NAN]) {
            let mut values = instruction.small_values(&mut random);
            let keys: Vec<_> = values.keys().filter(|k| k.3 == 'A').copied().collect();
            for _ in 0..2 {
                values.insert(*random.pick(&keys), special);
            }
            let c = instruction.layout.d.keys().map(|at| (*at, small(&mut random, 9))).collect();
            instruction.check(&values, &c, &mut random);
            checked += 1;
        }
    });
    assert!(checked > 150, "{checked}");
}

fn fill_i32(places: &Places, value: impl Fn(usize, usize, usize) -> i32) -> Vec<[u32; 64]> {
    let count = places.values().map(|p| p.0).max().unwrap_or(0) + 1;
    let mut registers = vec![[0u32; 64]; count];
    for (&(block, row, col), &(register, lane, ..)) in places {
        registers[register][lane] = value(block, row, col) as u32;
    }
    registers
}

/// Random compressed rows: the registers of A, the element at each (row, k) that is stored, and the index register.
fn sparse_a(
    target: Target,
    layout: &Layout,
    ty: &str,
    random: &mut Random,
) -> (Vec<[u32; 64]>, BTreeMap<(usize, usize), i32>, [u32; 64]) {
    let count = layout.a.values().map(|p| p.0).max().unwrap() + 1;
    let (mut registers, mut chosen, mut index) = (vec![[0u32; 64]; count], BTreeMap::new(), [0u32; 64]);
    for (&(_, row, k), &(register, lane, low, high)) in
        layout.a.iter().filter(|(at, _)| at.0 == 0 && at.2 % 4 == 0)
    {
        let bits = (high - low).div_ceil(2);
        let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
        let pair = pairs[random.next_u64() as usize % 6];
        for (i, position) in [pair.0, pair.1].into_iter().enumerate() {
            let value = (random.next_u64() % 15) as i32 - 7;
            chosen.insert((row, k + position), value);
            registers[register][lane] |=
                (encode(target, ty, f64::from(value)) << (low + bits * i as u32)) as u32;
            let place = layout.index[&(0, row, k)];
            index[place.1] |= (position as u32) << (place.2 + 2 * i as u32);
        }
    }
    (registers, chosen, index)
}

/// B has a single column of ones, so D contains the row sums of A, in which special values are visible.
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
    // 2^-24 in each of the four groups of lanes; gfx90a treats f16 denormals as zero.
    assert_eq!(special(Target::GFX942, new, [denormal, 0], [one, one], 0), 4.0 * 2f32.powi(-24));
    assert_eq!(special(Target::GFX90A, old, [denormal, 0], [one, one], 0), 0.0);
    assert_eq!(special(Target::GFX942, new, [0, 0], [one, one], 1), f32::from_bits(1));
    assert_eq!(special(Target::GFX90A, old, [0, 0], [one, one], 1), 0.0);
    // Only gfx90a flushes denormals: PyTorch, "Numerical accuracy"; for MI100 arXiv 2511.10909.
    let old = "v_mfma_f32_16x16x16f16 a[0:3], v[10:11], v[20:21], a[0:3]";
    assert_eq!(special(Target::GFX908, old, [denormal, 0], [one, one], 0), 4.0 * 2f32.powi(-24));
    assert_eq!(special(Target::GFX908, old, [0, 0], [one, one], 1), f32::from_bits(1));
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

/// f32: fused multiply-adds in ascending order of k, starting from C.
#[test]
fn products_are_added_in_ascending_k() {
    let mut random = Random::new(21);
    let mut operand = || -> [u32; 64] {
        std::array::from_fn(|_| ((random.next_u64() % 4096) as f32 / 512.0 - 4.0).to_bits())
    };
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
