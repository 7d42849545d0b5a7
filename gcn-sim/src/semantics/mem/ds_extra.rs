//! The rarer LDS instructions: accesses addressed by M0, counters of the whole wave, exchanges of two data, operations whose datum comes
//! from LDS itself, and the transposing reads of gfx950.

use super::access::Place;
use super::atomic::{Flush, Modify, PAIRS, WORDS};
use super::{ds, name};
use crate::core::fault::{Fault, Next, Outcome};
use crate::core::machine::{Cx, Step};
use crate::core::operand::Src;
use crate::core::value::{LANES, lanes};
use crate::semantics::op::{Op, Ops};

pub(crate) fn add(ops: &mut Ops) {
    ops.add("ds_read_addtid_b32", Op::new(read_by_lane));
    ops.add("ds_write_addtid_b32", Op::new(write_by_lane));
    ops.add("ds_append", Op::new(|cx: &mut Cx<'_>, s: &Step| count(cx, s, u32::wrapping_add)));
    ops.add("ds_consume", Op::new(|cx: &mut Cx<'_>, s: &Step| count(cx, s, u32::wrapping_sub)));
    for (infix, factor) in [("2", 1), ("2st64", 64)] {
        for (suffix, words) in [("b32", 1), ("b64", 2)] {
            let run = move |cx: &mut Cx<'_>, s: &Step| exchange_two(cx, s, words, factor);
            ops.add(name(&["ds_wrxchg", infix, "_rtn_", suffix]), Op::new(run));
        }
    }
    ops.add("ds_condxchg32_rtn_b64", Op::new(exchange_if_marked));
    for (suffix, f) in with_second_source(WORDS, &["b32", "u32", "i32", "f32"]) {
        let run = move |cx: &mut Cx<'_>, s: &Step| from_second_address(cx, s, f);
        ops.add(suffix, Op::new(run));
    }
    for (suffix, f) in with_second_source(PAIRS, &["b64", "u64", "i64", "f64"]) {
        let run = move |cx: &mut Cx<'_>, s: &Step| from_second_address_wide(cx, s, f);
        ops.add(suffix, Op::new(run));
    }
    ops.add(
        "ds_write_src2_b32",
        Op::new(|cx: &mut Cx<'_>, s: &Step| from_second_address(cx, s, |_, _, d, _| d)),
    );
    ops.add(
        "ds_write_src2_b64",
        Op::new(|cx: &mut Cx<'_>, s: &Step| from_second_address_wide(cx, s, |_, _, d, _| d)),
    );
    for (suffix, bits, words) in
        [("b64_tr_b4", 4, 2), ("b64_tr_b8", 8, 2), ("b64_tr_b16", 16, 2), ("b96_tr_b6", 6, 3)]
    {
        let run = move |cx: &mut Cx<'_>, s: &Step| read_transposed(cx, s, bits, words);
        ops.add(name(&["ds_read_", suffix]), Op::new(run));
    }
}

/// The byte address `M0[15:0]` plus the offset.
fn from_m0(cx: &Cx<'_>, s: &Step) -> u32 {
    (cx.w.m0() & 0xffff).wrapping_add(s.inst.mods.offset as u32)
}

fn read_by_lane(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    let start = from_m0(cx, s);
    for lane in lanes(cx.w.exec()) {
        let value = cx.load(Place::Lds(start.wrapping_add(4 * lane as u32)), 4, lane)?;
        cx.w.v[s.vdst as usize][lane] = value;
    }
    Ok(Next::Fall)
}

fn write_by_lane(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    let data = vector(&s.src[1])?;
    let start = from_m0(cx, s);
    for lane in lanes(cx.w.exec()) {
        let value = cx.w.v[data as usize][lane];
        cx.store(Place::Lds(start.wrapping_add(4 * lane as u32)), 4, lane, value)?;
    }
    Ok(Next::Fall)
}

pub(super) fn vector(src: &Src) -> Result<u16, Fault> {
    match src {
        Src::Vector(slot) => Ok(*slot),
        _ => Err(Fault::Unsupported("an LDS operand outside the vector registers")),
    }
}

/// Changes a counter once, by the number of active lanes; every active lane gets the old value.
fn count(cx: &mut Cx<'_>, s: &Step, f: fn(u32, u32) -> u32) -> Outcome {
    let exec = cx.w.exec();
    if exec == 0 {
        return Ok(Next::Fall);
    }
    let first = exec.trailing_zeros() as usize;
    let place = Place::Lds(from_m0(cx, s));
    let old = cx.update32(place, first, |old| f(old, exec.count_ones()))?;
    for lane in lanes(exec) {
        cx.w.v[s.vdst as usize][lane] = old;
    }
    Ok(Next::Fall)
}

/// Writes two data and returns the old ones.
fn exchange_two(cx: &mut Cx<'_>, s: &Step, words: u16, factor: u32) -> Outcome {
    let data = [vector(&s.src[1])?, vector(&s.src[2])?];
    for lane in lanes(cx.w.exec()) {
        let places = ds::two_addresses(cx, s, lane, 4 * u32::from(words) * factor)?;
        // Both old values are read before either is written, and both data before the results overwrite them.
        let mut old = [0; 4];
        let mut new = [0; 4];
        for (i, place) in (0u16..).zip(places) {
            for word in 0..words {
                let at = usize::from(i * words + word);
                old[at] = cx.load(place.plus(4 * u32::from(word)), 4, lane)?;
                new[at] = cx.w.v[usize::from(data[usize::from(i)] + word)][lane];
            }
        }
        for (i, place) in (0u16..).zip(places) {
            for word in 0..words {
                let at = usize::from(i * words + word);
                cx.store(place.plus(4 * u32::from(word)), 4, lane, new[at])?;
            }
        }
        for (n, old) in (0u16..2 * words).zip(old) {
            cx.w.v[usize::from(s.vdst + n)][lane] = old;
        }
    }
    Ok(Next::Fall)
}

/// For each of two dwords at a multiple of eight bytes: if the top bit of the corresponding datum is set, replaces the dword by the lower
/// 31 bits of the datum.
fn exchange_if_marked(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    let data = vector(&s.src[1])?;
    for lane in lanes(cx.w.exec()) {
        let Place::Lds(address) = ds::address(cx, s, lane)? else { continue };
        for word in 0..2u16 {
            let new = cx.w.v[usize::from(data + word)][lane];
            let place = Place::Lds((address & 0xfff8) + 4 * u32::from(word));
            let marked = new >> 31 == 1;
            let old = cx.update32(place, lane, |old| if marked { new & 0x7fff_ffff } else { old })?;
            cx.w.v[usize::from(s.vdst + word)][lane] = old;
        }
    }
    Ok(Next::Fall)
}

/// The names and functions of the operations whose datum comes from a second LDS address.
fn with_second_source<T: Copy>(
    list: &'static [(&'static str, &'static str, Modify<T>)],
    types: &'static [&'static str],
) -> impl Iterator<Item = (&'static str, Modify<T>)> {
    list.iter().filter_map(|(_, ds, f)| {
        let (operation, ty) = ds.rsplit_once('_')?;
        let known =
            ["add", "sub", "rsub", "inc", "dec", "min", "max", "and", "or", "xor"].contains(&operation);
        // There is no f64 addition of this form.
        let exists = known && types.contains(&ty) && *ds != "add_f64";
        exists.then(|| (name(&["ds_", operation, "_src2_", ty]), *f))
    })
}

/// The two addresses: the lane's address, and another one whose distance in dwords is in the offset or in the upper half of the address.
fn both_addresses(cx: &Cx<'_>, s: &Step, lane: usize) -> Result<[Place; 2], Fault> {
    let address = cx.w.v[usize::from(vector(&s.src[0])?)][lane];
    let offset = s.inst.mods.offset as u32;
    let distance = if offset >> 15 & 1 == 1 { address as i32 >> 17 } else { (offset << 17) as i32 >> 17 };
    // LDS addresses have 16 bits.
    let first = address & 0xffff;
    Ok([first, first.wrapping_add_signed(4 * distance) & 0xffff].map(Place::Lds))
}

fn from_second_address(cx: &mut Cx<'_>, s: &Step, f: Modify<u32>) -> Outcome {
    let flush = Flush::of_lds(cx);
    for lane in lanes(cx.w.exec()) {
        let [first, second] = both_addresses(cx, s, lane)?;
        let datum = cx.load(second, 4, lane)?;
        cx.update32(first, lane, |old| f(flush, old, datum, datum))?;
    }
    Ok(Next::Fall)
}

fn from_second_address_wide(cx: &mut Cx<'_>, s: &Step, f: Modify<u64>) -> Outcome {
    let flush = Flush::of_lds(cx);
    for lane in lanes(cx.w.exec()) {
        let [first, second] = both_addresses(cx, s, lane)?;
        let datum = u64::from(cx.load(second, 4, lane)?) | u64::from(cx.load(second.plus(4), 4, lane)?) << 32;
        cx.update64(first, lane, |old| f(flush, old, datum, datum))?;
    }
    Ok(Next::Fall)
}

/// In each group of 16 lanes, the lanes load rows of elements of `bits` bits, which are transposed: lane j gets element j of each row. For
/// 8- and 16-bit elements, several lanes load one row together.
fn read_transposed(cx: &mut Cx<'_>, s: &Step, bits: u32, words: u16) -> Outcome {
    let exec = cx.w.exec();
    let mut loaded = [[0u32; LANES]; 3];
    for lane in lanes(exec) {
        let raw = cx.load_local(ds::address(cx, s, lane)?, 4 * u32::from(words), lane)?;
        for (word, loaded) in loaded.iter_mut().enumerate() {
            loaded[lane] = raw[word];
        }
    }
    let element = |lane: usize, n: u32| {
        let bit = n * bits;
        let word = |i: u32| loaded.get(i as usize).map_or(0, |w| u64::from(w[lane]));
        let pair = word(bit / 32) | word(bit / 32 + 1) << 32;
        (pair >> (bit % 32)) as u32 & ((1 << bits) - 1)
    };
    // The number of elements that a lane loads, at most 16. A row has 16 elements, so several lanes may load one row.
    let each = 32 * u32::from(words) / bits;
    let lanes_per_row = 16 / each.min(16);
    for lane in lanes(exec) {
        let (group, j) = (lane / 16 * 16, lane as u32 % 16);
        let mut out = [0u32; 4];
        for i in 0..each {
            let from = group + (i * lanes_per_row + j / each) as usize;
            let value = element(from, j % each);
            let bit = i * bits;
            let (at, shift) = ((bit / 32) as usize, bit % 32);
            out[at] |= value << shift;
            if shift + bits > 32 {
                out[at + 1] |= value >> (32 - shift);
            }
        }
        for (word, out) in (0..words).zip(out) {
            cx.w.v[usize::from(s.vdst + word)][lane] = out;
        }
    }
    Ok(Next::Fall)
}
