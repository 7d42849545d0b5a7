//! Matrix instructions of RDNA, WMMA and SWMMAC: 16 rows, 16 columns, one block.
//!
//! The number of an element's row and column in binary says where it is: each digit of the number adds a lane, a register or bits, or
//! nothing. Rows of A and columns of B, C and D are always the lanes 0 to 15; what the digits of `k`, and of the rows of C and D, add is in
//! the tables below, lowest digit first. RDNA 3 repeats A and B in every 16 lanes. Of a sparse A, and of the index, the digits count groups
//! of four `k`.
//!
//! Checked against every row that AMD's matrix instruction calculator prints for RDNA 3 and RDNA 4, in both sizes of waves.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::{ElemType, ElementPlace, Matrix};
use crate::table::{Class, InstDesc};
use crate::target::{Generation, Subtarget, WaveSize};

/// Types and depth of a matrix instruction of RDNA.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaveShape {
    /// Columns of A and rows of B (for sparse instructions before compression).
    pub k: u16,
    /// Element type of A.
    pub a: ElemType,
    /// Element type of B.
    pub b: ElemType,
    /// Element type of C and D.
    pub acc: ElemType,
    /// A holds two of every four elements, chosen by an index operand.
    pub sparse: bool,
}

/// Rows of A, C and D, and columns of B, C and D.
pub const WAVE_TILE: u16 = 16;

/// What a digit that is 1 adds to an element's place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Digit {
    Lane(u8),
    Register(u8),
    Bit(u8),
}

use Digit::{Bit as B, Lane as L, Register as R};

type Digits = &'static [Digit];

/// The digits of `k` of A and B of RDNA 3, by the bits of an element; the same in both sizes of waves.
const REPEATED: [(u8, Digits); 3] =
    [(16, &[B(16), R(1), R(2), R(4)]), (8, &[B(8), B(16), R(1), R(2)]), (4, &[B(4), B(8), B(16), R(1)])];

/// Bits of an element, `k`, and the digits with waves of 32 and of 64 lanes.
type ByWave = (u8, u16, [Digits; 2]);

/// A and B of a dense instruction of RDNA 4.
const DENSE: [ByWave; 4] = [
    (16, 16, [&[B(16), R(1), L(16), R(2)], &[B(16), R(1), L(16), L(32)]]),
    (8, 16, [&[B(8), B(16), R(1), L(16)], &[B(8), B(16), L(32), L(16)]]),
    (4, 16, [&[B(4), B(8), B(16), L(16)], &[B(4), B(8), B(16), L(16)]]),
    (4, 32, [&[B(4), B(8), B(16), R(1), L(16)], &[B(4), B(8), B(16), L(32), L(16)]]),
];

/// B of a sparse one.
const SPARSE_B: [ByWave; 4] = [
    (16, 32, [&[B(16), R(1), R(2), L(16), R(4)], &[B(16), R(1), R(2), L(16), L(32)]]),
    (8, 32, [&[B(8), B(16), R(1), R(2), L(16)], &[B(8), B(16), R(1), L(32), L(16)]]),
    (4, 32, [&[B(4), B(8), B(16), R(1), L(16)], &[B(4), B(8), B(16), L(32), L(16)]]),
    (4, 64, [&[B(4), B(8), B(16), R(1), R(2), L(16)], &[B(4), B(8), B(16), R(1), L(32), L(16)]]),
];

/// A of a sparse one, by groups of four `k`.
const SPARSE_A: [ByWave; 4] = [
    (16, 32, [&[R(1), L(16), R(2)], &[R(1), L(16), L(32)]]),
    (8, 32, [&[B(16), R(1), L(16)], &[B(16), L(32), L(16)]]),
    (4, 32, [&[B(8), B(16), L(16)], &[B(8), B(16), L(16)]]),
    (4, 64, [&[B(8), B(16), R(1), L(16)], &[B(8), B(16), L(32), L(16)]]),
];

/// Its index, by the bits of an element of A.
const INDEX: [ByWave; 4] = [
    (16, 32, [&[B(4), L(16), B(8)], &[B(4), L(16), L(32)]]),
    (8, 32, [&[B(4), B(8), L(16)], &[B(4), L(32), L(16)]]),
    (4, 32, [&[B(4), B(8), L(16)], &[B(4), B(8), L(16)]]),
    (4, 64, [&[B(4), B(8), B(16), L(16)], &[B(4), B(8), L(32), L(16)]]),
];

/// The rows of C and D: those of RDNA 3, and those of RDNA 4 of elements of 16 and of 32 bits.
const RESULT_3: [Digits; 2] = [&[L(16), R(1), R(2), R(4)], &[L(16), L(32), R(1), R(2)]];
const RESULT_4_16: [Digits; 2] = [&[B(16), R(1), R(2), L(16)], &[B(16), R(1), L(32), L(16)]];
const RESULT_4_32: [Digits; 2] = [&[R(1), R(2), R(4), L(16)], &[R(1), R(2), L(32), L(16)]];

/// `k` of one group of a sparse operand, and the bits of its index.
const GROUP: u16 = 4;
const INDEX_BITS: u8 = 4;

impl WaveShape {
    fn digits(&self, on: Subtarget, matrix: Matrix) -> Option<Digits> {
        let repeated = on.generation() == Generation::GFX11;
        let wave = usize::from(on.wave == WaveSize::W64);
        let bits = match matrix {
            Matrix::A | Matrix::Index => self.a.bits()?,
            Matrix::B => self.b.bits()?,
            _ => self.acc.bits()?,
        };
        let of = |table: &[ByWave]| {
            table.iter().find(|row| row.0 == bits && row.1 == self.k).map(|row| row.2[wave])
        };
        match matrix {
            Matrix::A | Matrix::B if repeated => REPEATED.iter().find(|row| row.0 == bits).map(|row| row.1),
            Matrix::A if self.sparse => of(&SPARSE_A),
            Matrix::B if self.sparse => of(&SPARSE_B),
            Matrix::A | Matrix::B => of(&DENSE),
            Matrix::Index if self.sparse => of(&INDEX),
            Matrix::C | Matrix::D if repeated => Some(RESULT_3[wave]),
            Matrix::C | Matrix::D if bits == 16 => Some(RESULT_4_16[wave]),
            Matrix::C | Matrix::D => Some(RESULT_4_32[wave]),
            _ => None,
        }
    }

    /// The place of the element at (`row`, `col`), the first where there are several; `None` outside the matrix, and where there is no such
    /// operand. Of a sparse A it is that of the two elements of a group, and of the index that of their two numbers.
    ///
    /// ```
    /// use gcn_isa::layout::{self, ElementPlace, Matrix};
    /// use gcn_isa::{Target, table};
    ///
    /// let row = table::find(Target::GFX1201, "v_wmma_f32_16x16x16_f16").next().unwrap();
    /// let shape = layout::wave_shape(row).unwrap();
    /// let place = shape.place(Target::GFX1201.into(), Matrix::A, 3, 6).unwrap();
    /// assert_eq!(place, ElementPlace { lane: 19, register: 1, low_bit: 0, bits: 16 });
    /// ```
    pub fn place(&self, on: Subtarget, matrix: Matrix, row: u16, col: u16) -> Option<ElementPlace> {
        let digits = self.digits(on, matrix)?;
        let grouped = self.sparse && matches!(matrix, Matrix::A | Matrix::Index);
        let (lane, number, bits) = match matrix {
            Matrix::A | Matrix::Index => (row, col, self.a.bits()?),
            Matrix::B => (col, row, self.b.bits()?),
            _ => (col, row, self.acc.bits()?),
        };
        let (number, bits) = match matrix {
            Matrix::Index => (number / GROUP, INDEX_BITS),
            _ if grouped => (number / GROUP, 2 * bits),
            _ => (number, bits),
        };
        if lane >= WAVE_TILE || number >> digits.len() != 0 {
            return None;
        }
        let mut place = ElementPlace { lane: lane as u8, register: 0, low_bit: 0, bits };
        for (_, digit) in digits.iter().enumerate().filter(|(i, _)| number >> i & 1 == 1) {
            match digit {
                Digit::Lane(lanes) => place.lane += lanes,
                Digit::Register(registers) => place.register += registers,
                Digit::Bit(bits) => place.low_bit += bits,
            }
        }
        Some(place)
    }

    /// Bits of the index register that one set of indices has; `index_key` chooses the set. 0 without indices.
    pub fn index_set_bits(&self, on: Subtarget) -> u8 {
        let digits = self.digits(on, Matrix::Index).unwrap_or(&[]);
        let above = digits.iter().filter(|digit| matches!(digit, Digit::Bit(_))).count();
        if digits.is_empty() { 0 } else { INDEX_BITS << above }
    }
}

static SHAPES: LazyLock<HashMap<&'static str, WaveShape>> = LazyLock::new(|| {
    let text = include_str!("../../data/wmma.tsv");
    let parse = |line: &'static str| parse(line).unwrap_or_else(|| panic!("wmma.tsv: bad row: {line}"));
    text.lines().skip(1).map(parse).collect()
});

fn parse(line: &'static str) -> Option<(&'static str, WaveShape)> {
    let mut cells = line.split('\t');
    let (name, k) = (cells.next()?, cells.next()?.parse().ok()?);
    let mut element = || ElemType::parse(cells.next()?);
    Some((name, WaveShape { k, a: element()?, b: element()?, acc: element()?, sparse: false }))
}

/// Types and depth of the matrix instruction `desc` of RDNA; `None` for other instructions.
pub fn wave_shape(desc: &InstDesc) -> Option<WaveShape> {
    let sparse = match desc.class {
        Class::Wmma => false,
        Class::Swmmac => true,
        _ => return None,
    };
    SHAPES.get(desc.mnemonic).map(|shape| WaveShape { sparse, ..*shape })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;
    use crate::target::{Family, Target};

    #[test]
    fn every_matrix_instruction_has_a_shape_and_a_layout() {
        let mut seen = 0;
        for row in table::rows_of(Family::RDNA) {
            let is_matrix = matches!(row.class, Class::Wmma | Class::Swmmac);
            assert_eq!(wave_shape(row).is_some(), is_matrix, "{}", row.printed);
            let Some(shape) = wave_shape(row) else { continue };
            for target in Target::with_instructions() {
                for wave in WaveSize::ALL {
                    let Some(on) = Subtarget::new(target, wave).filter(|on| row.is_on(*on)) else { continue };
                    seen += 1;
                    for matrix in [Matrix::A, Matrix::B, Matrix::C, Matrix::D] {
                        assert!(shape.place(on, matrix, 15, 15).is_some(), "{} on {target}", row.printed);
                    }
                    assert_eq!(shape.place(on, Matrix::Index, 15, 15).is_some(), shape.sparse);
                }
            }
        }
        assert!(seen > 100, "{seen}");
    }
}
