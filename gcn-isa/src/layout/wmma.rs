//! The arithmetic of WMMA, which determines the bits of `k`, or of the row of C and D, that are bits 4 and 5 of the lane.
//!
//! Bits 0 to 3 of the lane are the row of A and the column of B, C and D. Each higher bit of the lane is one bit of the
//! other index: of `k` for A and B, of the row for C and D. The remaining bits of that index, in order, number the
//! elements of a lane.

use super::place::place;
use super::{Arrangement, ElementPlace, Matrix, Provenance, Shape};
use crate::target::WaveSize;

/// The number of lanes that differ in the row of A or in the column of B, C and D.
const WIDTH: u32 = 16;
/// The number of consecutive `k` in a group of which a sparse A has two elements.
const SPARSE_GROUP: u32 = 4;
/// The number of consecutive `k` in a lane before the other 16 lanes follow, in Triton's layouts for gfx12.5.
const RUN: u32 = 8;
/// The same as a number of bits, in the layouts of AMD's emulator for gfx12.5. Elements of 6 bits have as many `k` as those of 4 bits.
const RUN_BITS: u32 = 128;
/// The number of rows that alternate between the groups of 16 lanes of C and D, on gfx12.5.
const ROWS: u32 = 8;
/// The number of bits of a scale.
const SCALE_BITS: u32 = 8;
/// The number of bits of the index operand for each group.
const INDEX_BITS: u32 = 4;

/// The bits of an index (`k` or row) that bits 4 and 5 of the lane represent, in this order. Each is given by its
/// value: 8 means bit 3.
pub(super) type LaneBits = [Option<u32>; 2];

impl Shape {
    /// The number of lanes that have the same element. It is more than one for A and B of RDNA 3's WMMA, otherwise 1.
    pub fn copies(&self, matrix: Matrix) -> u32 {
        let copied = self.arrangement == Arrangement::WmmaCopied && matches!(matrix, Matrix::A | Matrix::B);
        if copied { self.lanes() / WIDTH } else { 1 }
    }

    pub(super) fn lane_bits(&self, matrix: Matrix) -> LaneBits {
        let (m, k) = (u32::from(self.m), u32::from(self.k));
        let is_result = matches!(matrix, Matrix::C | Matrix::D);
        let (fourth, fifth) = match (self.arrangement, is_result) {
            (Arrangement::WmmaCopied, true) => (1, 2),
            (Arrangement::WmmaCopied, false) => return [None; 2],
            (Arrangement::WmmaAlternating, true) => ((m / 2).min(ROWS), m / 4),
            (_, true) => (m / 2, m / 4),
            // Of the index, the first 16 lanes have the lower half of `k`, although A has runs.
            (_, false) if self.provenance == Provenance::Emulated => match matrix {
                Matrix::Index => (k / 2, k / 4),
                _ => ((k / 2).min(self.run(matrix)), k / 4),
            },
            (Arrangement::WmmaAlternating, false) => ((k / 2).min(RUN), k / 4),
            (_, false) if self.a.bits() == Some(16) => (k / 4, k / 2),
            (_, false) => (k / 2, k / 4),
        };
        // With 64 lanes, an operand that needs only one register with 32 lanes is not distributed further: the upper
        // lanes are empty.
        let bits_of_32_lanes = self.elements_in(matrix, WIDTH * 2) * self.unit(matrix);
        let matrix_is_small = !is_result && matrix != Matrix::Index && bits_of_32_lanes <= 32;
        let index_is_small = matrix == Matrix::Index && self.lane_bits(Matrix::A)[1].is_none();
        let spreads = self.wave == WaveSize::W64 && !matrix_is_small && !index_is_small;
        [Some(fourth), spreads.then_some(fifth)]
    }

    /// The number of consecutive `k` in a lane ([`RUN_BITS`]). Where A has two of every four elements, a run of A stands for twice as many
    /// `k`, and B has the same runs as A.
    fn run(&self, matrix: Matrix) -> u32 {
        let ty = if matrix == Matrix::B { self.b } else { self.a };
        let elements = match ty.bits() {
            Some(bits) if RUN_BITS.is_multiple_of(bits.into()) => RUN_BITS / u32::from(bits),
            _ => RUN_BITS / 4,
        };
        if self.sparse { 2 * elements } else { elements }
    }

    /// True if a modifier has yet to select the format of A and B.
    fn lacks_formats(&self, matrix: Matrix) -> bool {
        match matrix {
            Matrix::A => self.a.bits().is_none(),
            Matrix::B => self.b.bits().is_none(),
            _ => false,
        }
    }

    /// The number of elements of an operand in each lane, if the operand is distributed over `lanes` lanes. For a sparse A and for the
    /// index, the number of groups of four `k`.
    fn elements_in(&self, matrix: Matrix, lanes: u32) -> u32 {
        let (m, k) = (u32::from(self.m), u32::from(self.k));
        match matrix {
            Matrix::C | Matrix::D => m * WIDTH / lanes,
            Matrix::A | Matrix::Index if self.sparse => k / SPARSE_GROUP * m / lanes,
            Matrix::A => k * m / lanes,
            _ => k * WIDTH / lanes,
        }
    }

    /// The number of bits from one element of a lane to the next.
    fn unit(&self, matrix: Matrix) -> u32 {
        let bits = |ty: super::ElemType| u32::from(ty.bits().unwrap_or(32));
        match matrix {
            Matrix::A if self.sparse => 2 * bits(self.a),
            Matrix::A => bits(self.a),
            Matrix::B => bits(self.b),
            Matrix::C | Matrix::D if self.arrangement == Arrangement::WmmaCopied => 32,
            Matrix::C | Matrix::D => bits(self.acc),
            _ => INDEX_BITS,
        }
    }

    /// The number of `k` that share an element of the operand.
    fn shared(&self, matrix: Matrix) -> u32 {
        if self.sparse && matches!(matrix, Matrix::A | Matrix::Index) { SPARSE_GROUP } else { 1 }
    }

    pub(super) fn wmma_registers(&self, matrix: Matrix) -> Option<u8> {
        if self.lacks_formats(matrix) {
            return None;
        }
        let lanes = match matrix {
            Matrix::Index => return Some(self.wmma_index_bits().div_ceil(32) as u8),
            Matrix::ScaleA | Matrix::ScaleB => {
                return Some((u32::from(self.k / self.scale_block) * SCALE_BITS).div_ceil(32) as u8);
            }
            _ => WIDTH << self.lane_bits(matrix).into_iter().flatten().count(),
        };
        Some((self.elements_in(matrix, lanes) * self.unit(matrix)).div_ceil(32) as u8)
    }

    /// The number of bits of one index set, which is each lane's part of the index.
    pub(super) fn wmma_index_bits(&self) -> u32 {
        let lanes = WIDTH << self.lane_bits(Matrix::Index).into_iter().flatten().count();
        self.elements_in(Matrix::Index, lanes) * INDEX_BITS
    }

    /// The number of values of the index (`k` or row) that a lane has for each of its rows of A or columns of B, C and D.
    fn in_lane(&self, matrix: Matrix) -> u32 {
        let of_index = match matrix {
            Matrix::C | Matrix::D => self.m,
            _ => self.k,
        };
        u32::from(of_index) >> self.lane_bits(matrix).into_iter().flatten().count()
    }

    pub(super) fn wmma_place(&self, matrix: Matrix, row: u32, col: u32) -> Option<ElementPlace> {
        let (line, index) = match matrix {
            Matrix::A | Matrix::Index => (row, col),
            Matrix::B | Matrix::C | Matrix::D => (col, row),
            Matrix::ScaleA => return Some(place(row, col * SCALE_BITS, SCALE_BITS as u8)),
            Matrix::ScaleB => return Some(place(col, row * SCALE_BITS, SCALE_BITS as u8)),
        };
        if self.lacks_formats(matrix) {
            return None;
        }
        let (mut lane, mut position) = (line % WIDTH, index);
        for (bit, value) in (4..).zip(self.lane_bits(matrix)) {
            lane += value.map_or(0, |value| (index / value % 2) << bit);
        }
        for value in descending(self.lane_bits(matrix)) {
            position = position / (2 * value) * value + position % value;
        }
        // A with 32 rows has the upper 16 in the registers after those of the lower 16.
        position += line / WIDTH * self.in_lane(matrix);
        let bits = match matrix {
            Matrix::C | Matrix::D => self.acc.bits()?,
            _ => self.unit(matrix) as u8,
        };
        Some(place(lane, position / self.shared(matrix) * self.unit(matrix), bits))
    }

    /// The first element at `bit`, counted through all registers of the operand in `lane`: block, row, column. `None` if there is no
    /// element there.
    pub(super) fn wmma_element_at(&self, matrix: Matrix, bit: u32, lane: u32) -> Option<(u32, u32, u32)> {
        match matrix {
            Matrix::ScaleA => return (lane < self.m.into()).then_some((0, lane, bit / SCALE_BITS)),
            Matrix::ScaleB => return (lane < self.n.into()).then_some((0, bit / SCALE_BITS, lane)),
            _ => {}
        }
        let bits = self.lane_bits(matrix);
        let position = bit / self.unit(matrix) * self.shared(matrix);
        let (rows_before, mut index) = match matrix {
            Matrix::A | Matrix::Index => (position / self.in_lane(matrix), position % self.in_lane(matrix)),
            _ => (0, position),
        };
        let unit_is_whole = !matches!(matrix, Matrix::C | Matrix::D);
        if !unit_is_whole && bit % self.unit(matrix) >= u32::from(self.acc.bits()?) {
            return None;
        }
        for value in descending(bits).rev() {
            index = index / value * 2 * value + index % value;
        }
        for (at, value) in (4..).zip(bits) {
            match value {
                Some(value) => index += (lane >> at & 1) * value,
                None if self.copies(matrix) == 1 && lane >> at & 1 == 1 => return None,
                None => {}
            }
        }
        let line = lane % WIDTH + rows_before * WIDTH;
        let (row, col) = match matrix {
            Matrix::A | Matrix::Index => (line, index),
            _ => (index, line),
        };
        let (rows, cols) = self.extent(matrix)?;
        (row < rows.into() && col < cols.into()).then_some((0, row, col))
    }
}

/// The values, largest first.
fn descending(bits: LaneBits) -> impl DoubleEndedIterator<Item = u32> {
    let [fourth, fifth] = bits;
    let (more, less) = if fourth > fifth { (fourth, fifth) } else { (fifth, fourth) };
    more.into_iter().chain(less)
}
