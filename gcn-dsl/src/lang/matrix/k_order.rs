//! In which order a lane's registers hold the `k` of a factor.

/// In which order a lane's registers hold the `k` of a factor.
pub trait KOrder: Copy + std::fmt::Debug + 'static {
    /// The registers follow those of an accumulator whose rows are these `k`.
    const AS_ACC: bool;
}

/// As the instruction numbers them.
#[derive(Debug, Clone, Copy)]
pub struct ByNumber;
/// As an accumulator's registers hold its rows: what [`Tile::to_b`](super::Tile::to_b) makes and its left factor must match.
#[derive(Debug, Clone, Copy)]
pub struct AsAcc;

impl KOrder for ByNumber {
    const AS_ACC: bool = false;
}
impl KOrder for AsAcc {
    const AS_ACC: bool = true;
}
