//! Names of instructions: aliases, suffixes, and the names nearest to a misspelt name.

use std::collections::BTreeSet;

use thiserror::Error;

use super::page::Alias;
use super::rows_of;
use crate::table::{self, InstDesc};
use crate::target::{Family, Target, TargetSet};

/// Names that the assembler accepts and the disassembler does not print.
const ALIASES: &str = include_str!("../../data/aliases.tsv");

/// The error that no instruction has the given name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}", self.message())]
pub struct NameError {
    /// The name.
    pub name: String,
    /// The target for which the name was requested; `None` if for no particular one.
    pub target: Option<Target>,
    /// The nearest names, the best first. The list is empty if no name is near.
    pub nearest: Vec<&'static str>,
    /// True if the name is that of one half of a VOPD pair, which cannot occur without the other half. `nearest` then has pairs.
    pub is_half: bool,
    /// The targets that have the instruction, if the name is correct and only the target is wrong.
    pub elsewhere: TargetSet,
}

impl NameError {
    pub(super) fn unknown(name: &str, target: Option<Target>) -> NameError {
        let pairs = pairs_with(name, target);
        let is_half = !pairs.is_empty();
        NameError {
            name: name.to_owned(),
            target,
            nearest: if is_half { pairs } else { nearest(name, target) },
            is_half,
            elsewhere: TargetSet::EMPTY,
        }
    }

    fn message(&self) -> String {
        let place = self.target.map_or("no target has an".to_owned(), |t| format!("{t} has no"));
        let hint = if !self.elsewhere.is_empty() {
            let names: Vec<_> = self.elsewhere.targets().map(Target::name).collect();
            let verb = if names.len() == 1 { "has" } else { "have" };
            format!("; {} {verb} it", names.join(", "))
        } else if let Some(first) = self.nearest.first().filter(|_| self.is_half) {
            format!(" by itself; it is half of pairs such as `{first}`")
        } else if let Some(first) = self.nearest.first() {
            format!("; the nearest name is `{first}`")
        } else {
            String::new()
        };
        format!("{place} instruction `{}`{hint}", self.name)
    }
}

/// Each alias, with its mnemonic and the targets that accept it.
pub fn aliases() -> impl Iterator<Item = (&'static str, &'static str, TargetSet)> {
    ALIASES.lines().skip(1).filter_map(|line| {
        let mut cells = line.split('\t');
        let (alias, mnemonic, targets) = (cells.next()?, cells.next()?, cells.next()?);
        Some((alias, mnemonic, targets.parse().ok()?))
    })
}

pub(super) fn aliases_of(mnemonic: &str, target: Option<Target>) -> Vec<Alias> {
    aliases()
        .filter(|(_, canonical, targets)| {
            *canonical == mnemonic && target.is_none_or(|t| targets.contains(t))
        })
        .map(|(name, _, targets)| Alias { name, targets: targets.targets().map(Target::name).collect() })
        .collect()
}

/// The rows that `name` denotes: those of a mnemonic, of a name with a suffix, or of an alias.
pub(super) fn rows(name: &str, target: Option<Target>) -> Result<Vec<&'static InstDesc>, NameError> {
    let named = rows_named(name, name, target);
    if !named.is_empty() {
        return Ok(named);
    }
    let (base, suffix) = split_suffix(name);
    let canonical =
        aliases().find(|(alias, _, targets)| *alias == base && target.is_none_or(|t| targets.contains(t)));
    if let Some((_, mnemonic, _)) = canonical {
        return Ok(rows_named(mnemonic, &format!("{mnemonic}{suffix}"), target));
    }
    let former = target.and_then(|target| table::former_names(target).find(|former| former.0 == base));
    if let Some((_, mnemonic)) = former {
        return Ok(rows_named(mnemonic, &format!("{mnemonic}{suffix}"), target));
    }
    let other_targets = aliases().filter(|a| a.0 == base).map(|a| a.2);
    let rows = Family::ALL.into_iter().flat_map(|family| table::find_in(family, base));
    let rows = rows.filter(|row| suffix.is_empty() || has_suffix(row, suffix));
    let elsewhere = rows.map(|row| row.targets).chain(other_targets);
    let elsewhere = elsewhere.fold(TargetSet::EMPTY, TargetSet::union);
    Err(NameError { elsewhere, ..NameError::unknown(name, target) })
}

fn rows_named(mnemonic: &str, printed: &str, target: Option<Target>) -> Vec<&'static InstDesc> {
    let on_target = |r: &&'static InstDesc| target.is_none_or(|t| r.targets.contains(t));
    // A suffix requests one encoding. The printed name may have the suffix, as in `v_add_f32_e32`, or not, as for
    // `v_add3_u32_e64`.
    let (base, suffix) = split_suffix(printed);
    let exact: Vec<_> = rows_of(base, target)
        .into_iter()
        .filter(on_target)
        .filter(|r| !suffix.is_empty() && has_suffix(r, suffix))
        .collect();
    if !exact.is_empty() {
        return exact;
    }
    rows_of(mnemonic, target).into_iter().filter(on_target).collect()
}

/// Splits off `_e32`, `_e64`, `_dpp`, `_e64_dpp` or `_sdwa`.
fn split_suffix(name: &str) -> (&str, &str) {
    let suffix =
        ["_e32", "_e64", "_e64_dpp", "_dpp", "_sdwa"].into_iter().find(|s| name.ends_with(s)).unwrap_or("");
    name.split_at(name.len() - suffix.len())
}

fn has_suffix(row: &InstDesc, suffix: &str) -> bool {
    use crate::table::Format as F;
    match row.format {
        F::Vop1 | F::Vop2 | F::Vopc => suffix == "_e32",
        F::Vop3a | F::Vop3b | F::Vop3p | F::Vop3pMai | F::Vop3px2 => suffix == "_e64",
        F::Vop3aDpp | F::Vop3aDpp8 | F::Vop3bDpp | F::Vop3bDpp8 | F::Vop3pDpp | F::Vop3pDpp8 => {
            suffix == "_e64_dpp"
        }
        format => format.is_dpp() && suffix == "_dpp" || format.is_sdwa() && suffix == "_sdwa",
    }
}

/// Some VOPD pairs that contain `name`.
fn pairs_with(name: &str, target: Option<Target>) -> Vec<&'static str> {
    let has = |mnemonic: &str| mnemonic.split(" :: ").any(|half| half == name);
    let pairs = table::rows_of(Family::RDNA).iter().filter(|row| row.format.is_pair());
    let pairs = pairs.filter(|row| target.is_none_or(|t| row.targets.contains(t)) && has(row.mnemonic));
    pairs.map(|row| row.mnemonic).take(5).collect()
}

/// The mnemonics nearest to `name`, the best first, at most five. Their edit distance is at most a third of the name's length.
pub fn nearest(name: &str, target: Option<Target>) -> Vec<&'static str> {
    let name = split_suffix(name).0;
    if name.len() > 64 {
        return Vec::new();
    }
    let mut near: Vec<(usize, &'static str)> = known(target)
        .into_iter()
        .map(|other| (distance(name.as_bytes(), other.as_bytes()), other))
        .filter(|(d, _)| *d * 3 <= name.len().max(3))
        .collect();
    near.sort_unstable();
    near.into_iter().take(5).map(|(_, other)| other).collect()
}

/// All names of instructions, including aliases, except those of VOPD pairs.
fn known(target: Option<Target>) -> BTreeSet<&'static str> {
    let families = Family::ALL.into_iter().filter(|family| target.is_none_or(|t| t.family() == *family));
    families
        .flat_map(table::rows_of)
        .filter(|r| !r.format.is_pair())
        .filter(|r| target.is_none_or(|t| r.targets.contains(t)))
        .map(|r| r.mnemonic)
        .chain(aliases().filter(|a| target.is_none_or(|t| a.2.contains(t))).map(|a| a.0))
        .collect()
}

/// The names of instructions, including aliases, that match `pattern`, sorted. In a pattern, `*` stands for any characters and `?` for one
/// character. A pattern without `*` and `?` matches all names that begin with it.
pub fn matching(pattern: &str, target: Option<Target>) -> Vec<&'static str> {
    let mut pattern = pattern.trim().to_ascii_lowercase();
    if !pattern.contains(['*', '?']) {
        pattern.push('*');
    }
    known(target).into_iter().filter(|name| fits(pattern.as_bytes(), name.as_bytes())).collect()
}

/// True if the pattern matches all of `name`.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    // The position of the last star, and the position in the name at which the text after the star is tried.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&c) if c == b'?' || c == name[n] => (p, n) = (p + 1, n + 1),
            _ => {
                let Some((at, from)) = star else { return false };
                star = Some((at, from + 1));
                (p, n) = (at + 1, from + 1);
            }
        }
    }
    pattern[p..].iter().all(|c| *c == b'*')
}

/// The edit distance, in which swapping two adjacent characters counts as one edit.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let width = b.len() + 1;
    let mut before: Vec<usize> = vec![0; width];
    let mut last: Vec<usize> = (0..width).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1; width];
        for (j, y) in b.iter().enumerate() {
            let change = last[j] + usize::from(x != y);
            let mut best = change.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                best = best.min(before[j - 1] + 1);
            }
            row[j + 1] = best;
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        let of = |a: &str, b: &str| distance(a.as_bytes(), b.as_bytes());
        assert_eq!(
            (of("", "abc"), of("abc", "abc"), of("abc", "acb"), of("kitten", "sitting")),
            (3, 0, 1, 3)
        );
    }

    #[test]
    fn patterns() {
        for (pattern, name, fits_it) in [
            ("v_*_f32", "v_add_f32", true),
            ("v_*_f32", "v_add_f32_e64", false),
            ("*f?6*", "v_cvt_f16_f32", true),
            ("**", "", true),
            ("?", "", false),
            ("a*ab*c", "aabababc", true),
            ("a*b", "a", false),
        ] {
            assert_eq!(fits(pattern.as_bytes(), name.as_bytes()), fits_it, "{pattern} {name}");
        }
        assert!(matching("v_mfma_f64", None).contains(&"v_mfma_f64_4x4x4_4b_f64"));
        assert_eq!(matching("v_wmma", Some(Target::GFX942)), [""; 0]);
    }

    #[test]
    fn every_alias_stands_for_an_instruction() {
        assert_eq!(aliases().count(), 45);
        for (alias, mnemonic, targets) in aliases() {
            for target in Target::KNOWN.into_iter().filter(|target| targets.contains(*target)) {
                assert!(table::find_mnemonic(target, mnemonic).next().is_some(), "{alias} on {target}");
                assert!(
                    table::find_mnemonic(target, alias).next().is_none(),
                    "{alias} is a mnemonic of {target}"
                );
            }
        }
    }
}
