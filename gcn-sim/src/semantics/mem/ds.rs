//! LDS reads and writes.

use super::access::Place;
use super::datum::{Datum, extend, merge};
use super::local::{self, Local};
use super::name;
use crate::core::fault::{Fault, Next};
use crate::core::machine::{Cx, Step};
use crate::core::operand::Src;
use crate::core::value::lanes;
use crate::semantics::op::{Op, Ops};

const fn datum(suffix: &'static str, bytes: u32, pieces: u16, signed: bool, half: Option<bool>) -> Datum {
    Datum { suffix, bytes, pieces, signed, half }
}

const READS: [Datum; 14] = [
    datum("b32", 4, 1, false, None),
    datum("b64", 4, 2, false, None),
    datum("b96", 4, 3, false, None),
    datum("b128", 4, 4, false, None),
    datum("u8", 1, 1, false, None),
    datum("i8", 1, 1, true, None),
    datum("u16", 2, 1, false, None),
    datum("i16", 2, 1, true, None),
    datum("u8_d16", 1, 1, false, Some(false)),
    datum("u8_d16_hi", 1, 1, false, Some(true)),
    datum("i8_d16", 1, 1, true, Some(false)),
    datum("i8_d16_hi", 1, 1, true, Some(true)),
    datum("u16_d16", 2, 1, false, Some(false)),
    datum("u16_d16_hi", 2, 1, false, Some(true)),
];

const WRITES: [Datum; 8] = [
    datum("b8", 1, 1, false, None),
    datum("b16", 2, 1, false, None),
    datum("b32", 4, 1, false, None),
    datum("b64", 4, 2, false, None),
    datum("b96", 4, 3, false, None),
    datum("b128", 4, 4, false, None),
    datum("b8_d16_hi", 1, 1, false, Some(true)),
    datum("b16_d16_hi", 2, 1, false, Some(true)),
];

pub(crate) fn add(ops: &mut Ops) {
    for datum in READS {
        ops.add(name(&["ds_read_", datum.suffix]), read(datum));
    }
    for datum in WRITES {
        ops.add(name(&["ds_write_", datum.suffix]), write(datum));
    }
    // Two data at two offsets, which count data or, with `st64`, groups of 64 data.
    for (infix, factor) in [("2_", 1), ("2st64_", 64)] {
        ops.add(name(&["ds_read", infix, "b32"]), read_two::<4, 1>(factor));
        ops.add(name(&["ds_read", infix, "b64"]), read_two::<8, 2>(factor));
        ops.add(name(&["ds_write", infix, "b32"]), write_two::<4, 1>(factor));
        ops.add(name(&["ds_write", infix, "b64"]), write_two::<8, 2>(factor));
    }
    ops.add("ds_nop", Op::new(|_: &mut Cx<'_>, _: &Step| Ok(Next::Fall)));
}

/// The register that contains the address.
pub(super) fn base_slot(s: &Step) -> Result<u16, Fault> {
    match s.src[0] {
        Src::Vector(slot) => Ok(slot),
        _ => Err(Fault::Unsupported("an LDS access without an address")),
    }
}

/// The addresses of all lanes.
fn place(s: &Step) -> Result<Local, Fault> {
    Ok(Local::Lds { slot: base_slot(s)?, offset: s.inst.mods.offset as u32 })
}

fn base(cx: &Cx<'_>, s: &Step, lane: usize) -> Result<u32, Fault> {
    Ok(cx.w.v[base_slot(s)? as usize][lane])
}

/// The LDS address of a lane.
pub(crate) fn address(cx: &Cx<'_>, s: &Step, lane: usize) -> Result<Place, Fault> {
    Ok(Place::Lds(base(cx, s, lane)?.wrapping_add(s.inst.mods.offset as u32)))
}

/// The two LDS addresses of a lane.
pub(super) fn two_addresses(cx: &Cx<'_>, s: &Step, lane: usize, unit: u32) -> Result<[Place; 2], Fault> {
    let base = base(cx, s, lane)?;
    Ok(two_offsets(s, unit).map(|offset| Place::Lds(base.wrapping_add(offset))))
}

/// The two offsets to add to the address.
fn two_offsets(s: &Step, unit: u32) -> [u32; 2] {
    [s.inst.mods.offset0, s.inst.mods.offset1].map(|offset| u32::from(offset) * unit)
}

fn read(datum: Datum) -> Op {
    let size = datum.size();
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        if local::read(cx, s, &datum, place(s)?).is_some() {
            return Ok(Next::Fall);
        }
        let ecc = cx.machine.has_sram_ecc();
        for lane in lanes(cx.w.exec()) {
            let raw = cx.load_local(address(cx, s, lane)?, size, lane)?;
            if datum.bytes == 4 {
                for (piece, value) in raw.iter().enumerate().take(datum.pieces as usize) {
                    cx.w.v[s.vdst as usize + piece][lane] = *value;
                }
            } else {
                let register = &mut cx.w.v[s.vdst as usize][lane];
                *register = merge(&datum, ecc, *register, extend(&datum, raw[0]));
            }
        }
        Ok(Next::Fall)
    })
}

fn write(datum: Datum) -> Op {
    let size = datum.size();
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let Src::Vector(data) = s.src[1] else { return Err(Fault::Unsupported("an LDS write without data")) };
        if local::write(cx, &datum, place(s)?, data).is_some() {
            return Ok(Next::Fall);
        }
        for lane in lanes(cx.w.exec()) {
            let mut values = [0; 4];
            for (piece, value) in values.iter_mut().enumerate().take(datum.pieces as usize) {
                *value = cx.w.v[data as usize + piece][lane];
            }
            if datum.half == Some(true) {
                values[0] >>= 16;
            }
            cx.store_local(address(cx, s, lane)?, size, lane, values)?;
        }
        Ok(Next::Fall)
    })
}

/// Reads two data, each of `WORDS` dwords and `N` bytes.
fn read_two<const N: usize, const WORDS: usize>(factor: u32) -> Op {
    let (words, unit) = (WORDS as u16, N as u32 * factor);
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        if local::read_two::<N, WORDS>(cx, s, base_slot(s)?, two_offsets(s, unit)).is_some() {
            return Ok(Next::Fall);
        }
        for lane in lanes(cx.w.exec()) {
            // Both addresses are read first, because the address register may be the destination.
            let places = two_addresses(cx, s, lane, unit)?;
            for (i, place) in (0u16..).zip(places) {
                for word in 0..words {
                    let value = cx.load(place.plus(4 * u32::from(word)), 4, lane)?;
                    cx.w.v[(s.vdst + i * words + word) as usize][lane] = value;
                }
            }
        }
        Ok(Next::Fall)
    })
}

/// Writes two data, each of `WORDS` dwords and `N` bytes.
fn write_two<const N: usize, const WORDS: usize>(factor: u32) -> Op {
    let (words, unit) = (WORDS as u16, N as u32 * factor);
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let (Src::Vector(first), Src::Vector(second)) = (s.src[1], s.src[2]) else {
            return Err(Fault::Unsupported("an LDS write without data"));
        };
        let two = local::write_two::<N, WORDS>(cx, base_slot(s)?, two_offsets(s, unit), [first, second]);
        if two.is_some() {
            return Ok(Next::Fall);
        }
        for lane in lanes(cx.w.exec()) {
            let places = two_addresses(cx, s, lane, unit)?;
            for (data, place) in [first, second].into_iter().zip(places) {
                for word in 0..words {
                    let value = cx.w.v[(data + word) as usize][lane];
                    cx.store(place.plus(4 * u32::from(word)), 4, lane, value)?;
                }
            }
        }
        Ok(Next::Fall)
    })
}
