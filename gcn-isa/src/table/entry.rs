//! What holds for every form of a mnemonic.

use crate::target::Target;

/// The facts of a mnemonic that do not depend on its form.
#[derive(Debug)]
pub struct Entry {
    /// The mnemonic, as [`super::InstDesc::mnemonic`].
    pub mnemonic: &'static str,
    /// What it does, in the notation of [`crate::semantics`].
    pub meaning: &'static str,
    /// Who says so, see [`crate::semantics::Semantics::witness`].
    pub witness: &'static str,
    /// How bits go from the sources to the results.
    pub rule: Rule,
    /// Passes by target, see [`super::InstDesc::passes`]; 0 for none.
    pub(super) passes: [u8; Target::ALL.len()],
}

/// How the bits of a result depend on those of the sources.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Flow {
    /// Each bit of the result depends on at most one bit of each source (moves, logic, shifts, selections). A bit of SCC that the
    /// instruction writes says whether the result is 0, if there is a result.
    Bits,
    /// Each bit of the result depends on bits of the sources at its place and below (sums and low halves of products).
    Up,
    /// One bit that says whether two sources are equal: any pair of different bits decides it.
    Equal,
    /// Each bit of a part of the result depends on every bit that the part reads.
    #[default]
    All,
}

impl Flow {
    pub(super) const NAMES: [(&'static str, Flow); 4] =
        [("bits", Flow::Bits), ("up", Flow::Up), ("equal", Flow::Equal), ("all", Flow::All)];
}

/// How an entry says that bits flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rule {
    /// How bits combine.
    pub flow: Flow,
    /// Bit i: source i says where the others' bits go (amounts of shifts, lanes, selectors). All of the result depends on all of it.
    pub controls: u8,
}
