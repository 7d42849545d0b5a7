//! The order in which a lane's registers contain the `k` of a factor.

/// The order in which a lane's registers contain the `k` of a factor. Both factors of a product must use the same
/// order.
pub trait KOrder: Copy + std::fmt::Debug + 'static {
    /// True if the `k` are in the order of an accumulator's rows.
    const AS_ACC: bool = false;
    /// True if one 16-byte load fills the registers of several instructions, which together contain consecutive `k`.
    const WIDE: bool = false;
}

/// The order in which the instruction numbers the `k`.
#[derive(Debug, Clone, Copy)]
pub struct ByNumber;
/// The order in which an accumulator's registers contain its rows. [`Tile::to_b`](super::Tile::to_b) returns a right
/// factor in this order, and the left factor must be loaded in the same order.
#[derive(Debug, Clone, Copy)]
pub struct AsAcc;
/// The order in which one 16-byte access loads the `k`, even if an instruction takes fewer: consecutive instructions
/// then use the `k` of one load. If an instruction takes 4 `k` from each lane, for example, the first instruction takes
/// the first half of the 8 that the lane has loaded, and the second takes the rest.
///
/// Tiles in LDS with the layout `Spread<SIDE, Wide>` are then written and read 16 bytes at a time, which is the widest
/// access. The same products are added as with [`ByNumber`], but in another order. Both factors of a product must use
/// this order.
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
