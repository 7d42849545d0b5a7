//! The types that can be operands of instruction functions.

use std::panic::Location;

use half::{bf16, f16};

use crate::ir::{Arg, Inst, Place, Type, Value};
use crate::lang::{IntoDevice, S, V, Vector, with};
use crate::scalar::Elem;

use super::options::Options;
use super::sgprs::Sgprs;

/// An operand with its source modifiers.
#[derive(Debug, Clone, Copy)]
pub struct Input {
    pub(super) arg: Arg,
    pub(super) neg: bool,
    pub(super) abs: bool,
    pub(super) sext: bool,
}

impl Input {
    const fn plain(arg: Arg) -> Input {
        Input { arg, neg: false, abs: false, sext: false }
    }

    #[doc(hidden)]
    pub const fn value(value: Value) -> Input {
        Input::plain(Arg::Value(value))
    }

    #[doc(hidden)]
    pub const fn imm(value: i64) -> Input {
        Input::plain(Arg::Imm(value))
    }

    #[doc(hidden)]
    pub const fn literal(bits: u32) -> Input {
        Input::plain(Arg::Literal(bits))
    }

    #[doc(hidden)]
    pub const fn literal64(bits: u64) -> Input {
        Input::plain(Arg::Literal64(bits))
    }

    #[doc(hidden)]
    pub const OFF: Input = Input::plain(Arg::Off);
}

/// Types that can be passed for a vector operand of `DWORDS` registers: varying, uniform and host values.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a {DWORDS}-dword instruction operand",
    label = "wrong width or not a device value",
    note = "32-bit types fill one dword, 64-bit types two, `Vector<T, N>` as many as it has"
)]
pub trait Source<const DWORDS: u8> {
    /// The value as an operand.
    fn input(self) -> Input;
}

/// Types that can be passed for a scalar operand of `DWORDS` registers: uniform and host values.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a uniform {DWORDS}-dword instruction operand",
    label = "expected `S<_>` or a host value, {DWORDS} x 32 bits",
    note = "take one lane's value with `read_first_lane(v)`; tuples of four and more dwords are `Sgprs<N>`"
)]
pub trait UniformSource<const DWORDS: u8> {
    /// The value as an operand.
    fn input(self) -> Input;
}

macro_rules! sources {
    ($dwords:literal: $($t:ty),*) => {$(
        impl Source<$dwords> for V<$t> {
            fn input(self) -> Input { Input::value(self.value) }
        }
        impl Source<$dwords> for S<$t> {
            fn input(self) -> Input {
                let v: V<$t> = self.into_device();
                Input::value(v.value)
            }
        }
        impl Source<$dwords> for $t {
            fn input(self) -> Input {
                let v: V<$t> = self.into_device();
                Input::value(v.value)
            }
        }
        impl UniformSource<$dwords> for S<$t> {
            fn input(self) -> Input { Input::value(self.value) }
        }
        impl UniformSource<$dwords> for $t {
            fn input(self) -> Input {
                let s: S<$t> = self.into_device();
                Input::value(s.value)
            }
        }
    )*};
}
sources!(1: i8, u8, i16, u16, i32, u32, f16, bf16, f32);
sources!(2: i64, u64, f64);

/// A lane mask, which is a pair of scalar registers.
impl Source<2> for V<bool> {
    fn input(self) -> Input {
        Input::value(self.value)
    }
}

/// A lane mask, which is a pair of scalar registers.
impl UniformSource<2> for V<bool> {
    fn input(self) -> Input {
        Input::value(self.value)
    }
}

/// The lane mask of all lanes or of none.
impl UniformSource<2> for bool {
    fn input(self) -> Input {
        let v: V<bool> = self.into_device();
        Input::value(v.value)
    }
}

impl<const N: usize> Sgprs<N> {
    const fn input_of(self) -> Input {
        Input::value(self.value)
    }
}

macro_rules! tuple_sources {
    ($($n:literal as $dwords:literal),*) => {$(
        impl UniformSource<$dwords> for Sgprs<$n> {
            fn input(self) -> Input { self.input_of() }
        }
    )*};
}
tuple_sources!(4 as 4, 8 as 8, 16 as 16);

macro_rules! vector_sources {
    ($($t:ty: $($n:literal => $dwords:literal),*;)*) => {$($(
        impl Source<$dwords> for Vector<$t, $n> {
            fn input(self) -> Input { Input::value(self.value) }
        }
    )*)*};
}
vector_sources! {
    u32: 1 => 1, 2 => 2, 3 => 3, 4 => 4, 6 => 6, 8 => 8, 16 => 16, 32 => 32;
    i32: 1 => 1, 2 => 2, 3 => 3, 4 => 4, 8 => 8, 16 => 16, 32 => 32;
    f32: 1 => 1, 2 => 2, 3 => 3, 4 => 4, 8 => 8, 16 => 16, 32 => 32;
    f16: 2 => 1, 4 => 2, 8 => 4, 16 => 8, 32 => 16;
    bf16: 2 => 1, 4 => 2, 8 => 4, 16 => 8, 32 => 16;
    u16: 2 => 1, 4 => 2, 8 => 4;
    i16: 2 => 1, 4 => 2, 8 => 4;
    u64: 1 => 2, 2 => 4;
    i64: 1 => 2, 2 => 4;
    f64: 1 => 2, 2 => 4, 4 => 8;
    i8: 4 => 1, 8 => 2, 16 => 4, 32 => 8;
    u8: 4 => 1, 8 => 2, 16 => 4, 32 => 8;
}

/// Types that can be passed for the A or B operand of the `f8f6f4` matrix instructions: 8 dwords for fp8 and bf8, 6 for
/// fp6 and bf6, 4 for fp4. With waves of 32 lanes (gfx1250) it is twice as many.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operand of an f8f6f4 matrix instruction",
    label = "expected `Vector<u32, N>` with N = 8, 6 or 4, on gfx1250 16, 12 or 8",
    note = "`cbsz` and `blgp`, on gfx1250 `matrix_a_fmt` and `matrix_b_fmt`, choose the format of A and B and with it the number of dwords"
)]
pub trait MatrixSource {
    /// The value as an operand.
    fn input(self) -> Input;
}

macro_rules! matrix_sources {
    ($($n:literal),*) => {$(
        impl MatrixSource for Vector<u32, $n> {
            fn input(self) -> Input { Input::value(self.value) }
        }
    )*};
}
matrix_sources!(4, 6, 8, 12, 16);

/// An operand with source modifiers: the result of [`neg`], [`abs`] or [`sext`].
#[derive(Debug, Clone, Copy)]
pub struct Modified<X> {
    operand: X,
    change: fn(&mut Input),
}

impl<X: Source<DWORDS>, const DWORDS: u8> Source<DWORDS> for Modified<X> {
    fn input(self) -> Input {
        let mut input = self.operand.input();
        (self.change)(&mut input);
        input
    }
}

/// `-x` as a source modifier of a VALU instruction. It needs no additional instruction.
///
/// ```
/// use gcn_dsl::{isa, prelude::*};
/// gcn_kernel! {
///     /// x = |x| - y, in one instruction.
///     #[workgroup(64)]
///     fn distance(x: &mut [f32], y: &[f32]) {
///         let i = global_id().x;
///         x[i] = isa::v_add_f32(isa::abs(x[i]), isa::neg(y[i]));
///     }
/// }
/// # distance.build(Target::GFX942).unwrap();
/// ```
pub fn neg<X>(x: X) -> Modified<X> {
    Modified { operand: x, change: |input| input.neg = !input.neg }
}

/// `|x|` as a source modifier of a VALU instruction.
pub fn abs<X>(x: X) -> Modified<X> {
    Modified {
        operand: x,
        change: |input| {
            input.abs = true;
            input.neg = false;
        },
    }
}

/// `sext(x)` as a source modifier: the part of an SDWA operand that its selector chooses is sign-extended.
pub fn sext<X>(x: X) -> Modified<X> {
    Modified { operand: x, change: |input| input.sext = true }
}

/// A buffer address without a vector register: only `soffset` and `offset`.
#[derive(Debug, Clone, Copy)]
pub struct Off;

/// A buffer address with a byte offset for each lane (`offen`).
#[derive(Debug, Clone, Copy)]
pub struct Offen<X>(pub X);

/// A buffer address with a record index for each lane (`idxen`); the record size is the resource's stride.
#[derive(Debug, Clone, Copy)]
pub struct Idxen<X>(pub X);

/// A buffer address with an index and a byte offset in the record (`idxen offen`).
#[derive(Debug, Clone, Copy)]
pub struct Bothen<X, Y>(pub X, pub Y);

/// Types of the vector part of a buffer address. The resource and `soffset` are separate operands.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a buffer address",
    label = "expected `Off`, `Offen(_)`, `Idxen(_)` or `Bothen(_, _)`",
    note = "`Offen(offset)` is a byte offset for each lane, `Idxen(index)` an index of records, `Bothen(index, offset)` both, `Off` neither"
)]
pub trait BufferAddress {
    /// The `vaddr` operand, and the modifiers that say what the operand contains.
    fn split(self) -> (Input, Options);
}

impl BufferAddress for Off {
    fn split(self) -> (Input, Options) {
        (Input::OFF, Options::new())
    }
}

impl<X: Source<1>> BufferAddress for Offen<X> {
    fn split(self) -> (Input, Options) {
        (self.0.input(), Options::addressing(true, false))
    }
}

impl<X: Source<1>> BufferAddress for Idxen<X> {
    fn split(self) -> (Input, Options) {
        (self.0.input(), Options::addressing(false, true))
    }
}

impl<X: Source<1>, Y: Source<1>> BufferAddress for Bothen<X, Y> {
    fn split(self) -> (Input, Options) {
        let parts = [self.0.input().arg, self.1.input().arg];
        let parts = parts.iter().filter_map(|arg| match arg {
            Arg::Value(v) => Some(*v),
            _ => None,
        });
        let ty = Type { place: Place::Varying, elem: Elem::U32, count: 2 };
        let pair = with(|c| c.builder.value(Inst::Concat(parts.collect()), ty, None));
        (Input::value(pair), Options::addressing(true, true))
    }
}

/// Types of the address of a global instruction: `V<u64>`, or `(offset, base)`, a 32-bit byte offset for each lane and
/// a uniform base.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a global address",
    label = "expected `V<u64>` or `(offset, base)`",
    note = "the offset is a `V<u32>`, the base an `S<u64>` or a raw pointer argument"
)]
pub trait GlobalAddress {
    /// The `vaddr` and `saddr` operands.
    fn split(self) -> (Input, Input);
}

impl GlobalAddress for V<u64> {
    fn split(self) -> (Input, Input) {
        (Input::value(self.value), Input::OFF)
    }
}

impl<X: Source<1>, Y: UniformSource<2>> GlobalAddress for (X, Y) {
    fn split(self) -> (Input, Input) {
        (self.0.input(), self.1.input())
    }
}

/// Types of the offset of a scalar memory instruction in bytes: an immediate, a uniform value, or their sum.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the offset of a scalar memory instruction",
    label = "expected `i32`, `S<u32>` or `(S<u32>, i32)`",
    note = "convert with `as u32`; take one lane's value with `read_first_lane(v)`"
)]
pub trait SmemOffset {
    /// The register operand, and the immediate as a modifier.
    fn split(self) -> (Input, Options);
}

impl SmemOffset for i32 {
    fn split(self) -> (Input, Options) {
        (Input::imm(self.into()), Options::new())
    }
}

impl SmemOffset for S<u32> {
    fn split(self) -> (Input, Options) {
        (Input::value(self.value), Options::new())
    }
}

impl SmemOffset for (S<u32>, i32) {
    fn split(self) -> (Input, Options) {
        (Input::value(self.0.value), Options::at(self.1))
    }
}

/// The low and the high dword of a uniform 64-bit value or of a raw pointer.
#[track_caller]
pub fn halves(x: impl UniformSource<2>) -> [S<u32>; 2] {
    let Arg::Value(from) = x.input().arg else { unreachable!("a uniform operand is a value") };
    let loc = Location::caller();
    [0, 1].map(|dword| S::emit(Inst::Extract { from, dword }, loc))
}
