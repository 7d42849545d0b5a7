//! Matrix fragments, accumulators and the instructions on them.
//!
//! A wave multiplies an `M x K` fragment of A with a `K x N` fragment of B and adds the product to an `M x N`
//! accumulator. Each instruction has its own mapping of elements to lanes and registers. `gcn_isa::layout` has these
//! mappings as data, and every coordinate, load and store here is derived from them (`operand`). The handle types have
//! the shape as const parameters; `shape` lists the shapes that exist.

mod acc;
mod elementwise;
mod format;
mod fragment;
mod handle;
mod k_order;
mod lds_tile;
mod multiply;
pub(super) mod narrow_float;
mod operand;
mod place;
mod placed;
mod shape;
mod swizzle;
mod tile;
mod transposed;
mod view;

pub use crate::lang::memory::lds_row::Groups;
pub use crate::lang::targets::{
    AnyTarget, Availability, Bound, Everywhere, ExistsOn, Gfx90a, Gfx900, Gfx906, Gfx908, Gfx942, Gfx950,
    Gfx1010, Gfx1011, Gfx1030, Gfx1100, Gfx1150, Gfx1200, Gfx1250, HasMatrixBf16, HasMatrixF8, HasMatrixI4,
    HasMfma, HasMfmaF8, HasMfmaF64, HasMfmaMx, HasMfmaXf32, HasSmfmac, HasSwmmac, HasWmma, OnGfx11AndGfx12,
    OnGfx908AndGfx90a, OnlyGfx12, OnlyGfx942, SinceGfx11, SinceGfx90a, SinceGfx90aAndOnGfx11AndGfx12,
    SinceGfx908, SinceGfx942, SinceGfx942AndGfx12, SinceGfx942AndOnGfx12, SinceGfx950,
};
pub use acc::Acc;
pub use format::{AccElement, Bf6, Bf8, Fp4, Fp6, Fp8, I4, MatrixElement, MxFormat, Xf32};
pub use fragment::{FragA, FragB, MxA, MxB, SparseA};
pub use k_order::{AsAcc, ByNumber, KOrder, Wide};
pub use lds_tile::{Columns, Contiguous, LdsTile, Rows, Staged};
pub use multiply::{
    Accumulates, AccumulatesScaled, AccumulatesSparse, LanePattern, MfmaOptions, Scales, SparseIndex, mfma,
    mfma_scale, mfma_with, smfmac,
};
pub use placed::MapPlaced;
pub use swizzle::{Linear, Pad, Spread, Swizzle, XorGroups};
pub use tile::{
    Tile, TileA, TileB, TileFactor, has_copied_factors, has_instruction, least_depth, matmul, matmul_part,
};
pub use view::{AsView, AsViewMut, MatrixMemory, View, col_major, row_major};
