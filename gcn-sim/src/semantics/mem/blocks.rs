//! Memory instructions that RDNA added: accesses addressed by lane number, blocks of registers, transposing loads, and direct reads of LDS.

use super::access::Place;
use super::address::{Addresses, Segment};
use super::ds;
use super::name;
use crate::core::fault::{Fault, Next, Outcome};
use crate::core::machine::{Cx, Step};
use crate::core::operand::Src;
use crate::core::value::{LANES, Ty, lanes};
use crate::core::wave::Lanes;
use crate::semantics::op::{Op, Ops};

pub(crate) fn add(ops: &mut Ops) {
    ops.add("global_load_dword_addtid", Op::new(load_by_lane));
    ops.add("global_store_dword_addtid", Op::new(store_by_lane));
    for (prefix, segment) in [("global", Segment::Global), ("scratch", Segment::Scratch)] {
        let load = move |cx: &mut Cx<'_>, s: &Step| load_block(cx, s, segment);
        let store = move |cx: &mut Cx<'_>, s: &Step| store_block(cx, s, segment);
        ops.add(name(&[prefix, "_load_block"]), Op::new(load));
        ops.add(name(&[prefix, "_store_block"]), Op::new(store));
    }
    for (from_memory, from_lds, bits) in
        [("global_load_tr_b64", "ds_load_tr8_b64", 8), ("global_load_tr_b128", "ds_load_tr16_b128", 16)]
    {
        ops.add(from_memory, Op::new(move |cx: &mut Cx<'_>, s: &Step| load_transposed(cx, s, bits)));
        ops.add(from_lds, Op::new(move |cx: &mut Cx<'_>, s: &Step| read_transposed(cx, s, bits)));
    }
    ops.add("lds_direct_load", Op::new(read_lds));
}

/// The place of a lane's dword. The dwords of all lanes are consecutive from the scalar address on.
fn place_of_lane(cx: &Cx<'_>, s: &Step, lane: usize) -> Result<Place, Fault> {
    let base = match s.src[1] {
        Src::None => 0,
        ref base => cx.scalar_wide(base, Ty::B64)?,
    };
    let start = base.wrapping_add_signed(i64::from(s.inst.mods.offset));
    Ok(Place::Global(start.wrapping_add(4 * lane as u64)))
}

fn load_by_lane(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    for lane in lanes(cx.w.exec()) {
        let value = cx.load(place_of_lane(cx, s, lane)?, 4, lane)?;
        cx.w.v[s.vdst as usize][lane] = value;
    }
    Ok(Next::Fall)
}

fn store_by_lane(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    let Src::Vector(data) = s.src[2] else { return Err(Fault::Unsupported("a store without data")) };
    for lane in lanes(cx.w.exec()) {
        let place = place_of_lane(cx, s, lane)?;
        cx.store(place, 4, lane, cx.w.v[data as usize][lane])?;
    }
    Ok(Next::Fall)
}

/// The registers of a block whose bits in M0 are set. The memory location of a register does not depend on which others are set.
fn registers(cx: &Cx<'_>) -> impl Iterator<Item = u16> + use<> {
    let chosen = cx.w.m0();
    (0..32).filter(move |i| chosen >> i & 1 == 1)
}

fn load_block(cx: &mut Cx<'_>, s: &Step, segment: Segment) -> Outcome {
    let addresses = Addresses::of(cx, s, segment)?;
    for lane in lanes(cx.w.exec()) {
        // All values are loaded first, because the destination may overlap the address.
        let mut values = [0; 32];
        for i in registers(cx) {
            if let Some(place) = addresses.place(cx, lane, i.into(), 4) {
                values[usize::from(i)] = cx.load(place, 4, lane)?;
            }
        }
        for i in registers(cx) {
            cx.w.v[usize::from(s.vdst + i)][lane] = values[usize::from(i)];
        }
    }
    Ok(Next::Fall)
}

fn store_block(cx: &mut Cx<'_>, s: &Step, segment: Segment) -> Outcome {
    let Src::Vector(data) = s.src[2] else { return Err(Fault::Unsupported("a store without data")) };
    let addresses = Addresses::of(cx, s, segment)?;
    for lane in lanes(cx.w.exec()) {
        for i in registers(cx) {
            if let Some(place) = addresses.place(cx, lane, i.into(), 4) {
                cx.store(place, 4, lane, cx.w.v[usize::from(data + i)][lane])?;
            }
        }
    }
    Ok(Next::Fall)
}

fn load_transposed(cx: &mut Cx<'_>, s: &Step, bits: u32) -> Outcome {
    if cx.w.size() == LANES {
        return Err(Fault::Unsupported(
            "a transposing load with 64 lanes, of which no document says which of them load",
        ));
    }
    let addresses = Addresses::of(cx, s, Segment::Global)?;
    let mut loaded: [Lanes; 4] = [[0; LANES]; 4];
    for lane in lanes(cx.w.exec()) {
        for word in 0..bits / 4 {
            if let Some(place) = addresses.place(cx, lane, word, 4) {
                loaded[word as usize][lane] = cx.load(place, 4, lane)?;
            }
        }
    }
    write_transposed(cx, s, bits, &loaded, |row, right| row + 8 * right);
    Ok(Next::Fall)
}

fn read_transposed(cx: &mut Cx<'_>, s: &Step, bits: u32) -> Outcome {
    let mut loaded: [Lanes; 4] = [[0; LANES]; 4];
    for lane in lanes(cx.w.exec()) {
        let row = cx.load_local(ds::address(cx, s, lane)?, bits, lane)?;
        for (loaded, word) in loaded.iter_mut().zip(row) {
            loaded[lane] = word;
        }
    }
    // The rows of bytes are those that Triton 3.9 lets the lanes load for gfx1250.
    write_transposed(cx, s, bits, &loaded, |row, right| match bits {
        8 => row % 4 + 4 * right + row / 4 * 8,
        _ => row + 8 * right,
    });
    Ok(Next::Fall)
}

/// In each 16 lanes there are eight rows of 16 elements of `bits` bits. A lane has loaded the left or the right half of a row; lane i gets
/// element i of every row. `lane_of` returns the lane, of the 16, that has loaded a row's half (1 for the right half). The manuals do not
/// specify the assignment of lanes; this one makes the rows of a matrix in memory the `k` dimension of a WMMA.
fn write_transposed(
    cx: &mut Cx<'_>,
    s: &Step,
    bits: u32,
    loaded: &[Lanes; 4],
    lane_of: impl Fn(usize, usize) -> usize,
) {
    let (words, per_word) = (bits / 4, 32 / bits);
    for lane in lanes(cx.w.exec()) {
        let (group, right, place) = (lane / 16 * 16, lane % 16 / 8, lane as u32 % 8);
        for word in 0..words {
            let element = |i: u32| {
                let row = group + lane_of((word * per_word + i) as usize, right);
                let from = loaded[(place / per_word) as usize][row] >> (place % per_word * bits);
                (from & u32::MAX >> (32 - bits)) << (i * bits)
            };
            cx.w.v[usize::from(s.vdst) + word as usize][lane] =
                (0..per_word).fold(0, |all, i| all | element(i));
        }
    }
}

fn read_lds(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    let value = cx.lds_direct()?;
    for lane in lanes(cx.w.exec()) {
        cx.w.v[s.vdst as usize][lane] = value;
    }
    Ok(Next::Fall)
}
