//! The functions that stand for matrix instructions: `mfma`, `smfmac` and their variants.

mod mx;
mod options;
mod product;

use std::panic::Location;

pub use options::{LanePattern, MfmaOptions, Scales, SparseIndex};
pub(super) use product::{Product, dense, multiply, sparse};

use crate::lang::control::everyone::Everyone;
use crate::lang::targets::Availability;

/// Accumulators for which there is a matrix instruction that adds the product of fragments `A` and `B`.
#[diagnostic::on_unimplemented(
    message = "no matrix instruction adds `{A}` times `{B}` to `{Self}`",
    label = "the shapes or types do not fit together",
    note = "the fragments are `FragA<T, M, K>` and `FragB<T, K, N>`, the accumulator `Acc<U, M, N>`; with several blocks their number stands last in each",
    note = "M x N x K is 32x32x8, 16x16x16, 32x32x16 or 16x16x32 for f16 and bf16 (into f32); 32x32x2 or 16x16x4 for f32; 16x16x4 for f64; 32x32x{{8, 16, 32}} or 16x16x{{16, 32, 64}} for i8 (into i32); 32x32x16 or 16x16x32 for Fp8 and Bf8 (into f32); see gcn_dsl::guide::matrix for the others"
)]
pub trait Accumulates<A, B>: Sized {
    /// The targets that have the instruction.
    type Targets: Availability;

    /// Returns `self + a * b`.
    #[doc(hidden)]
    fn accumulate(self, a: A, b: B, options: MfmaOptions, loc: &'static Location<'static>) -> Self;
}

/// Accumulators for which there is a sparse matrix instruction that adds the product of a sparse `A` and `B`.
#[diagnostic::on_unimplemented(
    message = "no sparse matrix instruction adds `{A}` times `{B}` to `{Self}`",
    label = "the shapes or types do not fit together",
    note = "the fragments are `SparseA<T, M, K>` and `FragB<T, K, N>`, the accumulator `Acc<U, M, N>`",
    note = "M x N x K is 32x32x16, 16x16x32, 32x32x32 or 16x16x64 for f16 and bf16 (into f32); 32x32x32, 16x16x64, 32x32x64 or 16x16x128 for i8 (into i32), Fp8 and Bf8 (into f32)",
    note = "on gfx12 it is 16x16x32 for f16, bf16 (also into f16, bf16), i8, Fp8 and Bf8, and 16x16x64 for I4 (into i32)"
)]
pub trait AccumulatesSparse<A, B>: Sized {
    /// The targets that have the instruction.
    type Targets: Availability;

    /// Returns `self + a * b`.
    #[doc(hidden)]
    fn accumulate(self, a: A, index: SparseIndex, b: B, loc: &'static Location<'static>) -> Self;
}

/// Accumulators for which there is a matrix instruction that adds the product of `A` and `B`, where each block of 32
/// `k` has a scale.
#[diagnostic::on_unimplemented(
    message = "no scaled matrix instruction adds `{A}` times `{B}` to `{Self}`",
    label = "the shapes do not fit together",
    note = "there are `MxA<T, 32, 64>` times `MxB<U, 64, 32>` onto `Acc<f32, 32, 32>` and `MxA<T, 16, 128>` times `MxB<U, 128, 16>` onto `Acc<f32, 16, 16>`"
)]
pub trait AccumulatesScaled<A, B>: Sized {
    /// The targets that have the instruction.
    type Targets: Availability;

    /// Returns `self + a * b` with scaled factors.
    #[doc(hidden)]
    fn accumulate(self, operands: (A, Scales, B, Scales), loc: &'static Location<'static>) -> Self;
}

/// `c + a * b`, computed by one matrix instruction. All lanes of the wave must be active, and the workgroup must
/// consist of full waves.
///
/// In a kernel: `acc = mfma(a, b, acc);`.
#[track_caller]
pub fn mfma<A, B, C, X>(a: A, b: B, c: C) -> Everyone<C, X>
where
    C: Accumulates<A, B, Targets = X>,
{
    Everyone::gives(c.accumulate(a, b, MfmaOptions::new(), Location::caller()))
}

/// `c + a * b`, with broadcasts, lane permutations or negations given by [`MfmaOptions`].
#[track_caller]
pub fn mfma_with<A, B, C, X>(a: A, b: B, c: C, options: MfmaOptions) -> Everyone<C, X>
where
    C: Accumulates<A, B, Targets = X>,
{
    Everyone::gives(c.accumulate(a, b, options, Location::caller()))
}

/// `c + a * b` for a sparse A: `a` contains half of its elements, and `index` says which; the others are zero.
#[track_caller]
pub fn smfmac<A, B, C, X>(a: A, index: SparseIndex, b: B, c: C) -> Everyone<C, X>
where
    C: AccumulatesSparse<A, B, Targets = X>,
{
    Everyone::gives(c.accumulate(a, index, b, Location::caller()))
}

/// `c + (a * scale_a) * (b * scale_b)`, computed by one instruction. Each block of 32 consecutive `k` of a row of A, or
/// of a column of B, has its own scale.
#[track_caller]
pub fn mfma_scale<A, B, C, X>(a: A, scale_a: Scales, b: B, scale_b: Scales, c: C) -> Everyone<C, X>
where
    C: AccumulatesScaled<A, B, Targets = X>,
{
    Everyone::gives(c.accumulate((a, scale_a, b, scale_b), Location::caller()))
}
