//! Element types of buffers and scalars, and their conversion to and from numbers.

use std::fmt;
use std::str::FromStr;

use crate::fp::{f16_to_f32, f32_to_f16};

/// The type of a scalar argument or of a buffer's elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Element {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    /// bfloat16, the upper half of an `f32`.
    Bf16,
    F32,
    F64,
}

/// For each type: its name, its size in bytes, and NumPy's `descr`. NumPy has no bfloat16, so its bits are stored.
const ELEMENTS: [(Element, &str, u32, &str); 12] = [
    (Element::I8, "i8", 1, "|i1"),
    (Element::U8, "u8", 1, "|u1"),
    (Element::I16, "i16", 2, "<i2"),
    (Element::U16, "u16", 2, "<u2"),
    (Element::I32, "i32", 4, "<i4"),
    (Element::U32, "u32", 4, "<u4"),
    (Element::I64, "i64", 8, "<i8"),
    (Element::U64, "u64", 8, "<u8"),
    (Element::F16, "f16", 2, "<f2"),
    (Element::Bf16, "bf16", 2, "<u2"),
    (Element::F32, "f32", 4, "<f4"),
    (Element::F64, "f64", 8, "<f8"),
];

/// Other accepted names: the names of formats of at most a byte, whose elements are treated as bytes, and the names of types in C and
/// OpenCL.
const ALIASES: [(&str, Element); 34] = [
    ("fp8", Element::U8),
    ("bf8", Element::U8),
    ("fp8e4m3", Element::U8),
    ("fp8e5m2", Element::U8),
    ("e8m0", Element::U8),
    ("fp4x2", Element::U8),
    ("i4x2", Element::U8),
    ("bool", Element::U8),
    ("fp16", Element::F16),
    ("fp32", Element::F32),
    ("fp64", Element::F64),
    ("char", Element::I8),
    ("signed char", Element::I8),
    ("uchar", Element::U8),
    ("unsigned char", Element::U8),
    ("short", Element::I16),
    ("ushort", Element::U16),
    ("unsigned short", Element::U16),
    ("int", Element::I32),
    ("uint", Element::U32),
    ("unsigned int", Element::U32),
    ("long", Element::I64),
    ("long long", Element::I64),
    ("ulong", Element::U64),
    ("unsigned long", Element::U64),
    ("unsigned long long", Element::U64),
    ("size_t", Element::U64),
    ("usize", Element::U64),
    ("half", Element::F16),
    ("_Float16", Element::F16),
    ("__half", Element::F16),
    ("__bf16", Element::Bf16),
    ("float", Element::F32),
    ("double", Element::F64),
];

/// A number in a spec.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Number {
    /// An integer.
    Int(i128),
    /// A number with a fraction, infinity or NaN.
    Float(f64),
    /// A bit pattern, for whichever type it is used as.
    Bits(u64),
}

impl Number {
    /// The number as a float; bits are converted as an integer.
    pub(crate) fn as_f64(self) -> f64 {
        match self {
            Number::Int(value) => value as f64,
            Number::Float(value) => value,
            Number::Bits(bits) => bits as f64,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Int(value) => write!(f, "{value}"),
            Number::Float(value) => write!(f, "{value}"),
            Number::Bits(bits) => write!(f, "{bits:#x}"),
        }
    }
}

impl Element {
    /// All element types.
    pub fn all() -> impl Iterator<Item = Element> {
        ELEMENTS.iter().map(|row| row.0)
    }

    fn row(self) -> &'static (Element, &'static str, u32, &'static str) {
        // Every type has a row, so the fallback is never used.
        ELEMENTS.iter().find(|row| row.0 == self).unwrap_or(&ELEMENTS[0])
    }

    /// The name in specs.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The size in bytes.
    pub fn bytes(self) -> u32 {
        self.row().2
    }

    /// The `descr` of a `.npy` file.
    pub(crate) fn npy(self) -> &'static str {
        self.row().3
    }

    /// True for floating-point types.
    pub fn is_float(self) -> bool {
        matches!(self, Element::F16 | Element::Bf16 | Element::F32 | Element::F64)
    }

    /// The minimum and maximum of an integer type.
    fn range(self) -> (i128, i128) {
        let bits = self.bytes() * 8;
        match self {
            Element::I8 | Element::I16 | Element::I32 | Element::I64 => {
                (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
            }
            _ => (0, (1 << bits) - 1),
        }
    }

    /// Appends the bytes of a value; floats are rounded to nearest.
    ///
    /// # Errors
    /// A message, if an integer type cannot represent the value or there are too many bits.
    pub(crate) fn put(self, value: Number, out: &mut Vec<u8>) -> Result<(), String> {
        let bits = match (value, self.is_float()) {
            (Number::Bits(bits), _) => {
                if self.bytes() < 8 && bits >> (8 * self.bytes()) != 0 {
                    return Err(format!("{bits:#x} has more bits than {self}"));
                }
                bits
            }
            (_, true) => self.float_bits(value.as_f64()),
            (Number::Int(int), false) => self.int_bits(int)?,
            (Number::Float(float), false) if float.fract() == 0.0 && float.abs() < 1e38 => {
                self.int_bits(float as i128)?
            }
            (Number::Float(float), false) => return Err(format!("{float} is not an integer as {self} is")),
        };
        out.extend(bits.to_le_bytes().iter().take(self.bytes() as usize));
        Ok(())
    }

    fn int_bits(self, value: i128) -> Result<u64, String> {
        let (least, greatest) = self.range();
        if (least..=greatest).contains(&value) {
            Ok(value as u64)
        } else {
            Err(format!("{value} is not in the range of {self}, {least} to {greatest}"))
        }
    }

    fn float_bits(self, value: f64) -> u64 {
        match self {
            Element::F16 => f32_to_f16(round_to_odd(value)).into(),
            Element::Bf16 => bf16(round_to_odd(value)).into(),
            Element::F32 => (value as f32).to_bits().into(),
            _ => value.to_bits(),
        }
    }

    /// The value of an element, from its bytes.
    pub fn get(self, bytes: &[u8]) -> Number {
        let mut raw = [0; 8];
        raw.iter_mut().zip(bytes.iter().take(self.bytes() as usize)).for_each(|(to, from)| *to = *from);
        let bits = u64::from_le_bytes(raw);
        match self {
            Element::F16 => Number::Float(f16_to_f32(bits as u16).into()),
            Element::Bf16 => Number::Float(f32::from_bits((bits as u32) << 16).into()),
            Element::F32 => Number::Float(f32::from_bits(bits as u32).into()),
            Element::F64 => Number::Float(f64::from_bits(bits)),
            Element::I8 => Number::Int((bits as i8).into()),
            Element::I16 => Number::Int((bits as i16).into()),
            Element::I32 => Number::Int((bits as i32).into()),
            Element::I64 => Number::Int((bits as i64).into()),
            Element::U8 | Element::U16 | Element::U32 | Element::U64 => Number::Int(bits.into()),
        }
    }
}

/// Rounds to `f32` so that rounding the result again, to fewer bits, gives the same as rounding once: an inexact result gets an odd last
/// bit (S. Boldo and G. Melquiond, "When double rounding is odd").
fn round_to_odd(value: f64) -> f32 {
    let near = value as f32;
    if f64::from(near) == value || !near.is_finite() {
        return near;
    }
    let down =
        if f64::from(near).abs() > value.abs() { near.to_bits().wrapping_sub(1) } else { near.to_bits() };
    f32::from_bits(down | 1)
}

/// Rounds to the nearest bfloat16.
fn bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    if value.is_nan() {
        return (bits >> 16) as u16 | 0x40;
    }
    (bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is not an element type.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no type `{0}`; the types are i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64")]
pub struct UnknownElement(String);

impl FromStr for Element {
    type Err = UnknownElement;

    fn from_str(name: &str) -> Result<Element, UnknownElement> {
        let named = ELEMENTS.iter().find(|row| row.1 == name).map(|row| row.0);
        let alias = || ALIASES.iter().find(|row| row.0 == name).map(|row| row.1);
        named.or_else(alias).ok_or_else(|| UnknownElement(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(element: Element, value: Number) -> Vec<u8> {
        let mut out = Vec::new();
        element.put(value, &mut out).unwrap();
        out
    }

    #[test]
    fn values_become_bits() {
        // 0.1 is 0x2e66 in f16 by IEEE 754, and 0x3dcd in bf16 by the definition of bfloat16.
        assert_eq!(bytes(Element::F16, Number::Float(0.1)), [0x66, 0x2e]);
        assert_eq!(bytes(Element::Bf16, Number::Float(0.1)), [0xcd, 0x3d]);
        assert_eq!(bytes(Element::F32, Number::Int(-2)), (-2f32).to_le_bytes());
        assert_eq!(bytes(Element::I8, Number::Int(-1)), [0xff]);
        assert_eq!(bytes(Element::U64, Number::Int(u64::MAX.into())), [0xff; 8]);
        assert_eq!(bytes(Element::F16, Number::Bits(0x7e00)), [0, 0x7e]);
        assert_eq!(bytes(Element::I16, Number::Float(3.0)), [3, 0]);
        for (element, value) in [
            (Element::I8, Number::Int(128)),
            (Element::U16, Number::Int(-1)),
            (Element::U32, Number::Float(0.5)),
            (Element::F16, Number::Bits(0x1_0000)),
        ] {
            assert!(element.put(value, &mut Vec::new()).is_err(), "{element} {value}");
        }
    }

    #[test]
    fn rounding_happens_once() {
        // Just above the midpoint of two halves: rounding to f32 first would give the midpoint, which rounds to even.
        let above = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        assert_eq!(bytes(Element::F16, Number::Float(above)), [0x01, 0x3c]);
        assert_eq!(bytes(Element::F16, Number::Float(-above)), [0x01, 0xbc]);
        let below = 1.0 + 3.0 * 2f64.powi(-11) - 2f64.powi(-40);
        assert_eq!(bytes(Element::F16, Number::Float(below)), [0x01, 0x3c]);
        let above = 1.0 + 2f64.powi(-8) + 2f64.powi(-40);
        assert_eq!(bytes(Element::Bf16, Number::Float(above)), [0x81, 0x3f]);
        assert_eq!(bytes(Element::Bf16, Number::Float(f64::INFINITY)), [0x80, 0x7f]);
        assert_eq!(bytes(Element::Bf16, Number::Float(1e39)), [0x80, 0x7f]);
    }

    #[test]
    fn bits_become_values_again() {
        for element in Element::all() {
            for value in [0i128, 1, 7, 100] {
                let got = element.get(&bytes(element, Number::Int(value)));
                assert_eq!(got.as_f64(), value as f64, "{element}");
            }
            assert_eq!(element.name().parse(), Ok(element));
        }
        assert_eq!(Element::I8.get(&[0x80]), Number::Int(-128));
        assert_eq!("float".parse(), Ok(Element::F32));
        assert!("f128".parse::<Element>().is_err());
    }
}
