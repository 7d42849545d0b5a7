//! Computes the coordinates of elements from the bits of the lane number, as compiled code does.
//!
//! The elements are distributed such that each bit of the lane number adds a fixed amount to block, row or column. A
//! compiler that needs the coordinates of one register position in every lane therefore needs those six amounts instead
//! of a table.

use super::{LANES, Matrix, Shape};

/// A number with a value in each lane: `base` plus `weights[b]` for each set bit `b` of the lane number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct ByLane {
    /// The value in lane 0.
    pub base: u32,
    /// The contribution of each bit of the lane number. The contribution of bit 5 is 0 if the wave has 32 lanes.
    pub weights: [u32; 6],
}

impl ByLane {
    /// The value in `lane`.
    ///
    /// ```
    /// use gcn_isa::layout::ByLane;
    /// let fours = ByLane { base: 2, weights: [0, 0, 0, 0, 0, 4] };
    /// assert_eq!((fours.of(31), fours.of(32)), (2, 6));
    /// ```
    pub fn of(&self, lane: u32) -> u32 {
        let added = self.weights.iter().enumerate().map(|(bit, weight)| (lane >> bit & 1) * weight);
        self.base + added.sum::<u32>()
    }

    /// The linear function of the bits of the lane number that has these values in the lanes; `None` if there is no such function.
    fn fit(values: &[u32]) -> Option<ByLane> {
        let base = *values.first()?;
        let mut weights = [0; 6];
        for (bit, weight) in weights.iter_mut().enumerate() {
            *weight = values.get(1 << bit).copied().unwrap_or(base).checked_sub(base)?;
        }
        let by_lane = ByLane { base, weights };
        (0..).zip(values).all(|(lane, value)| by_lane.of(lane) == *value).then_some(by_lane)
    }
}

/// The block, row and column, in every lane, of the element at one position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Coordinates {
    /// The block.
    pub block: ByLane,
    /// The row.
    pub row: ByLane,
    /// The column.
    pub column: ByLane,
}

impl Shape {
    /// The coordinates, in every lane, of the element at `bit`, counted through all registers of the operand. For a sparse operand, these
    /// are the coordinates of the first of the four elements that share a position. `None` if some lane has no element there.
    ///
    /// ```
    /// use gcn_isa::{Target, table, layout::{self, Matrix}};
    ///
    /// let row = table::find(Target::GFX942, "v_mfma_f32_32x32x8_f16").next().unwrap();
    /// let shape = layout::shape(row, Target::GFX942).unwrap();
    /// // The second of the lane's four elements of A: k = 1, and 4 more in the upper half of the lanes.
    /// let second = shape.coordinates(Matrix::A, 16).unwrap();
    /// assert_eq!((second.column.base, second.column.weights), (1, [0, 0, 0, 0, 0, 4]));
    /// assert_eq!(second.row.of(35), 3);
    /// ```
    pub fn coordinates(&self, matrix: Matrix, bit: u32) -> Option<Coordinates> {
        let mut values = [[0; LANES as usize]; 3];
        for lane in 0..self.lanes() {
            let at = self.elements_at(matrix, (bit / 32) as u8, lane as u8, (bit % 32) as u8).next()?;
            let at = [u32::from(at.0), u32::from(at.1), u32::from(at.2)];
            values.iter_mut().zip(at).for_each(|(values, x)| values[lane as usize] = x);
        }
        let [block, row, column] = values.each_ref().map(|values| &values[..self.lanes() as usize]);
        Some(Coordinates { block: ByLane::fit(block)?, row: ByLane::fit(row)?, column: ByLane::fit(column)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{Arrangement, ElemType, instructions};

    /// Tests that every position of every operand of every MFMA has coordinates that are linear in the bits of the lane number, and that
    /// the coordinates map back to the position.
    #[test]
    fn coordinates_are_made_of_the_lanes_bits() {
        let mut places = 0;
        for (_, desc, shape) in instructions().iter().filter(|i| i.2.arrangement == Arrangement::Mfma) {
            let formats = if shape.formats_chosen { 5 } else { 1 };
            for format in 0..formats {
                let shape = shape.with_formats(format, format).unwrap();
                for matrix in Matrix::ALL {
                    let Some(registers) = shape.registers(matrix) else { continue };
                    let bits = match matrix {
                        // The two elements of a group of four share their position.
                        Matrix::A if shape.sparse => 2 * shape.a.bits().unwrap(),
                        Matrix::A | Matrix::B => shape.a.bits().unwrap(),
                        Matrix::Index => 4,
                        Matrix::ScaleA | Matrix::ScaleB => 8,
                        _ => {
                            if shape.acc == ElemType::F64 {
                                64
                            } else {
                                32
                            }
                        }
                    };
                    for bit in (0..32 * u32::from(registers)).step_by(bits.into()) {
                        let Some(at) = shape.coordinates(matrix, bit) else {
                            assert!(
                                matches!(matrix, Matrix::Index | Matrix::ScaleA | Matrix::ScaleB),
                                "{} {matrix:?} bit {bit}",
                                desc.printed
                            );
                            continue;
                        };
                        for lane in 0..LANES {
                            let of = |x: ByLane| x.of(lane) as u16;
                            let place =
                                shape.place(matrix, of(at.block) as u8, of(at.row), of(at.column)).unwrap();
                            assert_eq!(u32::from(place.lane), lane, "{} {matrix:?}", desc.printed);
                            assert_eq!(u32::from(place.register) * 32 + u32::from(place.low_bit), bit);
                            places += 1;
                        }
                    }
                }
            }
        }
        assert!(places > 100_000, "{places}");
    }
}
