//! Which rows a mnemonic may mean, and which mnemonic an unknown one resembles.

use std::collections::HashMap;
use std::sync::LazyLock;

use gcn_isa::table::{self, Format, InstDesc};
use gcn_isa::{Target, TargetSet};

use super::error::ParseFault;

/// Names that the assembler takes for others.
const ALIASES: &str = include_str!("../../../data/aliases.tsv");

static BY_ALIAS: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    ALIASES
        .lines()
        .skip(1)
        .filter_map(|line| {
            let mut cells = line.split('\t');
            Some((cells.next()?, cells.next()?))
        })
        .collect()
});

/// The rows that `mnemonic` may mean on `target`, in the order in which they are to be tried.
pub(super) fn rows(target: Target, mnemonic: &str) -> Result<Vec<&'static InstDesc>, ParseFault> {
    let find = |name: &str| -> Vec<&'static InstDesc> {
        let printed: Vec<_> = table::find(target, name).collect();
        if printed.iter().any(|r| r.printed != r.mnemonic) {
            return printed;
        }
        table::find_mnemonic(target, name).collect()
    };
    let mut rows = find(mnemonic);
    if rows.is_empty()
        && let Some(canonical) = BY_ALIAS.get(mnemonic)
    {
        rows = find(canonical);
    }
    // `_e64` may be written on instructions that have no shorter encoding.
    if rows.is_empty()
        && let Some(base) = mnemonic.strip_suffix("_e64")
    {
        rows = find(base);
        rows.retain(|r| matches!(r.format, Format::Vop3a | Format::Vop3b | Format::Vop3p));
    }
    if rows.is_empty() {
        return Err(unknown(target, mnemonic));
    }
    rows.sort_by_key(|r| rank(r));
    Ok(rows)
}

/// Shorter encodings first, and those that need controls of their own last.
fn rank(desc: &InstDesc) -> u8 {
    match desc.format {
        Format::Vop1Sdwa | Format::Vop2Sdwa | Format::VopcSdwa => 17,
        Format::Vop1Dpp | Format::Vop2Dpp => 18,
        _ => desc.bytes,
    }
}

fn unknown(target: Target, mnemonic: &str) -> ParseFault {
    let elsewhere = table::rows()
        .iter()
        .filter(|r| r.printed == mnemonic || r.mnemonic == mnemonic)
        .fold(TargetSet::EMPTY, |set, r| set.union(r.targets));
    if !elsewhere.is_empty() {
        return ParseFault::OtherTarget { target, mnemonic: mnemonic.to_owned(), targets: elsewhere };
    }
    ParseFault::UnknownMnemonic { target, mnemonic: mnemonic.to_owned(), nearest: nearest(target, mnemonic) }
}

/// The target's mnemonic with the fewest edits, if that is few enough to be a slip.
fn nearest(target: Target, mnemonic: &str) -> Option<&'static str> {
    let limit = 1 + mnemonic.len() / 5;
    let known = table::rows().iter().filter(|r| r.targets.contains(target));
    known
        .flat_map(|r| [r.mnemonic, r.printed])
        .filter(|name| name.len().abs_diff(mnemonic.len()) <= limit)
        .map(|name| (edits(mnemonic, name), name))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, name)| name)
}

/// Levenshtein distance in bytes.
fn edits(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_distance() {
        let cases =
            [("", "abc", 3), ("kitten", "sitting", 3), ("v_add_f32", "v_add_f32", 0), ("ab", "ba", 2)];
        for (a, b, distance) in cases {
            assert_eq!(edits(a, b), distance, "{a} {b}");
        }
    }

    #[test]
    fn every_alias_leads_to_rows() {
        for line in ALIASES.lines().skip(1) {
            let cells: Vec<&str> = line.split('\t').collect();
            for target in cells[2].split(',') {
                assert!(rows(target.parse().unwrap(), cells[0]).is_ok(), "{line}");
            }
        }
    }
}
