//! Atomics in vector memory formats and in LDS.

use gcn_isa::Target;

use super::access::Place;
use super::address::{Addresses, Segment};
use super::{ds, gathered, local, name};
use crate::core::fault::{Fault, Next};
use crate::core::machine::{Cx, Step};
use crate::core::operand::Src;
use crate::core::trace::Kind;
use crate::core::value::{LANES, lanes};
use crate::fp::{add32, add64, bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16, flush32};
use crate::semantics::op::{Op, Ops};
use crate::semantics::valu::Env;
use crate::semantics::valu::float32::{max32, min32};
use crate::semantics::valu::float64::{max64, min64};

/// Computes the new value of a dword from the old value and up to two data values.
pub(super) type Modify<T> = fn(flush: Flush, old: T, data: T, second: T) -> T;

/// Whether f32 denormals are flushed. Only `add_f32` and `cmpst_f32` depend on this; no source states that other operations flush.
#[derive(Clone, Copy, Default)]
pub(super) struct Flush {
    input: bool,
    output: bool,
}

impl Flush {
    /// For atomics in LDS: according to MODE. (LLVM assumes that LDS atomics respect MODE, and AMD's emulator does so.)
    pub(super) fn of_lds(cx: &Cx<'_>) -> Flush {
        Flush { input: cx.w.mode.flush_in32, output: cx.w.mode.flush_out32 }
    }

    /// For atomics in memory: a property of the target.
    fn of_memory(target: Target) -> Flush {
        let flushes = target.memory_adds_flush();
        Flush { input: flushes, output: flushes }
    }

    fn input(self, bits: u32) -> u32 {
        if self.input { flush32(bits) } else { bits }
    }

    fn output(self, bits: u32) -> u32 {
        if self.output { flush32(bits) } else { bits }
    }
}

/// Float minimum and maximum in memory follow IEEE 754-2008.
const ENV: Env = Env { ieee: true };

/// The 32-bit operations: the suffix of the global mnemonic, the suffix of the LDS mnemonic, and the function. An empty suffix means that
/// the instruction does not exist.
pub(super) const WORDS: &[(&str, &str, Modify<u32>)] = &[
    ("swap", "", |_, _, d, _| d),
    ("add", "add_u32", |_, o, d, _| o.wrapping_add(d)),
    ("sub", "sub_u32", |_, o, d, _| o.wrapping_sub(d)),
    ("", "rsub_u32", |_, o, d, _| d.wrapping_sub(o)),
    ("smin", "min_i32", |_, o, d, _| (o as i32).min(d as i32) as u32),
    ("umin", "min_u32", |_, o, d, _| o.min(d)),
    ("smax", "max_i32", |_, o, d, _| (o as i32).max(d as i32) as u32),
    ("umax", "max_u32", |_, o, d, _| o.max(d)),
    ("and", "and_b32", |_, o, d, _| o & d),
    ("or", "or_b32", |_, o, d, _| o | d),
    ("xor", "xor_b32", |_, o, d, _| o ^ d),
    ("inc", "inc_u32", |_, o, d, _| if o >= d { 0 } else { o + 1 }),
    ("dec", "dec_u32", |_, o, d, _| if o == 0 || o > d { d } else { o - 1 }),
    ("add_f32", "add_f32", |flush, o, d, _| {
        let sum = add32(f32::from_bits(flush.input(o)), f32::from_bits(flush.input(d)));
        flush.output(sum.to_bits())
    }),
    ("pk_add_f16", "pk_add_f16", |_, o, d, _| {
        by_half(o, d, |a, b| f32_to_f16(add32(f16_to_f32(a), f16_to_f32(b))))
    }),
    ("pk_add_bf16", "pk_add_bf16", |_, o, d, _| {
        by_half(o, d, |a, b| f32_to_bf16(add32(bf16_to_f32(a), bf16_to_f32(b))))
    }),
    ("", "min_f32", |_, o, d, _| extreme32(min32, o, d)),
    ("", "max_f32", |_, o, d, _| extreme32(max32, o, d)),
    // Global: the data are the new value, then the value to compare with. LDS: in the opposite order.
    ("cmpswap", "", |_, o, new, compare| if o == compare { new } else { o }),
    ("", "cmpst_b32", |_, o, compare, new| if o == compare { new } else { o }),
    ("", "cmpst_f32", |flush, o, compare, new| {
        let same = f32::from_bits(flush.input(o)) == f32::from_bits(flush.input(compare));
        if same { new } else { o }
    }),
    ("", "cmpstore_b32", |_, o, new, compare| if o == compare { new } else { o }),
    (
        "fcmpswap",
        "cmpstore_f32",
        |_, o, new, compare| {
            if f32::from_bits(o) == f32::from_bits(compare) { new } else { o }
        },
    ),
    ("fmin", "", |_, o, d, _| extreme32(min32, o, d)),
    ("fmax", "", |_, o, d, _| extreme32(max32, o, d)),
    // Subtractions that give 0 (`csub`), or leave the old value unchanged, if the datum is greater than the old value.
    ("csub", "", |_, o, d, _| o.saturating_sub(d)),
    ("sub_clamp_u32", "sub_clamp_u32", |_, o, d, _| o.saturating_sub(d)),
    ("cond_sub_u32", "cond_sub_u32", |_, o, d, _| o.checked_sub(d).unwrap_or(o)),
    ("", "mskor_b32", |_, o, mask, bits| o & !mask | bits),
];

/// The 64-bit operations, with the same columns.
pub(super) const PAIRS: &[(&str, &str, Modify<u64>)] = &[
    ("swap_x2", "", |_, _, d, _| d),
    ("add_x2", "add_u64", |_, o, d, _| o.wrapping_add(d)),
    ("sub_x2", "sub_u64", |_, o, d, _| o.wrapping_sub(d)),
    ("", "rsub_u64", |_, o, d, _| d.wrapping_sub(o)),
    ("smin_x2", "min_i64", |_, o, d, _| (o as i64).min(d as i64) as u64),
    ("umin_x2", "min_u64", |_, o, d, _| o.min(d)),
    ("smax_x2", "max_i64", |_, o, d, _| (o as i64).max(d as i64) as u64),
    ("umax_x2", "max_u64", |_, o, d, _| o.max(d)),
    ("and_x2", "and_b64", |_, o, d, _| o & d),
    ("or_x2", "or_b64", |_, o, d, _| o | d),
    ("xor_x2", "xor_b64", |_, o, d, _| o ^ d),
    ("inc_x2", "inc_u64", |_, o, d, _| if o >= d { 0 } else { o + 1 }),
    ("dec_x2", "dec_u64", |_, o, d, _| if o == 0 || o > d { d } else { o - 1 }),
    ("add_f64", "add_f64", |_, o, d, _| add64(f64::from_bits(o), f64::from_bits(d)).to_bits()),
    ("min_f64", "min_f64", |_, o, d, _| extreme64(min64, o, d)),
    ("max_f64", "max_f64", |_, o, d, _| extreme64(max64, o, d)),
    ("cmpswap_x2", "", |_, o, new, compare| if o == compare { new } else { o }),
    ("", "cmpst_b64", |_, o, compare, new| if o == compare { new } else { o }),
    (
        "",
        "cmpst_f64",
        |_, o, compare, new| if f64::from_bits(o) == f64::from_bits(compare) { new } else { o },
    ),
    ("", "cmpstore_b64", |_, o, new, compare| if o == compare { new } else { o }),
    (
        "fcmpswap_x2",
        "cmpstore_f64",
        |_, o, new, compare| if f64::from_bits(o) == f64::from_bits(compare) { new } else { o },
    ),
    ("fmin_x2", "", |_, o, d, _| extreme64(min64, o, d)),
    ("fmax_x2", "", |_, o, d, _| extreme64(max64, o, d)),
    ("", "mskor_b64", |_, o, mask, bits| o & !mask | bits),
];

/// The minimum or maximum. If both values are quiet NaNs, the old one stays: the manual's formulas, which compare and replace, do not
/// replace it, nor does AMD's emulator.
fn extreme32(of: fn(Env, f32, f32) -> f32, old: u32, data: u32) -> u32 {
    const QUIET: u32 = 0x7fc0_0000;
    let (stays, bits) =
        (old & data & QUIET == QUIET, of(ENV, f32::from_bits(old), f32::from_bits(data)).to_bits());
    if stays { old } else { bits }
}

/// As [`extreme32`], for f64.
fn extreme64(of: fn(Env, f64, f64) -> f64, old: u64, data: u64) -> u64 {
    const QUIET: u64 = 0x7ff8_0000_0000_0000;
    let (stays, bits) =
        (old & data & QUIET == QUIET, of(ENV, f64::from_bits(old), f64::from_bits(data)).to_bits());
    if stays { old } else { bits }
}

fn by_half(a: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    u32::from(f(a as u16, b as u16)) | u32::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16
}

pub(crate) fn add(ops: &mut Ops) {
    for (prefix, segment) in
        [("global", Segment::Global), ("flat", Segment::Flat), ("buffer", Segment::Buffer)]
    {
        for (suffix, _, f) in WORDS.iter().filter(|w| !w.0.is_empty()) {
            ops.add(
                name(&[prefix, "_atomic_", suffix]),
                vector(segment, Width::Word(*f), suffix.contains("cmpswap")),
            );
        }
        for (suffix, _, f) in PAIRS.iter().filter(|w| !w.0.is_empty()) {
            ops.add(
                name(&[prefix, "_atomic_", suffix]),
                vector(segment, Width::Pair(*f), suffix.contains("cmpswap")),
            );
        }
    }
    for (_, suffix, f) in WORDS.iter().filter(|w| !w.1.is_empty()) {
        add_lds(ops, suffix, Width::Word(*f));
    }
    for (_, suffix, f) in PAIRS.iter().filter(|w| !w.1.is_empty()) {
        add_lds(ops, suffix, Width::Pair(*f));
    }
    ops.add("ds_wrxchg_rtn_b32", lds(Width::Word(|_, _, d, _| d), true));
    ops.add(
        "ds_atomic_barrier_arrive_rtn_b64",
        lds(Width::Pair(|_, state, count, _| arrive(state, count)), true),
    );
    ops.add("ds_atomic_async_barrier_arrive_b64", Op::new(arrive_after_copies));
    ops.add("ds_wrxchg_rtn_b64", lds(Width::Pair(|_, _, d, _| d), true));
    ops.add(
        "ds_wrap_rtn_b32",
        lds(Width::Word(|_, o, d, e| if o >= d { o - d } else { o.wrapping_add(e) }), true),
    );
}

/// The state of a barrier in LDS after `count` arrivals. Bits 15:0 are the number of arrivals that the phase still lacks, less one; when
/// there are no more, bits 31:16, the phase, are decremented, and the number starts again from bits 47:32. Source: AMD's emulator rocjitsu
/// (its pull request 7361: kernels poll bit 16).
fn arrive(state: u64, count: u64) -> u64 {
    let field = |at: u32| state >> at & 0xffff;
    let (pending, phase, initial) = (field(0), field(16), field(32));
    let (pending, phase) = match count.checked_sub(pending + 1) {
        None => (pending - count, phase),
        Some(beyond) => {
            let phases = 1 + beyond / (initial + 1);
            (initial - beyond % (initial + 1), phase.wrapping_sub(phases) & 0xffff)
        }
    };
    state & !0xffff_ffff | phase << 16 | pending
}

/// Each lane arrives once at a barrier in LDS, after the wave's earlier asynchronous copies.
fn arrive_after_copies(cx: &mut Cx<'_>, s: &Step) -> Result<Next, Fault> {
    cx.finish_all_copies();
    for lane in lanes(cx.w.exec()) {
        cx.update64(ds::address(cx, s, lane)?, lane, |state| arrive(state, 1))?;
    }
    Ok(Next::Fall)
}

/// Adds both forms of an operation: the one that returns no value and the one that returns the old value, such as `ds_min_i32` and
/// `ds_min_rtn_i32`.
fn add_lds(ops: &mut Ops, suffix: &str, width: Width) {
    let (operation, ty) = suffix.rsplit_once('_').unwrap_or((suffix, ""));
    ops.add(name(&["ds_", suffix]), lds(width, false));
    ops.add(name(&["ds_", operation, "_rtn_", ty]), lds(width, true));
}

#[derive(Clone, Copy)]
enum Width {
    Word(Modify<u32>),
    Pair(Modify<u64>),
}

impl Width {
    fn words(self) -> u16 {
        match self {
            Width::Word(_) => 1,
            Width::Pair(_) => 2,
        }
    }

    /// Performs the operation for one lane and, if `to` is given, writes the old value to that register.
    #[inline]
    fn run(
        self,
        cx: &mut Cx<'_>,
        flush: Flush,
        (place, lane): (At, usize),
        [data, second]: [u16; 2],
        to: Option<u16>,
    ) -> Result<(), Fault> {
        let word = |cx: &Cx<'_>, slot: u16| cx.w.v[slot as usize][lane];
        match self {
            Width::Word(f) => {
                let (d, e) = (word(cx, data), word(cx, second));
                let new = |old| f(flush, old, d, e);
                let old = match place {
                    At::Place(place) => cx.update32(place, lane, new)?,
                    At::Inside(allocation, offset) => cx.memory.allocation(allocation).update(offset, new),
                    At::Lds(at) => in_lds(cx, at, u32::from_le_bytes, |old| new(old).to_le_bytes()),
                };
                if let Some(slot) = to {
                    cx.w.v[slot as usize][lane] = old;
                }
            }
            Width::Pair(f) => {
                let pair =
                    |cx: &Cx<'_>, slot: u16| u64::from(word(cx, slot)) | u64::from(word(cx, slot + 1)) << 32;
                let (d, e) = (pair(cx, data), pair(cx, second));
                let new = |old| f(flush, old, d, e);
                let old = match place {
                    At::Place(place) => cx.update64(place, lane, new)?,
                    At::Inside(allocation, offset) => {
                        cx.memory.allocation(allocation).update_pair(offset, new)
                    }
                    At::Lds(at) => in_lds(cx, at, u64::from_le_bytes, |old| new(old).to_le_bytes()),
                };
                if let Some(slot) = to {
                    cx.w.v[slot as usize][lane] = old as u32;
                    cx.w.v[slot as usize + 1][lane] = (old >> 32) as u32;
                }
            }
        }
        Ok(())
    }
}

/// The place of a lane's datum.
#[derive(Clone, Copy)]
enum At {
    /// A place that has not been checked.
    Place(Place),
    /// An aligned offset in an allocation.
    Inside(usize, u64),
    /// An aligned address in LDS.
    Lds(u32),
}

/// Replaces the `N` bytes at an address that is in LDS; returns the old value.
#[inline]
fn in_lds<const N: usize, T: Copy>(
    cx: &mut Cx<'_>,
    at: u32,
    value: impl Fn([u8; N]) -> T,
    new: impl Fn(T) -> [u8; N],
) -> T {
    let there = cx.lds.get_mut(at as usize..).and_then(|lds| lds.first_chunk_mut::<N>());
    let Some(bytes) = there else { return value([0; N]) };
    let old = value(*bytes);
    *bytes = new(old);
    old
}

/// An atomic of a vector memory format; with `glc` it returns the old value.
fn vector(segment: Segment, width: Width, two_data: bool) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let Src::Vector(data) = s.src[2] else { return Err(Fault::Unsupported("an atomic without data")) };
        let second = if two_data { data + width.words() } else { data };
        let to = s.inst.desc.class.returns_old().then_some(s.vdst);
        let (addresses, flush) = (Addresses::of(cx, s, segment)?, Flush::of_memory(s.arch));
        let mut offsets = [0; LANES];
        if let Some(allocation) =
            gathered::aligned(cx, &addresses, 4 * u32::from(width.words()), &mut offsets)
        {
            for lane in lanes(cx.w.exec()) {
                let at = At::Inside(allocation, offsets[lane]);
                width.run(cx, flush, (at, lane), [data, second], to)?;
            }
            return Ok(Next::Fall);
        }
        for lane in lanes(cx.w.exec()) {
            match addresses.place(cx, lane, 0, 4 * u32::from(width.words())) {
                Some(place) => width.run(cx, flush, (At::Place(place), lane), [data, second], to)?,
                // Outside of the resource's range, the operation is dropped and the old value reads as zero.
                None => {
                    for i in 0..to.map_or(0, |_| width.words()) {
                        cx.w.v[(s.vdst + i) as usize][lane] = 0;
                    }
                }
            }
        }
        Ok(Next::Fall)
    })
}

fn lds(width: Width, returns: bool) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let Src::Vector(data) = s.src[1] else { return Err(Fault::Unsupported("an atomic without data")) };
        let second = match s.src[2] {
            Src::Vector(slot) => slot,
            _ => data,
        };
        let (flush, to) = (Flush::of_lds(cx), returns.then_some(s.vdst));
        let bytes = 4 * u32::from(width.words());
        let at = local::aligned(cx, ds::base_slot(s)?, s.inst.mods.offset as u32, bytes);
        for lane in lanes(cx.w.exec()) {
            let place = match &at {
                Some(at) => At::Lds(at[lane]),
                None => At::Place(ds::address(cx, s, lane)?),
            };
            width.run(cx, flush, (place, lane), [data, second], to)?;
        }
        if let Some(at) = at {
            cx.note_lds(&at, cx.w.exec(), bytes as usize, Kind::Atomic);
        }
        Ok(Next::Fall)
    })
}
