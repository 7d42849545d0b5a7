//! The known arithmetic of matrix instructions: the order, width and rounding with which the hardware adds products.
//!
//! The source is "Bit-Accurate Modeling of GPU Matrix Multiply-Accumulate Units" (Xie et al., arXiv 2511.10909), whose models were compared
//! bit by bit with MI100, MI250X and MI300X on about a million random inputs for each instruction. AMD also documents that gfx90a flushes
//! denormals and that xf32 inputs are truncated.

use gcn_isa::Target;
use gcn_isa::layout::{ElemType, Shape};

/// The way in which products are added to an element of C. The products of `group` consecutive k are added at a time, and the result for a
/// group is the C of the next group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arithmetic {
    /// A sequence of fused multiply-adds.
    Chain,
    /// The exact sum of C and the products of a group, rounded once.
    Exact,
    /// The products of a group are added pairwise, and their sum is added to C; each sum is rounded to f32. Denormals are flushed to zero
    /// in A, B and C, in each product and in each sum.
    Tree,
    /// Products are truncated to multiples of 2^-24 relative to the largest exponent, C is rounded down to the same precision, and the sum
    /// is truncated to 32 bits. The exponent of a product is the sum of its factors' exponents, even if the product of the significands is
    /// 2 or more.
    Cut,
    /// As [`Arithmetic::Cut`], except that products of even and of odd k are truncated and summed separately, and C is dropped if it is
    /// below the last bit.
    CutInHalves,
}

/// The number of consecutive k in a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Group {
    /// The number of elements of a row of A that a lane holds.
    OfLane,
    /// This number, or all k if there are fewer.
    Of(u16),
}

/// The arithmetic of an instruction, and the evidence for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Model {
    pub arithmetic: Arithmetic,
    pub group: u16,
    /// The evidence: where and how it was validated.
    pub witness: &'static str,
}

/// The arithmetic of the instructions of a target with these types of A.
struct Row {
    target: Target,
    inputs: &'static [ElemType],
    group: Group,
    arithmetic: Arithmetic,
    witness: &'static str,
}

const MI100: &str = "products added in f32 or f64, one fused multiply-add after the other: validated bit by bit on MI100 (arXiv 2511.10909)";
const MI250X: &str = "products added in f32 or f64, one fused multiply-add after the other: validated bit by bit on MI250X (arXiv 2511.10909)";
const MI300X: &str = "products added in f32 or f64, one fused multiply-add after the other: validated bit by bit on MI300X (arXiv 2511.10909)";
const MI100_EXACT: &str = "exact sums of C and four products (two of bf16), rounded once: validated bit by bit on MI100 (arXiv 2511.10909)";
const MI250X_TREE: &str = "sums in f32 of four products (two of bf16 without _1k), then C; denormals flushed: validated bit by bit on \
                           MI250X (arXiv 2511.10909)";
const MI300X_CUT: &str = "sums of eight products (four of xf32), each cut to 24 bits below the largest: validated bit by bit on MI300X \
                          (arXiv 2511.10909)";
const MI300X_HALVES: &str = "sums of sixteen products in two halves, each cut to 24 bits below the largest: validated bit by bit on MI300X \
                             (arXiv 2511.10909)";

const MODELS: &[Row] = &{
    use Arithmetic::{Chain, Cut, CutInHalves, Exact, Tree};
    use ElemType::{Bf8, Bf16, F16, F32, F64, Fp8, Xf32};
    use Target::{GFX90A, GFX908, GFX942};
    const fn row(
        target: Target,
        inputs: &'static [ElemType],
        group: Group,
        arithmetic: Arithmetic,
        witness: &'static str,
    ) -> Row {
        Row { target, inputs, group, arithmetic, witness }
    }
    [
        row(GFX908, &[F32], Group::Of(1), Chain, MI100),
        row(GFX908, &[F16, Bf16], Group::OfLane, Exact, MI100_EXACT),
        row(GFX90A, &[F32, F64], Group::Of(1), Chain, MI250X),
        row(GFX90A, &[F16, Bf16], Group::OfLane, Tree, MI250X_TREE),
        row(GFX942, &[F32, F64], Group::Of(1), Chain, MI300X),
        row(GFX942, &[F16, Bf16], Group::Of(8), Cut, MI300X_CUT),
        row(GFX942, &[Xf32], Group::Of(4), Cut, MI300X_CUT),
        row(GFX942, &[Fp8, Bf8], Group::Of(16), CutInHalves, MI300X_HALVES),
    ]
};

/// The validated model of an instruction; `None` for other instructions, which are computed as [`Arithmetic::Chain`].
pub(crate) fn of(shape: &Shape, target: Target) -> Option<Model> {
    if shape.sparse || shape.scaled || shape.formats_chosen {
        return None;
    }
    let row = MODELS.iter().find(|row| row.target == target && row.inputs.contains(&shape.a))?;
    let of_lane = shape.m * shape.k * u16::from(shape.blocks) / target.wave_size() as u16;
    let group = match row.group {
        Group::OfLane => of_lane,
        Group::Of(most) => most.min(shape.k),
    };
    Some(Model { arithmetic: row.arithmetic, group, witness: row.witness })
}
