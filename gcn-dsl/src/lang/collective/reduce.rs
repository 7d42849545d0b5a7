//! Reductions and scans over the lanes of a wave.
//!
//! The reduction of a whole wave takes six steps of data-parallel primitives, without LDS. Inactive lanes do not
//! contribute: the steps run with all lanes active, after the operation's identity has been written to the inactive
//! ones.

use std::panic::Location;

use super::shuffle::all_lanes_run;
use crate::ir::wave::{Spread, Wave};
use crate::ir::{Bin, Inst, Place, Type, Value};
use crate::lang::numbers::arithmetic::{Arithmetic, Integer};
use crate::lang::{PerLane, S, V, with};
use crate::scalar::{Elem, Number};

/// The segment width that stands for a whole wave, whatever its size.
pub(in crate::lang) const WHOLE: usize = gcn_isa::target::WAVE_SIZE as usize;

/// The number of lanes in a wave of the kernel that is being built.
fn whole() -> u8 {
    with(|c| c.wave.lanes()) as u8
}

/// The segment width; an error is recorded if a segment of `width` lanes is wider than a wave.
fn within_wave(width: usize, loc: &'static Location<'static>) -> u8 {
    let whole = whole();
    if width > usize::from(whole) {
        with(|c| {
            c.fail(loc, format!("`Lanes<{width}>` in waves of {whole} lanes: build the kernel with `#[wave(64)]`, or use `wave_sum` and its like"));
        });
        return whole;
    }
    width as u8
}

/// Emits a reduction or scan. bf16 values are combined in f32, and the result is rounded once at the end.
pub(in crate::lang) fn wave<T: Number>(
    op: Bin,
    spread: Spread,
    width: u8,
    x: Value,
    loc: &'static Location<'static>,
) -> Value {
    let all_active = all_lanes_run();
    let uniform = spread == Spread::Reduce && width == whole();
    let place = if uniform { Place::Uniform } else { Place::Varying };
    let elem = if T::ELEM == Elem::Bf16 { Elem::F32 } else { T::ELEM };
    with(|c| {
        let value = if elem == T::ELEM { x } else { c.value(Inst::Cast(x), Type::varying(elem), loc) };
        let of = |elem| Type { place, elem, count: 1 };
        let wave = c.value(Inst::Wave(Wave { op, spread, width, value, all_active }), of(elem), loc);
        if elem == T::ELEM { wave } else { c.value(Inst::Cast(wave), of(T::ELEM), loc) }
    })
}

/// A wave divided into segments of `W` lanes (16, 32 or 64), each of which is reduced or scanned separately.
///
/// ```
/// use gcn_dsl::prelude::*;
/// gcn_kernel! {
///     /// Each 16 elements divided by their sum.
///     #[workgroup(256)]
///     fn normalise(x: &mut [f32]) {
///         let i = global_id().x;
///         x[i] = x[i] / Lanes::<16>::sum(x[i]);
///     }
/// }
/// # normalise.build(Target::GFX942).unwrap();
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Lanes<const W: usize>(());

/// The widths that [`Lanes`] allows.
#[diagnostic::on_unimplemented(
    message = "lanes are reduced in segments of 16, 32 or 64, and this is another width",
    label = "no segment of this width",
    note = "for 2, 4 and 8 lanes join neighbours with `shuffle_xor(x, 1)`, `2`, `4`"
)]
pub trait Segment {}
impl Segment for Lanes<16> {}
impl Segment for Lanes<32> {}
impl Segment for Lanes<WHOLE> {}

macro_rules! reductions {
    ($($bound:ident $op:ident $name:ident $inclusive:ident $exclusive:ident
        $wave:ident $wave_inclusive:ident $wave_exclusive:ident
        $what:literal $first:literal;)*) => {
        $(
            #[doc = concat!($what, " of the active lanes' values.")]
            #[track_caller]
            pub fn $wave<T: $bound>(x: impl PerLane<T>) -> S<T> {
let x = x.per_lane();
                S::from_value(wave::<T>(Bin::$op, Spread::Reduce, whole(), x.value, Location::caller()))
            }

            #[doc = concat!($what, " of the values of this active lane and those below it.")]
            #[track_caller]
            pub fn $wave_inclusive<T: $bound>(x: impl PerLane<T>) -> V<T> {
let x = x.per_lane();
                V::from_value(wave::<T>(Bin::$op, Spread::Inclusive, whole(), x.value, Location::caller()))
            }

            #[doc = concat!($what, " of the values of the active lanes below this one; ", $first, " where there is none.")]
            #[track_caller]
            pub fn $wave_exclusive<T: $bound>(x: impl PerLane<T>) -> V<T> {
let x = x.per_lane();
                V::from_value(wave::<T>(Bin::$op, Spread::Exclusive, whole(), x.value, Location::caller()))
            }
        )*

        impl<const W: usize> Lanes<W> {
            $(
                #[doc = concat!($what, " of the values of the segment's active lanes.")]
                #[track_caller]
                pub fn $name<T: $bound>(x: impl PerLane<T>) -> V<T>
                where
                    Lanes<W>: Segment,
                {
let x = x.per_lane();
                    let loc = Location::caller();
                    let width = within_wave(W, loc);
                    let value = wave::<T>(Bin::$op, Spread::Reduce, width, x.value, loc);
                    if width == whole() { V::emit(Inst::Splat(value), loc) } else { V::from_value(value) }
                }

                #[doc = concat!($what, " of the values of this active lane and those below it in its segment.")]
                #[track_caller]
                pub fn $inclusive<T: $bound>(x: impl PerLane<T>) -> V<T>
                where
                    Lanes<W>: Segment,
                {
let x = x.per_lane();
                    let loc = Location::caller();
                    V::from_value(wave::<T>(Bin::$op, Spread::Inclusive, within_wave(W, loc), x.value, loc))
                }

                #[doc = concat!(
                    $what, " of the values of the active lanes below this one in its segment; ",
                    $first, " where there is none."
                )]
                #[track_caller]
                pub fn $exclusive<T: $bound>(x: impl PerLane<T>) -> V<T>
                where
                    Lanes<W>: Segment,
                {
let x = x.per_lane();
                    let loc = Location::caller();
                    V::from_value(wave::<T>(Bin::$op, Spread::Exclusive, within_wave(W, loc), x.value, loc))
                }
            )*
        }
    };
}

reductions! {
    Arithmetic Add sum inclusive_sum exclusive_sum
        wave_sum wave_inclusive_sum wave_exclusive_sum "The sum" "0 (-0.0 for floats)";
    Arithmetic Mul product inclusive_product exclusive_product
        wave_product wave_inclusive_product wave_exclusive_product "The product" "1";
    Arithmetic Min min inclusive_min exclusive_min
        wave_min wave_inclusive_min wave_exclusive_min "The smallest" "the type's largest value (infinity for floats)";
    Arithmetic Max max inclusive_max exclusive_max
        wave_max wave_inclusive_max wave_exclusive_max "The largest" "the type's smallest value (minus infinity for floats)";
    Integer And and inclusive_and exclusive_and
        wave_and wave_inclusive_and wave_exclusive_and "The bitwise and" "all ones";
    Integer Or or inclusive_or exclusive_or
        wave_or wave_inclusive_or wave_exclusive_or "The bitwise or" "0";
    Integer Xor xor inclusive_xor exclusive_xor
        wave_xor wave_inclusive_xor wave_exclusive_xor "The bitwise exclusive or" "0";
}
