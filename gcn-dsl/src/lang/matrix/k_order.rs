//! In which order a lane's registers hold the `k` of a factor.

/// In which order a lane's registers hold the `k` of a factor.
pub trait KOrder: Copy + std::fmt::Debug + 'static {
    /// The registers follow those of an accumulator whose rows are these `k`.
    const AS_ACC: bool = false;
    /// The registers of as many instructions as 16 bytes are for hold neighbours.
    const WIDE: bool = false;
}

/// As the instruction numbers them.
#[derive(Debug, Clone, Copy)]
pub struct ByNumber;
/// As an accumulator's registers hold its rows: what [`Tile::to_b`](super::Tile::to_b) makes and its left factor must match.
#[derive(Debug, Clone, Copy)]
pub struct AsAcc;
/// As one access of 16 bytes loads them, whatever an instruction takes: neighbouring instructions share the elements of a lane. Where
/// an instruction takes 4 `k` of each lane, the first of two takes the first half of the 8 that a lane has loaded, the second the rest.
///
/// Tiles in LDS whose layout is `Spread<SIDE, Wide>` are then written and read by 16 bytes, the most there is. Sums add the same
/// products in another order. Both factors of a product have the same.
///
/// ```
/// use gcn_dsl::lang::matrix::{Spread, Wide};
/// use gcn_dsl::prelude::*;
///
/// gcn_kernel! {
///     #[workgroup(64)]
///     #[targets(HasMfma)]
///     fn square(a: &[f16], c: &mut [f32]) {
///         let tile = LdsTile::<f16, 32, 64, Spread<32, Wide>>::new();
///         tile.put(tile.fetch(row_major(a, 64), 0, 0));
///         barrier();
///         let left = TileA::<f16, 32, 64, 32, Wide>::load(tile, 0, 0);
///         let right = TileB::<f16, 64, 32, 32, Wide>::load(tile.transposed(), 0, 0);
///         matmul(left, right, Tile::<f32, 32, 32>::zero()).store_to(row_major(c, 32), 0, 0);
///     }
/// }
/// let text = square.build(Target::GFX942).unwrap().assembly(Comments::None);
/// assert!(text.contains("ds_read_b128") && text.contains("ds_write_b128"));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Wide;

impl KOrder for ByNumber {}
impl KOrder for AsAcc {
    const AS_ACC: bool = true;
}
impl KOrder for Wide {
    const WIDE: bool = true;
}
