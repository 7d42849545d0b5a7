//! f32 and f64 arithmetic of all lanes at once. Which NaN comes out is asked only where one does: the usual pass is then short
//! enough for vector instructions to take a lane each.

use super::Lane;
use super::read::{Fetch, is_short};
use super::write::Finish;
use crate::core::fault::Next;
use crate::core::machine::{Cx, Step};
use crate::core::value::{LANES, LOWER, Raw};
use crate::fp::host::{self, Work};
use crate::fp::{self, pick_nan32, pick_nan64};
use crate::semantics::op::Op;

/// f32 or f64.
pub(crate) trait Number: Lane {
    fn is_nan(self) -> bool;
    /// `result`, or, if that is a NaN, the one that the hardware gives.
    fn pick(operands: [Self; 3], result: Self) -> Self;
    /// a * b + c of each lane, rounded once, with any NaN. `FUSED`: the host has a fused multiply-add.
    fn fuse<const FUSED: bool, const L: usize>(operands: [&[Self::Raw; L]; 3], out: &mut [Self::Raw; L]);
}

impl Number for f32 {
    #[inline(always)]
    fn is_nan(self) -> bool {
        f32::is_nan(self)
    }

    #[inline(always)]
    fn pick(operands: [f32; 3], result: f32) -> f32 {
        pick_nan32(operands, result)
    }

    #[inline(always)]
    fn fuse<const FUSED: bool, const L: usize>([a, b, c]: [&[u32; L]; 3], out: &mut [u32; L]) {
        let operands = |i: usize| (f32::from_bits(a[i]), f32::from_bits(b[i]));
        if FUSED {
            for i in 0..L {
                let (a, b) = operands(i);
                out[i] = a.mul_add(b, f32::from_bits(c[i])).to_bits();
            }
        } else {
            let mut sums = [0.0; L];
            for i in 0..L {
                sums[i] = f32::from_bits(c[i]);
            }
            fp::fma32_each(&mut sums, operands);
            for i in 0..L {
                out[i] = sums[i].to_bits();
            }
        }
    }
}

impl Number for f64 {
    #[inline(always)]
    fn is_nan(self) -> bool {
        f64::is_nan(self)
    }

    #[inline(always)]
    fn pick(operands: [f64; 3], result: f64) -> f64 {
        pick_nan64(operands, result)
    }

    #[inline(always)]
    fn fuse<const FUSED: bool, const L: usize>([a, b, c]: [&[u64; L]; 3], out: &mut [u64; L]) {
        for i in 0..L {
            out[i] = f64::from_bits(a[i]).mul_add(f64::from_bits(b[i]), f64::from_bits(c[i])).to_bits();
        }
    }
}

/// True if some lane has a NaN.
#[inline(always)]
fn has_nan<N: Number, const L: usize>(lanes: &[N::Raw; L]) -> bool {
    // Without an early end the comparisons are vector instructions.
    lanes.iter().fold(false, |some, lane| some | N::from_raw(*lane).is_nan())
}

/// An instruction with two sources: `f` gives the result with any NaN, and the operands among which the hardware looks for one.
pub(crate) fn number2<N: Number>(f: impl Fn(N, N) -> (N, [N; 2]) + Copy + Send + Sync + 'static) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        if is_short(cx, s, N::TY) {
            let (mut buffer_a, mut buffer_b) = ([N::Raw::default(); LOWER], [N::Raw::default(); LOWER]);
            let a = N::Raw::fetch_lower(cx, s, 0, N::TY, &mut buffer_a)?;
            let b = N::Raw::fetch_lower(cx, s, 1, N::TY, &mut buffer_b)?;
            let out = each(f, a, b);
            N::Raw::finish_lower(cx, s, &out);
            return Ok(Next::Fall);
        }
        let (mut buffer_a, mut buffer_b) = (N::Raw::ZERO, N::Raw::ZERO);
        let a = N::Raw::fetch(cx, s, 0, N::TY, &mut buffer_a)?;
        let b = N::Raw::fetch(cx, s, 1, N::TY, &mut buffer_b)?;
        let mut out = each(f, a, b);
        N::Raw::finish(cx, s, N::TY, &mut out);
        Ok(Next::Fall)
    })
    .result(N::TY)
}

/// The results of `f`, with the NaN that the hardware gives.
#[inline(always)]
fn each<N: Number, const L: usize>(
    f: impl Fn(N, N) -> (N, [N; 2]),
    a: &[N::Raw; L],
    b: &[N::Raw; L],
) -> [N::Raw; L] {
    let mut out = [N::Raw::default(); L];
    for i in 0..L {
        out[i] = f(N::from_raw(a[i]), N::from_raw(b[i])).0.into_raw();
    }
    if has_nan::<N, L>(&out) {
        for i in 0..L {
            let (_, [a, b]) = f(N::from_raw(a[i]), N::from_raw(b[i]));
            out[i] = N::pick([a, b, b], N::from_raw(out[i])).into_raw();
        }
    }
    out
}

/// Fused multiply-add: the sources at these places are `a`, `b` and `c` of a * b + c.
pub(crate) fn fused<N: Number>(places: [usize; 3]) -> Op {
    Op::new(move |cx: &mut Cx<'_>, s: &Step| {
        if is_short(cx, s, N::TY) {
            let mut buffers = [[N::Raw::default(); LOWER]; 3];
            let [buffer_a, buffer_b, buffer_c] = buffers.each_mut();
            let a = N::Raw::fetch_lower(cx, s, places[0], N::TY, buffer_a)?;
            let b = N::Raw::fetch_lower(cx, s, places[1], N::TY, buffer_b)?;
            let c = N::Raw::fetch_lower(cx, s, places[2], N::TY, buffer_c)?;
            let out = fused_each::<N, LOWER>([a, b, c]);
            N::Raw::finish_lower(cx, s, &out);
            return Ok(Next::Fall);
        }
        let (mut buffer_a, mut buffer_b, mut buffer_c) = (N::Raw::ZERO, N::Raw::ZERO, N::Raw::ZERO);
        let a = N::Raw::fetch(cx, s, places[0], N::TY, &mut buffer_a)?;
        let b = N::Raw::fetch(cx, s, places[1], N::TY, &mut buffer_b)?;
        let c = N::Raw::fetch(cx, s, places[2], N::TY, &mut buffer_c)?;
        let mut out = fused_each::<N, LANES>([a, b, c]);
        N::Raw::finish(cx, s, N::TY, &mut out);
        Ok(Next::Fall)
    })
    .result(N::TY)
}

/// a * b + c, with the NaN that the hardware gives.
#[inline(always)]
fn fused_each<N: Number, const L: usize>(operands: [&[N::Raw; L]; 3]) -> [N::Raw; L] {
    let mut out = [N::Raw::default(); L];
    if host::run(Fuse::<N, L> { operands, out: &mut out }) {
        for i in 0..L {
            let operands = operands.map(|lanes| N::from_raw(lanes[i]));
            out[i] = N::pick(operands, N::from_raw(out[i])).into_raw();
        }
    }
    out
}

/// A fused multiply-add of `L` lanes; true if some result is a NaN.
struct Fuse<'a, N: Number, const L: usize> {
    operands: [&'a [N::Raw; L]; 3],
    out: &'a mut [N::Raw; L],
}

impl<N: Number, const L: usize> Work for Fuse<'_, N, L> {
    type Out = bool;

    #[inline(always)]
    fn run<const FUSED: bool, const WIDE: bool>(self) -> bool {
        N::fuse::<FUSED, L>(self.operands, self.out);
        has_nan::<N, L>(self.out)
    }
}
