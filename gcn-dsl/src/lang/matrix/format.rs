//! The element types of matrices.

use std::fmt;

use gcn_isa::layout::ElemType;
use half::{bf16, f16};

use crate::ir::{Place, Type};
use crate::scalar::{Elem, Number, f8e4m3, f8e5m2};

/// Element types of matrix operands.
///
/// `f16`, `bf16`, `f32`, `f64`, `i8`, `i32`, `f8e4m3` and `f8e5m2` are also scalar types of the DSL. The other formats
/// are only names, and in memory their elements are packed into plain integers, starting at the low bits: one in a byte
/// for [`Fp8`] and [`Bf8`] (the formats of `f8e4m3` and `f8e5m2`, but in memory of `u8`), four in three bytes for
/// [`Fp6`] and [`Bf6`], two in a byte for [`Fp4`] and [`I4`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element type of matrix instructions",
    label = "no matrix element",
    note = "there are f16, bf16, f32, f64, i8, f8e4m3, f8e5m2 (accumulators: f32, f64, i32, f16, bf16), `Xf32`, `Fp8`, `Bf8`, `I4`, and `Fp6`, `Bf6`, `Fp4` in `MxA` and `MxB`"
)]
pub trait MatrixElement: Copy + fmt::Debug + Send + Sync + 'static {
    /// The format's name in the layout tables.
    const FORMAT: ElemType;
    /// The element type of memory that holds such elements.
    type Memory: Number;
}

macro_rules! elements {
    ($($name:ident $format:ident $memory:ident;)*) => {$(
        impl MatrixElement for $name {
            const FORMAT: ElemType = ElemType::$format;
            type Memory = $memory;
        }
    )*};
}

macro_rules! formats {
    ($($(#[$doc:meta])* $name:ident $memory:ident $(as $table:ident)?;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $name;
        formats! { @element $name $($table)? $memory }
    )*};
    (@element $name:ident $memory:ident) => { elements! { $name $name $memory; } };
    (@element $name:ident $table:ident $memory:ident) => { elements! { $name $table $memory; } };
}

elements! {
    f16 F16 f16;
    bf16 Bf16 bf16;
    f32 F32 f32;
    f64 F64 f64;
    i8 I8 i8;
    i32 I32 i32;
    f8e4m3 Fp8 f8e4m3;
    f8e5m2 Bf8 f8e5m2;
}

formats! {
    /// An f32 of which the instruction uses the upper 19 bits (gfx942).
    Xf32 f32;
    /// A float of 4 exponent and 3 fraction bits: `e4m3fnuz` on gfx942, OCP `e4m3fn` on gfx950. A byte in memory.
    Fp8 u8;
    /// A float of 5 exponent and 2 fraction bits: `e5m2fnuz` on gfx942, OCP `e5m2` on gfx950. A byte in memory.
    Bf8 u8;
    /// OCP `e2m3`, 6 bits (gfx950). Four in three bytes of memory.
    Fp6 u8;
    /// OCP `e3m2`, 6 bits (gfx950). Four in three bytes of memory.
    Bf6 u8;
    /// OCP `e2m1`, 4 bits (gfx950). Two in a byte of memory.
    Fp4 u8;
    /// A signed integer of 4 bits, -8 to 7 (RDNA 3 and later). Two in a byte of memory.
    I4 u8 as Iu4;
}

/// Formats that the `f8f6f4` instructions take (gfx950).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an MX format",
    label = "not an 8-, 6- or 4-bit float",
    note = "`MxA` and `MxB` hold `Fp8`, `Bf8`, `Fp6`, `Bf6` or `Fp4`"
)]
pub trait MxFormat: MatrixElement {
    /// The format's code in the `cbsz` or `blgp` field.
    const CODE: u8;
}

macro_rules! mx {
    ($($name:ident $code:literal)*) => {$( impl MxFormat for $name { const CODE: u8 = $code; } )*};
}
mx! { Fp8 0 Bf8 1 Fp6 2 Bf6 3 Fp4 4 }

/// The size of an element in bits.
pub(super) fn bits(format: ElemType) -> u32 {
    format.bits().map_or(8, u32::from)
}

/// The IR type of `elements` matrix elements in a lane's registers; its count is in elements of `T::Memory`.
pub(super) fn packed<T: MatrixElement>(place: Place, elements: u32) -> Type {
    let (elem, per) = (<T::Memory as crate::scalar::Scalar>::ELEM, bits(T::FORMAT));
    // A memory element contains several matrix elements (for example, two of 4 bits in a byte) or exactly one.
    let count = elements * per / (8 * elem.bytes());
    Type { place, elem: if elem == Elem::Bool { Elem::U8 } else { elem }, count: count as u8 }
}

/// Element types of accumulators.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an accumulator's element type",
    label = "accumulators hold f32, f64, i32, f16 or bf16",
    note = "products of f16, bf16 and smaller floats add up in f32, products of i8 in i32; on RDNA 3 and 4 those of f16 and bf16 also add up in f16 and bf16"
)]
pub trait AccElement: MatrixElement<Memory = Self> + Number {}
impl AccElement for f32 {}
impl AccElement for f64 {}
impl AccElement for i32 {}
impl AccElement for f16 {}
impl AccElement for bf16 {}
