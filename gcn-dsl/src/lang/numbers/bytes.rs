//! Conversions between numbers and their bytes: `x.to_le_bytes()` and `u32::from_le_bytes([a, b, c, d])`.

use half::{bf16, f16};

use crate::lang::{S, V, cast};

/// Arrays of the bytes of a `T`, lowest first: `[u8; N]` on the host, `[S<u8>; N]` or `[V<u8>; N]` on the device, where
/// `N` is the size of `T`.
#[diagnostic::on_unimplemented(
    message = "the bytes of a `{T}` are an array of as many `u8` as it has, not `{Self}`",
    label = "not the bytes of a `{T}`",
    note = "convert the elements with `as u8`; a `u32` has four: `u32::from_le_bytes([a, b, c, d])`"
)]
pub trait BytesOf<T>: Sized {
    /// The type of the number: `S<T>` for bytes `S<u8>`, `V<T>` for `V<u8>`, `T` for host bytes.
    type Number;
    /// The number with these bytes.
    #[track_caller]
    fn number(self) -> Self::Number;
    /// The bytes in reverse order.
    fn turned(self) -> Self;
}

macro_rules! bytes {
    ($($t:ident $bits:ident $n:literal;)*) => {$(
        bytes!(@on S $t $bits $n);
        bytes!(@on V $t $bits $n);
        impl BytesOf<$t> for [u8; $n] {
            type Number = $t;
            fn number(self) -> $t {
                $t::from_le_bytes(self)
            }
            fn turned(mut self) -> Self {
                self.reverse();
                self
            }
        }
    )*};
    (@on $handle:ident $t:ident $bits:ident $n:literal) => {
        impl $handle<$t> {
            /// The number's bytes, lowest first.
            #[track_caller]
            pub fn to_le_bytes(self) -> [$handle<u8>; $n] {
                let bits = self.to_bits_as::<$bits>();
                let mut bytes = [cast::<u8, _>(bits); $n];
                for (k, byte) in (0u32..).zip(&mut bytes).skip(1) {
                    *byte = cast::<u8, _>(bits >> (8 * k));
                }
                bytes
            }
            /// The number's bytes, highest first.
            #[track_caller]
            pub fn to_be_bytes(self) -> [$handle<u8>; $n] {
                BytesOf::<$t>::turned(self.to_le_bytes())
            }
            /// The number's bytes in memory order, which is lowest first.
            #[track_caller]
            pub fn to_ne_bytes(self) -> [$handle<u8>; $n] {
                self.to_le_bytes()
            }
        }
        impl BytesOf<$t> for [$handle<u8>; $n] {
            type Number = $handle<$t>;
            #[track_caller]
            fn number(self) -> $handle<$t> {
                let mut all: $handle<$bits> = cast::<$bits, _>(self[0]);
                for (k, byte) in (0u32..).zip(self).skip(1) {
                    all = all | (cast::<$bits, _>(byte) << (8 * k));
                }
                all.to_bits_as::<$t>()
            }
            fn turned(mut self) -> Self {
                self.reverse();
                self
            }
        }
    };
}
bytes! {
    u8 u8 1; i8 u8 1; u16 u16 2; i16 u16 2; u32 u32 4; i32 u32 4; u64 u64 8; i64 u64 8;
    f16 u16 2; bf16 u16 2; f32 u32 4; f64 u64 8;
}

/// The expansion of `u32::from_le_bytes(bytes)`.
#[track_caller]
pub fn from_le_bytes<T, B: BytesOf<T>>(bytes: B) -> B::Number {
    bytes.number()
}

/// The expansion of `u32::from_be_bytes(bytes)`.
#[track_caller]
pub fn from_be_bytes<T, B: BytesOf<T>>(bytes: B) -> B::Number {
    bytes.turned().number()
}

/// Methods that the types of the crate `half` have on the host, for the same types on the device.
macro_rules! halves {
    ($($handle:ident $t:ident;)*) => {$(
        impl $handle<$t> {
            /// The number as an `f32`.
            #[track_caller]
            pub fn to_f32(self) -> $handle<f32> {
                cast::<f32, _>(self)
            }
            /// The number as an `f64`.
            #[track_caller]
            pub fn to_f64(self) -> $handle<f64> {
                cast::<f64, _>(self)
            }
        }
    )*};
}
halves! { S f16; V f16; S bf16; V bf16; }
