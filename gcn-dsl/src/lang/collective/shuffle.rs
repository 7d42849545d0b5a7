//! Exchanges of values between the lanes of a wave.
//!
//! A wave's 64 lanes form four *rows* of 16 lanes, and a row four *quads*. A permutation within a row is a `v_mov_b32`
//! with a data-parallel primitive (DPP) and costs as much as a move. A permutation across rows uses the LDS crossbar
//! (`ds_swizzle_b32`, `ds_bpermute_b32`), or `v_permlane16_swap_b32` and `v_permlane32_swap_b32` on gfx950.

use std::panic::Location;

use gcn_isa::mods::DppControls;
use gcn_isa::target::WAVE_SIZE;

use super::exchange;
use super::mask::{of_one_lane, own_lane_of};
use crate::ir::{Inst, Type};
use crate::isa::{self, Options};
use crate::lang::lanes::wave::active_lanes;
use crate::lang::values::constant::refuse_lane;
use crate::lang::values::operand::Operand;
use crate::lang::{IntoDevice, PerLane, S, V, lane_id, select, wave_size, with};
use crate::scalar::{Elem, LaneMask, Scalar};

/// True if all lanes of all waves are known to be active here.
pub(in crate::lang) fn all_lanes_run() -> bool {
    with(|c| {
        c.builder.divergence() == 0 && c.workgroup.iter().product::<u32>().is_multiple_of(c.wave.lanes())
    })
}

/// Applies `f` to each dword of `v`; a `V<bool>` is converted to 0 or 1.
#[track_caller]
pub(in crate::lang) fn by_dword<T: Scalar>(v: V<T>, mut f: impl FnMut(V<u32>) -> V<u32>) -> V<T> {
    let loc = Location::caller();
    let dword = Type::varying(Elem::U32);
    if T::ELEM == Elem::Bool {
        let condition: V<bool> = V::from_value(v.value);
        let moved = f(select(condition, 1u32, 0u32));
        let back: V<bool> = crate::lang::ne(moved, 0u32);
        return V::from_value(back.value);
    }
    if with(|c| T::elem_in(c.wave)).dwords() == 1 {
        let bits = V::from_value(with(|c| c.value(Inst::Bitcast(v.value), dword, loc)));
        return V::emit(Inst::Bitcast(f(bits).value), loc);
    }
    let parts = [0, 1].map(|i| {
        let half = with(|c| c.value(Inst::Extract { from: v.value, dword: i }, dword, loc));
        f(V::from_value(half)).value
    });
    V::emit(Inst::Concat(parts.into_iter().collect()), loc)
}

/// A DPP move by a control for which every lane has a source lane. An inactive source lane gives 0.
#[track_caller]
fn permuted<T: Scalar>(v: V<T>, how: Options) -> V<T> {
    by_dword(v, |x| isa::v_mov_b32_dpp(0, x, how.bound_ctrl()))
}

/// A DPP move by a control for which some lanes have no source lane. A lane whose source lane does not exist or is
/// inactive gets `fill`.
#[track_caller]
fn shifted<T: Scalar>(v: V<T>, fill: V<T>, how: Options) -> V<T> {
    let mut fills = Vec::new();
    by_dword(fill, |x| {
        fills.push(x);
        x
    });
    let mut fills = fills.into_iter();
    by_dword(v, |x| match fills.next() {
        Some(fill) => isa::v_mov_b32_dpp(fill, x, how),
        None => x,
    })
}

fn refuse(loc: &'static Location<'static>, message: String) {
    with(|c| c.fail(loc, message));
}

/// The part of an error message that states the wave size and, if waves may have more lanes, how to get them.
fn lanes_there_are() -> String {
    match wave_size() {
        WAVE_SIZE => "a wave has 64 lanes".to_owned(),
        lanes => format!("a wave has {lanes} lanes without `#[wave(64)]`"),
    }
}

/// For each lane, the value of lane `lane` (modulo [`wave_size()`](crate::lang::wave_size)). An inactive source lane
/// gives 0.
///
/// Each dword takes one `ds_bpermute_b32`. In waves of 64 lanes, RDNA 3 and 4 need two of them and a
/// `v_permlane64_b32`. RDNA 1 and 2 then exchange the values through an LDS array, which has a dword for each work-item
/// and which all shuffles of the kernel share. If the pattern is known when the kernel is built, [`shuffle_xor`],
/// [`shuffle_up`], [`quad_permute`] and the functions on rows are cheaper.
#[track_caller]
pub fn shuffle<T: Scalar>(v: impl PerLane<T>, lane: impl IntoDevice<V<u32>>) -> V<T> {
    let v = v.per_lane();
    let (loc, lane) = (Location::caller(), lane.into_device());
    if exchange::is_needed() {
        return by_dword(v, |x| exchange::exchanged(x, lane, all_lanes_run()));
    }
    let address = lane << 2;
    by_dword(v, |x| {
        let permute = Inst::Permute { address: address.value, value: x.value };
        V::from_value(with(|c| c.value(permute, Type::varying(Elem::U32), loc)))
    })
}

/// Types of a distance between lanes: `u32` if it is known when the kernel is built; `S<u32>` or `V<u32>` if the kernel
/// computes it. A computed distance takes a `ds_bpermute_b32`.
#[diagnostic::on_unimplemented(
    message = "a distance between lanes is a `u32`, `S<u32>` or `V<u32>`, not `{Self}`",
    label = "not a distance between lanes",
    note = "convert with `as u32`"
)]
pub trait Distance {
    /// `Ok` with a distance that is known when the kernel is built, `Err` with a device value.
    fn distance(self) -> Result<u32, V<u32>>;
}
impl Distance for u32 {
    fn distance(self) -> Result<u32, V<u32>> {
        Ok(self)
    }
}
impl Distance for S<u32> {
    #[track_caller]
    fn distance(self) -> Result<u32, V<u32>> {
        match with(|c| c.builder.as_const(self.value)) {
            Some(known) => Ok(known as u32),
            None => Err(self.into_device()),
        }
    }
}
impl Distance for V<u32> {
    fn distance(self) -> Result<u32, V<u32>> {
        Err(self)
    }
}

/// For each lane, the value of lane `lane_id() ^ mask`, as in a step of a butterfly. An inactive source lane gives 0.
///
/// A `mask` below 16 takes one or two DPP moves; where two would be needed but not all lanes are known to be active, it
/// takes one `ds_swizzle_b32`. Masks 16 and 32 take a swap on gfx950. Other masks below 32 take `ds_swizzle_b32`, and
/// all others `ds_bpermute_b32`. A mask of 64 or more is an error when the kernel is built.
///
/// ```
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     /// The largest of each eight neighbours, in each of them.
///     #[workgroup(64)]
///     fn largest(x: &mut [f32]) {
///         let mut m = x[global_id().x];
///         m = m.max(shuffle_xor(m, 1));
///         m = m.max(shuffle_xor(m, 2));
///         m = m.max(shuffle_xor(m, 4));
///         x[global_id().x] = m;
///     }
/// }
/// # largest.build(Target::GFX90A).unwrap();
/// ```
#[track_caller]
pub fn shuffle_xor<T: Scalar>(v: impl PerLane<T>, mask: impl Distance) -> V<T> {
    let v = v.per_lane();
    let mask = match mask.distance() {
        Ok(mask) => mask,
        Err(mask) => return shuffle(v, lane_id() ^ mask),
    };
    let quad = |m: u32| Options::new().quad_perm(std::array::from_fn(|i| (i as u32 ^ m & 3) as u8));
    let swaps = with(|c| gcn_isa::table::find_mnemonic(c.target, "v_permlane32_swap_b32").next().is_some());
    // If a value passes through an intermediate lane, that lane must be active.
    let passes = all_lanes_run();
    let two = |first: Options, rest: u32| {
        if rest == 0 { permuted(v, first) } else { permuted(permuted(v, first), quad(rest)) }
    };
    match mask {
        0 => v,
        1..4 => permuted(v, quad(mask)),
        4..8 if passes || mask == 7 => two(Options::new().row_half_mirror(), mask ^ 7),
        8..12 if passes || mask == 8 => two(Options::new().row_ror(8), mask ^ 8),
        12..16 if passes || mask == 15 => two(Options::new().row_mirror(), mask ^ 15),
        16 | 32 if passes && swaps => swapped(v, mask),
        4..32 => by_dword(v, |x| isa::ds_swizzle_b32(x, (mask << 10 | 0x1f) as i32)),
        32..WAVE_SIZE if mask < wave_size() => shuffle(v, lane_id() ^ mask),
        _ => {
            refuse(
                Location::caller(),
                format!(
                    "`shuffle_xor` with mask {mask}: {}, so the mask is at most {}",
                    lanes_there_are(),
                    wave_size() - 1
                ),
            );
            v
        }
    }
}

/// `shuffle_xor` by 16 or 32 on targets with instructions that swap rows or halves of two registers.
#[track_caller]
fn swapped<T: Scalar>(v: V<T>, mask: u32) -> V<T> {
    let upper: u64 = if mask == 32 { 0xffff_ffff_0000_0000 } else { 0xffff_0000_ffff_0000 };
    by_dword(v, |x| {
        let (low, high) =
            if mask == 32 { isa::v_permlane32_swap_b32(x, x) } else { isa::v_permlane16_swap_b32(x, x) };
        select(lanes(upper), low, high)
    })
}

/// A condition that is true in the lanes whose bits are set in `mask`.
pub(in crate::lang) fn lanes(mask: u64) -> V<bool> {
    own_lane_of(LaneMask::from_bits(mask).into_device())
}

/// Converts a lane mask to a condition, which is true in the lanes that are in the mask, as `mask.contains(lane_id())`
/// is. This is the inverse of [`ballot`](crate::lang::ballot). The mask may also be a number, a `u64`.
#[track_caller]
pub fn lane_mask(mask: impl Operand<LaneMask>) -> V<bool> {
    match mask.uniform() {
        Some(mask) => own_lane_of(mask),
        None => mask.varying().contains(lane_id()),
    }
}

/// For each lane, the value of the lane whose number is `n` lower; the first `n` lanes keep their own value. An
/// inactive source lane gives 0.
#[track_caller]
pub fn shuffle_up<T: Scalar>(v: impl PerLane<T>, n: impl Distance) -> V<T> {
    let v = v.per_lane();
    let n = match n.distance() {
        Ok(n) => n,
        Err(n) => {
            let (own, lane) = (crate::lang::lt(lane_id(), n), lane_id() - n);
            return select(own, v, shuffle(v, lane));
        }
    };
    along(
        v,
        n,
        Location::caller(),
        Options::new().wave_shr(),
        !(u64::MAX.checked_shl(n).unwrap_or(0)),
        |lane| lane - n,
    )
}

/// For each lane, the value of the lane whose number is `n` higher; the last `n` lanes keep their own value. An
/// inactive source lane gives 0.
#[track_caller]
pub fn shuffle_down<T: Scalar>(v: impl PerLane<T>, n: impl Distance) -> V<T> {
    let v = v.per_lane();
    let n = match n.distance() {
        Ok(n) => n,
        Err(n) => {
            let (own, lane) = (crate::lang::ge(lane_id() + n, wave_size()), lane_id() + n);
            return select(own, v, shuffle(v, lane));
        }
    };
    along(
        v,
        n,
        Location::caller(),
        Options::new().wave_shl(),
        !with(|c| c.wave.mask()).checked_shr(n).unwrap_or(0),
        |lane| lane + n,
    )
}

/// True if the target's `v_mov_b32` has one of these DPP controls.
fn dpp_has(controls: DppControls) -> bool {
    let mut rows = with(|c| gcn_isa::table::find_operation(c.target, "v_mov_b32"));
    rows.any(|row| row.dpp_controls.intersects(controls))
}

#[track_caller]
fn along<T: Scalar>(
    v: V<T>,
    n: u32,
    loc: &'static Location<'static>,
    by_one: Options,
    keep: u64,
    source: impl Fn(V<u32>) -> V<u32>,
) -> V<T> {
    // RDNA has no DPP shifts of a whole wave.
    let moves = dpp_has(DppControls::WAVE_SHL);
    match n {
        0 => v,
        1 if moves && all_lanes_run() => shifted(v, v, by_one),
        1 if moves => select(lanes(keep), v, permuted(v, by_one)),
        1..WAVE_SIZE if n < wave_size() => select(lanes(keep), v, shuffle(v, source(lane_id()))),
        _ => {
            let (has, most) = (lanes_there_are(), wave_size() - 1);
            refuse(loc, format!("a shift by {n} lanes: {has}, so the distance is at most {most}"));
            v
        }
    }
}

/// In each quad, lane `k` gets the value of lane `lanes[k]` (0 to 3). An inactive source lane gives 0.
#[track_caller]
pub fn quad_permute<T: Scalar>(v: impl PerLane<T>, lanes: [u8; 4]) -> V<T> {
    let v = v.per_lane();
    if lanes.iter().any(|lane| *lane > 3) {
        refuse(Location::caller(), format!("`quad_permute` with {lanes:?}: a quad has the lanes 0 to 3"));
        return v;
    }
    permuted(v, Options::new().quad_perm(lanes))
}

/// Reverses each row of 16 lanes. An inactive source lane gives 0.
#[track_caller]
pub fn row_mirror<T: Scalar>(v: impl PerLane<T>) -> V<T> {
    let v = v.per_lane();
    permuted(v, Options::new().row_mirror())
}

/// Reverses each half row of 8 lanes. An inactive source lane gives 0.
#[track_caller]
pub fn row_half_mirror<T: Scalar>(v: impl PerLane<T>) -> V<T> {
    let v = v.per_lane();
    permuted(v, Options::new().row_half_mirror())
}

/// True if `n` is a valid distance in a row; otherwise an error is recorded and the result is false.
#[track_caller]
fn in_row(n: u32) -> bool {
    if n > 15 {
        refuse(Location::caller(), format!("{n} in a row: a row has 16 lanes, so this is at most 15"));
    }
    n <= 15
}

/// For each lane, the value of the lane whose number is `n` lower in its row of 16, wrapping around in the row. An
/// inactive source lane gives 0.
#[track_caller]
pub fn row_rotate<T: Scalar>(v: impl PerLane<T>, n: u32) -> V<T> {
    let v = v.per_lane();
    if !in_row(n) || n == 0 { v } else { permuted(v, Options::new().row_ror(n as u8)) }
}

/// For each lane, the value of the lane whose number is `n` lower in its row of 16, or `fill` if that lane does not
/// exist or is inactive.
#[track_caller]
pub fn row_shift_up<T: Scalar>(v: impl PerLane<T>, n: u32, fill: impl IntoDevice<V<T>>) -> V<T> {
    let v = v.per_lane();
    if !in_row(n) || n == 0 { v } else { shifted(v, fill.into_device(), Options::new().row_shr(n as u8)) }
}

/// For each lane, the value of the lane whose number is `n` higher in its row of 16, or `fill` if that lane does not
/// exist or is inactive.
#[track_caller]
pub fn row_shift_down<T: Scalar>(v: impl PerLane<T>, n: u32, fill: impl IntoDevice<V<T>>) -> V<T> {
    let v = v.per_lane();
    if !in_row(n) || n == 0 { v } else { shifted(v, fill.into_device(), Options::new().row_shl(n as u8)) }
}

/// For each lane, the value of lane `n` of its row of 16. An inactive source lane gives 0.
#[track_caller]
pub fn row_broadcast<T: Scalar>(v: impl PerLane<T>, n: u32) -> V<T> {
    let v = v.per_lane();
    if !in_row(n) {
        return v;
    }
    // The two controls, `row_newbcast` and `row_share`, have the same encoding.
    if dpp_has(DppControls::ROW_NEWBCAST | DppControls::ROW_SHARE) {
        return permuted(v, Options::new().row_newbcast(n as u8));
    }
    by_dword(v, |x| isa::ds_swizzle_b32(x, (n << 5 | 0x10) as i32))
}

/// `v` with lane `lane` (modulo [`wave_size()`](crate::lang::wave_size)) replaced by `value`, whether that lane is active or not.
#[track_caller]
pub fn write_lane<T: Scalar>(
    v: impl PerLane<T>,
    lane: impl IntoDevice<S<u32>>,
    value: impl IntoDevice<S<T>>,
) -> V<T> {
    let v = v.per_lane();
    let (lane, value): (S<u32>, S<T>) = (lane.into_device(), value.into_device());
    let loc = Location::caller();
    refuse_lane(lane.value, loc);
    if T::ELEM == Elem::Bool {
        let (always, new): (S<bool>, S<bool>) = (true.into_device(), S::from_value(value.value));
        let others = crate::lang::ballot(V::from_value(v.value)) & !of_one_lane(always, lane);
        return V::from_value(own_lane_of(others | of_one_lane(new, lane)).value);
    }
    let part = |i| -> S<u32> {
        let dword = Type::uniform(Elem::U32);
        let inst = if with(|c| T::elem_in(c.wave)).dwords() == 1 {
            Inst::Bitcast(value.value)
        } else {
            Inst::Extract { from: value.value, dword: i }
        };
        S::from_value(with(|c| c.value(inst, dword, loc)))
    };
    let mut i = 0;
    by_dword(v, |x| {
        let written = isa::v_writelane_b32(x, part(i), lane);
        i += 1;
        written
    })
}

/// The number of set bits of `mask` that belong to lower lanes than this one. For a mask from
/// [`ballot`](crate::lang::ballot) or [`match_any`](crate::lang::match_any), this is the lane's index among the lanes
/// of the mask.
#[track_caller]
pub fn mbcnt(mask: impl Operand<LaneMask>) -> V<u32> {
    let loc = Location::caller();
    let Some(mask) = mask.uniform() else {
        let mask = mask.varying();
        let half = |i| -> V<u32> {
            let inst = Inst::Extract { from: mask.value, dword: i };
            V::from_value(with(|c| c.value(inst, Type::varying(Elem::U32), loc)))
        };
        let low = isa::v_mbcnt_lo_u32_b32(half(0), 0u32);
        return if wave_size() == 32 { low } else { isa::v_mbcnt_hi_u32_b32(half(1), low) };
    };
    let half = |i| -> S<u32> {
        let inst = Inst::Extract { from: mask.value, dword: i };
        S::from_value(with(|c| c.value(inst, Type::uniform(Elem::U32), loc)))
    };
    let low = isa::v_mbcnt_lo_u32_b32(half(0), 0u32);
    if wave_size() == 32 { low } else { isa::v_mbcnt_hi_u32_b32(half(1), low) }
}

/// True in the first active lane and false in all others. This selects one lane to act for the wave.
#[track_caller]
pub fn is_first_lane() -> V<bool> {
    crate::lang::eq(mbcnt(active_lanes()), 0u32)
}
