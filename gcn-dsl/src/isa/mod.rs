//! Every instruction of the table as a typed function with its own mnemonic, for use in kernels.
//!
//! The functions are generated from `gcn_isa::table`. A vector operand takes a [`V`], an [`S`] or a host value of the right
//! width, a scalar operand an `S` or a host value; the result's type follows from the mnemonic. Waits, encodings and
//! registers are the compiler's business. A kernel that calls an instruction which its target lacks does not build, and with
//! `#[targets(…)]` does not compile.
//!
//! Not here: what steers the wave (branches, EXEC writes), what needs flags that the compiler does not keep (SCC, VCC as
//! carry), waits, and instructions with two results or a tied destination.
//!
//! ```
//! use gcn_dsl::{isa, prelude::*};
//! gcn_kernel! {
//!     /// Bits set in each element.
//!     #[workgroup(64)]
//!     fn popcount(x: &mut [u32]) {
//!         let i = global_id().x;
//!         x[i] = isa::v_bcnt_u32_b32(x[i], 0);
//!     }
//! }
//! # popcount.build(Target::GFX90A).unwrap();
//! ```

use std::panic::Location;

use half::{bf16, f16};

use crate::ir::{Arg, Inst, Type, Value};
use crate::lang::{Flatten, IntoDevice, S, V, Vector, with};
use crate::scalar::{Number, Scalar};
use gcn_isa::Mods;

/// An operand of `DWORDS` registers in a vector slot: varying, uniform or a host value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a {DWORDS}-dword instruction operand",
    label = "wrong width or not a device value",
    note = "32-bit types fill one dword, 64-bit types two, `Vector<T, N>` as many as it has"
)]
pub trait Source<const DWORDS: u8> {
    /// The operand.
    fn arg(self) -> Arg;
}

/// An operand of `DWORDS` registers in a scalar slot: uniform or a host value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a uniform {DWORDS}-dword instruction operand",
    label = "expected `S<_>` or a host value of {DWORDS} dwords",
    note = "take one lane's value with `read_first_lane(v)`"
)]
pub trait UniformSource<const DWORDS: u8> {
    /// The operand.
    fn arg(self) -> Arg;
}

macro_rules! sources {
    ($dwords:literal: $($t:ty),*) => {$(
        impl Source<$dwords> for V<$t> {
            fn arg(self) -> Arg { Arg::Value(self.value) }
        }
        impl Source<$dwords> for S<$t> {
            fn arg(self) -> Arg {
                let v: V<$t> = self.into_device();
                Arg::Value(v.value)
            }
        }
        impl Source<$dwords> for $t {
            fn arg(self) -> Arg {
                let v: V<$t> = self.into_device();
                Arg::Value(v.value)
            }
        }
        impl UniformSource<$dwords> for S<$t> {
            fn arg(self) -> Arg { Arg::Value(self.value) }
        }
        impl UniformSource<$dwords> for $t {
            fn arg(self) -> Arg {
                let s: S<$t> = self.into_device();
                Arg::Value(s.value)
            }
        }
    )*};
}
sources!(1: i8, u8, i16, u16, i32, u32, f16, bf16, f32);
sources!(2: i64, u64, f64);

/// A lane mask.
impl Source<2> for V<bool> {
    fn arg(self) -> Arg {
        Arg::Value(self.value)
    }
}

impl UniformSource<2> for V<bool> {
    fn arg(self) -> Arg {
        Arg::Value(self.value)
    }
}

macro_rules! vector_sources {
    ($($t:ty: $($n:literal => $dwords:literal),*;)*) => {$($(
        impl Source<$dwords> for Vector<$t, $n> {
            fn arg(self) -> Arg { Arg::Value(self.value) }
        }
    )*)*};
}
vector_sources! {
    u32: 1 => 1, 2 => 2, 3 => 3, 4 => 4, 8 => 8, 16 => 16, 32 => 32;
    i32: 2 => 2, 4 => 4, 16 => 16, 32 => 32;
    f32: 1 => 1, 2 => 2, 3 => 3, 4 => 4, 16 => 16, 32 => 32;
    f16: 2 => 1, 4 => 2, 8 => 4;
    bf16: 2 => 1, 4 => 2, 8 => 4;
    f64: 1 => 2, 4 => 8;
    i8: 4 => 1, 8 => 2;
    u8: 4 => 1, 8 => 2;
}

/// Result types of instruction functions.
trait InstructionResult: Flatten {
    const TYPE: Type;
}
impl<T: Scalar> InstructionResult for V<T> {
    const TYPE: Type = V::<T>::TYPE;
}
impl<T: Scalar> InstructionResult for S<T> {
    const TYPE: Type = S::<T>::TYPE;
}
impl<T: Number, const N: usize> InstructionResult for Vector<T, N> {
    const TYPE: Type = Type { place: crate::ir::Place::Varying, elem: T::ELEM, count: N as u8 };
}

fn instruction(mnemonic: &'static str, args: &[Arg], offset: i32, effects: bool) -> Inst {
    Inst::Machine {
        mnemonic,
        args: args.iter().copied().collect(),
        mods: Mods { offset, ..Mods::default() },
        effects,
    }
}

#[track_caller]
fn result<R: InstructionResult>(mnemonic: &'static str, args: &[Arg], offset: i32, effects: bool) -> R {
    let inst = instruction(mnemonic, args, offset, effects);
    let value: Value = with(|c| c.value(inst, R::TYPE, Location::caller()));
    R::unflatten(&mut std::iter::once(value))
}

#[track_caller]
fn effect(mnemonic: &'static str, args: &[Arg], offset: i32, _effects: bool) {
    with(|c| c.effect(instruction(mnemonic, args, offset, true), Location::caller()));
}

include!(concat!(env!("OUT_DIR"), "/isa.rs"));
