//! Scalar memory: loads, stores and atomics, with a plain address, through a buffer resource, or in scratch.

use super::access::Place;
use super::address::unit;
use super::atomic::{Flush, Modify, PAIRS, WORDS};
use super::buffer::long_buffer;
use super::name;
use crate::core::fault::{Fault, Next, Outcome};
use crate::core::machine::{Cx, Step};
use crate::core::memory::Combined;
use crate::core::operand::Src;
use crate::core::value::Ty;
use crate::semantics::op::{Op, Ops};

/// The number of shader clock cycles (2.1 GHz on an MI300X) in a cycle of the constant 100 MHz clock.
pub(crate) const CYCLES_OF_REAL_TIME: u64 = 21;

pub(crate) fn add(ops: &mut Ops) {
    for (suffix, words) in [("dword", 1), ("dwordx2", 2), ("dwordx4", 4), ("dwordx8", 8), ("dwordx16", 16)] {
        for (prefix, kind) in
            [("s_", Kind::Plain), ("s_buffer_", Kind::Buffer), ("s_scratch_", Kind::Scratch)]
        {
            if words <= 4 || kind != Kind::Scratch {
                let run = move |cx: &mut Cx<'_>, s: &Step| load(cx, s, kind, words);
                ops.add(name(&[prefix, "load_", suffix]), Op::new(run));
            }
            if words <= 4 {
                let run = move |cx: &mut Cx<'_>, s: &Step| store(cx, s, kind, words);
                ops.add(name(&[prefix, "store_", suffix]), Op::new(run));
            }
        }
    }
    for (prefix, kind) in [("s_", Kind::Plain), ("s_buffer_", Kind::Buffer)] {
        let run = move |cx: &mut Cx<'_>, s: &Step| load(cx, s, kind, 3);
        ops.add(name(&[prefix, "load_b96"]), Op::new(run));
        for (suffix, bytes, signed) in
            [("i8", 1, true), ("u8", 1, false), ("i16", 2, true), ("u16", 2, false)]
        {
            let run = move |cx: &mut Cx<'_>, s: &Step| load_part(cx, s, kind, bytes, signed);
            ops.add(name(&[prefix, "load_", suffix]), Op::new(run));
        }
    }
    ops.add(
        "s_get_waveid_in_workgroup",
        Op::new(|cx: &mut Cx<'_>, s: &Step| {
            cx.w.s[s.sdst as usize] = cx.w.id;
            Ok(Next::Fall)
        }),
    );
    for (name, cycles) in [("s_memtime", 1), ("s_memrealtime", CYCLES_OF_REAL_TIME)] {
        ops.add(
            name,
            Op::new(move |cx: &mut Cx<'_>, s: &Step| {
                let now = cx.w.clock() / cycles;
                cx.w.set_pair(s.sdst as usize, now);
                Ok(Next::Fall)
            }),
        );
    }
    for (prefix, kind) in [("s_atomic_", Kind::Plain), ("s_buffer_atomic_", Kind::Buffer)] {
        for (suffix, f) in integer_atomics(WORDS) {
            let run = move |cx: &mut Cx<'_>, s: &Step| atomic_word(cx, s, kind, f);
            ops.add(name(&[prefix, suffix]), Op::new(run));
        }
        for (suffix, f) in integer_atomics(PAIRS) {
            let run = move |cx: &mut Cx<'_>, s: &Step| atomic_pair(cx, s, kind, f);
            ops.add(name(&[prefix, suffix]), Op::new(run));
        }
    }
}

/// The atomics of the vector formats that scalar memory supports as well: the integer ones.
fn integer_atomics<T: Copy>(
    list: &'static [(&'static str, &'static str, Modify<T>)],
) -> impl Iterator<Item = (&'static str, Modify<T>)> {
    let float = |name: &str| ["f16", "bf16", "f32", "f64"].iter().any(|ty| name.ends_with(ty));
    list.iter().filter(move |row| !row.0.is_empty() && !float(row.0)).map(|row| (row.0, row.2))
}

/// How the address is computed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A 64-bit base plus an offset.
    Plain,
    /// The base address in a buffer resource plus an offset; beyond the buffer's size, loads give 0 and stores are dropped.
    Buffer,
    /// As [`Kind::Plain`], except that the SGPR offset counts units of 64 bytes.
    Scratch,
}

/// The addresses from `start` up to `end`.
struct Span {
    start: u64,
    end: u64,
}

impl Span {
    /// The address of `bytes` bytes, `ahead` bytes after the start of the datum; `None` if they exceed a buffer.
    fn at(&self, ahead: u64, bytes: u64) -> Option<u64> {
        let address = self.start.wrapping_add(ahead);
        (self.end == u64::MAX || address + bytes <= self.end).then_some(address)
    }
}

/// The immediate plus the SGPR offset.
fn offset(cx: &Cx<'_>, s: &Step, kind: Kind) -> Result<i64, Fault> {
    let register = match s.src[1] {
        Src::None => 0,
        ref src => i64::from(cx.scalar(src, Ty::B32)?),
    };
    let unit = if kind == Kind::Scratch { 64 } else { i64::from(unit(s)?) };
    Ok(register * unit + s.imm + i64::from(s.inst.mods.offset))
}

/// The addresses of a datum of dwords; the two low bits of the address are ignored.
fn span(cx: &Cx<'_>, s: &Step, kind: Kind) -> Result<Span, Fault> {
    span_of(cx, s, kind, !3)
}

/// The addresses of a datum; bits of the address that are not set in `kept` are cleared.
fn span_of(cx: &Cx<'_>, s: &Step, kind: Kind, kept: u64) -> Result<Span, Fault> {
    let offset = offset(cx, s, kind)?;
    if kind != Kind::Buffer {
        let start = cx.scalar_wide(&s.src[0], Ty::B64)?.wrapping_add_signed(offset) & kept;
        return Ok(Span { start, end: u64::MAX });
    }
    let Src::Scalar(resource) = s.src[0] else {
        return Err(Fault::Unsupported("a resource outside the SGPRs"));
    };
    let word = |i: usize| cx.w.s[resource as usize + i];
    let (base, bytes) = match s.arch.has_long_buffers() {
        true => long_buffer([0, 1, 2, 3].map(word))?,
        false => {
            let stride = u64::from(word(1) >> 16 & 0x3fff).max(1);
            (u64::from(word(0)) | u64::from(word(1) & 0xffff) << 32, u64::from(word(2)) * stride)
        }
    };
    let base = base & !3;
    Ok(Span { start: base.wrapping_add(offset as u64 & kept), end: base + bytes })
}

fn put(cx: &mut Cx<'_>, s: &Step, values: &[u32]) -> Outcome {
    let first = s.sdst as usize;
    let registers = cx.w.s.get_mut(first..first + values.len());
    registers.ok_or(Fault::Unsupported("a scalar load beyond the SGPRs"))?.copy_from_slice(values);
    Ok(Next::Fall)
}

/// The SGPRs that contain the data to store.
fn data(cx: &Cx<'_>, s: &Step, words: usize) -> Result<Vec<u32>, Fault> {
    let Src::Scalar(first) = s.src[2] else {
        return Err(Fault::Unsupported("scalar data outside the SGPRs"));
    };
    let first = first as usize;
    let registers = cx.w.s.get(first..first + words);
    Ok(registers.ok_or(Fault::Unsupported("scalar data beyond the SGPRs"))?.to_vec())
}

/// Loads dwords; dwords past the end of a buffer are 0.
fn load(cx: &mut Cx<'_>, s: &Step, kind: Kind, words: usize) -> Outcome {
    let span = span(cx, s, kind)?;
    let mut values = [0; 16];
    cx.load_scalars(|i| span.at(4 * i as u64, 4), &mut values[..words])?;
    put(cx, s, &values[..words])
}

/// Loads one or two bytes, extended; only these bytes are read from memory.
fn load_part(cx: &mut Cx<'_>, s: &Step, kind: Kind, bytes: u32, signed: bool) -> Outcome {
    let span = span_of(cx, s, kind, !(u64::from(bytes) - 1))?;
    let part = match span.at(0, bytes.into()) {
        Some(address) => cx.load_scalar_part(address, bytes)?,
        None => 0,
    };
    let unused = 32 - 8 * bytes;
    let value = if signed { ((part << unused) as i32 >> unused) as u32 } else { part };
    put(cx, s, &[value])
}

/// Stores dwords; dwords past the end of a buffer are dropped.
fn store(cx: &mut Cx<'_>, s: &Step, kind: Kind, words: usize) -> Outcome {
    let span = span(cx, s, kind)?;
    let mut combined = Combined::default();
    for (i, value) in data(cx, s, words)?.into_iter().enumerate() {
        if let Some(address) = span.at(4 * i as u64, 4) {
            cx.store_scalar(&mut combined, address, value)?;
        }
    }
    combined.flush(cx.memory);
    Ok(Next::Fall)
}

fn atomic_word(cx: &mut Cx<'_>, s: &Step, kind: Kind, f: Modify<u32>) -> Outcome {
    let span = span(cx, s, kind)?;
    let words = data_words(s);
    let data = data(cx, s, words)?;
    let (new, second) = (data[0], *data.last().unwrap_or(&0));
    let old = match span.at(0, 4) {
        Some(address) => {
            cx.update32(Place::Global(address), 0, |old| f(Flush::default(), old, new, second))?
        }
        None => 0,
    };
    if s.inst.desc.class.returns_old() { put(cx, s, &[old]) } else { Ok(Next::Fall) }
}

fn atomic_pair(cx: &mut Cx<'_>, s: &Step, kind: Kind, f: Modify<u64>) -> Outcome {
    let span = span(cx, s, kind)?;
    let data = data(cx, s, data_words(s))?;
    let pair = |i: usize| u64::from(data[i]) | u64::from(data[i + 1]) << 32;
    let (new, second) = (pair(0), pair(data.len() - 2));
    let old = match span.at(0, 8) {
        Some(address) => {
            cx.update64(Place::Global(address), 0, |old| f(Flush::default(), old, new, second))?
        }
        None => 0,
    };
    if s.inst.desc.class.returns_old() {
        put(cx, s, &[old as u32, (old >> 32) as u32])
    } else {
        Ok(Next::Fall)
    }
}

/// The number of dwords of the data operand, at least one.
fn data_words(s: &Step) -> usize {
    let operand = s.inst.desc.operands.iter().find(|o| o.name == "sdata");
    operand.map_or(2, |o| usize::from(o.dwords))
}
