//! 8-bit floating-point types.
//!
//! There are two families of formats. gfx942 has the *FNUZ* formats: no infinity, no negative zero, one NaN (`0x80`).
//! gfx950 and RDNA 4 have the formats of the Open Compute Project (OCP). In a kernel `f8e4m3` means the format of the
//! kernel's target; host code passes the target when it converts.

use gcn_isa::Target;

/// An 8-bit format.
#[derive(Clone, Copy, Debug)]
struct Format {
    fraction: u32,
    bias: i32,
    /// True for FNUZ formats, false for OCP formats.
    fnuz: bool,
}

impl Format {
    const fn new(fraction: u32, fnuz: bool) -> Format {
        let bias = (1 << (6 - fraction)) - if fnuz { 0 } else { 1 };
        Format { fraction, bias, fnuz }
    }

    fn decode(self, bits: u8) -> f32 {
        let sign = if bits & 0x80 == 0 { 1.0 } else { -1.0 };
        let (code, exponents) = (i32::from(bits & 0x7f), 1 << (7 - self.fraction));
        let (exponent, fraction) = (code >> self.fraction, code & ((1 << self.fraction) - 1));
        if self.fnuz && bits == 0x80 {
            return f32::NAN;
        }
        let top = !self.fnuz && exponent == exponents - 1;
        if top && self.fraction == 2 {
            return if fraction == 0 { sign * f32::INFINITY } else { f32::NAN };
        }
        if top && code == 0x7f {
            return f32::NAN;
        }
        let unit = 2f32.powi(exponent.max(1) - self.bias - self.fraction as i32);
        let hidden = if exponent == 0 { 0 } else { 1 << self.fraction };
        sign * (hidden + fraction) as f32 * unit
    }

    /// The encoding of the nearest value, ties to even. For a value beyond the range the result is that of the
    /// hardware's conversion: a NaN, or infinity in OCP `f8e5m2`.
    fn encode(self, x: f32) -> u8 {
        let sign = u8::from(x.is_sign_negative()) << 7;
        let largest: u8 = match (self.fnuz, self.fraction) {
            (true, _) => 0x7f,
            (false, 3) => 0x7e,
            _ => 0x7b,
        };
        let nan = if self.fnuz { 0x80 } else { sign | 0x7f };
        let over = if self.fraction == 2 && !self.fnuz { sign | 0x7c } else { nan };
        if x.is_nan() {
            return nan;
        }
        // Positive values increase with their encodings, so the nearest value is the largest one that is not above `x`,
        // or the next larger one.
        let size = f64::from(x.abs());
        let value = |code: u8| f64::from(self.decode(code));
        let below = (0..=largest).rev().find(|code| value(*code) <= size).unwrap_or(0);
        let step = if below == largest {
            value(largest) - value(largest - 1)
        } else {
            value(below + 1) - value(below)
        };
        let rest = size - value(below);
        let up = rest > step / 2.0 || rest == step / 2.0 && below & 1 == 1;
        match (below + u8::from(up), below == largest && (up || rest >= step)) {
            (_, true) => over,
            (0, _) if self.fnuz => 0,
            (code, _) => sign | code,
        }
    }
}

macro_rules! eight {
    ($($(#[$doc:meta])* $name:ident $fraction:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// An element type of memory. On the device, the only operation is `as`, from and to every number type. On the
        /// host the value is a byte; [`from_f32`](Self::from_f32) and [`to_f32`](Self::to_f32) take the target, which
        /// determines the format.
        #[allow(non_camel_case_types, reason = "named like f16 and bf16")]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        #[repr(transparent)]
        pub struct $name(u8);

        impl $name {
            /// The value with this encoding.
            pub const fn from_bits(bits: u8) -> $name {
                $name(bits)
            }

            /// The encoding.
            pub const fn to_bits(self) -> u8 {
                self.0
            }

            /// The nearest value in `target`'s format, ties to even. For a value beyond the range the result is that of
            /// the device's conversion: a NaN, or infinity if the format has one.
            pub fn from_f32(x: f32, target: Target) -> $name {
                $name(Format::new($fraction, target.has_fnuz_floats()).encode(x))
            }

            /// The value in `target`'s format.
            pub fn to_f32(self, target: Target) -> f32 {
                Format::new($fraction, target.has_fnuz_floats()).decode(self.0)
            }

            pub(super) fn to_le_bytes(self) -> [u8; 1] {
                [self.0]
            }

            pub(super) fn from_le_bytes(bytes: [u8; 1]) -> $name {
                $name(bytes[0])
            }
        }
    )*};
}

eight! {
    /// An 8-bit float with 4 bits of exponent and 3 of fraction (`fp8`), in the target's variant of the format; gfx942
    /// and later.
    f8e4m3 3;
    /// An 8-bit float with 5 bits of exponent and 2 of fraction (`bf8`), in the target's variant of the format; gfx942
    /// and later.
    f8e5m2 2;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_specifications() {
        // The expected values are from the OCP 8-bit floating point specification, table 1, and from the FNUZ paper
        // (Noune et al. 2022).
        let (old, new) = (Target::GFX942, Target::GFX950);
        let e4 = |bits, target| f8e4m3::from_bits(bits).to_f32(target);
        let e5 = |bits, target| f8e5m2::from_bits(bits).to_f32(target);
        assert_eq!(
            (e4(0x7e, new), e4(0x7f, old), e4(0x08, new), e4(0x01, new)),
            (448.0, 240.0, 2f32.powi(-6), 2f32.powi(-9))
        );
        assert_eq!((e5(0x7b, new), e5(0x7f, old), e5(0x7c, new)), (57344.0, 57344.0, f32::INFINITY));
        assert!(
            e4(0x7f, new).is_nan()
                && e4(0x80, old).is_nan()
                && e5(0x7d, new).is_nan()
                && e5(0x80, old).is_nan()
        );
        assert_eq!((e4(0x38, new), e4(0x40, old), e5(0x3c, new), e5(0x40, old)), (1.0, 1.0, 1.0, 1.0));
    }

    #[test]
    fn every_code_comes_back() {
        for target in [Target::GFX942, Target::GFX950] {
            for bits in 0..=255 {
                let (a, b) = (f8e4m3::from_bits(bits).to_f32(target), f8e5m2::from_bits(bits).to_f32(target));
                assert!(
                    a.is_nan() || f8e4m3::from_f32(a, target).to_bits() == bits,
                    "{target} {bits:#x} {a}"
                );
                assert!(
                    b.is_nan() || f8e5m2::from_f32(b, target).to_bits() == bits,
                    "{target} {bits:#x} {b}"
                );
            }
        }
    }
}
