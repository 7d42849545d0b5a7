//! Which instructions of a target the simulator runs, and which it refuses.

use gcn_isa::{Target, table};

use crate::semantics::functions::{self, refusal};

/// The instructions of a target by what the simulator does with them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    /// Mnemonics with an implementation.
    pub known: Vec<&'static str>,
    /// Mnemonics that are refused for a reason: a dispatch cannot give them a result.
    pub refused: Vec<Refusal>,
    /// Other mnemonics without an implementation: a program that contains them is refused, too.
    pub unknown: Vec<&'static str>,
}

/// An instruction that the simulator refuses, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// The mnemonic.
    pub mnemonic: &'static str,
    /// Why it has no result here.
    pub reason: &'static str,
}

/// Sorts the instructions of `target` by whether the simulator has their semantics.
///
/// ```
/// let coverage = gcn_sim::coverage(gcn_isa::Target::GFX942);
/// assert!(coverage.known.contains(&"v_mfma_f32_32x32x8_f16") && coverage.unknown.is_empty());
/// ```
pub fn coverage(target: Target) -> Coverage {
    let mut names: Vec<&'static str> =
        table::rows().iter().filter(|row| row.targets.contains(target)).map(|row| row.mnemonic).collect();
    names.sort_unstable();
    names.dedup();
    let known = |name: &&str| {
        let row = table::find_mnemonic(target, name).next();
        row.is_some_and(|row| {
            if row.is_matrix() {
                crate::semantics::mfma::is_known(row, target)
            } else {
                functions::is_known(name)
            }
        })
    };
    let (known, others): (Vec<_>, Vec<_>) = names.into_iter().partition(known);
    let mut coverage = Coverage { known, refused: Vec::new(), unknown: Vec::new() };
    for mnemonic in others {
        match refusal(mnemonic) {
            Some(reason) => coverage.refused.push(Refusal { mnemonic, reason }),
            None => coverage.unknown.push(mnemonic),
        }
    }
    coverage
}
