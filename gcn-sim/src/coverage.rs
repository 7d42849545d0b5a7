//! Which instructions of a target the simulator knows.

use gcn_isa::{Target, table};

use crate::op;

/// Known and unknown instructions of a target, by mnemonic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    /// Mnemonics with an implementation.
    pub known: Vec<&'static str>,
    /// Mnemonics without one: a program that contains them is refused.
    pub unknown: Vec<&'static str>,
}

/// Sorts the instructions of `target` by whether the simulator has their semantics.
pub fn coverage(target: Target) -> Coverage {
    let mut names: Vec<&'static str> =
        table::rows().iter().filter(|row| row.targets.contains(target)).map(|row| row.mnemonic).collect();
    names.sort_unstable();
    names.dedup();
    let known = |name: &&str| {
        let row = table::find_mnemonic(target, name).next();
        row.is_some_and(
            |row| if row.is_matrix() { crate::mfma::is_known(row, target) } else { op::is_known(name) },
        )
    };
    let (known, unknown) = names.into_iter().partition(known);
    Coverage { known, unknown }
}
