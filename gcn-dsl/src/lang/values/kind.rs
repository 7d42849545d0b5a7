//! Types that say whether a value, a branch or an exit is the same for all lanes.

use std::fmt::Debug;

/// Types that say whether something is the same for all lanes: [`Uniform`] or [`Varying`].
pub trait Kind: Copy + Debug + 'static {
    /// Varying if either of the two is.
    type Or<K: Kind>: Kind;
    /// `U` for uniform, `V` for varying.
    type Pick<U, V>;
    /// Returns the one of the two that `Pick` selects; that one must be `Some`.
    fn picked<U, V>(uniform: Option<U>, varying: Option<V>) -> Self::Pick<U, V>;
    /// True for [`Varying`].
    const VARYING: bool;
}

/// All lanes do the same: take the same branch, or leave together.
#[derive(Debug, Clone, Copy)]
pub struct Uniform;

/// Lanes may differ: some may take another branch, or leave while others stay.
#[derive(Debug, Clone, Copy)]
pub struct Varying;

impl Kind for Uniform {
    type Or<K: Kind> = K;
    type Pick<U, V> = U;
    fn picked<U, V>(uniform: Option<U>, _: Option<V>) -> U {
        uniform.unwrap_or_else(|| unreachable!("what is uniform was computed so"))
    }
    const VARYING: bool = false;
}

impl Kind for Varying {
    type Or<K: Kind> = Varying;
    type Pick<U, V> = V;
    fn picked<U, V>(_: Option<U>, varying: Option<V>) -> V {
        varying.unwrap_or_else(|| unreachable!("what varies was computed so"))
    }
    const VARYING: bool = true;
}
