//! Types that say whether a value, a branch or an exit is the same for all lanes.

use std::fmt::Debug;

/// Types that say whether something is the same for all lanes: [`Uniform`] or [`Varying`].
pub trait Kind: Copy + Debug + 'static {
    /// The kind that combines both: varying if either of them is.
    type Or<K: Kind>: Kind;
    /// `U` for uniform, `V` for varying.
    type Pick<U, V>;
    /// Returns `uniform` or `varying`, as `Pick` does for the types; that argument must be `Some`.
    fn picked<U, V>(uniform: Option<U>, varying: Option<V>) -> Self::Pick<U, V>;
    /// True for [`Varying`].
    const VARYING: bool;
}

/// The same for all lanes: they have one value, take the same branch, or leave together.
#[derive(Debug, Clone, Copy)]
pub struct Uniform;

/// Lanes may differ: in their value, in the branch that they take, or in whether they leave.
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
