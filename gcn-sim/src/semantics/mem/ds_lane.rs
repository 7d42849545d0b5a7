//! Permutations of lanes by the LDS hardware: `ds_swizzle`, `ds_permute`, `ds_bpermute`.

use crate::core::fault::{Fault, Next, Outcome};
use crate::core::machine::{Cx, Step};
use crate::core::operand::Src;
use crate::core::value::{LANES, LOWER, lanes};
use crate::fp::host::{self, Work};
use crate::semantics::op::{Op, Ops};
use crate::semantics::valu::write::write32;

pub(crate) fn add(ops: &mut Ops) {
    ops.add("ds_swizzle_b32", Op::new(swizzle));
    ops.add("ds_permute_b32", Op::new(permute));
    ops.add("ds_bpermute_b32", Op::new(|cx: &mut Cx<'_>, s: &Step| backward_permute(cx, s, false)));
    ops.add("ds_bpermute_fi_b32", Op::new(|cx: &mut Cx<'_>, s: &Step| backward_permute(cx, s, true)));
}

fn vector(cx: &Cx<'_>, src: &Src) -> Result<[u32; LANES], Fault> {
    match src {
        Src::Vector(slot) => Ok(cx.w.v[*slot as usize]),
        _ => Err(Fault::Unsupported("a lane permutation of other than a vector register")),
    }
}

/// Each lane reads the value of another lane of its group; an inactive source lane gives 0.
fn swizzle(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    let data = vector(cx, &s.src[0])?;
    let pattern = s.inst.mods.offset as u32;
    let exec = cx.w.exec();
    for lane in lanes(exec) {
        let from = swizzle_source(pattern, lane);
        cx.w.v[s.vdst as usize][lane] = if exec >> from & 1 == 1 { data[from] } else { 0 };
    }
    Ok(Next::Fall)
}

/// The source lane for a swizzle pattern: bit reversal for an FFT (bits 15:13 = 111), a rotation within 32 lanes (110), a quad permutation
/// (bit 15), or AND, OR and XOR masks for the lane number within 32 lanes.
fn swizzle_source(pattern: u32, lane: usize) -> usize {
    let (group, place) = (lane / 32 * 32, lane % 32);
    match pattern >> 13 & 7 {
        0b111 => {
            let mask = (pattern & 0x1f) as usize;
            let reversed = (place as u8).reverse_bits() as usize >> 3;
            group + (reversed >> mask.count_ones() | place & mask)
        }
        0b110 => {
            let (mask, by) = ((pattern & 0x1f) as usize, (pattern >> 5 & 0x1f) as usize);
            // Bit 10 selects a rotation to the right, in which a lane reads from a lower lane.
            let turned = (if pattern >> 10 & 1 == 1 { place + 32 - by } else { place + by }) % 32;
            group + (place & mask | turned & !mask & 0x1f)
        }
        0b100 | 0b101 => lane / 4 * 4 + (pattern >> (lane % 4 * 2) & 3) as usize,
        _ => {
            let (and, or, xor) = (pattern & 0x1f, pattern >> 5 & 0x1f, pattern >> 10 & 0x1f);
            group + ((place as u32 & and | or) ^ xor) as usize
        }
    }
}

/// Each active lane sends its data to the lane that its address selects. A lane that receives no data gets 0; if several lanes send to the
/// same one, the data of the highest lane remain.
fn permute(cx: &mut Cx<'_>, s: &Step) -> Outcome {
    let (addresses, data) = (vector(cx, &s.src[0])?, vector(cx, &s.src[1])?);
    let (group, offset) = (s.arch.permuted_lanes() as u32, s.inst.mods.offset as u32);
    let mut out = [0; LANES];
    for lane in lanes(cx.w.exec()) {
        out[target(group, lane as u32, addresses[lane].wrapping_add(offset)) as usize] = data[lane];
    }
    for lane in lanes(cx.w.exec()) {
        cx.w.v[s.vdst as usize][lane] = out[lane];
    }
    Ok(Next::Fall)
}

/// Each active lane reads the data of the lane that its address selects. An inactive source lane gives 0 or, if `inactive` is set, its
/// data.
fn backward_permute(cx: &mut Cx<'_>, s: &Step, inactive: bool) -> Outcome {
    let (Src::Vector(addresses), Src::Vector(data)) = (s.src[0], s.src[1]) else {
        return Err(Fault::Unsupported("a lane permutation of other than a vector register"));
    };
    let (exec, mut out) = (cx.w.exec(), [0; LANES]);
    host::lanes(Backward {
        addresses: &cx.w.v[usize::from(addresses)],
        data: &cx.w.v[usize::from(data)],
        offset: s.inst.mods.offset as u32,
        group: s.arch.permuted_lanes() as u32,
        readable: if inactive { u64::MAX } else { exec },
        out: &mut out[..cx.w.size()],
    });
    write32(cx, s.vdst, exec, &out);
    Ok(Next::Fall)
}

/// The work of [`backward_permute`].
struct Backward<'a> {
    addresses: &'a [u32; LANES],
    data: &'a [u32; LANES],
    offset: u32,
    /// As for [`target`].
    group: u32,
    /// The lanes that give their data instead of 0.
    readable: u64,
    out: &'a mut [u32],
}

impl Work for Backward<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const FUSED: bool, const WIDE: bool>(self) {
        let Backward { addresses, data, offset, group, readable, out } = self;
        let mut from = [0; LANES];
        for lane in 0..LANES {
            from[lane] = target(group, lane as u32, addresses[lane].wrapping_add(offset)) % LANES as u32;
        }
        let all = if out.len() == LANES { u64::MAX } else { u64::MAX >> LOWER };
        if readable & all == all {
            out.iter_mut().zip(from).for_each(|(out, from)| *out = data[from as usize]);
        } else {
            let read = |from: u32| if readable >> from & 1 == 1 { data[from as usize] } else { 0 };
            out.iter_mut().zip(from).for_each(|(out, from)| *out = read(from));
        }
    }
}

/// The lane that a byte address selects: modulo the bytes of a register or, on hardware that permutes within 32 lanes, modulo those of 32
/// lanes. `group`: the number of lanes among which the hardware permutes, a power of two.
#[inline(always)]
fn target(group: u32, lane: u32, address: u32) -> u32 {
    lane & !(group - 1) | (address / 4) & (group - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swizzle_patterns() {
        // SWAPX16, REVERSE within 32, BROADCAST of lane 3 within 8, quad permutation 3,2,1,0.
        assert_eq!(swizzle_source(0x401f, 5), 21);
        assert_eq!(swizzle_source(0x7c1f, 33), 62);
        assert_eq!(swizzle_source(0x0078, 45), 43);
        assert_eq!(swizzle_source(0x801b, 4), 7);
    }
}
