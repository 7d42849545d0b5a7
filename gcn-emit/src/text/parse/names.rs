//! The rows that a mnemonic may denote.

use std::sync::OnceLock;

use gcn_isa::table::{self, Class, Format, InstDesc, NameMap};
use gcn_isa::target::{Family, Subtarget};
use gcn_isa::{InstructionSet, Target, TargetSet, reference};
use smallvec::SmallVec;

use super::error::ParseFault;

/// The rows that a mnemonic may denote, in the order in which they are tried.
pub(super) type Rows = SmallVec<[&'static InstDesc; 4]>;

/// The mnemonics of each instruction set and wave size, with and without their encoding suffix, and the aliases.
static INDEX: [[OnceLock<NameMap<Rows>>; 2]; InstructionSet::COUNT] =
    [const { [const { OnceLock::new() }; 2] }; InstructionSet::COUNT];

fn index(on: Subtarget) -> &'static NameMap<Rows> {
    INDEX[on.instruction_set().index()][on.wave as usize].get_or_init(|| build(on))
}

fn build(on: Subtarget) -> NameMap<Rows> {
    // A target has fewer than 3,000 names.
    let mut names: NameMap<Rows> = NameMap::with_capacity_and_hasher(3000, Default::default());
    for row in table::rows_on(on) {
        insert(names.entry(row.mnemonic).or_default(), row);
        if row.printed != row.mnemonic {
            insert(names.entry(row.printed).or_default(), row);
        }
    }
    let aliases = reference::aliases().filter(|a| a.2.contains(on.target)).map(|a| (a.0, a.1));
    for (alias, mnemonic) in aliases.chain(table::former_names(on)) {
        if let Some(rows) = names.get(mnemonic).cloned() {
            names.entry(alias).or_insert(rows);
        }
    }
    names
}

/// Inserts a row after the rows of the same rank.
fn insert(rows: &mut Rows, row: &'static InstDesc) {
    let place = rows.iter().position(|r| rank(r) > rank(row)).unwrap_or(rows.len());
    rows.insert(place, row);
}

/// The order in which rows are tried: shorter encodings first, and those that require SDWA or DPP controls last.
fn rank(desc: &InstDesc) -> u8 {
    match desc.format {
        format if format.is_sdwa() => 17,
        format if format.is_dpp() => 18 + desc.bytes,
        _ => desc.bytes,
    }
}

/// The rows of a mnemonic: either those in the index, or a selection of them.
pub(super) enum Found {
    Indexed(&'static Rows),
    Selected(Rows),
}

impl std::ops::Deref for Found {
    type Target = [&'static InstDesc];

    fn deref(&self) -> &Self::Target {
        match self {
            Found::Indexed(rows) => rows,
            Found::Selected(rows) => rows,
        }
    }
}

/// The rows that `mnemonic` may denote, at least one.
pub(super) fn rows(on: Subtarget, mnemonic: &str) -> Result<Found, ParseFault> {
    let index = index(on);
    if let Some(rows) = index.get(mnemonic) {
        return Ok(Found::Indexed(rows));
    }
    // Mnemonics may be written in capitals, and may have suffixes even if the canonical text has none.
    let lower = mnemonic.to_ascii_lowercase();
    let selected = match index.get(lower.as_str()) {
        Some(rows) => rows.clone(),
        None => with_suffix(index, &lower),
    };
    if selected.is_empty() {
        Err(unknown(on.target, mnemonic, &lower))
    } else {
        Ok(Found::Selected(selected))
    }
}

fn with_suffix(index: &NameMap<Rows>, mnemonic: &str) -> Rows {
    let (base, suffix) = match mnemonic.rsplit_once('_').unwrap_or_default() {
        (long, "dpp") if long.ends_with("_e64") => (long.rsplit_once('_').unwrap_or_default().0, "e64_dpp"),
        other => other,
    };
    let has_suffix = ["_e32", "_e64", "_dpp", "_sdwa"].iter().any(|s| base.ends_with(s));
    let rows = index.get(base).filter(|_| !has_suffix);
    rows.into_iter().flatten().filter(|row| takes_suffix(row, suffix)).copied().collect()
}

/// True for an instruction whose canonical text has no suffix, but which accepts this suffix.
fn takes_suffix(desc: &InstDesc, suffix: &str) -> bool {
    // LLVM treats these lane moves as instructions with a 32-bit encoding, which they had on older hardware.
    let long = matches!(
        desc.format,
        Format::Vop3a | Format::Vop3b | Format::Vop3p | Format::Vop3pMai | Format::Vop3px2
    ) && !matches!(desc.class, Class::Readlane | Class::Writelane);
    let sdwa = desc.format.is_sdwa();
    let long_dpp = desc.format.is_long_dpp();
    let dpp = desc.format.is_dpp() && !long_dpp;
    match suffix {
        "e64" => long,
        "e64_dpp" => long_dpp,
        "e32" => !long && !sdwa && !desc.format.is_dpp(),
        "sdwa" => sdwa,
        "dpp" => dpp,
        _ => false,
    }
}

fn unknown(target: Target, mnemonic: &str, lower: &str) -> ParseFault {
    let elsewhere = targets_of().get(lower).copied().unwrap_or(TargetSet::EMPTY);
    if !elsewhere.is_empty() && !elsewhere.contains(target) {
        return ParseFault::OtherTarget { target, mnemonic: mnemonic.to_owned(), targets: elsewhere };
    }
    if GRAPHICS.iter().any(|begin| lower.starts_with(begin)) || lower == EXPORT {
        return ParseFault::Graphics { mnemonic: mnemonic.to_owned() };
    }
    ParseFault::UnknownMnemonic { target, mnemonic: mnemonic.to_owned() }
}

/// The beginnings of graphics mnemonics, which are not in the tables: images and interpolation. Exports are listed separately below.
const GRAPHICS: [&str; 3] = ["image_", "v_interp_p", "v_interp_mov_"];
const EXPORT: &str = "exp";

/// The targets of each mnemonic, cached because a file that is not assembly looks up every line.
fn targets_of() -> &'static NameMap<TargetSet> {
    static TARGETS: OnceLock<NameMap<TargetSet>> = OnceLock::new();
    TARGETS.get_or_init(|| {
        let mut targets: NameMap<TargetSet> = NameMap::default();
        for row in [Family::GFX9, Family::RDNA].into_iter().flat_map(table::rows_of) {
            for name in [row.mnemonic, row.printed] {
                let known = targets.entry(name).or_insert(TargetSet::EMPTY);
                *known = known.union(row.targets);
            }
        }
        targets
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_alias_leads_to_rows() {
        for (alias, _, targets) in reference::aliases() {
            for target in targets.targets() {
                assert!(rows(target.into(), alias).is_ok(), "{alias} on {target}");
            }
        }
    }
}
