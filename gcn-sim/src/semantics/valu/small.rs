//! Conversions from and to fp8, bf8, fp6, bf6 and fp4, with and without scale, and conversions with stochastic rounding.
//!
//! A scaled conversion divides by 2^(exponent of its scale operand) if it narrows, and multiplies by it if it widens. A scale whose
//! exponent field is all ones is NaN and makes every result NaN. The conversions ignore the rounding and denormal modes.

use gcn_isa::{Mods, Target};

use super::read::raw32;
use super::write::{finish_singles, write_mask, write32};
use super::{Fetch, op1};
use crate::core::fault::{Fault, Next};
use crate::core::machine::{Cx, Step};
use crate::core::operand::Src;
use crate::core::value::{HalfBits, LANES, Raw, Ty, lanes};
use crate::core::wave::Lanes;
use crate::fp::small::{Rounding, Small, Widening};
use crate::fp::soft::Format;
use crate::semantics::op::{Op, Ops};

pub(crate) fn add(ops: &mut Ops) {
    ops.add("v_prng_b32", op1(next_random));
    unscaled(ops);
    for (name, eight) in EIGHT_BITS {
        for (from, wide) in WIDE {
            let count = 2;
            ops.add(
                scaled(&["pk", name, from]),
                narrow(Narrow { from: wide, to: eight, count, ..Narrow::PAIR }),
            );
            ops.add(
                scaled(&["sr", name, from]),
                narrow(Narrow { from: wide, to: eight, count: 1, random: true, ..Narrow::PAIR }),
            );
            ops.add(scaled(&["pk", from, name]), widen(Widen { to: wide, from: eight, count, unit: 16 }));
        }
        for (to, wide) in [("f32", Format::F32), ("f16", Format::F16)] {
            ops.add(scaled(&[to, name]), widen(Widen { to: wide, from: eight, count: 1, unit: 8 }));
        }
    }
    four_and_six_bits(ops);
    tuples(ops);
    for (name, bits, table) in
        [("v_perm_pk16_b4_u4", 4, [1, 1]), ("v_perm_pk16_b6_u4", 6, [2, 1]), ("v_perm_pk16_b8_u4", 8, [2, 2])]
    {
        ops.add(name, Op::new(move |cx: &mut Cx<'_>, s: &Step| look_up(cx, s, bits, table)));
    }
}

/// The conversions of gfx12.5 from a tuple with 8 or 16 elements. The stochastic ones are refused.
fn tuples(ops: &mut Ops) {
    let formats: [(&str, Of, usize); 5] = [
        ("fp8", Small::fp8, 8),
        ("bf8", Small::bf8, 8),
        ("fp4", |_| Small::E2M1, 8),
        ("fp6", |_| Small::E2M3, 16),
        ("bf6", |_| Small::E3M2, 16),
    ];
    for (name, to, count) in formats {
        for (from, wide) in WIDE {
            let pack = format!("pk{count}");
            let narrow_all = narrow(Narrow { from: wide, to, count, tuple: true, ..Narrow::PAIR });
            ops.add(scaled(&[&pack, name, from]), narrow_all);
        }
    }
}

/// Sixteen elements from a table, by the numbers in source 2. Source 1 has the lower registers of the table, and source 0 the upper ones
/// (AMD's emulator, rocjitsu). `table` has the numbers of these registers.
fn look_up(cx: &mut Cx<'_>, s: &Step, bits: u32, table: [usize; 2]) -> Result<Next, Fault> {
    let mut entries = words(cx, &s.src[1], table[0])?;
    entries.extend(words(cx, &s.src[0], table[1])?);
    let numbers = words(cx, &s.src[2], 2)?;
    let mut out = [[0; LANES]; 32];
    for lane in 0..LANES {
        for i in 0..16 {
            let entry = field(&numbers, lane, 4 * i, 4);
            put(&mut out, lane, i * bits as usize, field(&entries, lane, (entry * bits) as usize, bits));
        }
    }
    store(cx, s, 16 * bits as usize, &out);
    Ok(Next::Fall)
}

/// Adds the bits of an element to a lane's registers, from bit `at` on. They must be 0 before.
fn put(out: &mut [Lanes; 32], lane: usize, at: usize, code: u32) {
    let (register, shift) = (at / 32, at % 32);
    out[register][lane] |= code << shift;
    if let (Some(next), true) = (out.get_mut(register + 1), shift > 0) {
        next[lane] |= (u64::from(code) << shift >> 32) as u32;
    }
}

fn four_and_six_bits(ops: &mut Ops) {
    for (from, wide) in WIDE {
        let fp4: Of = |_| Small::E2M1;
        let pair = Narrow { from: wide, to: fp4, count: 2, ..Narrow::PAIR };
        ops.add(scaled(&["pk_fp4", from]), narrow(pair));
        ops.add(scaled(&["sr_pk_fp4", from]), narrow(Narrow { random: true, ..pair }));
        ops.add(scaled(&["pk", from, "fp4"]), widen(Widen { to: wide, from: fp4, count: 2, unit: 8 }));
        let six_bits: [(&str, Of); 2] = [("fp6", |_| Small::E2M3), ("bf6", |_| Small::E3M2)];
        for (name, six) in six_bits {
            let all = Narrow { from: wide, to: six, count: 32, ..Narrow::PAIR };
            if wide == Format::F32 {
                ops.add(scaled(&["2xpk16", name, from]), narrow(all));
            } else {
                ops.add(scaled(&["pk32", name, from]), narrow(all));
            }
            ops.add(scaled(&["sr_pk32", name, from]), narrow(Narrow { random: true, ..all }));
            ops.add(scaled(&["pk32", from, name]), widen(Widen { to: wide, from: six, count: 32, unit: 0 }));
        }
    }
}

/// A mnemonic: `v_cvt_scalef32_` followed by the parts. It is leaked, because the table of functions lives as long as the process.
fn scaled(parts: &[&str]) -> &'static str {
    Box::leak(format!("v_cvt_scalef32_{}", parts.join("_")).into_boxed_str())
}

/// The next element of the pseudo-random sequence that multi-element stochastic conversions use.
fn next_random(x: u32) -> u32 {
    x << 1 ^ if x >> 31 == 1 { 197 } else { 0 }
}

/// A small format that may depend on the target.
type Of = fn(Target) -> Small;

/// The two 8-bit formats, whose encodings depend on the target.
const EIGHT_BITS: [(&str, Of); 2] = [("fp8", Small::fp8), ("bf8", Small::bf8)];

/// The wide formats.
const WIDE: [(&str, Format); 3] = [("f32", Format::F32), ("f16", Format::F16), ("bf16", Format::BF16)];

fn unscaled(ops: &mut Ops) {
    for (name, format) in EIGHT_BITS {
        let leak = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
        ops.add(leak(format!("v_cvt_f32_{name}")), widen_plain(format, 1));
        ops.add(leak(format!("v_cvt_pk_f32_{name}")), widen_plain(format, 2));
        let pair = Narrow { to: format, scaled: false, ..Narrow::PAIR };
        ops.add(leak(format!("v_cvt_pk_{name}_f32")), narrow(pair));
        ops.add(leak(format!("v_cvt_sr_{name}_f32")), narrow(Narrow { count: 1, random: true, ..pair }));
        let halves = Narrow { from: Format::F16, ..pair };
        ops.add(leak(format!("v_cvt_pk_{name}_f16")), narrow(halves));
        ops.add(leak(format!("v_cvt_sr_{name}_f16")), narrow(Narrow { count: 1, random: true, ..halves }));
    }
    // The targets with these have the OCP formats.
    for (name, pair, format) in [
        ("v_cvt_f16_fp8", "v_cvt_pk_f16_fp8", Small::E4M3),
        ("v_cvt_f16_bf8", "v_cvt_pk_f16_bf8", Small::E5M2),
    ] {
        let half = move |code: u32| format.widen(code & 0xff, 0, Format::F16) as u16;
        let bytes = [0, 1, 2, 3].map(|byte| op1(move |a: u32| HalfBits(half(a >> (8 * byte)))).exec);
        ops.add(
            name,
            Op::new(move |cx: &mut Cx<'_>, s: &Step| {
                refuse_other_format(s)?;
                Ok(bytes[usize::from(s.inst.mods.byte_sel & 3)].run(cx, s)?)
            }),
        );
        let both = op1(move |a: u16| u32::from(half(a.into())) | u32::from(half((a >> 8).into())) << 16).exec;
        ops.add(
            pair,
            Op::new(move |cx: &mut Cx<'_>, s: &Step| {
                refuse_other_format(s)?;
                Ok(both.run(cx, s)?)
            }),
        );
    }
    let halves: [(&str, Of); 2] =
        [("v_cvt_sr_f16_f32", |_| Small::E5M10), ("v_cvt_sr_bf16_f32", |_| Small::E8M7)];
    for (name, to) in halves {
        ops.add(name, narrow(Narrow { to, count: 1, scaled: false, random: true, ..Narrow::PAIR }));
    }
}

/// Refuses `clamp`, by which LLVM 22 selects fp8 with five bits of exponent and three of fraction (`llvm.amdgcn.cvt.f32.fp8.e5m3`).
fn refuse_other_format(s: &Step) -> Result<(), Fault> {
    match s.inst.mods.clamp {
        true => Err(Fault::Unsupported("an 8-bit float with clamp, which selects another format")),
        false => Ok(()),
    }
}

/// Converts bytes 0 and 1 of the selected part to f32, one register for each. SDWA selects the part when the source is read; otherwise
/// `byte_sel` selects a byte, or `op_sel` the half with both bytes.
fn widen_plain(format: Of, count: usize) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        refuse_other_format(s)?;
        let mut buffer = u32::ZERO;
        let codes = u32::fetch(cx, s, 0, Ty::B32, &mut buffer)?;
        let values = Widening::of(format(s.arch));
        let mods = &s.inst.mods;
        let first = if count == 1 { 8 * mods.byte_sel } else { 16 * (mods.op_sel & 1) };
        let mut out = [[0; LANES]; 2];
        for (i, out) in out.iter_mut().enumerate().take(count) {
            for lane in 0..LANES {
                out[lane] = values.value(codes[lane] >> first >> (8 * i)).to_bits();
            }
        }
        finish_singles(cx, s, &mut out[..count]);
        Ok(Next::Fall)
    })
}

/// A scale 2^`n`, or NaN.
#[derive(Clone, Copy)]
struct Scale(Option<i32>);

impl Scale {
    fn of(bits: u32) -> Scale {
        let field = (bits >> 23 & 0xff) as i32;
        Scale((field != 0xff).then_some(field - 127))
    }
}

/// A widening conversion of `count` elements.
#[derive(Clone, Copy)]
struct Widen {
    from: Of,
    to: Format,
    count: usize,
    /// The size in bits of the part of the source that `op_sel` selects; 0 if there is no selection.
    unit: u32,
}

fn widen(what: Widen) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let mut buffer = u32::ZERO;
        let scales = *u32::fetch(cx, s, 1, Ty::B32, &mut buffer)?;
        let format = (what.from)(s.arch);
        let registers = (what.count * format.bits() as usize).div_ceil(32);
        let source = words(cx, &s.src[0], registers)?;
        // To select a byte, two bits of `op_sel` are used; to select a half, one bit.
        let chosen = u32::from(s.inst.mods.op_sel) & if what.unit == 8 { 3 } else { 1 };
        let mut out = [[0; LANES]; 32];
        for lane in 0..LANES {
            let scale = Scale::of(scales[lane]);
            for i in 0..what.count {
                let bit = (chosen * what.unit) as usize + i * format.bits() as usize;
                let code = field(&source, lane, bit, format.bits());
                let value = match scale.0 {
                    Some(scale) => format.widen(code, scale, what.to) as u32,
                    None => what.to.nan() as u32,
                };
                let at = i * what.to.bits() as usize;
                out[at / 32][lane] |= value << (at % 32);
            }
        }
        store(cx, s, what.count * what.to.bits() as usize, &out);
        Ok(Next::Fall)
    })
}

/// A narrowing conversion of `count` elements.
#[derive(Clone, Copy)]
struct Narrow {
    from: Format,
    to: Of,
    count: usize,
    /// True if the last source is a scale.
    scaled: bool,
    /// True if src1 contains random bits.
    random: bool,
    /// True if all elements are in `src0`, and public sources are known only for scales that are powers of two.
    tuple: bool,
}

impl Narrow {
    /// The conversion of two f32 to fp8.
    const PAIR: Narrow =
        Narrow { from: Format::F32, to: Small::fp8, count: 2, scaled: true, random: false, tuple: false };

    /// The number of sources with elements: `src0`, and also `src1` if there are several f32 elements and `src0` is not a tuple that
    /// contains all of them.
    fn element_sources(&self) -> usize {
        if self.from == Format::F32 && !self.random && !self.tuple && self.count > 1 { 2 } else { 1 }
    }

    /// The elements of every lane. If there are two sources, elements are taken from them alternately.
    fn elements(&self, cx: &Cx<'_>, s: &Step) -> Result<Vec<Lanes>, Fault> {
        let sources = self.element_sources();
        let each = self.count / sources;
        let mut elements = vec![[0; LANES]; self.count];
        for source in 0..sources {
            let registers = each * self.from.bits() as usize / 32;
            if registers <= 1 {
                self.one_register(cx, s, source, &mut elements)?;
                continue;
            }
            for (n, register) in words(cx, &s.src[source], registers)?.iter().enumerate() {
                let per_register = 32 / self.from.bits() as usize;
                for part in 0..per_register {
                    let index = (n * per_register + part) * sources + source;
                    elements[index] = register.map(|x| part_of(x, part, self.from.bits() as usize));
                }
            }
            self.modify(s, source, &mut elements)?;
        }
        Ok(elements)
    }

    /// The elements of a source of at most one register: one element, or two halves.
    fn one_register(
        &self,
        cx: &Cx<'_>,
        s: &Step,
        source: usize,
        elements: &mut [Lanes],
    ) -> Result<(), Fault> {
        let mods = &s.inst.mods;
        let mut buffer = u32::ZERO;
        if self.count == 1 && self.from == Format::F16 {
            elements[0] = *u32::fetch(cx, s, source, Ty::B16, &mut buffer)?;
        } else if self.from == Format::F32 {
            elements[source] = *u32::fetch(cx, s, source, Ty::B32, &mut buffer)?;
        } else {
            let word = match s.src[source] {
                Src::Const(c) if self.from == Format::F16 => [c.packed_f16(); LANES],
                Src::Const(c) => [c.packed_bf16(); LANES],
                ref other => raw32(cx, other, Ty::B32)?,
            };
            let upper = usize::from(self.count == 1 && mods.op_sel & 1 == 1);
            for (i, element) in elements.iter_mut().enumerate() {
                *element = word.map(|x| part_of(x, i + upper, 16));
            }
            self.modify(s, source, elements)?;
        }
        Ok(())
    }

    /// Applies source modifiers to elements that were read without them.
    fn modify(&self, s: &Step, source: usize, elements: &mut [Lanes]) -> Result<(), Fault> {
        let mods = &s.inst.mods;
        let (abs, neg) = (mods.abs >> source & 1 == 1, mods.neg >> source & 1 == 1);
        if !abs && !neg {
            return Ok(());
        }
        if self.count > 1 {
            return Err(Fault::Unsupported("source modifiers of a packed conversion"));
        }
        let sign = 1 << (self.from.bits() - 1);
        let keep = if abs { !sign } else { u32::MAX };
        elements.iter_mut().flatten().for_each(|x| *x = *x & keep ^ if neg { sign } else { 0 });
        Ok(())
    }
}

fn narrow(what: Narrow) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let format = (what.to)(s.arch);
        let bits = format.bits() as usize;
        if bits == 8 {
            refuse_other_format(s)?;
        }
        let elements = what.elements(cx, s)?;
        let second = if what.random { 1 } else { what.element_sources() };
        let mut buffer = u32::ZERO;
        let random = if what.random { *u32::fetch(cx, s, 1, Ty::B32, &mut buffer)? } else { [0; LANES] };
        let scale_source = second + usize::from(what.random);
        let scales = if what.scaled {
            *u32::fetch(cx, s, scale_source, Ty::B32, &mut buffer)?
        } else {
            [1f32.to_bits(); LANES]
        };
        let power = |scale: u32| scale << 9 == 0 && (1..255).contains(&(scale >> 23));
        if what.tuple && lanes(write_mask(cx, s)).any(|lane| !power(scales[lane])) {
            return Err(Fault::Unsupported(
                "a scale that is not a power of two: public sources disagree about its sign and fraction",
            ));
        }
        let saturate = saturates(cx) && format != Small::E8M7;
        let mut out = [[0; LANES]; 32];
        for lane in 0..LANES {
            let scale = Scale::of(scales[lane]);
            let mut random = random[lane];
            for (i, element) in elements.iter().enumerate() {
                let round = if what.random { Rounding::Stochastic(random) } else { Rounding::NearestEven };
                random = next_random(random);
                // A NaN scale has the same effect as a NaN element.
                let (x, scale) = match scale.0 {
                    Some(scale) => (element[lane], scale),
                    None => (element[lane] | ((1 << (what.from.bits() - 1)) - 1), 0),
                };
                let code = format.narrow(what.from, x, scale, round, saturate);
                put(&mut out, lane, i * bits, code);
            }
        }
        store(cx, s, what.count * bits, &out);
        Ok(Next::Fall)
    })
}

/// True if a value that overflows becomes the largest number.
fn saturates(cx: &Cx<'_>) -> bool {
    cx.w.mode.keeps_f16_finite()
}

fn part_of(x: u32, part: usize, width: usize) -> u32 {
    if width == 32 { x } else { x >> (16 * part) & 0xffff }
}

/// The registers of an operand; only vector registers can be tuples.
fn words(cx: &Cx<'_>, src: &Src, count: usize) -> Result<Vec<Lanes>, Fault> {
    match src {
        Src::Vector(slot) => Ok((0..count).map(|n| cx.w.v[*slot as usize + n]).collect()),
        other if count == 1 => Ok(vec![raw32(cx, other, Ty::B32)?]),
        _ => Err(Fault::Unsupported("a conversion of several registers from other than vector registers")),
    }
}

/// `bits` bits, from bit `bit` on, of a lane's registers.
fn field(words: &[Lanes], lane: usize, bit: usize, bits: u32) -> u32 {
    let word = |n: usize| words.get(n).map_or(0, |w| u64::from(w[lane]));
    let pair = word(bit / 32) | word(bit / 32 + 1) << 32;
    (pair >> (bit % 32)) as u32 & ((1 << bits) - 1)
}

/// Writes `bits` bits for each lane. If that is less than a register, they are written to the byte or half that `byte_sel` or `op_sel`
/// selects, and the rest of the register is kept.
fn store(cx: &mut Cx<'_>, s: &Step, bits: usize, out: &[Lanes; 32]) {
    let mask = write_mask(cx, s);
    if bits >= 32 {
        for (n, out) in out.iter().enumerate().take(bits / 32) {
            write32(cx, s.vdst + n as u16, mask, out);
        }
        return;
    }
    let Mods { op_sel, byte_sel, .. } = s.inst.mods;
    let last = s.inst.desc.op_sel_dst_bit().unwrap_or(3);
    // The last bit of op_sel is the upper bit of a byte number, or selects the half.
    let upper = u32::from(op_sel >> last & 1);
    let lower = u32::from(op_sel >> last.saturating_sub(1) & 1);
    // An instruction has one of the two selectors, and the other is 0.
    let shift = if bits == 8 { 16 * upper + 8 * (lower + u32::from(byte_sel)) } else { 16 * upper };
    let keep = !(((1u32 << bits) - 1) << shift);
    let mut merged = cx.w.v[s.vdst as usize];
    for lane in 0..LANES {
        merged[lane] = merged[lane] & keep | out[0][lane] << shift;
    }
    write32(cx, s.vdst, mask, &merged);
}
