//! Which matrix operand a handle is, and where its elements are: from the one table in `gcn_isa::layout`.

use std::panic::Location;

use gcn_isa::Target;
use gcn_isa::layout::{self, ByLane, Coordinates, ElemType, Matrix, Shape};
use gcn_isa::target::WAVE_SIZE;

use super::format::bits;
use crate::lang::context::Context;
use crate::lang::{V, lane_id, splat, with};

/// Instructions that a matrix operand is made for. The layout follows from the operand's own size but for 8-bit floats of the
/// `f8f6f4` instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Family {
    /// `v_mfma_*`, and B of `v_smfmac_*`.
    Dense,
    /// A of `v_smfmac_*`.
    Sparse,
    /// `v_mfma_*_f8f6f4`, scaled or not.
    F8f6f4,
}

/// A matrix operand by its type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Operand {
    pub matrix: Matrix,
    pub family: Family,
    pub format: ElemType,
    pub rows: usize,
    pub cols: usize,
    pub blocks: usize,
}

impl Operand {
    /// The shape of an instruction of `target` that has this operand.
    pub fn shape(&self, target: Target) -> Option<Shape> {
        let of_target = layout::instructions().iter().filter(|i| i.0 == target);
        of_target.filter_map(|i| self.in_shape(i.2)).next()
    }

    /// `shape` with this operand's format, if it has this operand.
    fn in_shape(&self, shape: &Shape) -> Option<Shape> {
        let family = match self.family {
            Family::Dense => !(shape.formats_chosen || self.matrix == Matrix::A && shape.sparse),
            Family::Sparse => shape.sparse,
            Family::F8f6f4 => shape.formats_chosen,
        };
        let mut shape = *shape;
        if shape.formats_chosen {
            (shape.a, shape.b) = (self.format, self.format);
        }
        let format = match self.matrix {
            Matrix::B => shape.b,
            Matrix::C | Matrix::D => shape.acc,
            _ => shape.a,
        };
        let extent = shape.extent(self.matrix).map(|(r, c)| (usize::from(r), usize::from(c)));
        let same = extent == Some((self.rows, self.cols)) && usize::from(shape.blocks) == self.blocks;
        (family && same && format == self.format).then_some(shape)
    }

    /// The shape on the target that is being built for. If there is none, the kernel fails, and another target's is given if
    /// there is one, so that the body can go on.
    fn shape_here(&self, c: &mut Context, loc: &'static Location<'static>) -> Option<Shape> {
        if let Some(shape) = self.shape(c.target) {
            return Some(shape);
        }
        c.fail(loc, self.missing(c.target));
        Target::ALL.into_iter().find_map(|target| self.shape(target))
    }

    fn missing(&self, target: Target) -> String {
        let with = Target::ALL.into_iter().filter(|t| self.shape(*t).is_some()).map(Target::name);
        let with: Vec<&str> = with.collect();
        let remedy = if with.is_empty() {
            let there = sizes(target, self);
            if there.is_empty() { "no target has".to_owned() } else { format!("it has {there}") }
        } else {
            format!("{} have: limit the kernel with `#[targets(…)]` or take another shape", with.join(", "))
        };
        format!("{target} has no matrix instruction with {self}; {remedy}")
    }

    /// Block, row and column of the lane's element `j`, device values.
    #[track_caller]
    pub fn coordinates(&self, j: u32) -> [V<u32>; 3] {
        let Some(at) = self.host_coordinates(j, Location::caller()) else { return [splat(0u32); 3] };
        [by_lane(at.block), by_lane(at.row), by_lane(at.column)]
    }

    /// The same as the lane's bits make them.
    pub fn host_coordinates(&self, j: u32, loc: &'static Location<'static>) -> Option<Coordinates> {
        let shape = with(|c| self.shape_here(c, loc))?;
        let per = match (self.matrix, self.family) {
            (Matrix::Index, _) => 4,
            (Matrix::ScaleA | Matrix::ScaleB, _) => 8,
            // Two elements stay of every four.
            (Matrix::A, Family::Sparse) => 2 * bits(self.format),
            _ => bits(self.format),
        };
        shape.coordinates(self.matrix, j * per)
    }
}

/// The shapes of `target` that multiply one dense pair of matrices into a square of 32 or 16: what tiles are made of.
pub(super) fn square_shapes(target: Target) -> impl Iterator<Item = &'static Shape> {
    let of_target = layout::instructions().iter().filter(move |i| i.0 == target).map(|i| i.2);
    of_target.filter(|s| s.m == s.n && matches!(s.m, 16 | 32) && s.blocks == 1 && !s.sparse)
}

impl std::fmt::Display for Operand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = match self.matrix {
            Matrix::A if self.family == Family::Sparse => "a sparse A",
            Matrix::A => "an A",
            Matrix::B => "a B",
            _ => "an accumulator",
        };
        write!(f, "{what} of {} x {} {}", self.rows, self.cols, self.format.name())?;
        if self.blocks > 1 {
            write!(f, " in {} blocks", self.blocks)?;
        }
        Ok(())
    }
}

/// The sizes of the same operand with the same element type on `target`.
fn sizes(target: Target, operand: &Operand) -> String {
    let mut found: Vec<String> = Vec::new();
    for (_, _, shape) in layout::instructions().iter().filter(|i| i.0 == target) {
        let Some((rows, cols)) = shape.extent(operand.matrix) else { continue };
        let (rows, cols) = (usize::from(rows), usize::from(cols));
        let like = Operand { rows, cols, blocks: shape.blocks.into(), ..*operand };
        if like.in_shape(shape).is_none() {
            continue;
        }
        let blocks = if like.blocks > 1 { format!(" in {} blocks", like.blocks) } else { String::new() };
        let size = format!("{rows} x {cols}{blocks}");
        if !found.contains(&size) {
            found.push(size);
        }
    }
    found.join(", ")
}

/// The number as device arithmetic on the lane.
#[track_caller]
pub(super) fn by_lane(x: ByLane) -> V<u32> {
    let varying = lane_part(x);
    match varying {
        Some(v) => v + x.base,
        None => splat(x.base),
    }
}

/// What the lane's bits add to the base; nothing if they add nothing.
#[track_caller]
pub(super) fn lane_part(x: ByLane) -> Option<V<u32>> {
    let mut sum: Option<V<u32>> = None;
    let mut bit = 0;
    while bit < 6 {
        let first = bit;
        bit += 1;
        if x.weights[first] == 0 {
            continue;
        }
        // Bits whose weights double go together.
        while bit < 6 && x.weights[bit] == 2 * x.weights[bit - 1] {
            bit += 1;
        }
        let part = run(first as u32, bit as u32, x.weights[first]);
        sum = Some(match sum {
            None => part,
            Some(sum) => sum + part,
        });
    }
    sum
}

/// Lane bits `first..end` as a number, times `weight`.
#[track_caller]
fn run(first: u32, end: u32, weight: u32) -> V<u32> {
    let lane = lane_id();
    if weight == 1 && end == 6 {
        return lane >> first;
    }
    let mask = (1u32 << end) - (1 << first);
    let masked = if mask == WAVE_SIZE - 1 { lane } else { lane & mask };
    if !weight.is_power_of_two() {
        return (masked >> first) * weight;
    }
    match weight.trailing_zeros().checked_sub(first) {
        Some(0) => masked,
        Some(up) => masked << up,
        None => masked >> (first - weight.trailing_zeros()),
    }
}
