//! The reference page of an instruction: all facts that the crate has about it, in one value.
//!
//! A page only derives facts. Forms, operands and modifiers come from the [`table`], counters from
//! [`counters::events`](crate::counters::events), matrix shapes from [`crate::layout`], the meaning from [`crate::semantics`], and hazards
//! from the rules of [`crate::hazards`]. The rules that can apply are determined by testing them on the instruction with every kind of
//! operand that it accepts.
//!
//! ```
//! use gcn_isa::{Target, reference};
//!
//! let page = reference::page("v_mfma_f32_32x32x8_f16", Some(Target::GFX942)).unwrap();
//! assert_eq!(page.matrix[0].passes, [8]);
//! assert!(page.hazards.iter().any(|h| h.id == "cdna3.105" && h.first));
//!
//! let error = reference::page("v_ad_f32", Some(Target::GFX942)).unwrap_err();
//! assert_eq!(error.to_string(), "gfx942 has no instruction `v_ad_f32`; the nearest name is `v_add_f32`");
//! ```

mod constants;
mod form;
mod hazards;
mod matrix;
mod names;
mod page;
mod probe;

pub use names::{NameError, aliases, matching, nearest};
pub use page::{
    Alias, CounterFacts, Form, Hazard, HazardStates, ImmediateField, MatrixFacts, MatrixLayout, MemoryFacts,
    ModifierFacts, OperandFacts, Page, Pipe,
};

use crate::semantics;
use crate::table::{self, InstDesc};
use crate::target::{Family, Target, TargetSet};

/// The page of the instruction `name` on `target`; without a target, on every target that has the instruction.
///
/// `name` may be a mnemonic, a mnemonic with a suffix (`v_add_f32_e64`; the page then has only that encoding), or an
/// alias that the assembler accepts. Upper case counts as lower case.
///
/// # Errors
/// [`NameError`] with the nearest names, or with the targets that have the instruction.
pub fn page(name: &str, target: Option<Target>) -> Result<Page, NameError> {
    let name = name.trim().to_ascii_lowercase();
    let rows = names::rows(&name, target)?;
    let Some(first) = rows.first() else {
        return Err(NameError::unknown(&name, target));
    };
    let mnemonic = first.mnemonic;
    let rows_everywhere = rows_of(mnemonic, target);
    let everywhere = rows_everywhere.iter().fold(TargetSet::EMPTY, |set, r| set.union(r.targets));
    let names = |targets: TargetSet| targets.targets().map(Target::name);
    let elsewhere = Family::ALL.into_iter().filter(|family| *family != first.family());
    let elsewhere = elsewhere.flat_map(|family| table::find_in(family, mnemonic));
    let elsewhere = elsewhere.fold(TargetSet::EMPTY, |set, row| set.union(row.targets));
    let shown = everywhere.targets().filter(|t| target.is_none_or(|only| only == *t));
    let meaning = semantics::Semantics::from(first.entry);
    Ok(Page {
        mnemonic,
        targets: names(everywhere).collect(),
        elsewhere: names(elsewhere).collect(),
        target: target.map(Target::name),
        aliases: names::aliases_of(mnemonic, target),
        semantics: meaning.line,
        witness: meaning.witness,
        forms: rows.iter().map(|row| form::form(row, target)).collect(),
        hazards: hazards::hazards(&rows, target),
        hazards_elsewhere: shown
            .filter(|t| crate::hazards::remedy::rules(*t).next().is_some())
            .map(Target::name)
            .collect(),
        matrix: matrix::facts(&rows, target),
    })
}

/// All rows with this mnemonic, in table order: the rows of the target's family or, without a target, of the first family that has such
/// rows.
fn rows_of(mnemonic: &str, target: Option<Target>) -> Vec<&'static InstDesc> {
    let families = match target {
        Some(target) => vec![target.family()],
        None => Family::ALL.to_vec(),
    };
    let rows = families.into_iter().map(|family| table::find_in(family, mnemonic).collect::<Vec<_>>());
    rows.into_iter().find(|rows| !rows.is_empty()).unwrap_or_default()
}

/// The targets of `row` that a page lists separately: `target` if it is given, otherwise one target for each group of targets that do not
/// differ.
fn targets_shown(row: &InstDesc, target: Option<Target>) -> Vec<Target> {
    let shown = |t: &Target| target.map_or(t.is_first_of_its_set(), |only| only == *t);
    row.targets.targets().filter(shown).collect()
}
