//! Arithmetic on f32 and f64 for a group of lanes at once. The choice of a NaN to return is made only if a result is a NaN, so the usual
//! code is short enough to be vectorised.

use std::marker::PhantomData;

use super::Lane;
use super::each::{self, Lanewise, Vector};
use crate::core::fault::Fault;
use crate::core::machine::{Cx, Step};
use crate::core::value::GROUP;
use crate::fp::{self, pick_nan32, pick_nan64};
use crate::semantics::op::Op;

/// f32 or f64.
pub(crate) trait Number: Lane {
    fn is_nan(self) -> bool;
    /// `result`; but if `result` is a NaN, the NaN that the hardware returns for these operands.
    fn pick(operands: [Self; 3], result: Self) -> Self;
    /// a * b + c in each lane, rounded once; a NaN result may be any NaN. `FUSED`: the host has a fused multiply-add.
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

/// True if any lane is a NaN.
#[inline(always)]
fn has_nan<N: Number>(lanes: &[N::Raw; GROUP]) -> bool {
    // Without an early exit, the compiler vectorises the comparisons.
    lanes.iter().fold(false, |some, lane| some | N::from_raw(*lane).is_nan())
}

/// The results, with each NaN replaced by the NaN that the hardware returns. Operands and results are passed by value, so that they are in
/// memory only if there are NaNs.
#[cold]
#[inline(never)]
fn pick_each<N: Number>([a, b, c]: [[N::Raw; GROUP]; 3], mut out: [N::Raw; GROUP]) -> [N::Raw; GROUP] {
    for (i, out) in out.iter_mut().enumerate() {
        *out = N::pick([a[i], b[i], c[i]].map(N::from_raw), N::from_raw(*out)).into_raw();
    }
    out
}

/// An instruction with two sources. `f` returns the result, which may be any NaN, and the operands among which the hardware looks for the
/// NaN to return.
pub(crate) fn number2<N: Number>(f: impl Fn(N, N) -> (N, [N; 2]) + Copy + Send + Sync + 'static) -> Op {
    each::op(Binary { f, of: PhantomData::<fn(N)> }).result(N::TY)
}

/// The execution of [`number2`].
#[derive(Clone, Copy)]
struct Binary<F, T> {
    f: F,
    of: PhantomData<T>,
}

impl<N: Number, F> Vector for Binary<F, fn(N)>
where
    F: Fn(N, N) -> (N, [N; 2]) + Copy + Send + Sync + 'static,
{
    #[inline(always)]
    fn run<const FUSED: bool>(self, cx: &mut Cx<'_>, s: &Step) -> Result<(), Fault> {
        each::run::<FUSED, N, N, (), N, _>(cx, s, [0, 1, 2], 0, Two(self.f))?;
        Ok(())
    }
}

/// The lane function of [`number2`].
#[derive(Clone, Copy)]
struct Two<F>(F);

impl<N: Number, F: Fn(N, N) -> (N, [N; 2]) + Copy> Lanewise<N, N, (), N> for Two<F> {
    #[inline(always)]
    fn group<const FUSED: bool>(
        self,
        _: u32,
        (a, b, _): (&[N::Raw; GROUP], &[N::Raw; GROUP], &[(); GROUP]),
        out: &mut [N::Raw; GROUP],
        _: &mut [u8; GROUP],
    ) {
        for i in 0..GROUP {
            out[i] = (self.0)(N::from_raw(a[i]), N::from_raw(b[i])).0.into_raw();
        }
        if has_nan::<N>(out) {
            let (mut first, mut second) = (*a, *b);
            for i in 0..GROUP {
                let (_, [a, b]) = (self.0)(N::from_raw(a[i]), N::from_raw(b[i]));
                (first[i], second[i]) = (a.into_raw(), b.into_raw());
            }
            *out = pick_each::<N>([first, second, second], *out);
        }
    }
}

/// Fused multiply-add: `places` are the source indices of `a`, `b` and `c` in a * b + c.
pub(crate) fn fused<N: Number>(places: [usize; 3]) -> Op {
    each::op(Fused { places, of: PhantomData::<fn(N)> }).result(N::TY)
}

/// The execution of [`fused`].
#[derive(Clone, Copy)]
struct Fused<T> {
    places: [usize; 3],
    of: PhantomData<T>,
}

impl<N: Number> Vector for Fused<fn(N)> {
    #[inline(always)]
    fn run<const FUSED: bool>(self, cx: &mut Cx<'_>, s: &Step) -> Result<(), Fault> {
        each::run::<FUSED, N, N, N, N, _>(cx, s, self.places, 0, Fuse)?;
        Ok(())
    }
}

/// a * b + c, with the NaN that the hardware returns.
#[derive(Clone, Copy)]
struct Fuse;

impl<N: Number> Lanewise<N, N, N, N> for Fuse {
    #[inline(always)]
    fn group<const FUSED: bool>(
        self,
        _: u32,
        (a, b, c): (&[N::Raw; GROUP], &[N::Raw; GROUP], &[N::Raw; GROUP]),
        out: &mut [N::Raw; GROUP],
        _: &mut [u8; GROUP],
    ) {
        N::fuse::<FUSED, GROUP>([a, b, c], out);
        if has_nan::<N>(out) {
            *out = pick_each::<N>([*a, *b, *c], *out);
        }
    }
}
