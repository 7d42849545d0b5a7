//! Compares conversions from and to fp8, bf8, fp6, bf6 and fp4 with the definition of the formats: every value is enumerated as an f64, and
//! rounding is a search among these values. Tests all 16-bit sources, and f32 sources with every upper half.

use gcn_isa::Target;
use gcn_sim::{Memory, Options};

use super::harness::{Kernel, bytes, state, words};

/// A format: its numbers of bits, its bias, and the meaning of the largest encodings.
#[derive(Clone, Copy)]
struct Format {
    exponent: u32,
    fraction: u32,
    bias: i32,
    upper: Upper,
}

#[derive(Clone, Copy, PartialEq)]
enum Upper {
    /// All encodings are numbers.
    Numbers,
    /// The last encoding is NaN.
    LastIsNan,
    /// The last encodings are infinity and NaNs.
    Ieee,
    /// All encodings are numbers, except that the one of minus zero is NaN.
    Fnuz,
}

const fn format(exponent: u32, fraction: u32, bias: i32, upper: Upper) -> Format {
    Format { exponent, fraction, bias, upper }
}

const FP8_FNUZ: Format = format(4, 3, 8, Upper::Fnuz);
const BF8_FNUZ: Format = format(5, 2, 16, Upper::Fnuz);
const FP8: Format = format(4, 3, 7, Upper::LastIsNan);
const BF8: Format = format(5, 2, 15, Upper::Ieee);
const FP6: Format = format(2, 3, 1, Upper::Numbers);
const BF6: Format = format(3, 2, 3, Upper::Numbers);
const FP4: Format = format(2, 1, 1, Upper::Numbers);
const F16: Format = format(5, 10, 15, Upper::Ieee);
const BF16: Format = format(8, 7, 127, Upper::Ieee);

impl Format {
    fn bits(self) -> u32 {
        1 + self.exponent + self.fraction
    }

    fn sign(self) -> u32 {
        1 << (self.bits() - 1)
    }

    /// The number of encodings of finite magnitudes, which are the first ones, from 0 on.
    fn finite(self) -> u32 {
        match self.upper {
            Upper::Numbers | Upper::Fnuz => self.sign(),
            Upper::LastIsNan => self.sign() - 1,
            Upper::Ieee => self.sign() - (1 << self.fraction),
        }
    }

    /// The value by definition: (fraction / 2^f) * 2^(1 - bias), or (1 + fraction / 2^f) * 2^(e - bias). Encodings after the last finite
    /// one get the value that they would have as a number.
    fn magnitude(self, code: u32) -> f64 {
        let one = f64::from(1u32 << self.fraction);
        let (e, f) = (code >> self.fraction, f64::from(code & ((1 << self.fraction) - 1)) / one);
        if e == 0 { f * 2f64.powi(1 - self.bias) } else { (1.0 + f) * 2f64.powi(e as i32 - self.bias) }
    }

    fn value(self, code: u32) -> f64 {
        let (sign, code) = (code & self.sign(), code & (self.sign() - 1));
        let value = match self.upper {
            Upper::Fnuz if sign != 0 && code == 0 => f64::NAN,
            Upper::Ieee if code == self.finite() => f64::INFINITY,
            _ if code >= self.finite() => f64::NAN,
            _ => self.magnitude(code),
        };
        if sign != 0 { -value } else { value }
    }

    fn overflowed(self, saturate: bool) -> u32 {
        match self.upper {
            Upper::Numbers => self.finite() - 1,
            _ if saturate => self.finite() - 1,
            Upper::Ieee => self.finite(),
            Upper::LastIsNan => self.sign() - 1,
            Upper::Fnuz => self.sign(),
        }
    }

    fn nan(self, negative: bool) -> u32 {
        let sign = if negative { self.sign() } else { 0 };
        match self.upper {
            Upper::Fnuz => self.sign(),
            Upper::Ieee => sign | self.finite() | 1 << (self.fraction - 1),
            // In formats without NaN, NaN becomes the largest number (AMD's host reference).
            Upper::Numbers | Upper::LastIsNan => sign | (self.sign() - 1),
        }
    }

    fn signed(self, negative: bool, code: u32) -> u32 {
        let keeps = self.upper != Upper::Fnuz || code != 0;
        if negative && keeps { code | self.sign() } else { code }
    }

    /// The first encoding whose value is at least `x`, in the order of values; at most the second encoding after the last finite one.
    fn first_at_least(self, x: f64) -> u32 {
        let (mut low, mut high) = (0, self.finite() + 1);
        while low < high {
            let middle = (low + high) / 2;
            (low, high) = if self.magnitude(middle) < x { (middle + 1, high) } else { (low, middle) };
        }
        low
    }

    /// The nearest value; if two are equally near, the one with the even encoding.
    fn nearest(self, x: f64, saturate: bool) -> u32 {
        if x.is_nan() {
            return self.nan(x.is_sign_negative());
        }
        let magnitude = x.abs();
        let above = self.first_at_least(magnitude);
        let code = if above == 0 {
            0
        } else if above > self.finite() {
            above
        } else {
            let (low, high) = (magnitude - self.magnitude(above - 1), self.magnitude(above) - magnitude);
            let up = high < low || high == low && above.is_multiple_of(2);
            if up { above } else { above - 1 }
        };
        self.finish(x.is_sign_negative(), code, saturate)
    }

    fn finish(self, negative: bool, code: u32, saturate: bool) -> u32 {
        if code >= self.finite() {
            let sign = if negative { self.sign() } else { 0 };
            return self.overflowed(saturate) | sign;
        }
        self.signed(negative, code)
    }

    /// Stochastic rounding: takes x in units of the last kept bit, with `cut` additional bits, adds as many random bits, and truncates.
    fn stochastic(self, x: f64, cut: u32, random: u32, saturate: bool) -> u32 {
        if x.is_nan() {
            return self.nan(x.is_sign_negative());
        }
        if x.is_infinite() {
            return self.finish(x < 0.0, self.finite(), saturate);
        }
        if x == 0.0 {
            return self.signed(x.is_sign_negative(), 0);
        }
        let magnitude = x.abs();
        let exponent = (magnitude.to_bits() >> 52) as i32 - 1023;
        let lowest = 1 - self.bias;
        if exponent > lowest + (1 << self.exponent) {
            return self.finish(x < 0.0, self.finite(), saturate);
        }
        let unit = 2f64.powi(exponent.max(lowest) - self.fraction as i32);
        let fine = (magnitude / unit * f64::from(1u32 << cut)).floor() as u64;
        let kept = (fine + u64::from(random >> (32 - cut))) >> cut;
        let rounded = kept as f64 * unit;
        let code = self.first_at_least(rounded).min(self.finite());
        self.finish(x.is_sign_negative(), code, saturate)
    }
}

/// The source formats: how their bits are read, how many values a register contains, and their number of fraction bits.
#[derive(Clone, Copy, PartialEq)]
enum Wide {
    F32,
    F16,
    Bf16,
}

impl Wide {
    fn name(self) -> &'static str {
        ["f32", "f16", "bf16"][self as usize]
    }

    fn fraction(self) -> u32 {
        [23, 10, 7][self as usize]
    }

    fn value(self, bits: u32) -> f64 {
        match self {
            Wide::F32 => f64::from(f32::from_bits(bits)),
            Wide::F16 => f64::from(half::f16::from_bits(bits as u16)),
            Wide::Bf16 => f64::from(half::bf16::from_bits(bits as u16)),
        }
    }

    /// The bits of a value, rounded once.
    fn bits(self, x: f64) -> u32 {
        match self {
            Wide::F32 => (x as f32).to_bits(),
            Wide::F16 => u32::from(half::f16::from_f64(x).to_bits()),
            Wide::Bf16 => BF16.nearest(x, false),
        }
    }

    /// Every 16-bit pattern; for f32, every upper half with a few lower halves.
    fn all(self) -> Vec<u32> {
        match self {
            Wide::F32 if full() => (0..=0xffffu32)
                .flat_map(|high| [0, 1, 0x7fff, 0x8000, 0x8001].map(|low| high << 16 | low))
                .collect(),
            // Lower halves for a tie, and for a value just above it.
            Wide::F32 => (0..=0xffffu32).flat_map(|high| [high << 16, high << 16 | 1]).collect(),
            _ => (0..=0xffff).collect(),
        }
    }
}

const OLD: u32 = 0x9b5a_a5d3;

fn is_gfx12(target: Target) -> bool {
    matches!(target, Target::GFX1201 | Target::GFX1250)
}

/// What [`sweep`] writes around the body, as gfx12 names it.
const GFX12: [(&str, &str); 7] = [
    ("s_load_dwordx2", "s_load_b64"),
    ("s6, s2, 8", "s6, ttmp9, 8"),
    ("v_add_u32", "v_add_nc_u32"),
    ("s_waitcnt lgkmcnt(0)", "s_wait_kmcnt 0x0"),
    ("s_waitcnt vmcnt(0)", "s_wait_loadcnt 0x0"),
    ("global_load_dword", "global_load_b32"),
    ("global_store_dword", "global_store_b32"),
];

/// Runs `body` on work-items. Input j of item i is in v[1 + j]; results are from v40 on, which contain [`OLD`] before.
fn sweep(target: Target, body: &str, inputs: &[Vec<u32>], outputs: usize) -> Vec<Vec<u32>> {
    let items = inputs[0].len().next_multiple_of(256);
    let mut text = String::from(
        "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_lshl_b32 s6, s2, 8\nv_add_u32 v80, s6, v0\nv_lshlrev_b32 v80, 2, v80\ns_waitcnt lgkmcnt(0)\n",
    );
    for i in 0..inputs.len() {
        text +=
            &format!("v_add_u32 v81, {:#x}, v80\nglobal_load_dword v{}, v81, s[4:5]\n", i * items * 4, i + 1);
    }
    for i in 0..outputs {
        text += &format!("v_mov_b32 v{}, {OLD:#x}\n", 40 + i);
    }
    text += &format!("s_waitcnt vmcnt(0)\n{body}\n");
    for i in 0..outputs {
        let at = (inputs.len() + i) * items * 4;
        text += &format!("v_add_u32 v81, {at:#x}, v80\nglobal_store_dword v81, v{}, s[4:5]\n", 40 + i);
    }
    text += "s_endpgm\n";
    if is_gfx12(target) {
        GFX12.iter().for_each(|(name, renamed)| text = text.replace(name, renamed));
    }
    let mut memory = Memory::new();
    let buffer = memory.alloc((inputs.len() + outputs) * items * 4);
    for (i, input) in inputs.iter().enumerate() {
        memory.write(buffer + (i * items * 4) as u64, &bytes(input)).unwrap();
    }
    Kernel { target, state: state(), text: text.clone() }
        .run(&mut memory, [(items / 256) as u32, 1, 1], [256, 1, 1], &[buffer], &Options::default())
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    let read = |i: usize| {
        let at = buffer + ((inputs.len() + i) * items * 4) as u64;
        words(&memory.read(at, inputs[0].len() * 4).unwrap())
    };
    (0..outputs).map(read).collect()
}

/// Exponents of scales; `None` is NaN.
const SCALES: [Option<i32>; 7] = [Some(0), Some(1), Some(-3), Some(9), Some(-127), Some(127), None];

/// The scales to test; in a full run, all of them.
fn scales() -> impl Iterator<Item = Option<i32>> {
    SCALES.into_iter().filter(|s| full() || matches!(s, None | Some(0 | -3)))
}

/// True for a full run, which takes a minute.
fn full() -> bool {
    gcn_test_support::env::is_set("GCN_FUZZ_COUNT")
}

fn scale_bits(scale: Option<i32>) -> u32 {
    // The fraction and the sign of a scale are ignored.
    scale.map_or(0x7f80_0000, |s| ((s + 127) as u32) << 23 | 0x8012_3456)
}

fn scaled(x: f64, scale: Option<i32>) -> f64 {
    scale.map_or(f64::NAN.copysign(x), |s| x * 2f64.powi(-s))
}

/// `old` with `width` bits at `shift` replaced by `x`.
fn insert(old: u32, x: u32, shift: u32, width: u32) -> u32 {
    let mask = ((1u64 << width) - 1) as u32;
    old & !(mask << shift) | (x & mask) << shift
}

/// Checks the result of a conversion. For a NaN, checks that the result is NaN, with its sign if the format has one for NaN.
fn check(text: &str, input: &[u32], want: u32, got: u32) {
    assert_eq!(got, want, "{text}\nof {input:#x?}: want {want:#x}, got {got:#x}");
}

#[test]
fn unscaled_pairs_round_to_nearest_even() {
    for (target, name, format) in [
        (Target::GFX942, "fp8", FP8_FNUZ),
        (Target::GFX942, "bf8", BF8_FNUZ),
        (Target::GFX950, "fp8", FP8),
        (Target::GFX950, "bf8", BF8),
    ] {
        let a = Wide::F32.all();
        let b: Vec<u32> = a.iter().rev().copied().collect();
        for (mode, saturate) in [("", false), ("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1\n", true)] {
            for (select, shift) in [("", 0), (" op_sel:[0,0,1]", 16)] {
                let text = format!("{mode}v_cvt_pk_{name}_f32 v40, v1, v2{select}");
                let out = &sweep(target, &text, &[a.clone(), b.clone()], 1)[0];
                for i in 0..a.len() {
                    let code = |x: u32| format.nearest(Wide::F32.value(x), saturate);
                    let want = insert(OLD, code(a[i]) | code(b[i]) << 8, shift, 16);
                    check(&text, &[a[i], b[i]], want, out[i]);
                }
            }
        }
    }
}

#[test]
fn scaled_pairs_round_to_nearest_even() {
    for (name, format) in [("fp8", FP8), ("bf8", BF8), ("fp4", FP4)] {
        for from in [Wide::F32, Wide::F16, Wide::Bf16] {
            let a = from.all();
            for (n, scale) in scales().enumerate() {
                let scales = vec![scale_bits(scale); a.len()];
                let b: Vec<u32> = a.iter().map(|x| x ^ 0x8000_8155).collect();
                let packed: Vec<u32> = a.iter().zip(&b).map(|(a, b)| a & 0xffff | b << 16).collect();
                let width = 2 * format.bits();
                // One of four bytes, or one of two halves.
                let (shift, select) = match (width, from) {
                    (8, _) => (8 * (n as u32 % 4), format!(" op_sel:[0,0,{},{}]", n % 2, n / 2 % 2)),
                    (_, Wide::F32) => (16 * (n as u32 % 2), format!(" op_sel:[0,0,0,{}]", n % 2)),
                    _ => (16 * (n as u32 % 2), format!(" op_sel:[0,0,{}]", n % 2)),
                };
                let (text, inputs) = if from == Wide::F32 {
                    let text = format!("v_cvt_scalef32_pk_{name}_f32 v40, v1, v2, v3{select}");
                    (text, vec![a.clone(), b.clone(), scales])
                } else {
                    let text = format!("v_cvt_scalef32_pk_{name}_{} v40, v1, v2{select}", from.name());
                    (text, vec![packed, scales])
                };
                let out = &sweep(Target::GFX950, &text, &inputs, 1)[0];
                for i in 0..a.len() {
                    let code = |x: u32| {
                        let x = if from == Wide::F32 { x } else { x & 0xffff };
                        format.nearest(scaled(from.value(x), scale), false)
                    };
                    let want = insert(OLD, code(a[i]) | code(b[i]) << format.bits(), shift, width);
                    check(&text, &[a[i], b[i]], want, out[i]);
                }
            }
        }
    }
}

/// Pseudo-random numbers made by a multiplication and a shift, different for each item.
fn seeds(count: usize) -> Vec<u32> {
    (0..count as u32)
        .map(|i| i.wrapping_mul(0x9e37_79b9) ^ i << 7 ^ if i % 5 == 0 { u32::MAX } else { 0 })
        .collect()
}

fn next_seed(seed: u32) -> u32 {
    seed.wrapping_mul(2) ^ if seed >= 0x8000_0000 { 197 } else { 0 }
}

#[test]
fn stochastic_rounding_of_one() {
    let f32s = Wide::F32.all();
    let random = seeds(f32s.len());
    for (target, name, format, width) in [
        (Target::GFX942, "fp8", FP8_FNUZ, 8),
        (Target::GFX942, "bf8", BF8_FNUZ, 8),
        (Target::GFX950, "fp8", FP8, 8),
        (Target::GFX950, "bf8", BF8, 8),
        (Target::GFX1201, "fp8", FP8, 8),
        (Target::GFX1201, "bf8", BF8, 8),
        (Target::GFX950, "f16", F16, 16),
        (Target::GFX950, "bf16", BF16, 16),
    ] {
        let selected: &[_] = match (target, width) {
            (Target::GFX1201, _) => &[("", 0), (" byte_sel:1", 8), (" byte_sel:2", 16), (" byte_sel:3", 24)],
            (_, 8) => &[("", 0), (" op_sel:[0,0,1,0]", 8)],
            _ => &[("", 0), (" op_sel:[0,0,1]", 16)],
        };
        for &(select, shift) in selected {
            let text = format!("v_cvt_sr_{name}_f32 v40, v1, v2{select}");
            let out = &sweep(target, &text, &[f32s.clone(), random.clone()], 1)[0];
            for i in 0..f32s.len() {
                let x = Wide::F32.value(f32s[i]);
                let code = format.stochastic(x, 23 - format.fraction, random[i], false);
                check(&text, &[f32s[i], random[i]], insert(OLD, code, shift, width), out[i]);
            }
        }
    }
    for (name, format) in [("fp8", FP8), ("bf8", BF8)] {
        for from in [Wide::F32, Wide::F16, Wide::Bf16] {
            for scale in scales() {
                let a = from.all();
                let random = seeds(a.len());
                let text =
                    format!("v_cvt_scalef32_sr_{name}_{} v40, v1, v2, v3 op_sel:[0,0,1,1]", from.name());
                let inputs = [a.clone(), random.clone(), vec![scale_bits(scale); a.len()]];
                let out = &sweep(Target::GFX950, &text, &inputs, 1)[0];
                for i in 0..a.len() {
                    let x = scaled(from.value(a[i]), scale);
                    let code = format.stochastic(x, from.fraction() - format.fraction, random[i], false);
                    check(&text, &[a[i], random[i]], insert(OLD, code, 24, 8), out[i]);
                }
            }
        }
    }
}

#[test]
fn stochastic_rounding_of_fp4_pairs() {
    for from in [Wide::F32, Wide::F16, Wide::Bf16] {
        for scale in [Some(0), Some(2), None] {
            let a = from.all();
            let b: Vec<u32> = a.iter().rev().copied().collect();
            let random = seeds(a.len());
            let scales = vec![scale_bits(scale); a.len()];
            let (text, inputs) = if from == Wide::F32 {
                let text = "v_cvt_scalef32_sr_pk_fp4_f32 v40, v[2:3], v4, v5 op_sel:[0,0,0,1]".to_owned();
                (text, vec![scales.clone(), a.clone(), b.clone(), random.clone(), scales])
            } else {
                let packed = a.iter().zip(&b).map(|(a, b)| a | b << 16).collect();
                let name = from.name();
                let text = format!("v_cvt_scalef32_sr_pk_fp4_{name} v40, v1, v2, v3 op_sel:[0,0,0,1]");
                (text, vec![packed, random.clone(), scales])
            };
            let out = &sweep(Target::GFX950, &text, &inputs, 1)[0];
            for i in 0..a.len() {
                let code = |x: u32, seed: u32| {
                    FP4.stochastic(scaled(from.value(x), scale), from.fraction() - 1, seed, false)
                };
                let pair = code(a[i], random[i]) | code(b[i], next_seed(random[i])) << 4;
                check(&text, &[a[i], b[i], random[i]], insert(OLD, pair, 16, 8), out[i]);
            }
        }
    }
}

/// 32 elements of `bits` bits, packed into registers.
fn pack(elements: &[u32], bits: u32) -> Vec<u32> {
    let mut registers = vec![0u32; (elements.len() * bits as usize).div_ceil(32)];
    for (i, element) in elements.iter().enumerate() {
        for bit in 0..bits {
            let at = i as u32 * bits + bit;
            registers[(at / 32) as usize] |= (element >> bit & 1) << (at % 32);
        }
    }
    registers
}

/// Groups of 32 elements that together contain every pattern of a 16-bit source (for f32, every upper half).
fn groups(from: Wide) -> Vec<Vec<u32>> {
    let element = |i: u32| if from == Wide::F32 { i << 16 | i.wrapping_mul(77) & 0xffff } else { i };
    (0..2048u32).map(|g| (0..32).map(|i| element(g * 32 + i)).collect()).collect()
}

/// The registers of all groups, ordered by register number.
fn columns(groups: &[Vec<u32>], bits: u32) -> Vec<Vec<u32>> {
    let packed: Vec<Vec<u32>> = groups.iter().map(|g| pack(g, bits)).collect();
    (0..packed[0].len()).map(|r| packed.iter().map(|p| p[r]).collect()).collect()
}

#[test]
fn thirty_two_elements_of_six_bits() {
    for (name, format) in [("fp6", FP6), ("bf6", BF6)] {
        for from in [Wide::F32, Wide::F16, Wide::Bf16] {
            let groups = groups(from);
            let width = if from == Wide::F32 { 32 } else { 16 };
            for scale in scales() {
                for random in [false, true] {
                    let data = columns(&groups, width);
                    let last = data.len();
                    let scales = vec![scale_bits(scale); groups.len()];
                    let seeds = seeds(groups.len());
                    // v1 is unused, so that the data begin at an even register.
                    let mut inputs = vec![seeds.clone()];
                    inputs.extend(data);
                    inputs.push(scales);
                    let from_name = from.name();
                    let (first, scale_register) = (2, last + 2);
                    let source = format!("v[{first}:{}]", first + last - 1);
                    let text = match (from, random) {
                        (Wide::F32, false) => {
                            format!(
                                "v_cvt_scalef32_2xpk16_{name}_f32 v[40:45], v[2:17], v[18:33], v{scale_register}"
                            )
                        }
                        (_, false) => {
                            format!(
                                "v_cvt_scalef32_pk32_{name}_{from_name} v[40:45], {source}, v{scale_register}"
                            )
                        }
                        (_, true) => format!(
                            "v_cvt_scalef32_sr_pk32_{name}_{from_name} v[40:45], {source}, v1, v{scale_register}"
                        ),
                    };
                    let out = sweep(Target::GFX950, &text, &inputs, 6);
                    for (g, group) in groups.iter().enumerate() {
                        let mut seed = seeds[g];
                        // In the 2xpk16 form, elements of the two sources alternate in the result.
                        let order: Vec<usize> = if from == Wide::F32 && !random {
                            (0..32).map(|i| i / 2 + 16 * (i % 2)).collect()
                        } else {
                            (0..32).collect()
                        };
                        let codes: Vec<u32> = order
                            .into_iter()
                            .map(|i| {
                                let x = scaled(from.value(group[i]), scale);
                                let cut = from.fraction() - format.fraction;
                                let code = if random {
                                    format.stochastic(x, cut, seed, false)
                                } else {
                                    format.nearest(x, false)
                                };
                                seed = next_seed(seed);
                                code
                            })
                            .collect();
                        let got: Vec<u32> = out.iter().map(|o| o[g]).collect();
                        assert_eq!(got, pack(&codes, 6), "{text}, {scale:?}, group {g}");
                    }
                }
            }
        }
    }
}

/// True if the bits represent the value; any NaN represents a NaN.
fn is(to: Wide, bits: u32, value: f64) -> bool {
    to.bits(value) == bits || value.is_nan() && to.value(bits).is_nan()
}

#[test]
fn every_code_widens_exactly() {
    for (target, name, format) in [
        (Target::GFX942, "fp8", FP8_FNUZ),
        (Target::GFX942, "bf8", BF8_FNUZ),
        (Target::GFX950, "fp8", FP8),
        (Target::GFX950, "bf8", BF8),
        (Target::GFX1201, "fp8", FP8),
        (Target::GFX1201, "bf8", BF8),
        (Target::GFX1250, "fp8", FP8),
        (Target::GFX1250, "bf8", BF8),
    ] {
        // clang 22 selects the parts of the builtins `cvt_f32_fp8` and `cvt_pk_f32_fp8` so: by SDWA up to gfx950, and by these modifiers
        // on gfx12.
        let gfx12 = is_gfx12(target);
        let codes: Vec<u32> =
            (0..256).map(|c| c | (c ^ 0x5a) << 8 | (c ^ 0xff) << 16 | (c ^ 0x81) << 24).collect();
        for (byte, select) in [(0, ""), (0, "_e64"), (1, "BYTE_1"), (2, "BYTE_2"), (3, "BYTE_3")] {
            let text = if !select.starts_with('B') {
                format!("v_cvt_f32_{name}{select} v40, v1")
            } else if gfx12 {
                format!("v_cvt_f32_{name}_e64 v40, v1 byte_sel:{byte}")
            } else {
                format!("v_cvt_f32_{name}_sdwa v40, v1 src0_sel:{select}")
            };
            let out = &sweep(target, &text, std::slice::from_ref(&codes), 1)[0];
            for (x, got) in codes.iter().zip(out) {
                assert!(
                    is(Wide::F32, *got, format.value(x >> (8 * byte) & 0xff)),
                    "{target} {text} {x:#x} {got:#x}"
                );
            }
        }
        let upper =
            if gfx12 { "_e64 v[40:41], v1 op_sel:[1,0]" } else { "_sdwa v[40:41], v1 src0_sel:WORD_1" };
        for (half, text) in
            [(0, format!("v_cvt_pk_f32_{name} v[40:41], v1")), (1, format!("v_cvt_pk_f32_{name}{upper}"))]
        {
            let out = sweep(target, &text, std::slice::from_ref(&codes), 2);
            for (i, x) in codes.iter().enumerate() {
                let part = x >> (16 * half);
                let ok = is(Wide::F32, out[0][i], format.value(part & 0xff))
                    && is(Wide::F32, out[1][i], format.value(part >> 8 & 0xff));
                assert!(ok, "{target} {text} {x:#x}");
            }
        }
    }
}

#[test]
fn scaled_widening() {
    let codes: Vec<u32> =
        (0..256).map(|c| c | (c ^ 0x5a) << 8 | (c ^ 0xff) << 16 | (c ^ 0x81) << 24).collect();
    for scale in [Some(0), Some(5), Some(-14), Some(-24), Some(-127), Some(127), Some(120), None] {
        let scales = vec![scale_bits(scale); codes.len()];
        let inputs = [codes.clone(), scales];
        let value = |format: Format, code: u32| scale.map_or(f64::NAN, |s| format.value(code) * 2f64.powi(s));
        for (name, format) in [("fp8", FP8), ("bf8", BF8)] {
            for (byte, select) in [(0, "0,0"), (1, "1,0"), (2, "0,1"), (3, "1,1")] {
                let text = format!("v_cvt_scalef32_f32_{name} v40, v1, v2 op_sel:[{select},0]");
                let out = &sweep(Target::GFX950, &text, &inputs, 1)[0];
                for (x, got) in codes.iter().zip(out) {
                    assert!(
                        is(Wide::F32, *got, value(format, x >> (8 * byte) & 0xff)),
                        "{text} {x:#x} {got:#x}"
                    );
                }
                let text = format!("v_cvt_scalef32_f16_{name} v40, v1, v2 op_sel:[{select},1]");
                let out = &sweep(Target::GFX950, &text, &inputs, 1)[0];
                for (x, got) in codes.iter().zip(out) {
                    let ok = is(Wide::F16, got >> 16, value(format, x >> (8 * byte) & 0xff));
                    assert!(ok && got & 0xffff == OLD & 0xffff, "{text} {x:#x} {got:#x}");
                }
            }
            for to in [Wide::F32, Wide::F16, Wide::Bf16] {
                widened_pairs(to, name, 16, 8, &inputs, |code| value(format, code));
            }
        }
        for to in [Wide::F32, Wide::F16, Wide::Bf16] {
            widened_pairs(to, "fp4", 8, 4, &inputs, |code| value(FP4, code));
        }
    }
}

/// Two encodings of `bits` bits from each part of `unit` bits.
fn widened_pairs(
    to: Wide,
    name: &str,
    unit: u32,
    bits: u32,
    inputs: &[Vec<u32>],
    value: impl Fn(u32) -> f64,
) {
    for part in 0..32 / unit {
        let select = format!("op_sel:[{},{},0]", part & 1, part >> 1);
        let (destination, registers) = if to == Wide::F32 { ("v[40:41]", 2) } else { ("v40", 1) };
        let text = format!("v_cvt_scalef32_pk_{}_{name} {destination}, v1, v2 {select}", to.name());
        let out = sweep(Target::GFX950, &text, inputs, registers);
        for (i, x) in inputs[0].iter().enumerate() {
            for element in 0..2 {
                let code = x >> (part * unit + element * bits) & ((1 << bits) - 1);
                let got = match to {
                    Wide::F32 => out[element as usize][i],
                    _ => out[0][i] >> (16 * element) & 0xffff,
                };
                assert!(is(to, got, value(code)), "{text} {x:#x}: {got:#x}");
            }
        }
    }
}

#[test]
fn thirty_two_six_bit_codes_widen() {
    let items: Vec<Vec<u32>> = (0..64u32).map(|i| (0..32).map(|j| (i * 5 + j * 7) % 64).collect()).collect();
    for (name, format) in [("fp6", FP6), ("bf6", BF6)] {
        for to in [Wide::F32, Wide::F16, Wide::Bf16] {
            for scale in [Some(0), Some(3), Some(-16), Some(-127), Some(127), None] {
                let mut inputs = vec![vec![scale_bits(scale); items.len()]];
                inputs.extend(columns(&items, 6));
                let registers = if to == Wide::F32 { 32 } else { 16 };
                let text =
                    format!("v_cvt_scalef32_pk32_{}_{name} v[40:{}], v[2:7], v1", to.name(), 39 + registers);
                let out = sweep(Target::GFX950, &text, &inputs, registers);
                for (i, item) in items.iter().enumerate() {
                    for (j, code) in item.iter().enumerate() {
                        let value = scale.map_or(f64::NAN, |s| format.value(*code) * 2f64.powi(s));
                        let got = if to == Wide::F32 {
                            out[j][i]
                        } else {
                            out[j / 2][i] >> (16 * (j % 2)) & 0xffff
                        };
                        assert!(is(to, got, value), "{text} {scale:?} {code:#x}: {got:#x}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_pseudo_random_sequence() {
    let values = seeds(1024);
    let out = &sweep(Target::GFX950, "v_prng_b32 v40, v1", std::slice::from_ref(&values), 1)[0];
    assert!(values.iter().zip(out).all(|(x, y)| next_seed(*x) == *y));
}
