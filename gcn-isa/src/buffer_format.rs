//! Formats of typed buffers. GFX9 encodes a format as two numbers, the data format and the number format; RDNA has one number for each
//! valid pair of them.

use crate::target::Generation;

const NORMS: u8 = 0b0000_0011;
const SCALED: u8 = 0b0000_1100;
const INTS: u8 = 0b0011_0000;
const FLOAT: u8 = 0b1000_0000;
const NARROW: u8 = NORMS | SCALED | INTS;
const ALL: u8 = NARROW | FLOAT;
const WIDE: u8 = INTS | FLOAT;

/// The valid number formats of each data format; the first entry is data format 1. The first mask of a pair applies to RDNA 1 and 2, the
/// second to later generations (RDNA2 ISA and RDNA3 ISA, "Data format"; LLVM 22 prints the same names). Bit i stands for number format i.
const NUMBERS: [(u8, u8); 14] = [
    (NARROW, NARROW),
    (ALL, ALL),
    (NARROW, NARROW),
    (WIDE, WIDE),
    (ALL, ALL),
    (ALL, FLOAT),
    (ALL, FLOAT),
    (NARROW, NORMS | INTS),
    (NARROW, NARROW),
    (NARROW, NARROW),
    (WIDE, WIDE),
    (ALL, ALL),
    (WIDE, WIDE),
    (WIDE, WIDE),
];

/// The formats of RDNA in the order of their numbers, of which the first is 1. Each format is given as the data format and the number
/// format of GFX9 (`dfmt`, `nfmt`).
///
/// ```
/// use gcn_isa::{buffer_format, target::Generation};
///
/// // BUF_FMT_32_FLOAT, number 22: data format 4 is 32 bits, number format 7 float.
/// assert_eq!(buffer_format::unified(Generation::GFX11).nth(21), Some((4, 7)));
/// ```
pub fn unified(generation: Generation) -> impl Iterator<Item = (u8, u8)> {
    let gfx10 = generation == Generation::GFX10;
    (1..).zip(NUMBERS).flat_map(move |(data, (old, new))| {
        let numbers = if gfx10 { old } else { new };
        (0..8).filter(move |number| numbers >> number & 1 == 1).map(move |number| (data, number))
    })
}
