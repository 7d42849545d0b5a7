//! Descriptions of matrix operands, and the positions of their elements, derived from the table in `gcn_isa::layout`.

use std::panic::Location;

use gcn_isa::Target;
use gcn_isa::layout::{self, Arrangement, ByLane, Coordinates, ElemType, Matrix, Provenance, Shape};
use gcn_isa::target::Subtarget;

use super::format::bits;
use crate::lang::context::Context;
use crate::lang::{V, lane_id, splat, with};

/// The kind of instruction for which a matrix operand is. The operand's size alone determines the layout, except for
/// 8-bit floats, which the `f8f6f4` instructions lay out differently.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Family {
    /// `v_mfma_*` and `v_wmma_*`, and B of `v_smfmac_*`.
    Dense,
    /// A of `v_smfmac_*`.
    Sparse,
    /// `v_mfma_*_f8f6f4`, scaled or not.
    F8f6f4,
    /// No matrix instruction: vector instructions multiply and add. For each of its results, a lane contains the row of
    /// A and the column of B.
    Lanes,
}

/// A matrix operand, as its type describes it.
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
    /// The shape of an instruction of `on` that has this operand; `None` if there is none.
    pub fn shape(&self, on: Subtarget) -> Option<Shape> {
        let instruction = layout::instructions_on(on).iter().filter_map(|i| self.in_shape(i.1)).next();
        instruction.or_else(|| self.of_lanes(on))
    }

    /// A layout for results that no matrix instruction of the target produces, namely that of RDNA 4's WMMA; `None` if
    /// this operand is not such a result.
    fn of_lanes(&self, on: Subtarget) -> Option<Shape> {
        let is_result = self.matrix == Matrix::D && self.family == Family::Dense && self.blocks == 1;
        let is_sum = matches!(self.format, ElemType::F32 | ElemType::I32);
        (is_result && is_sum && [self.rows, self.cols] == [16; 2]).then_some(Shape {
            m: 16,
            n: 16,
            k: 1,
            blocks: 1,
            a: self.format,
            b: self.format,
            acc: self.format,
            sparse: false,
            scaled: false,
            scale_block: 32,
            formats_chosen: false,
            broadcasts_a: false,
            permutes_b: false,
            negates: false,
            provenance: Provenance::Argued,
            arrangement: Arrangement::WmmaShared,
            wave: on.wave,
        })
    }

    /// For a factor of [`Family::Lanes`]: the accumulator of the product, and the number of `k` of the factor.
    fn results(&self) -> (Operand, usize) {
        let (side, depth) =
            if self.matrix == Matrix::A { (self.rows, self.cols) } else { (self.cols, self.rows) };
        let format = if self.format == ElemType::I8 { ElemType::I32 } else { ElemType::F32 };
        let results =
            Operand { matrix: Matrix::D, family: Family::Dense, format, rows: side, cols: side, blocks: 1 };
        (results, depth)
    }

    /// The number of elements in each lane, on the target that the kernel is built for.
    pub fn per_lane(&self, loc: &'static Location<'static>) -> usize {
        if self.family == Family::Lanes {
            let (results, depth) = self.results();
            return if self.matrix == Matrix::A { results.per_lane(loc) * depth } else { depth };
        }
        let shape = with(|c| self.shape_here(c, loc));
        shape.and_then(|shape| self.per_lane_of(&shape)).unwrap_or_else(|| {
            // A sparse A stores half of its elements.
            let lanes = with(|c| c.wave.lanes()) as usize * if self.family == Family::Sparse { 2 } else { 1 };
            self.rows * self.cols * self.blocks / lanes
        })
    }

    fn per_lane_of(&self, shape: &Shape) -> Option<usize> {
        // Each element of a result is in one lane; factors may be in several, or leave lanes empty.
        if shape.arrangement == Arrangement::Mfma || self.matrix == Matrix::D {
            return None;
        }
        Some((u32::from(shape.registers(self.matrix)?) * 32 / bits(self.format)) as usize)
    }

    /// For a result: the distance between a lane's elements in its registers, in elements. It is 1, except where each 16-bit element has a
    /// register of its own, whose other half contains none (RDNA 3).
    pub fn spacing(&self, loc: &'static Location<'static>) -> usize {
        let shape = with(|c| self.shape_here(c, loc));
        let places = shape
            .and_then(|shape| shape.registers(self.matrix))
            .map(|n| u32::from(n) * 32 / bits(self.format));
        places.map_or(1, |places| (places as usize / self.per_lane(loc)).max(1))
    }

    /// `shape` with this operand's format filled in; `None` if instructions of that shape do not have this operand.
    fn in_shape(&self, shape: &Shape) -> Option<Shape> {
        let family = match self.family {
            Family::Dense => !(shape.formats_chosen || self.matrix == Matrix::A && shape.sparse),
            Family::Sparse => shape.sparse,
            Family::Lanes => false,
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
        (family && same && is_format(format, self.format)).then_some(shape)
    }

    /// The shape on the target of this build. If there is none, an error is recorded, and the shape of another target
    /// is returned if one has it, so that tracing the body can continue.
    fn shape_here(&self, c: &mut Context, loc: &'static Location<'static>) -> Option<Shape> {
        let on = here(c);
        if let Some(shape) = self.shape(on) {
            return Some(shape);
        }
        c.fail(loc, self.missing(on));
        targets().find_map(|target| self.shape(target.into()))
    }

    fn missing(&self, on: Subtarget) -> String {
        let target = on.target;
        let with = targets().filter(|t| self.shape((*t).into()).is_some()).map(Target::name);
        let with: Vec<&str> = with.collect();
        let there = sizes(on, self);
        let instead =
            if there.is_empty() { "none with another size".to_owned() } else { format!("it has {there}") };
        let elsewhere = match with.as_slice() {
            [] => "no target has this one".to_owned(),
            [one] => format!("{one} has this one: limit the kernel with `#[targets({one})]`"),
            some => format!("{} have this one: limit the kernel with `#[targets(…)]`", some.join(", ")),
        };
        format!("{target} has no matrix instruction with {self}, {instead}; {elsewhere}")
    }

    /// Block, row and column of the lane's element `j`, as device values.
    #[track_caller]
    pub fn coordinates(&self, j: u32) -> [V<u32>; 3] {
        let Some(at) = self.host_coordinates(j, Location::caller()) else { return [splat(0u32); 3] };
        [by_lane(at.block), by_lane(at.row), by_lane(at.column)]
    }

    /// Block, row and column of element `j` as functions of the bits of the lane's number.
    pub fn host_coordinates(&self, j: u32, loc: &'static Location<'static>) -> Option<Coordinates> {
        if self.family == Family::Lanes {
            let (results, depth) = self.results();
            let mut at = results.host_coordinates(j / depth as u32, loc)?;
            let k = ByLane { base: j % depth as u32, weights: [0; 6] };
            *(if self.matrix == Matrix::A { &mut at.column } else { &mut at.row }) = k;
            return Some(at);
        }
        let shape = with(|c| self.shape_here(c, loc))?;
        let per = match (self.matrix, self.family) {
            (Matrix::Index, _) => 4,
            (Matrix::ScaleA | Matrix::ScaleB, _) => 8,
            // Of every four elements two are stored, so each stored bit stands for two bits of the uncompressed matrix.
            (Matrix::A, Family::Sparse) => 2 * bits(self.format),
            (Matrix::D, _) => self.spacing(loc) as u32 * bits(self.format),
            _ => bits(self.format),
        };
        shape.coordinates(self.matrix, j * per)
    }
}

/// The targets that error messages name: the first of each instruction set.
fn targets() -> impl Iterator<Item = Target> {
    Target::KNOWN.into_iter().filter(|target| target.is_first_of_its_set())
}

/// The target and wave size that the kernel is built for.
pub(super) fn here(c: &Context) -> Subtarget {
    Subtarget { target: c.target, wave: c.wave }
}

/// True if elements of the DSL's format `language` can be in an operand of format `operand`. Integer WMMA has one
/// format for signed and unsigned elements; a modifier selects the sign.
pub(super) fn is_format(operand: ElemType, language: ElemType) -> bool {
    operand == language || (operand, language) == (ElemType::Iu8, ElemType::I8)
}

/// The shapes of `on` that multiply a single pair of dense matrices and give a square result of 32 or 16 rows. Tiles
/// are made of these shapes.
pub(super) fn square_shapes(on: Subtarget) -> impl Iterator<Item = &'static Shape> {
    let all = layout::instructions_on(on).iter().map(|i| i.1).filter(|s| fills_lanes(s));
    all.filter(|s| s.m == s.n && matches!(s.m, 16 | 32) && s.blocks == 1 && !s.sparse)
}

/// True if the elements of A fill the registers of every lane. On RDNA 4 in waves of 64 lanes, narrow elements fill the
/// registers of only 32 lanes.
fn fills_lanes(shape: &Shape) -> bool {
    let places = shape.registers(Matrix::A).map(|n| u32::from(n) * 32 / bits(shape.a) * shape.lanes());
    let elements = u32::from(shape.m) * u32::from(shape.k) * shape.copies(Matrix::A);
    shape.arrangement == Arrangement::Mfma || places == Some(elements)
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

/// For an error message: the sizes in which this operand exists with the same element type.
fn sizes(on: Subtarget, operand: &Operand) -> String {
    let mut found: Vec<String> = Vec::new();
    for (_, shape) in layout::instructions_on(on) {
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

/// Computes `x` on the device from the lane's number.
#[track_caller]
pub(super) fn by_lane(x: ByLane) -> V<u32> {
    let varying = lane_part(x);
    match varying {
        Some(v) => v + x.base,
        None => splat(x.base),
    }
}

/// The part of `x` that depends on the lane's number; `None` if none does.
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
        // If consecutive lane bits have weights that double from bit to bit, one mask and one shift extract them.
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

/// The number formed by lane bits `first..end`, times `weight`.
#[track_caller]
fn run(first: u32, end: u32, weight: u32) -> V<u32> {
    let lane = lane_id();
    let lanes = with(|c| c.wave.lanes());
    if weight == 1 && 1 << end == lanes {
        return lane >> first;
    }
    let mask = (1u32 << end) - (1 << first);
    let masked = if mask == lanes - 1 { lane } else { lane & mask };
    if !weight.is_power_of_two() {
        return (masked >> first) * weight;
    }
    match weight.trailing_zeros().checked_sub(first) {
        Some(0) => masked,
        Some(up) => masked << up,
        None => masked >> (first - weight.trailing_zeros()),
    }
}
