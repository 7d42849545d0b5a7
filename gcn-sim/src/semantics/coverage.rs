//! Which instructions of a target the simulator runs, and which it refuses.

use std::collections::BTreeMap;

use gcn_isa::table::InstDesc;
use gcn_isa::{Target, table};

use crate::semantics::functions::{self, refusal};

/// The instructions of a target by how the simulator handles them.
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
    // By name, the entry under which its function is.
    let of_target = table::rows_of(target.family()).iter().filter(|row| row.targets.contains(target));
    let rows: BTreeMap<&'static str, &'static InstDesc> = of_target.map(|row| (row.mnemonic, row)).collect();
    let has_function = |row: &InstDesc| functions::is_known(row.entry);
    let known = |row: &InstDesc| match row.halves {
        Some(halves) => halves.into_iter().all(has_function),
        None if row.is_matrix() => crate::semantics::mfma::is_known(row, target),
        None => has_function(row) || crate::semantics::wmma::is_known(row),
    };
    let (known, others): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(_, row)| known(row));
    let known = known.into_iter().map(|(name, _)| name).collect();
    let mut coverage = Coverage { known, refused: Vec::new(), unknown: Vec::new() };
    for (mnemonic, row) in others {
        match refusal(row.entry.mnemonic) {
            Some(reason) => coverage.refused.push(Refusal { mnemonic, reason }),
            None => coverage.unknown.push(mnemonic),
        }
    }
    coverage
}
