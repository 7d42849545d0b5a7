//! Typed buffer accesses: conversions between memory and registers for each data format and number format (MI100 ISA table 39 and 9.1.4).
//!
//! The manual lists the formats and the conversions to floats, but does not specify all details. According to other public descriptions,
//! the first component of a packed format has the lowest bits, while the format's name lists the highest component first. Assumptions:
//! integers are truncated to a 16-bit register or a narrower component; memory components that a store does not provide are written as
//! zero; and components that the format lacks read as zero.

use gcn_isa::buffer_format::unified;
use gcn_isa::target::Generation;

use crate::core::fault::{Fault, Next, Outcome};
use crate::core::machine::{Cx, Step};
use crate::core::memory::Combined;
use crate::core::operand::Src;
use crate::core::value::lanes;
use crate::fp::small::{Rounding, Small, Top};
use crate::fp::soft;
use crate::fp::{f16_to_f32, f32_to_f16};
use crate::semantics::op::{Op, Ops};

use super::buffer::Buffer;
use super::name;

/// The sizes in bits of the components, lowest component first, by data format number.
const COMPONENTS: [&[u32]; 16] = [
    &[],
    &[8],
    &[16],
    &[8, 8],
    &[32],
    &[16, 16],
    &[11, 11, 10],
    &[10, 11, 11],
    &[2, 10, 10, 10],
    &[10, 10, 10, 2],
    &[8, 8, 8, 8],
    &[32, 32],
    &[16, 16, 16, 16],
    &[32, 32, 32],
    &[32, 32, 32, 32],
    &[],
];

/// The float formats of 11 and 10 bits, which have no sign bit.
const FLOAT11: Small = Small { exponent: 5, fraction: 6, bias: 15, top: Top::Ieee };
const FLOAT10: Small = Small { exponent: 5, fraction: 5, bias: 15, top: Top::Ieee };

/// A number format: how the bits of a component represent a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Number {
    Unorm,
    Snorm,
    Uscaled,
    Sscaled,
    Uint,
    Sint,
    Float,
}

impl Number {
    fn of(field: u32) -> Option<Number> {
        use Number::{Float, Sint, Snorm, Sscaled, Uint, Unorm, Uscaled};
        [Some(Unorm), Some(Snorm), Some(Uscaled), Some(Sscaled), Some(Uint), Some(Sint), None, Some(Float)]
            [(field & 7) as usize]
    }

    fn is_integer(self) -> bool {
        matches!(self, Number::Uint | Number::Sint)
    }

    /// Converts a component to a register: an f32 or an integer.
    fn widen(self, bits: u32, x: u32) -> u32 {
        let signed = (x << (32 - bits)) as i32 >> (32 - bits);
        // 32-bit components are not converted.
        if bits == 32 {
            return x;
        }
        match self {
            Number::Unorm => (f64::from(x) / f64::from((1u32 << bits) - 1)) as f32,
            Number::Snorm => (f64::from(signed) / f64::from((1u32 << (bits - 1)) - 1)).max(-1.0) as f32,
            Number::Uscaled => x as f32,
            Number::Sscaled => signed as f32,
            Number::Uint => return x,
            Number::Sint => return signed as u32,
            Number::Float => match bits {
                16 => f16_to_f32(x as u16),
                11 => FLOAT11.decode(x),
                10 => FLOAT10.decode(x),
                _ => 0.0,
            },
        }
        .to_bits()
    }

    /// Converts a register to a component.
    fn narrow(self, bits: u32, x: u32) -> u32 {
        let mask = u32::MAX >> (32 - bits);
        let value = f64::from(f32::from_bits(x));
        let (umax, smax) = (f64::from(mask), f64::from(mask >> 1));
        // Rust's casts saturate and turn NaN into 0.
        let converted = match self {
            _ if bits == 32 => x,
            Number::Unorm => (value.clamp(0.0, 1.0) * umax).round_ties_even() as u32,
            Number::Snorm => (value.clamp(-1.0, 1.0) * smax).round_ties_even() as i32 as u32,
            Number::Uscaled => value.clamp(0.0, umax) as u32,
            Number::Sscaled => value.clamp(-smax - 1.0, smax) as i32 as u32,
            Number::Uint | Number::Sint => x,
            Number::Float => match bits {
                16 => u32::from(f32_to_f16(f32::from_bits(x))),
                11 => unsigned(FLOAT11, x),
                10 => unsigned(FLOAT10, x),
                _ => 0,
            },
        };
        converted & mask
    }
}

/// Converts an f32 to a format without sign bit: negative numbers become zero.
fn unsigned(format: Small, x: u32) -> u32 {
    let code = format.narrow(soft::Format::F32, x, 0, Rounding::NearestEven, false);
    let (sign, magnitude) = (code >> (format.bits() - 1), code & ((1 << (format.bits() - 1)) - 1));
    let nan = f32::from_bits(x).is_nan();
    if sign == 1 && !nan { 0 } else { magnitude }
}

/// The format of an access.
#[derive(Clone, Copy)]
struct Format {
    components: &'static [u32],
    number: Number,
    /// For each register, a constant 0 or 1, or 4 plus the number of a component.
    select: [u8; 4],
}

impl Format {
    /// The format in the resource or, for typed instructions, in the instruction; `None` if the format is invalid.
    fn of(cx: &Cx<'_>, s: &Step, typed: bool) -> Option<Format> {
        let word = cx.w.s[s.rsrc as usize + 3];
        let select = if typed { [4, 5, 6, 7] } else { [0, 3, 6, 9].map(|shift| (word >> shift & 7) as u8) };
        let field = u32::from(s.inst.mods.format);
        let generation = s.arch.generation();
        let (data, number) = match generation {
            Generation::GFX9 if typed => (field & 0xf, field >> 4),
            Generation::GFX9 => (word >> 15 & 0xf, word >> 12),
            _ => {
                let bits = if generation == Generation::GFX10 { 0x7f } else { 0x3f };
                let format = if typed { field } else { word >> 12 & bits };
                let (data, number) = unified(generation).nth((format as usize).checked_sub(1)?)?;
                (data.into(), number.into())
            }
        };
        let components = COMPONENTS[data as usize];
        let number = Number::of(number)?;
        (!components.is_empty()).then_some(Format { components, number, select })
    }

    fn bytes(&self) -> u32 {
        self.components.iter().sum::<u32>() / 8
    }

    /// The lowest bit of a component.
    fn position(&self, component: usize) -> u32 {
        self.components[..component].iter().sum()
    }

    fn one(&self) -> u32 {
        if self.number.is_integer() { 1 } else { 1f32.to_bits() }
    }

    /// Converts an element in memory to registers.
    fn unpack(&self, memory: u128) -> [u32; 4] {
        let component = |n: usize| {
            let bits = *self.components.get(n)?;
            let x = (memory >> self.position(n)) as u32 & u32::MAX >> (32 - bits);
            Some(self.number.widen(bits, x))
        };
        self.select.map(|select| match select {
            1 => self.one(),
            4..=7 => component(usize::from(select) - 4).unwrap_or(0),
            _ => 0,
        })
    }

    /// Converts registers to an element in memory.
    fn pack(&self, registers: &[u32]) -> u128 {
        let mut memory = 0;
        for (register, select) in registers.iter().zip(self.select) {
            let component = usize::from(select).wrapping_sub(4);
            if let Some(bits) = self.components.get(component) {
                memory |= u128::from(self.number.narrow(*bits, *register)) << self.position(component);
            }
        }
        memory
    }

    /// Converts a register to the 16 bits of a `d16` access, and back.
    fn word_to_half(self, x: u32) -> u32 {
        if self.number.is_integer() { x & 0xffff } else { u32::from(f32_to_f16(f32::from_bits(x))) }
    }

    fn half_to_word(self, x: u32) -> u32 {
        match self.number {
            Number::Uint => x,
            Number::Sint => i32::from(x as i16) as u32,
            _ => f16_to_f32(x as u16).to_bits(),
        }
    }
}

/// The arrangement of the components in registers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// One component in each register.
    Words,
    /// Two components in each register.
    Halves,
    /// The only component, in the upper half of a register.
    UpperHalf,
}

pub(crate) fn add(ops: &mut Ops) {
    for (prefix, typed) in [("buffer", false), ("tbuffer", true)] {
        for (suffix, count) in [("x", 1), ("xy", 2), ("xyz", 3), ("xyzw", 4)] {
            for (infix, layout) in [("", Layout::Words), ("d16_", Layout::Halves)] {
                let access = move |cx: &mut Cx<'_>, s: &Step| load(cx, s, typed, count, layout);
                ops.add(name(&[prefix, "_load_format_", infix, suffix]), Op::new(access));
                let access = move |cx: &mut Cx<'_>, s: &Step| store(cx, s, typed, count, layout);
                ops.add(name(&[prefix, "_store_format_", infix, suffix]), Op::new(access));
            }
        }
    }
    let access = |cx: &mut Cx<'_>, s: &Step| load(cx, s, false, 1, Layout::UpperHalf);
    ops.add("buffer_load_format_d16_hi_x", Op::new(access));
    let access = |cx: &mut Cx<'_>, s: &Step| store(cx, s, false, 1, Layout::UpperHalf);
    ops.add("buffer_store_format_d16_hi_x", Op::new(access));
}

fn load(cx: &mut Cx<'_>, s: &Step, typed: bool, count: usize, layout: Layout) -> Outcome {
    let format = Format::of(cx, s, typed);
    let buffer = Buffer::of(cx, s)?;
    let ecc = cx.machine.has_sram_ecc();
    let to_lds = s.inst.mods.lds.then(|| super::vmem::lds_start(cx, s));
    if to_lds.is_some() {
        cx.begin_copy();
    }
    for lane in lanes(cx.w.exec()) {
        let mut registers = [0; 4];
        if let Some(format) = format {
            if let Some(memory) = read(cx, &buffer, lane, format.bytes())? {
                registers = format.unpack(memory);
            }
            if layout != Layout::Words {
                registers = registers.map(|x| format.word_to_half(x));
            }
        }
        if let Some(start) = to_lds {
            cx.copy_piece((start.wrapping_add(4 * lane as u32), 4), lane, registers[0])?;
            continue;
        }
        let slot = s.vdst as usize;
        match layout {
            Layout::Words => (0..count).for_each(|i| cx.w.v[slot + i][lane] = registers[i]),
            Layout::Halves => {
                // Like other 16-bit loads, loading a single component keeps the other half of the register.
                let old = if count == 1 && !ecc { cx.w.v[slot][lane] >> 16 } else { 0 };
                let half = |i: usize| if i < count { registers[i] } else { old };
                (0..count.div_ceil(2))
                    .for_each(|i| cx.w.v[slot + i][lane] = half(2 * i) | half(2 * i + 1) << 16);
            }
            Layout::UpperHalf => {
                let old = if ecc { 0 } else { cx.w.v[slot][lane] & 0xffff };
                cx.w.v[slot][lane] = old | registers[0] << 16;
            }
        }
    }
    Ok(Next::Fall)
}

fn store(cx: &mut Cx<'_>, s: &Step, typed: bool, count: usize, layout: Layout) -> Outcome {
    let Src::Vector(data) = s.src[2] else { return Err(Fault::Unsupported("a store without data")) };
    let Some(format) = Format::of(cx, s, typed) else { return Ok(Next::Fall) };
    let buffer = Buffer::of(cx, s)?;
    let (mut combined, mut stored) = (Combined::default(), Ok(()));
    for lane in lanes(cx.w.exec()) {
        let word = |i: usize| cx.w.v[usize::from(data) + i][lane];
        let mut registers = [0; 4];
        for (i, register) in registers.iter_mut().enumerate().take(count) {
            *register = match layout {
                Layout::Words => word(i),
                Layout::Halves => format.half_to_word(word(i / 2) >> (16 * (i % 2)) & 0xffff),
                Layout::UpperHalf => format.half_to_word(word(0) >> 16),
            };
        }
        let memory = format.pack(&registers[..count]);
        stored = write(cx, &mut combined, (&buffer, lane), format.bytes(), memory);
        if stored.is_err() {
            break;
        }
    }
    combined.flush(cx.memory);
    stored.map(|()| Next::Fall)
}

/// The offsets and sizes of the pieces in which an element is accessed: dwords, or the whole element if it is smaller.
fn pieces(bytes: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..bytes.div_ceil(4)).map(move |i| (4 * i, (bytes - 4 * i).min(4)))
}

/// Reads an element; `None` if it is out of range.
fn read(cx: &mut Cx<'_>, buffer: &Buffer, lane: usize, bytes: u32) -> Result<Option<u128>, Fault> {
    let Some(place) = buffer.place(cx, lane, 0, bytes) else { return Ok(None) };
    if bytes < 4 {
        return Ok(Some(u128::from(cx.load(place, bytes, lane)?)));
    }
    let place = |i: u32| (4 * i < bytes).then(|| buffer.place(cx, lane, 4 * i, 4)).flatten();
    let words = cx.load_words([0, 1, 2, 3].map(place), lane)?;
    Ok(Some(words.iter().rev().fold(0, |all, word| all << 32 | u128::from(*word))))
}

fn write(
    cx: &mut Cx<'_>,
    combined: &mut Combined,
    (buffer, lane): (&Buffer, usize),
    bytes: u32,
    memory: u128,
) -> Result<(), Fault> {
    if buffer.place(cx, lane, 0, bytes).is_none() {
        return Ok(());
    }
    for (ahead, size) in pieces(bytes) {
        if let Some(place) = buffer.place(cx, lane, ahead, size) {
            cx.store_combined(combined, place, size, lane, (memory >> (8 * ahead)) as u32)?;
        }
    }
    cx.finish_lane(combined);
    Ok(())
}
