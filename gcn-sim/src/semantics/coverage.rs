//! Lists the instructions of a target that the simulator implements, and those that it refuses.

use std::collections::BTreeMap;

use gcn_isa::table::InstDesc;
use gcn_isa::{Target, table};

use crate::semantics::functions::{self, refusal};
use crate::semantics::{mfma, wmma};

/// The instructions of a target, grouped by how the simulator handles them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    /// Mnemonics with an implementation.
    pub known: Vec<&'static str>,
    /// Mnemonics that are refused, each for a reason: they have no defined result in a simulated dispatch.
    pub refused: Vec<Refusal>,
    /// Other mnemonics without an implementation; programs that contain them are refused as well.
    pub unknown: Vec<&'static str>,
}

/// An instruction that the simulator refuses, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// The mnemonic.
    pub mnemonic: &'static str,
    /// The reason for the refusal.
    pub reason: &'static str,
}

/// Groups the instructions of `target` by how the simulator handles them.
///
/// ```
/// let coverage = gcn_sim::coverage(gcn_isa::Target::GFX942);
/// assert!(coverage.known.contains(&"v_mfma_f32_32x32x8_f16") && coverage.unknown.is_empty());
/// ```
pub fn coverage(target: Target) -> Coverage {
    // Functions are registered by the mnemonic of a table entry, so all rows of one entry are equivalent.
    let of_target = table::rows_of(target.family()).iter().filter(|row| row.targets.contains(target));
    let rows: BTreeMap<&'static str, &'static InstDesc> = of_target.map(|row| (row.mnemonic, row)).collect();
    let has_function = |row: &InstDesc| functions::is_known(row.entry);
    let known = |row: &InstDesc| match row.halves {
        Some(halves) => halves.into_iter().all(has_function),
        None if row.is_matrix() => mfma::is_known(row, target),
        None => has_function(row) || wmma::is_known(row, target),
    };
    let (known, others): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(_, row)| known(row));
    let known = known.into_iter().map(|(name, _)| name).collect();
    let mut coverage = Coverage { known, refused: Vec::new(), unknown: Vec::new() };
    for (mnemonic, row) in others {
        let without_layout = wmma::is_wave_matrix(row).then_some(wmma::NO_LAYOUT);
        match refusal(row.entry.mnemonic).or(without_layout) {
            Some(reason) => coverage.refused.push(Refusal { mnemonic, reason }),
            None => coverage.unknown.push(mnemonic),
        }
    }
    coverage
}
