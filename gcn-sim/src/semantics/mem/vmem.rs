//! Loads and stores in vector memory formats.

use super::access::Place;
use super::address::{Addresses, Segment};
use super::datum::{Datum, extend, merge};
use super::local::{self, Local};
use super::{consecutive, gathered, name};
use crate::core::aperture;
use crate::core::fault::{Fault, Next, Outcome};
use crate::core::machine::{Cx, Step};
use crate::core::memory::Combined;
use crate::core::operand::Src;
use crate::core::value::lanes;
use crate::semantics::op::{Op, Ops};

const fn datum(suffix: &'static str, bytes: u32, pieces: u16, signed: bool, half: Option<bool>) -> Datum {
    Datum { suffix, bytes, pieces, signed, half }
}

const LOADS: [Datum; 14] = [
    datum("ubyte", 1, 1, false, None),
    datum("sbyte", 1, 1, true, None),
    datum("ushort", 2, 1, false, None),
    datum("sshort", 2, 1, true, None),
    datum("dword", 4, 1, false, None),
    datum("dwordx2", 4, 2, false, None),
    datum("dwordx3", 4, 3, false, None),
    datum("dwordx4", 4, 4, false, None),
    datum("ubyte_d16", 1, 1, false, Some(false)),
    datum("ubyte_d16_hi", 1, 1, false, Some(true)),
    datum("sbyte_d16", 1, 1, true, Some(false)),
    datum("sbyte_d16_hi", 1, 1, true, Some(true)),
    datum("short_d16", 2, 1, false, Some(false)),
    datum("short_d16_hi", 2, 1, false, Some(true)),
];

const MONITORED: [Datum; 3] =
    [datum("b32", 4, 1, false, None), datum("b64", 4, 2, false, None), datum("b128", 4, 4, false, None)];

const STORES: [Datum; 8] = [
    datum("byte", 1, 1, false, None),
    datum("short", 2, 1, false, None),
    datum("dword", 4, 1, false, None),
    datum("dwordx2", 4, 2, false, None),
    datum("dwordx3", 4, 3, false, None),
    datum("dwordx4", 4, 4, false, None),
    datum("byte_d16_hi", 1, 1, false, Some(true)),
    datum("short_d16_hi", 2, 1, false, Some(true)),
];

/// The address kinds with the prefixes of their mnemonics.
pub(crate) const SEGMENTS: [(&str, Segment); 4] = [
    ("global", Segment::Global),
    ("flat", Segment::Flat),
    ("scratch", Segment::Scratch),
    ("buffer", Segment::Buffer),
];

pub(crate) fn add(ops: &mut Ops) {
    for (prefix, segment) in SEGMENTS {
        for datum in LOADS {
            ops.add(name(&[prefix, "_load_", datum.suffix]), load(segment, datum));
        }
        for datum in STORES {
            ops.add(name(&[prefix, "_store_", datum.suffix]), store(segment, datum));
        }
    }
    // These also watch the address for `s_monitor_sleep`.
    for (prefix, segment) in [("global", Segment::Global), ("flat", Segment::Flat)] {
        for watched in MONITORED {
            ops.add(name(&[prefix, "_load_monitor_", watched.suffix]), load(segment, watched));
        }
    }
    for (prefix, segment) in [("global", Segment::Global), ("scratch", Segment::Scratch)] {
        for datum in LOADS.iter().filter(|d| d.half.is_none() && d.pieces != 2) {
            ops.add(name(&[prefix, "_load_lds_", datum.suffix]), load_to_lds(segment, *datum));
        }
    }
    ops.add("buffer_store_lds_dword", Op::new(store_from_lds));
    for (suffix, pieces) in [("b8", (1, 1)), ("b32", (1, 4)), ("b64", (2, 4)), ("b128", (4, 4))] {
        let load = move |cx: &mut Cx<'_>, s: &Step| load_async(cx, s, pieces);
        ops.add(name(&["global_load_async_to_lds_", suffix]), Op::new(load));
        let store = move |cx: &mut Cx<'_>, s: &Step| store_async(cx, s, pieces);
        ops.add(name(&["global_store_async_from_lds_", suffix]), Op::new(store));
    }
    // Cache control and prefetches have no effect, because the simulator's memory is always coherent.
    for name in [
        "buffer_wbl2",
        "buffer_inv",
        "buffer_invl2",
        "buffer_wbinvl1",
        "buffer_wbinvl1_vol",
        "buffer_gl0_inv",
        "buffer_gl1_inv",
        "global_inv",
        "global_wb",
        "global_wbinv",
        "global_prefetch_b8",
        "flat_prefetch_b8",
    ] {
        ops.add(name, Op::new(|_: &mut Cx<'_>, _: &Step| Ok(Next::Fall)));
    }
}

/// The addresses of an access to scratch or LDS, for all lanes together; `None` for accesses to global memory.
fn local(cx: &Cx<'_>, addresses: &Addresses) -> Option<Local> {
    let (base, slot, unit) = match *addresses {
        Addresses::Scratch { base, slot, unit } => (base, slot, unit),
        Addresses::Buffer(ref buffer) => {
            let (base, slot) = buffer.scratch(cx.w.size() as u64)?;
            (base, slot, 1)
        }
        Addresses::Wide { slot, offset, flat: true } => {
            return match aperture_of_all(cx, slot, offset)? {
                aperture::SHARED_BASE => Some(Local::Lds { slot, offset: offset as u32 }),
                aperture::PRIVATE_BASE => {
                    Some(Local::Scratch { slot: Some(slot), base: offset as u32, unit: 1 })
                }
                _ => None,
            };
        }
        _ => return None,
    };
    Some(Local::Scratch { slot, base, unit })
}

/// The upper half of the addresses of all active lanes, if it is an aperture.
fn aperture_of_all(cx: &Cx<'_>, slot: u16, offset: i64) -> Option<u64> {
    let (low, high) = (cx.w.v.get(slot as usize)?, cx.w.v.get(slot as usize + 1)?);
    let upper = |lane: usize| {
        let pair = u64::from(low[lane]) | u64::from(high[lane]) << 32;
        pair.wrapping_add_signed(offset) >> 32 << 32
    };
    let mut active = lanes(cx.w.exec());
    let first = upper(active.next()?);
    let is_aperture = matches!(first, aperture::SHARED_BASE | aperture::PRIVATE_BASE);
    (is_aperture && active.all(|lane| upper(lane) == first)).then_some(first)
}

fn load(segment: Segment, datum: Datum) -> Op {
    let to_lds = load_to_lds(segment, datum).exec;
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        if s.inst.mods.lds {
            return Ok(to_lds.run(cx, s)?);
        }
        let addresses = Addresses::of(cx, s, segment)?;
        let at_once = match local(cx, &addresses) {
            Some(local) => local::read(cx, s, &datum, local).is_some(),
            None => {
                consecutive::load(cx, &addresses, &datum, s.vdst)
                    || gathered::load(cx, s, &addresses, &datum).is_some()
            }
        };
        if at_once {
            return Ok(Next::Fall);
        }
        let ecc = cx.machine.has_sram_ecc();
        // The destination may overlap the address, so all data of a lane are loaded before its registers are written.
        for lane in lanes(cx.w.exec()) {
            let values = fetch(cx, &addresses, &datum, lane)?;
            for (piece, value) in values.iter().enumerate().take(datum.pieces as usize) {
                let register = &mut cx.w.v[s.vdst as usize + piece][lane];
                *register = merge(&datum, ecc, *register, *value);
            }
        }
        Ok(Next::Fall)
    })
}

/// Loads the data of a lane.
#[inline]
fn fetch(cx: &mut Cx<'_>, addresses: &Addresses, datum: &Datum, lane: usize) -> Result<[u32; 4], Fault> {
    if datum.pieces > 1 {
        let place =
            |i: usize| (i < datum.pieces as usize).then(|| addresses.place(cx, lane, i as u32, 4)).flatten();
        let places = std::array::from_fn(place);
        return cx.load_words(places, lane);
    }
    let Some(place) = addresses.place(cx, lane, 0, datum.bytes) else { return Ok([0; 4]) };
    Ok([extend(datum, cx.load(place, datum.bytes, lane)?), 0, 0, 0])
}

fn store(segment: Segment, datum: Datum) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let Src::Vector(data) = s.src[2] else { return Err(Fault::Unsupported("a store without data")) };
        let addresses = Addresses::of(cx, s, segment)?;
        let at_once = match local(cx, &addresses) {
            Some(local) => local::write(cx, &datum, local, data).is_some(),
            None => {
                consecutive::store(cx, &addresses, &datum, data)
                    || gathered::store(cx, &addresses, &datum, data).is_some()
            }
        };
        if at_once {
            return Ok(Next::Fall);
        }
        let mut combined = Combined::default();
        let stored = store_lanes(cx, &addresses, &datum, data, &mut combined);
        // The data of the lanes before the faulting one are still stored.
        combined.flush(cx.memory);
        stored.map(|()| Next::Fall)
    })
}

#[inline]
fn store_lanes(
    cx: &mut Cx<'_>,
    addresses: &Addresses,
    datum: &Datum,
    data: u16,
    combined: &mut Combined,
) -> Result<(), Fault> {
    for lane in lanes(cx.w.exec()) {
        for piece in 0..datum.pieces {
            if let Some(place) = addresses.place(cx, lane, u32::from(piece), datum.bytes) {
                let value = cx.w.v[(data + piece) as usize][lane];
                let value = if datum.half == Some(true) { value >> 16 } else { value };
                cx.store_combined(combined, place, datum.bytes, lane, value)?;
            }
        }
        cx.finish_lane(combined);
    }
    Ok(())
}

/// The LDS byte address at which a load to LDS starts: M0 plus the instruction's offset. The number of bits used from M0 is that of LDS
/// addresses; the 16 bits in the manual (9.1.9) apply to 64 KB of LDS.
pub(super) fn lds_start(cx: &Cx<'_>, s: &Step) -> u32 {
    let mask = (s.arch.lds_per_cu() - 1).next_power_of_two() - 1;
    (cx.w.m0() & mask).wrapping_add_signed(s.inst.mods.offset)
}

/// A load directly to LDS. The data of each lane follow those of the previous lane; each lane takes at least a dword.
fn load_to_lds(segment: Segment, datum: Datum) -> Op {
    let stride = 4 * u32::from(datum.pieces);
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        let addresses = Addresses::of(cx, s, segment)?;
        let start = lds_start(cx, s);
        if gathered::load_to_lds(cx, &addresses, &datum, start).is_some() {
            return Ok(Next::Fall);
        }
        cx.begin_copy();
        for lane in lanes(cx.w.exec()) {
            let values = fetch(cx, &addresses, &datum, lane)?;
            for (piece, value) in (0..u32::from(datum.pieces)).zip(values) {
                let to = start.wrapping_add(stride * lane as u32 + 4 * piece);
                cx.copy_piece((to, 4), lane, value)?;
            }
        }
        Ok(Next::Fall)
    })
}

/// The register with the LDS addresses of an asynchronous copy. The immediate offset is added to them, too (AMD's emulator rocjitsu, in
/// 32 bits).
fn lds_addresses(s: &Step) -> Result<usize, Fault> {
    let Src::Vector(slot) = s.src[2] else { return Err(Fault::Unsupported("a copy without an LDS address")) };
    Ok(slot.into())
}

/// An asynchronous copy from memory to LDS: each lane has addresses of its own in both. `pieces` is the number of pieces that each lane
/// copies, and their size in bytes.
fn load_async(cx: &mut Cx<'_>, s: &Step, (pieces, bytes): (u32, u32)) -> Outcome {
    let (addresses, slot) = (Addresses::of(cx, s, Segment::Global)?, lds_addresses(s)?);
    cx.begin_copy();
    for lane in lanes(cx.w.exec()) {
        let to = cx.w.v[slot][lane].wrapping_add(s.inst.mods.offset as u32);
        for piece in 0..pieces {
            let Some(place) = addresses.place(cx, lane, piece, bytes) else { continue };
            let value = cx.load(place, bytes, lane)?;
            cx.copy_piece((to.wrapping_add(bytes * piece), bytes), lane, value)?;
        }
    }
    Ok(Next::Fall)
}

/// An asynchronous copy from LDS to memory.
fn store_async(cx: &mut Cx<'_>, s: &Step, (pieces, bytes): (u32, u32)) -> Outcome {
    let (addresses, slot) = (Addresses::of(cx, s, Segment::Global)?, lds_addresses(s)?);
    cx.begin_copy_from_lds();
    for lane in lanes(cx.w.exec()) {
        let from = cx.w.v[slot][lane].wrapping_add(s.inst.mods.offset as u32);
        for piece in 0..pieces {
            let place = addresses.place(cx, lane, piece, bytes);
            cx.copy_from_lds((from.wrapping_add(bytes * piece), bytes), lane, place)?;
        }
    }
    Ok(Next::Fall)
}

/// A store from LDS: a dword for each lane, to consecutive places of a buffer.
fn store_from_lds(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    let addresses = Addresses::of(cx, s, Segment::Buffer)?;
    let start = cx.w.m0() & 0xffff;
    for lane in lanes(cx.w.exec()) {
        let value = cx.load(Place::Lds(start.wrapping_add(4 * lane as u32)), 4, lane)?;
        if let Some(place) = addresses.place(cx, lane, lane as u32, 4) {
            cx.store(place, 4, lane, value)?;
        }
    }
    Ok(Next::Fall)
}
