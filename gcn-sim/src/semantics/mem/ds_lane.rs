//! Permutations of lanes by the LDS hardware: `ds_swizzle`, `ds_permute`, `ds_bpermute`.

use crate::core::fault::{Fault, Next, Outcome};
use crate::core::machine::{Cx, Step};
use crate::core::operand::Src;
use crate::core::value::{LANES, lanes};
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
    let (group, offset) = (s.arch.permuted_lanes(), s.inst.mods.offset as u32);
    let mut out = [0; LANES];
    for lane in lanes(cx.w.exec()) {
        out[target(group, lane, addresses[lane].wrapping_add(offset))] = data[lane];
    }
    for lane in lanes(cx.w.exec()) {
        cx.w.v[s.vdst as usize][lane] = out[lane];
    }
    Ok(Next::Fall)
}

/// Each active lane reads the data of the lane that its address selects. An inactive source lane gives 0 or, if `inactive` is set, its
/// data.
fn backward_permute(cx: &mut Cx<'_>, s: &Step, inactive: bool) -> Outcome {
    let (addresses, mut data) = (vector(cx, &s.src[0])?, vector(cx, &s.src[1])?);
    let (exec, group, offset) = (cx.w.exec(), s.arch.permuted_lanes(), s.inst.mods.offset as u32);
    if !inactive {
        lanes(!exec).for_each(|lane| data[lane] = 0);
    }
    let mut out = [0; LANES];
    for lane in 0..LANES {
        out[lane] = data[target(group, lane, addresses[lane].wrapping_add(offset))];
    }
    write32(cx, s.vdst, exec, &out);
    Ok(Next::Fall)
}

/// The lane that a byte address selects: modulo the bytes of a register or, on hardware that permutes within 32 lanes, modulo those of 32
/// lanes. `group`: the number of lanes among which the hardware permutes, a power of two.
fn target(group: usize, lane: usize, address: u32) -> usize {
    lane & !(group - 1) | (address / 4) as usize & (group - 1)
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
