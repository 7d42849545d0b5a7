//! Runs a lane function on all lanes, a group at a time. Operands are read directly from the register file and results are written directly
//! to it, unless modifiers have to be applied.
//!
//! The result of a lane depends only on operands of the same lane, and each group is read before it is written. So the destination may be a
//! source or overlap one.

use std::marker::PhantomData;

use super::read::{Fetch, Ready};
use super::write::Finish;
use crate::core::fault::Fault;
use crate::core::machine::{Cx, Step};
use crate::core::value::{GROUP, LANES, LOWER, Value};
use crate::core::wave::Lanes;
use crate::fp::host::{self, Work};

/// A type of operands and results of lane functions.
pub(crate) trait Lane: Value<Raw: Fetch + Finish> {}
impl<V: Value<Raw: Fetch + Finish>> Lane for V {}

/// The computation of an instruction. Operands that it does not have are of type `()`, and so is the result if it only computes flags.
pub(crate) trait Lanewise<A: Lane, B: Lane, C: Lane, D: Lane>: Copy {
    /// Computes the results of a group of lanes, and returns a flag for each lane. `bits` contains the lanes' bits of the mask operand.
    /// `FUSED`: the host has a fused multiply-add.
    fn group<const FUSED: bool>(
        self,
        bits: u32,
        operands: (&[A::Raw; GROUP], &[B::Raw; GROUP], &[C::Raw; GROUP]),
        out: &mut [D::Raw; GROUP],
    ) -> u16;
}

/// A function of a lane's operands.
#[derive(Clone, Copy)]
pub(crate) struct Each<F>(pub F);

impl<A: Lane, B: Lane, C: Lane, D: Lane, F: Fn(A, B, C) -> D + Copy> Lanewise<A, B, C, D> for Each<F> {
    #[inline(always)]
    fn group<const FUSED: bool>(
        self,
        _: u32,
        (a, b, c): (&[A::Raw; GROUP], &[B::Raw; GROUP], &[C::Raw; GROUP]),
        out: &mut [D::Raw; GROUP],
    ) -> u16 {
        for i in 0..GROUP {
            out[i] = (self.0)(A::from_raw(a[i]), B::from_raw(b[i]), C::from_raw(c[i])).into_raw();
        }
        0
    }
}

/// A function of a lane's bit in the mask operand and of its other operands, which also returns a flag.
#[derive(Clone, Copy)]
pub(crate) struct Flagged<F>(pub F);

impl<A: Lane, B: Lane, C: Lane, D: Lane, F: Fn(bool, A, B, C) -> (D, bool) + Copy> Lanewise<A, B, C, D>
    for Flagged<F>
{
    #[inline(always)]
    fn group<const FUSED: bool>(
        self,
        bits: u32,
        (a, b, c): (&[A::Raw; GROUP], &[B::Raw; GROUP], &[C::Raw; GROUP]),
        out: &mut [D::Raw; GROUP],
    ) -> u16 {
        let mut flags = [0; GROUP];
        for i in 0..GROUP {
            let bit = bits >> i & 1 == 1;
            let (value, flag) = (self.0)(bit, A::from_raw(a[i]), B::from_raw(b[i]), C::from_raw(c[i]));
            out[i] = value.into_raw();
            flags[i] = 0u16.wrapping_sub(u16::from(flag)) & 1 << i;
        }
        union(flags)
    }
}

/// The bitwise or of all elements, by repeatedly combining the two halves, which the compiler vectorises.
#[inline(always)]
fn union(mut flags: [u16; GROUP]) -> u16 {
    let mut left = GROUP / 2;
    while left > 0 {
        for i in 0..left {
            flags[i] |= flags[i + left];
        }
        left /= 2;
    }
    flags[0]
}

/// Runs an instruction on the lanes of its wave. The operands are the sources with the given indices and `mask`, which has a bit for each
/// lane. Returns a mask of the flags, in which the bits of inactive lanes are undefined.
#[inline(always)]
pub(crate) fn run<A: Lane, B: Lane, C: Lane, D: Lane, W: Lanewise<A, B, C, D>>(
    cx: &mut Cx<'_>,
    s: &Step,
    places: [usize; 3],
    mask: u64,
    work: W,
) -> Result<u64, Fault> {
    let room = cx.w.room();
    let operands = (
        A::Raw::ready(cx, s, places[0], A::TY, room)?,
        B::Raw::ready(cx, s, places[1], B::TY, room + 2)?,
        C::Raw::ready(cx, s, places[2], C::TY, room + 4)?,
    );
    let (exec, lanes) = (cx.w.exec(), cx.w.lanes);
    let in_place = D::Raw::is_written_in_place(&cx.w.mode, s, D::TY);
    // A result to which modifiers must still be applied is first written to extra slots.
    let (target, active) = if in_place { (s.vdst as usize, exec) } else { (room + 6, lanes) };
    let v = &mut cx.w.v[..];
    let flags = host::lanes(Groups::<A, B, C, D, W> {
        v,
        lanes,
        active,
        mask,
        operands,
        target,
        work,
        of: PhantomData,
    });
    if !in_place {
        D::Raw::finish_from(cx, s, D::TY, room + 6);
    }
    Ok(flags)
}

/// A run of an instruction whose operands are resolved.
struct Groups<'v, A: Lane, B: Lane, C: Lane, D, W> {
    v: &'v mut [Lanes],
    /// A mask of the wave's lanes.
    lanes: u64,
    active: u64,
    mask: u64,
    operands: (Ready<A::Raw>, Ready<B::Raw>, Ready<C::Raw>),
    /// The first slot of the result.
    target: usize,
    work: W,
    of: PhantomData<D>,
}

impl<A: Lane, B: Lane, C: Lane, D: Lane, W: Lanewise<A, B, C, D>> Work for Groups<'_, A, B, C, D, W> {
    type Out = u64;

    #[inline(always)]
    fn run<const FUSED: bool, const WIDE: bool>(self) -> u64 {
        let Groups { v, lanes, active, mask, operands: (a, b, c), target, work, .. } = self;
        let groups = [a.put(v), b.put(v), c.put(v)];
        let mut flags = 0;
        let count = if lanes == u64::MAX { LANES / GROUP } else { LOWER / GROUP };
        for group in 0..count {
            let first = group * GROUP;
            let active = (active >> first) as u16;
            if active == 0 {
                continue;
            }
            let a = A::Raw::group_of(v, a.slot, group & groups[0]);
            let b = B::Raw::group_of(v, b.slot, group & groups[1]);
            let c = C::Raw::group_of(v, c.slot, group & groups[2]);
            let mut out = [D::Raw::default(); GROUP];
            let of_group = work.group::<FUSED>((mask >> first) as u32, (&a, &b, &c), &mut out);
            flags |= u64::from(of_group) << first;
            D::Raw::put_group(v, target, group, active, &out);
        }
        flags
    }
}
