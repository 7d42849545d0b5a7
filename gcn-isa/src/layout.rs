//! Where the elements of a matrix instruction's operands live.
//!
//! The shapes (M, N, K, blocks, element types) are data, `gcn-isa/data/mfma.tsv`; the place of an element follows from
//! the shape. A wave's 64 lanes split into groups of M (for A) or N (for B, C, D) lanes:
//!
//! - A and B: lane `i + M * (block + blocks * (k / kl))`, where `kl = K * M * blocks / 64` consecutive `k` share a lane
//!   and are packed upwards from bit 0 of its first register. B is the same with columns for rows.
//! - C and D of 32-bit elements: four consecutive rows make a quad; quads go round the lane groups, blocks outside, and
//!   the four rows of a quad are four consecutive registers.
//! - C and D of f64: single rows instead of quads, blocks inside.
//! - A of a sparse instruction holds two of every four consecutive `k`; the index operand says which two, four bits per
//!   group of four, lowest group first.
//!
//! Checked against AMD's matrix instruction calculator for every instruction of gfx908, gfx90a and gfx942. The calculator
//! does not know gfx950, whose instructions follow the same rules here; the f8f6f4 forms have no layout yet.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::table::{self, InstDesc};
use crate::target::Target;

/// Lanes of a wave.
const LANES: u32 = 64;
/// Consecutive rows of C and D that lie in consecutive registers of one lane (32-bit elements).
const QUAD: u32 = 4;

/// A matrix operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Matrix {
    /// `src0`: M rows, K columns.
    A,
    /// `src1`: K rows, N columns.
    B,
    /// The accumulator input: M rows, N columns.
    C,
    /// The result: M rows, N columns.
    D,
    /// The index operand of a sparse instruction, addressed like A.
    Index,
}

/// Element type of a matrix operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ElemType {
    /// IEEE double.
    F64,
    /// IEEE single.
    F32,
    /// f32 of which the instruction uses the upper 19 bits (gfx942).
    Xf32,
    /// IEEE half.
    F16,
    /// bfloat16.
    Bf16,
    /// Signed 32-bit integer.
    I32,
    /// Signed 8-bit integer.
    I8,
    /// 8-bit float with 4 exponent bits: `e4m3fnuz` on gfx942, OCP `e4m3fn` on gfx950.
    Fp8,
    /// 8-bit float with 5 exponent bits: `e5m2fnuz` on gfx942, OCP `e5m2` on gfx950.
    Bf8,
    /// Chosen by `cbsz` (A) or `blgp` (B) among 8-, 6- and 4-bit formats (gfx950).
    F8f6f4,
}

impl ElemType {
    const NAMES: [(&'static str, ElemType); 10] = [
        ("f64", ElemType::F64),
        ("f32", ElemType::F32),
        ("xf32", ElemType::Xf32),
        ("f16", ElemType::F16),
        ("bf16", ElemType::Bf16),
        ("i32", ElemType::I32),
        ("i8", ElemType::I8),
        ("fp8", ElemType::Fp8),
        ("bf8", ElemType::Bf8),
        ("f8f6f4", ElemType::F8f6f4),
    ];

    /// Bits of an element; `None` where a modifier chooses.
    pub fn bits(self) -> Option<u8> {
        match self {
            ElemType::F64 => Some(64),
            ElemType::F32 | ElemType::Xf32 | ElemType::I32 => Some(32),
            ElemType::F16 | ElemType::Bf16 => Some(16),
            ElemType::I8 | ElemType::Fp8 | ElemType::Bf8 => Some(8),
            ElemType::F8f6f4 => None,
        }
    }

    fn parse(name: &str) -> Option<ElemType> {
        ElemType::NAMES.iter().find(|n| n.0 == name).map(|n| n.1)
    }
}

/// Shape and types of a matrix instruction on a target: D = A * B + C, block by block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Rows of A, C and D.
    pub m: u16,
    /// Columns of B, C and D.
    pub n: u16,
    /// Columns of A and rows of B (for sparse instructions before compression).
    pub k: u16,
    /// Independent products.
    pub blocks: u8,
    /// Element type of A.
    pub a: ElemType,
    /// Element type of B.
    pub b: ElemType,
    /// Element type of C and D.
    pub acc: ElemType,
    /// A holds two of every four elements, chosen by an index operand.
    pub sparse: bool,
    /// The hardware honours `cbsz` and `abid` (broadcast of A blocks). False also where that is not documented.
    pub broadcasts_a: bool,
    /// The hardware honours `blgp` as a lane pattern of B. False also where that is not documented.
    pub permutes_b: bool,
}

/// Where an element lives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// The lane.
    pub lane: u8,
    /// Register of the operand, counted from its first.
    pub register: u8,
    /// Lowest bit in that register. Elements of 64 bits go on in the next register.
    pub low_bit: u8,
    /// How many bits. For a sparse A the two elements of a group of four, for the index their two 2-bit numbers.
    pub bits: u8,
}

impl Shape {
    /// Place of the element at (`row`, `col`) of `block`, `None` outside the matrix or where the layout is not known.
    ///
    /// ```
    /// use gcn_isa::{Target, table, layout::{self, Matrix, Place}};
    ///
    /// let row = table::find(Target::GFX942, "v_mfma_f32_32x32x8_f16").next().unwrap();
    /// let shape = layout::shape(row, Target::GFX942).unwrap();
    /// let place = shape.place(Matrix::A, 0, 3, 6).unwrap();
    /// assert_eq!(place, Place { lane: 35, register: 1, low_bit: 0, bits: 16 });
    /// ```
    pub fn place(&self, matrix: Matrix, block: u8, row: u16, col: u16) -> Option<Place> {
        let (rows, cols) = self.extent(matrix)?;
        if block >= self.blocks || row >= rows || col >= cols {
            return None;
        }
        let (block, row, col) = (u32::from(block), u32::from(row), u32::from(col));
        match matrix {
            Matrix::A if self.sparse => self.compressed(self.a.bits()?, block, row, col),
            Matrix::A => Some(self.input(self.a.bits()?, self.m, block, row, col)),
            Matrix::B => Some(self.input(self.b.bits()?, self.n, block, col, row)),
            Matrix::C | Matrix::D => Some(self.result(block, row, col)),
            Matrix::Index => self.compressed(2, block, row, col),
        }
    }

    /// Rows and columns of one block of an operand; `None` if the instruction has no such operand.
    pub fn extent(&self, matrix: Matrix) -> Option<(u16, u16)> {
        match matrix {
            Matrix::A => Some((self.m, self.k)),
            Matrix::B => Some((self.k, self.n)),
            Matrix::C | Matrix::D => Some((self.m, self.n)),
            Matrix::Index => self.sparse.then_some((self.m, self.k)),
        }
    }

    /// Lane of a row of A (column of B) and `k`, and the position of `k` among those that share the lane.
    fn lane_of(&self, width: u16, block: u32, line: u32, k: u32) -> (u32, u32) {
        let (width, blocks) = (u32::from(width), u32::from(self.blocks));
        let per_lane = (u32::from(self.k) * width * blocks / LANES).max(1);
        (line + width * (block + blocks * (k / per_lane)), k % per_lane)
    }

    fn input(&self, bits: u8, width: u16, block: u32, line: u32, k: u32) -> Place {
        let (lane, position) = self.lane_of(width, block, line, k);
        place(lane, position * u32::from(bits), bits)
    }

    fn compressed(&self, bits: u8, block: u32, row: u32, k: u32) -> Option<Place> {
        let (lane, position) = self.lane_of(self.m, block, row, k);
        let group = position / 4;
        Some(place(lane, group * 2 * u32::from(bits), 2 * bits))
    }

    fn result(&self, block: u32, row: u32, col: u32) -> Place {
        let (m, n, blocks) = (u32::from(self.m), u32::from(self.n), u32::from(self.blocks));
        let groups = LANES / n;
        if self.acc == ElemType::F64 {
            let slot = row * blocks + block;
            return place(col + n * (slot % groups), slot / groups * 64, 64);
        }
        let slot = block * (m / QUAD) + row / QUAD;
        place(col + n * (slot % groups), (QUAD * (slot / groups) + row % QUAD) * 32, 32)
    }
}

fn place(lane: u32, bit: u32, bits: u8) -> Place {
    Place { lane: lane as u8, register: (bit / 32) as u8, low_bit: (bit % 32) as u8, bits }
}

/// The lane whose register holds the B element that belongs to `lane`, under the lane pattern `blgp`: 1 and 2 give both
/// halves the lower or upper 32 lanes, 3 rotates by 16 lanes, 4 to 7 give every 16 lanes the same 16.
pub fn b_source_lane(blgp: u8, lane: u8) -> u8 {
    match blgp & 7 {
        0 => lane,
        1 => lane % 32,
        2 => 32 + lane % 32,
        3 => (lane + 16) % 64,
        quarter => (quarter - 4) * 16 + lane % 16,
    }
}

/// The block of A that the product of `block` uses, under `cbsz` (log2 of the number of blocks that share one) and `abid`
/// (which one of them).
pub fn a_source_block(cbsz: u8, abid: u8, block: u8) -> u8 {
    let group = 1u8 << cbsz.min(4);
    block / group * group + abid % group
}

static SHAPES: LazyLock<HashMap<(&'static str, Target), Shape>> = LazyLock::new(|| {
    let text = include_str!("../data/mfma.tsv");
    let parse = |line: &'static str| shape_row(line).unwrap_or_else(|| panic!("mfma.tsv: bad row: {line}"));
    text.lines().skip(1).map(parse).collect()
});

fn shape_row(line: &'static str) -> Option<((&'static str, Target), Shape)> {
    let mut cells = line.split('\t');
    let mut cell = || cells.next();
    let (name, target) = (cell()?, cell()?.parse().ok()?);
    let mut shape = Shape {
        m: cell()?.parse().ok()?,
        n: cell()?.parse().ok()?,
        k: cell()?.parse().ok()?,
        blocks: cell()?.parse().ok()?,
        a: ElemType::parse(cell()?)?,
        b: ElemType::parse(cell()?)?,
        acc: ElemType::parse(cell()?)?,
        sparse: name.starts_with("v_smfmac"),
        broadcasts_a: cell()? == "true",
        permutes_b: cell()? == "true",
    };
    // f64 instructions use the `blgp` field to negate operands.
    shape.permutes_b &= shape.acc != ElemType::F64;
    Some(((name, target), shape))
}

/// Shape of the matrix instruction `desc` on `target`; `None` for other instructions.
pub fn shape(desc: &InstDesc, target: Target) -> Option<&'static Shape> {
    SHAPES.get(&(desc.printed, target)).or_else(|| SHAPES.get(&(desc.mnemonic, target)))
}

/// Every matrix instruction of `target` with its shape, in table order.
pub fn matrix_instructions(target: Target) -> impl Iterator<Item = (&'static InstDesc, &'static Shape)> {
    table::rows()
        .iter()
        .filter(move |r| r.targets.contains(target))
        .filter_map(move |r| Some((r, shape(r, target)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_matrix_instruction_has_a_shape() {
        for row in table::rows().iter().filter(|r| r.is_matrix()) {
            for target in row.targets.iter() {
                assert!(shape(row, target).is_some(), "{} on {target}", row.printed);
            }
        }
    }
}
