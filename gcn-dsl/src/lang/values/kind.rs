//! Whether a value, a branch or an exit is the same for all lanes, as a type.

use std::fmt::Debug;

/// Whether all lanes do the same: [`Uniform`] or [`Varying`].
pub trait Kind: Copy + Debug + 'static {
    /// Varying if one of both is.
    type Or<K: Kind>: Kind;
    /// `U` for uniform, `V` for varying.
    type Pick<U, V>;
    /// The one of both that there is.
    fn picked<U, V>(uniform: Option<U>, varying: Option<V>) -> Self::Pick<U, V>;
    /// True for [`Varying`].
    const VARYING: bool;
}

/// All lanes take the same branch, or leave together.
#[derive(Debug, Clone, Copy)]
pub struct Uniform;

/// Some lanes may take another branch, or leave while others stay.
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
