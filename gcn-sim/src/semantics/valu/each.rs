//! Runs a lane function on all lanes, a group at a time. Operands are read directly from the register file and results are written directly
//! to it, unless modifiers have to be applied.
//!
//! The result of a lane depends only on operands of the same lane, and each group is read before it is written. So the destination may be a
//! source or overlap one.

use std::sync::Arc;

use super::groups::{Grouped, Words, groups};
use super::read::{self, Fetch};
use super::write::{Finish, finishes};
use crate::core::fault::{Done, Fault};
use crate::core::machine::{Cx, Exec, Step};
use crate::core::plan::{From, Plan, Ready, Shape, input_flushes};
use crate::core::value::{GROUP, GROUPS, Kind, LANES, LOWER, Value};
use crate::core::wave::{Mode, Sgprs, Wave};
use crate::semantics::op::Op;

/// A type of operands and results of lane functions.
pub(crate) trait Lane: Value<Raw: Fetch + Finish> {}
impl<V: Value<Raw: Fetch + Finish>> Lane for V {}

/// The computation of an instruction. Operands that it does not have are of type `()`, and so is the result if it only computes flags.
pub(crate) trait Lanewise<A: Lane, B: Lane, C: Lane, D: Lane>: Copy {
    /// True if it computes a flag for each lane.
    const FLAGS: bool = false;

    /// Computes the results of a group of lanes, and for each lane a flag, which is 0 or 1. `bits` contains the lanes' bits of the mask
    /// operand. `FUSED`: the host has a fused multiply-add.
    fn group<const FUSED: bool>(
        self,
        bits: u32,
        operands: (&[A::Raw; GROUP], &[B::Raw; GROUP], &[C::Raw; GROUP]),
        out: &mut [D::Raw; GROUP],
        flags: &mut [u8; GROUP],
    );
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
        _: &mut [u8; GROUP],
    ) {
        for i in 0..GROUP {
            out[i] = (self.0)(A::from_raw(a[i]), B::from_raw(b[i]), C::from_raw(c[i])).into_raw();
        }
    }
}

/// A function of a lane's bit in the mask operand and of its other operands.
#[derive(Clone, Copy)]
pub(crate) struct Masked<F>(pub F);

impl<A: Lane, B: Lane, C: Lane, D: Lane, F: Fn(bool, A, B, C) -> D + Copy> Lanewise<A, B, C, D>
    for Masked<F>
{
    #[inline(always)]
    fn group<const FUSED: bool>(
        self,
        bits: u32,
        (a, b, c): (&[A::Raw; GROUP], &[B::Raw; GROUP], &[C::Raw; GROUP]),
        out: &mut [D::Raw; GROUP],
        _: &mut [u8; GROUP],
    ) {
        for i in 0..GROUP {
            let bit = bits >> i & 1 == 1;
            out[i] = (self.0)(bit, A::from_raw(a[i]), B::from_raw(b[i]), C::from_raw(c[i])).into_raw();
        }
    }
}

/// As [`Masked`], for a function that also returns a flag.
#[derive(Clone, Copy)]
pub(crate) struct Flagged<F>(pub F);

impl<A: Lane, B: Lane, C: Lane, D: Lane, F: Fn(bool, A, B, C) -> (D, bool) + Copy> Lanewise<A, B, C, D>
    for Flagged<F>
{
    const FLAGS: bool = true;

    #[inline(always)]
    fn group<const FUSED: bool>(
        self,
        bits: u32,
        (a, b, c): (&[A::Raw; GROUP], &[B::Raw; GROUP], &[C::Raw; GROUP]),
        out: &mut [D::Raw; GROUP],
        flags: &mut [u8; GROUP],
    ) {
        for i in 0..GROUP {
            let bit = bits >> i & 1 == 1;
            let (value, flag) = (self.0)(bit, A::from_raw(a[i]), B::from_raw(b[i]), C::from_raw(c[i]));
            (out[i], flags[i]) = (value.into_raw(), u8::from(flag));
        }
    }
}

/// The flags of all lanes, each 0 or 1, as a bit mask.
#[inline(always)]
fn packed(flags: &[u8; LANES]) -> u64 {
    // A multiplication by this number moves the lowest bit of each byte to the highest byte.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let eights = flags.as_chunks::<8>().0.iter().enumerate();
    eights
        .fold(0, |bits, (i, eight)| bits | (u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56) << (8 * i))
}

/// The execution of a vector instruction, which is compiled for several instruction sets of the host.
pub(crate) trait Vector: Copy + Send + Sync + 'static {
    /// Executes the instruction; must be inlined, so that it is compiled for the instruction set of its caller. `FUSED`: the host has a fused
    /// multiply-add.
    fn run<const FUSED: bool>(self, cx: &mut Cx<'_>, s: &Step) -> Result<(), Fault>;
}

/// The instruction with this execution.
pub(crate) fn op(vector: impl Vector) -> Op {
    Op::of(compiled(vector))
}

/// A function that returns its outcome in the form that [`Exec`] has.
struct Compiled<F>(F);

impl<F: Fn(&mut Cx<'_>, &Step) -> Done + Send + Sync> Exec for Compiled<F> {
    #[inline]
    fn execute(&self, cx: &mut Cx<'_>, step: &Step) -> Done {
        (self.0)(cx, step)
    }
}

/// Chooses the code for this host, once: the closures are compiled for the instruction set of the function in which they are.
#[multiversion::multiversion(targets("x86_64+avx2+fma"), dispatcher = "direct")]
fn compiled<V: Vector>(vector: V) -> Arc<dyn Exec> {
    multiversion::target::match_target! {
        "x86_64+fma" => Arc::new(Compiled(move |cx: &mut Cx<'_>, s: &Step| {
            if crate::fp::host::is_portable() {
                return portable(vector, cx, s);
            }
            vector.run::<true>(cx, s).map_err(Box::new)
        })),
        _ => Arc::new(Compiled(move |cx: &mut Cx<'_>, s: &Step| portable(vector, cx, s))),
    }
}

/// Executes an instruction with the instruction set that the crate is compiled for.
#[inline(never)]
fn portable<V: Vector>(vector: V, cx: &mut Cx<'_>, s: &Step) -> Done {
    if cfg!(any(target_feature = "fma", target_arch = "aarch64")) {
        vector.run::<true>(cx, s).map_err(Box::new)
    } else {
        vector.run::<false>(cx, s).map_err(Box::new)
    }
}

/// Runs an instruction on the lanes of its wave. The operands are the sources with the given indices and `mask`, which has a bit for each
/// lane. Returns a mask of the flags, in which the bits of inactive lanes are undefined.
#[inline(always)]
pub(crate) fn run<const FUSED: bool, A: Lane, B: Lane, C: Lane, D: Lane, W: Lanewise<A, B, C, D>>(
    cx: &mut Cx<'_>,
    s: &Step,
    places: [usize; 3],
    mask: u64,
    work: W,
) -> Result<u64, Fault> {
    let kinds = const { [Kind::of::<A>(), Kind::of::<B>(), Kind::of::<C>(), Kind::of::<D>()] };
    let made;
    let plan = match s.plan.get() {
        Some(plan) if applies(plan, cx.w, Shape::of(kinds, places)) => plan,
        _ => {
            made = prepare(cx, s, places, kinds)?;
            &made
        }
    };
    if !plan.signed.is_empty() {
        read::change_signs(cx.w, &plan.signed);
    }
    let lanes = cx.w.lanes;
    // A result to which modifiers must still be applied is first written to extra slots.
    let active = if plan.in_place { cx.w.exec() } else { lanes };
    let Wave { v, s: sgprs, .. } = &mut *cx.w;
    let registers = groups(v);
    let [a, b, c] = &plan.operands;
    let a = place::<A::Raw>(registers, a, sgprs);
    let b = place::<B::Raw>(registers, b, sgprs);
    let c = place::<C::Raw>(registers, c, sgprs);
    let target = D::Raw::at(registers, plan.target);
    let mut flags = [0; LANES];
    let count = if lanes == u64::MAX { GROUPS } else { LOWER / GROUP };
    for group in 0..count {
        let first = group * GROUP;
        let active = (active >> first) as u16;
        if active == 0 {
            continue;
        }
        let (a, b, c) = (A::Raw::get(a, group), B::Raw::get(b, group), C::Raw::get(c, group));
        let mut out = [D::Raw::default(); GROUP];
        let of_group = &mut flags.as_chunks_mut().0[group];
        work.group::<FUSED>((mask >> first) as u32, (&a, &b, &c), &mut out, of_group);
        D::Raw::put(target, group, active, &out);
    }
    if !plan.in_place {
        D::Raw::finish_from(cx, s, D::TY, plan.target);
    }
    Ok(if W::FLAGS { packed(&flags) } else { 0 })
}

/// The place of an operand.
#[inline(always)]
fn place<'v, R: Grouped>(registers: &'v [[Words; GROUPS]], operand: &Ready, sgprs: &Sgprs) -> R::Place<'v> {
    let place = R::at(registers, operand.slot);
    if R::WORDS > 0 && !matches!(operand.from, From::Lanes) {
        let value = match operand.from {
            From::Scalar(n) if R::WORDS == 1 => sgprs[usize::from(n)].into(),
            From::Scalar(n) => u64::from(sgprs[usize::from(n)]) | u64::from(sgprs[usize::from(n) + 1]) << 32,
            From::Same(value) => value,
            From::Lanes => 0,
        };
        R::fill(place, value);
    }
    place
}

/// Resolves the operands and the result of an instruction. If that depends on nothing but the instruction, the result is kept for the next
/// time. A function of its own for all instructions: as a part of each, it would be most of the code.
#[inline(never)]
fn prepare(cx: &mut Cx<'_>, s: &Step, places: [usize; 3], kinds: [Kind; 4]) -> Result<Plan, Fault> {
    let kept = s.plan.get_or_init(|| plan(cx.w, s, places, kinds));
    if applies(kept, cx.w, Shape::of(kinds, places)) {
        return Ok(kept.clone());
    }
    let room = cx.w.room();
    let in_place = finishes(s, kinds[3]) & cx.w.mode.flushes == 0;
    let mut plan = Plan {
        shape: Shape::of(kinds, places),
        registers: cx.w.v.len(),
        except: Mode::ALWAYS,
        operands: [Ready::default(); 3],
        signed: Box::default(),
        target: if in_place { s.vdst.into() } else { room + 6 },
        in_place,
    };
    for (n, (ready, kind)) in plan.operands.iter_mut().zip(kinds).enumerate() {
        if kind.words > 0 {
            *ready = read::ready(cx, s, places[n], kind, room + 2 * n)?;
        }
    }
    Ok(plan)
}

/// True if a plan is that of an instruction of this shape in the wave's mode.
#[inline(always)]
fn applies(plan: &Plan, w: &Wave, shape: Shape) -> bool {
    plan.shape == shape && plan.registers == w.v.len() && plan.except & w.mode.flushes == 0
}

/// The plan of an instruction whose operands and result need no modifiers but neg and abs; otherwise it is excepted in all modes.
fn plan(w: &Wave, s: &Step, places: [usize; 3], kinds: [Kind; 4]) -> Plan {
    let [operands @ .., result] = kinds;
    let room = w.room();
    let mut plan = Plan {
        shape: Shape::of(kinds, places),
        registers: w.v.len(),
        except: finishes(s, result) | if s.plain_lanes { 0 } else { Mode::ALWAYS },
        operands: [Ready::default(); 3],
        signed: Box::default(),
        target: s.vdst.into(),
        in_place: true,
    };
    let mut signed = Vec::new();
    for (n, kind) in operands.into_iter().enumerate().filter(|(_, kind)| kind.words > 0) {
        match read::fixed(s, places[n], kind, room + 2 * n, &mut signed) {
            Some(ready) => plan.operands[n] = ready,
            None => plan.except = Mode::ALWAYS,
        }
        plan.except |= input_flushes(kind.ty);
    }
    plan.signed = signed.into();
    plan
}
