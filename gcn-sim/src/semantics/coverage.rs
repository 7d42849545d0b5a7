//! Which instructions of a target the simulator runs, and which it refuses.

use gcn_isa::{Target, table};

use crate::semantics::op;

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

/// What is refused, by mnemonic.
const REFUSED: [(&str, &str); 2] = [
    (
        "ds_ordered_count",
        "it counts in the order in which the graphics pipeline launched the waves, which a compute dispatch does not have",
    ),
    (
        "v_mfma_ld_scale_b32",
        "it is the first half of v_mfma_scale_f32_…_f8f6f4, which is known, and means nothing without the second",
    ),
];

/// Why `mnemonic` is refused.
pub(crate) fn refusal(mnemonic: &str) -> Option<&'static str> {
    REFUSED.iter().find(|r| r.0 == mnemonic).map(|r| r.1)
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
            if row.is_matrix() { crate::semantics::mfma::is_known(row, target) } else { op::is_known(name) }
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
