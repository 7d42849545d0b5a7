//! The element types of device values, and the conversion of host values to their bits.

mod eight;
mod lane_mask;

use std::fmt;

pub use eight::{f8e4m3, f8e5m2};
use gcn_isa::target::WaveSize;
pub use half::{bf16, f16};
pub use lane_mask::LaneMask;

/// An element type.
#[allow(missing_docs, reason = "the names are the Rust types they stand for")]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Elem {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    Bf16,
    F32,
    F64,
    F8E4M3,
    F8E5M2,
}

impl Elem {
    /// All element types.
    pub const ALL: [Elem; 15] = [
        Elem::Bool,
        Elem::I8,
        Elem::U8,
        Elem::I16,
        Elem::U16,
        Elem::I32,
        Elem::U32,
        Elem::I64,
        Elem::U64,
        Elem::F16,
        Elem::Bf16,
        Elem::F32,
        Elem::F64,
        Elem::F8E4M3,
        Elem::F8E5M2,
    ];

    /// The mask that Rust applies to shift counts: the width in bits minus 1.
    pub const fn shift_mask(self) -> u32 {
        8 * self.bytes() - 1
    }

    /// Size in memory, in bytes.
    pub const fn bytes(self) -> u32 {
        match self {
            Elem::Bool | Elem::I8 | Elem::U8 | Elem::F8E4M3 | Elem::F8E5M2 => 1,
            Elem::I16 | Elem::U16 | Elem::F16 | Elem::Bf16 => 2,
            Elem::I32 | Elem::U32 | Elem::F32 => 4,
            Elem::I64 | Elem::U64 | Elem::F64 => 8,
        }
    }

    /// Size in registers, in dwords: 1 for up to 32 bits, 2 for 64 bits.
    pub const fn dwords(self) -> u8 {
        if self.bytes() == 8 { 2 } else { 1 }
    }

    /// True for the floating-point types.
    pub const fn is_float(self) -> bool {
        matches!(self, Elem::F16 | Elem::Bf16 | Elem::F32 | Elem::F64) || self.is_eight_bit_float()
    }

    /// True for integers of fewer than 32 bits.
    pub const fn is_narrow_integer(self) -> bool {
        matches!(self, Elem::I8 | Elem::U8 | Elem::I16 | Elem::U16)
    }

    /// True for the 8-bit floats, which can be stored and converted, but have no arithmetic.
    pub const fn is_eight_bit_float(self) -> bool {
        matches!(self, Elem::F8E4M3 | Elem::F8E5M2)
    }

    /// True for signed integers.
    pub const fn is_signed(self) -> bool {
        matches!(self, Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64)
    }

    /// Rust's name for the type.
    pub const fn name(self) -> &'static str {
        match self {
            Elem::Bool => "bool",
            Elem::I8 => "i8",
            Elem::U8 => "u8",
            Elem::I16 => "i16",
            Elem::U16 => "u16",
            Elem::I32 => "i32",
            Elem::U32 => "u32",
            Elem::I64 => "i64",
            Elem::U64 => "u64",
            Elem::F16 => "f16",
            Elem::Bf16 => "bf16",
            Elem::F32 => "f32",
            Elem::F64 => "f64",
            Elem::F8E4M3 => "f8e4m3",
            Elem::F8E5M2 => "f8e5m2",
        }
    }
}

impl fmt::Display for Elem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A host type that has a device counterpart: `bool`, `i8` to `i64`, `u8` to `u64`, [`f16`](struct@f16),
/// [`bf16`], `f32`, `f64`, [`f8e4m3`], [`f8e5m2`], [`LaneMask`].
///
/// In registers, integers narrower than 32 bits are sign- or zero-extended, and 16-bit floats are in the low half.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a device type",
    label = "not a device type",
    note = "device scalars are bool, i8..i64, u8..u64, f16, bf16, f32, f64, f8e4m3 and f8e5m2"
)]
pub trait Scalar: Copy + PartialEq + fmt::Debug + Send + Sync + 'static {
    /// The element type, in memory and as an argument.
    const ELEM: Elem;
    /// The element type of values in registers, in waves of this size.
    #[doc(hidden)]
    fn elem_in(_wave: WaveSize) -> Elem {
        Self::ELEM
    }
    /// The bits of the value in registers, with narrow integers extended.
    fn to_bits(self) -> u64;
    /// Appends the bytes of the value in memory, little-endian, to `out`.
    fn write_bytes(self, out: &mut Vec<u8>);
    /// Reads a value from exactly `Self::ELEM.bytes()` bytes.
    fn read_bytes(bytes: &[u8]) -> Self;
    /// The error for bytes that are not a valid value: for an enum, a number that is not that of a variant. `None` if
    /// they are valid.
    fn unknown(_bytes: &[u8]) -> Option<UnknownVariant> {
        None
    }
}

/// The error for an element in memory whose type is an enum and whose number is not that of a variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownVariant {
    /// The name of the enum.
    pub of: &'static str,
    /// The number in memory.
    pub number: i128,
}

impl fmt::Display for UnknownVariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no variant of `{}` is {}", self.of, self.number)
    }
}

impl std::error::Error for UnknownVariant {}

/// Device scalars other than `bool`, which can be elements of memory and operands of arithmetic.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of device memory",
    label = "not a number type of the device",
    note = "use i8..i64, u8..u64, f16, bf16, f32, f64, f8e4m3 or f8e5m2"
)]
pub trait Number: CastTarget {}

/// Types `T` to which `as T` converts a device value: numbers.
#[diagnostic::on_unimplemented(
    message = "no device value becomes a `{Self}` by `as`",
    label = "`as {Self}` is not a conversion of the device",
    note = "`as` gives i8 to i64, u8 to u64, f16, bf16, f32, f64, f8e4m3 and f8e5m2",
    note = "`LaneMask::from(n)` gives a mask of lanes; for a condition compare, `n != 0`; `as usize` gives a `u32`, which indexes memory and arrays"
)]
pub trait CastTarget: Scalar {}

macro_rules! scalars {
    ($($ty:ident $elem:ident |$v:ident| $bits:expr;)*) => {$(
        impl Scalar for $ty {
            const ELEM: Elem = Elem::$elem;
            fn to_bits(self) -> u64 { let $v = self; $bits }
            fn write_bytes(self, out: &mut Vec<u8>) { out.extend_from_slice(&self.to_le_bytes()); }
            fn read_bytes(bytes: &[u8]) -> Self {
                let mut array = [0; size_of::<$ty>()];
                array.copy_from_slice(bytes);
                $ty::from_le_bytes(array)
            }
        }
        impl Number for $ty {}
        impl CastTarget for $ty {}
    )*};
}

scalars! {
    i8 I8 |v| u64::from(i32::from(v) as u32);
    u8 U8 |v| u64::from(v);
    i16 I16 |v| u64::from(i32::from(v) as u32);
    u16 U16 |v| u64::from(v);
    i32 I32 |v| u64::from(v as u32);
    u32 U32 |v| u64::from(v);
    i64 I64 |v| v as u64;
    u64 U64 |v| v;
    f16 F16 |v| u64::from(f16::to_bits(v));
    bf16 Bf16 |v| u64::from(bf16::to_bits(v));
    f32 F32 |v| u64::from(f32::to_bits(v));
    f64 F64 |v| f64::to_bits(v);
    f8e4m3 F8E4M3 |v| u64::from(f8e4m3::to_bits(v));
    f8e5m2 F8E5M2 |v| u64::from(f8e5m2::to_bits(v));
}

impl Scalar for bool {
    const ELEM: Elem = Elem::Bool;
    fn to_bits(self) -> u64 {
        u64::from(self)
    }
    fn write_bytes(self, out: &mut Vec<u8>) {
        out.push(u8::from(self));
    }
    fn read_bytes(bytes: &[u8]) -> Self {
        bytes[0] != 0
    }
}
