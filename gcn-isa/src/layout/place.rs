//! The arithmetic between elements and locations, in both directions.

use super::{Arrangement, ElemType, ElementPlace, LANES, Matrix, QUAD, Shape};

impl Shape {
    /// The location of the element at (`row`, `col`) of `block`; `None` if the element is outside the matrix, or if the format has not been
    /// selected yet ([`Shape::with_formats`]). If several lanes have the element ([`Shape::copies`]), the location is in the lowest of
    /// these lanes.
    ///
    /// ```
    /// use gcn_isa::{Target, table, layout::{self, Matrix, ElementPlace}};
    ///
    /// let row = table::find(Target::GFX942, "v_mfma_f32_32x32x8_f16").next().unwrap();
    /// let shape = layout::shape(row, Target::GFX942).unwrap();
    /// let place = shape.place(Matrix::A, 0, 3, 6).unwrap();
    /// assert_eq!(place, ElementPlace { lane: 35, register: 1, low_bit: 0, bits: 16 });
    /// ```
    pub fn place(&self, matrix: Matrix, block: u8, row: u16, col: u16) -> Option<ElementPlace> {
        let (rows, cols) = self.extent(matrix)?;
        if block >= self.blocks || row >= rows || col >= cols {
            return None;
        }
        let (block, row, col) = (u32::from(block), u32::from(row), u32::from(col));
        if self.arrangement != Arrangement::Mfma {
            return self.wmma_place(matrix, row, col);
        }
        match matrix {
            Matrix::A if self.sparse => self.compressed(self.a.bits()?, block, row, col),
            Matrix::A => Some(self.input(matrix, self.a.bits()?, block, row, col)),
            Matrix::B => Some(self.input(matrix, self.b.bits()?, block, col, row)),
            Matrix::C | Matrix::D => Some(self.result(block, row, col)),
            Matrix::Index => self.compressed(2, block, row, col),
            Matrix::ScaleA => Some(place(row + u32::from(self.m) * col, 0, 8)),
            Matrix::ScaleB => Some(place(col + u32::from(self.n) * row, 0, 8)),
        }
    }

    /// The number of rows and columns of one block of an operand; `None` if the instruction has no such operand.
    pub fn extent(&self, matrix: Matrix) -> Option<(u16, u16)> {
        let scales = self.k / self.scale_block;
        match matrix {
            Matrix::A => Some((self.m, self.k)),
            Matrix::B => Some((self.k, self.n)),
            Matrix::C | Matrix::D => Some((self.m, self.n)),
            Matrix::Index => self.sparse.then_some((self.m, self.k)),
            Matrix::ScaleA => self.scaled.then_some((self.m, scales)),
            Matrix::ScaleB => self.scaled.then_some((scales, self.n)),
        }
    }

    /// The number of registers of an operand in each lane; `None` in the same cases as for [`Shape::place`].
    pub fn registers(&self, matrix: Matrix) -> Option<u8> {
        self.extent(matrix)?;
        if self.arrangement != Arrangement::Mfma {
            return self.wmma_registers(matrix);
        }
        let bits = match matrix {
            Matrix::A if self.sparse => self.per_lane(Matrix::A) / 2 * u32::from(self.a.bits()?),
            Matrix::A => self.per_lane(Matrix::A) * u32::from(self.a.bits()?),
            Matrix::B => self.per_lane(Matrix::B) * u32::from(self.b.bits()?),
            Matrix::C | Matrix::D => {
                let elements = u32::from(self.m) * u32::from(self.n) * u32::from(self.blocks) / LANES;
                elements * u32::from(self.acc.bits()?)
            }
            Matrix::Index | Matrix::ScaleA | Matrix::ScaleB => 32,
        };
        Some(bits.div_ceil(32) as u8)
    }

    /// The elements at `bit` of `register` in `lane`, as (block, row, column). There may be none, one, or the four that share a position in
    /// a sparse operand. This function is the inverse of [`Shape::place`].
    pub fn elements_at(
        &self,
        matrix: Matrix,
        register: u8,
        lane: u8,
        bit: u8,
    ) -> impl Iterator<Item = (u8, u16, u16)> + use<> {
        let first = self.element_at(matrix, u32::from(register) * 32 + u32::from(bit), u32::from(lane));
        let shared = if self.sparse && matches!(matrix, Matrix::A | Matrix::Index) { 4 } else { 1 };
        first.into_iter().flat_map(move |(block, row, col)| {
            (0..shared).map(move |i| (block as u8, row as u16, (col + i) as u16))
        })
    }

    /// The first element at `bit`, counted through all registers of the operand in `lane`; `None` if there is no element there.
    fn element_at(&self, matrix: Matrix, bit: u32, lane: u32) -> Option<(u32, u32, u32)> {
        if lane >= self.lanes() || bit >= 32 * u32::from(self.registers(matrix)?) {
            return None;
        }
        if self.arrangement != Arrangement::Mfma {
            return self.wmma_element_at(matrix, bit, lane);
        }
        match matrix {
            Matrix::A if self.sparse => self.uncompressed(u32::from(self.a.bits()?), bit, lane),
            Matrix::Index => self.uncompressed(2, bit, lane),
            Matrix::A => self.input_at(matrix, bit / u32::from(self.a.bits()?), lane),
            Matrix::B => {
                self.input_at(matrix, bit / u32::from(self.b.bits()?), lane).map(|(b, col, k)| (b, k, col))
            }
            Matrix::C | Matrix::D => Some(self.result_at(bit, lane)),
            Matrix::ScaleA if bit < 8 => Some((0, lane % u32::from(self.m), lane / u32::from(self.m))),
            Matrix::ScaleB if bit < 8 => Some((0, lane / u32::from(self.n), lane % u32::from(self.n))),
            Matrix::ScaleA | Matrix::ScaleB => None,
        }
    }

    /// The number of rows of A or columns of B, which is the number of lanes in a lane group.
    pub(super) fn width(&self, matrix: Matrix) -> u32 {
        u32::from(if matrix == Matrix::B { self.n } else { self.m })
    }

    /// The number of `k` of a row of A (column of B) in one lane.
    pub(super) fn per_lane(&self, matrix: Matrix) -> u32 {
        (u32::from(self.k) * self.width(matrix) * u32::from(self.blocks) / LANES).max(1)
    }

    /// The number of consecutive `k` in one lane before the next lane group follows.
    pub(super) fn consecutive(&self, matrix: Matrix) -> u32 {
        let ty = if matrix == Matrix::B { self.b } else { self.a };
        // Eight-bit f8f6f4 operands consist of two halves of 128 bits, filled one after the other.
        if self.formats_chosen && ty.bits() == Some(8) { 16 } else { self.per_lane(matrix) }
    }

    /// The lane of a row of A (or column of B) and `k`, and the position of `k` among the elements of that lane.
    fn lane_of(&self, matrix: Matrix, block: u32, line: u32, k: u32) -> (u32, u32) {
        let (width, blocks) = (self.width(matrix), u32::from(self.blocks));
        let (run, groups) = (self.consecutive(matrix), LANES / (width * blocks));
        let position = k / (run * groups) * run + k % run;
        (line + width * (block + blocks * (k / run % groups)), position)
    }

    fn input(&self, matrix: Matrix, bits: u8, block: u32, line: u32, k: u32) -> ElementPlace {
        let (lane, position) = self.lane_of(matrix, block, line, k);
        place(lane, position * u32::from(bits), bits)
    }

    /// The block, the row of A or column of B, and `k` at a position of a lane; `None` if there is no element there.
    fn input_at(&self, matrix: Matrix, position: u32, lane: u32) -> Option<(u32, u32, u32)> {
        let (width, blocks) = (self.width(matrix), u32::from(self.blocks));
        let (run, groups) = (self.consecutive(matrix), LANES / (width * blocks));
        let (line, rest) = (lane % width, lane / width);
        let k = position / run * run * groups + rest / blocks * run + position % run;
        (k < u32::from(self.k)).then_some((rest % blocks, line, k))
    }

    fn compressed(&self, bits: u8, block: u32, row: u32, k: u32) -> Option<ElementPlace> {
        let (lane, position) = self.lane_of(Matrix::A, block, row, k);
        let group = position / 4;
        Some(place(lane, group * 2 * u32::from(bits), 2 * bits))
    }

    fn uncompressed(&self, bits: u32, bit: u32, lane: u32) -> Option<(u32, u32, u32)> {
        let position = bit / (2 * bits) * 4;
        if position >= self.per_lane(Matrix::A) {
            return None;
        }
        self.input_at(Matrix::A, position, lane)
    }

    fn result(&self, block: u32, row: u32, col: u32) -> ElementPlace {
        let (m, n, blocks) = (u32::from(self.m), u32::from(self.n), u32::from(self.blocks));
        let groups = LANES / n;
        if self.acc == ElemType::F64 {
            let slot = row * blocks + block;
            return place(col + n * (slot % groups), slot / groups * 64, 64);
        }
        let slot = block * (m / QUAD) + row / QUAD;
        place(col + n * (slot % groups), (QUAD * (slot / groups) + row % QUAD) * 32, 32)
    }

    fn result_at(&self, bit: u32, lane: u32) -> (u32, u32, u32) {
        let (m, n, blocks) = (u32::from(self.m), u32::from(self.n), u32::from(self.blocks));
        let groups = LANES / n;
        let (col, group) = (lane % n, lane / n);
        if self.acc == ElemType::F64 {
            let slot = bit / 64 * groups + group;
            return (slot % blocks, slot / blocks, col);
        }
        let register = bit / 32;
        let slot = register / QUAD * groups + group;
        (slot / (m / QUAD), slot % (m / QUAD) * QUAD + register % QUAD, col)
    }
}

pub(super) fn place(lane: u32, bit: u32, bits: u8) -> ElementPlace {
    ElementPlace { lane: lane as u8, register: (bit / 32) as u8, low_bit: (bit % 32) as u8, bits }
}
