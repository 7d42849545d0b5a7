//! The values that a linker or loader computes from the addresses of symbols, in assembly syntax.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::ops::Range;

use super::names::{Names, written};
use crate::object::{Binding, CodeObject, RelocationKind, RelocationRow, SymbolKind, SymbolView, Visibility};

/// The references of an object to symbols.
#[derive(Clone, Debug, Default)]
pub(super) struct References {
    /// The references by section and address.
    places: BTreeMap<(usize, u64), Reference>,
    /// Labels for the beginnings of sections that have no symbol to which a reference could be relative.
    pub labels: BTreeMap<usize, String>,
}

/// A value that is computed from the address of a symbol.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    kind: RelocationKind,
    /// The symbol in assembly syntax.
    symbol: String,
    /// The number that is added.
    addend: i64,
}

impl References {
    pub(super) fn new(object: &CodeObject<'_>, names: &Names<'_>, repeated: &HashSet<usize>) -> References {
        let mut symbols = Symbols { object, names, places: BTreeMap::new(), unique: HashSet::new() };
        symbols.fill();
        let mut references = References::default();
        if object.is_relocatable {
            let is_own = |number: &usize| object.sections[*number].is_loaded() && !repeated.contains(number);
            for number in (0..object.sections.len()).filter(is_own) {
                for row in object.relocations_of(number) {
                    if let Some(reference) = symbols.of_linker(row, &mut references.labels) {
                        references.places.insert((number, row.offset), reference);
                    }
                }
            }
            return references;
        }
        for row in object.dynamic_relocations() {
            if let Some(number) = symbols.section_at(row.offset)
                && let Some(reference) = symbols.of_loader(row, &mut references.labels)
            {
                references.places.insert((number, row.offset), reference);
            }
        }
        references
    }

    /// The references in a range of addresses of a section, in ascending order.
    pub(super) fn within(
        &self,
        section: usize,
        range: Range<u64>,
    ) -> impl Iterator<Item = (u64, &Reference)> {
        let end = range.end.max(range.start);
        let found = self.places.range((section, range.start)..(section, end));
        let fits = move |(address, reference): &(u64, &Reference)| {
            address.checked_add(reference.kind.width()).is_some_and(|last| last <= end)
        };
        found.map(|((_, address), reference)| (*address, reference)).filter(fits)
    }
}

impl Reference {
    /// The number of bytes at the place.
    pub(super) fn width(&self) -> u64 {
        self.kind.width()
    }

    /// The directive that writes the value as data; `None` if no directive does.
    pub(super) fn directive(&self) -> Option<String> {
        let specified = || self.sum(self.kind.specifier());
        Some(match self.kind {
            RelocationKind::Abs64 => format!(".quad {}", self.sum(None)),
            RelocationKind::Abs32 => format!(".long {}", self.sum(None)),
            RelocationKind::Rel32 => format!(".long {}-.", self.sum(None)),
            RelocationKind::Rel16 => return None,
            _ if self.width() == 8 => format!(".quad {}", specified()),
            _ => format!(".long {}", specified()),
        })
    }

    /// The operand that produces the value in an instruction. A symbol without a specifier is relative to the place of the literal there.
    pub(super) fn operand(&self) -> String {
        // The value has 32 bits in any case; this kind only lets the linker check it.
        let kind = if self.kind == RelocationKind::Abs32 { RelocationKind::Abs32Lo } else { self.kind };
        self.sum(kind.specifier())
    }

    /// The symbol with a specifier, and the addend.
    fn sum(&self, specifier: Option<&str>) -> String {
        let at = if specifier.is_some() { "@" } else { "" };
        let mut sum = format!("{}{at}{}", self.symbol, specifier.unwrap_or_default());
        if self.addend != 0 {
            let _ = write!(sum, "{:+}", self.addend);
        }
        sum
    }
}

/// Finds the symbols to which references are relative.
struct Symbols<'s, 'd> {
    object: &'s CodeObject<'d>,
    names: &'s Names<'d>,
    /// The symbols that only this object defines, by section and address.
    places: BTreeMap<(usize, u64), &'d str>,
    /// The names of exactly one symbol. Others cannot be referred to.
    unique: HashSet<&'d str>,
}

impl<'d> Symbols<'_, 'd> {
    fn fill(&mut self) {
        let is_named = |kind| !matches!(kind, SymbolKind::File | SymbolKind::Section);
        let named = self.object.symbols.iter().filter(|s| is_named(s.kind) && written(s.name).is_some());
        let mut counts: HashMap<&'d str, usize> = HashMap::new();
        named.clone().for_each(|symbol| *counts.entry(symbol.name).or_default() += 1);
        self.unique = counts.into_iter().filter(|(_, count)| *count == 1).map(|(name, _)| name).collect();
        // Another object can replace other symbols, and a reference must not follow them there.
        let is_fixed =
            |s: &&SymbolView<'_>| s.binding == Binding::Local || s.visibility != Visibility::Default;
        for symbol in named.filter(|s| self.unique.contains(s.name)).filter(is_fixed) {
            if let Some(section) = symbol.section {
                self.places.entry((section, symbol.address)).or_insert(symbol.name);
            }
        }
    }

    /// The section of a linked object that contains an address.
    fn section_at(&self, address: u64) -> Option<usize> {
        let contains = |offset: Option<u64>, size| offset.is_some_and(|offset| offset < size);
        self.object
            .sections
            .iter()
            .position(|s| s.is_loaded() && contains(address.checked_sub(s.address), s.size))
    }

    /// A reference to an address in a section: relative to a symbol there, or else to a label at its beginning.
    fn place(
        &self,
        kind: RelocationKind,
        (section, address): (usize, u64),
        labels: &mut BTreeMap<usize, String>,
    ) -> Option<Reference> {
        let before = self.places.range((section, 0)..=(section, address)).next_back();
        let symbol = before.or_else(|| self.places.range((section, address)..=(section, u64::MAX)).next());
        if let Some(((_, at), name)) = symbol {
            let addend = address.wrapping_sub(*at) as i64;
            return Some(Reference { kind, symbol: written(name)?.into_owned(), addend });
        }
        let start = self.object.sections.get(section)?.address;
        let label = labels.entry(section).or_insert_with(|| self.names.label(section, start, false));
        Some(Reference { kind, symbol: label.clone(), addend: address.wrapping_sub(start) as i64 })
    }

    /// A reference that the linker resolves.
    fn of_linker(&self, row: RelocationRow, labels: &mut BTreeMap<usize, String>) -> Option<Reference> {
        let kind = RelocationKind::from_number(row.kind)?;
        let symbol = row.symbol(self.object)?;
        if symbol.section.is_none() || self.unique.contains(symbol.name) {
            return Some(Reference { kind, symbol: written(symbol.name)?.into_owned(), addend: row.addend });
        }
        self.place(kind, (symbol.section?, symbol.address.wrapping_add_signed(row.addend)), labels)
    }

    /// A reference that the loader resolves.
    fn of_loader(&self, row: RelocationRow, labels: &mut BTreeMap<usize, String>) -> Option<Reference> {
        let kind = RelocationKind::Abs64;
        if row.kind == kind.number() {
            let symbol = self.object.dynamic_symbol(row.symbol)?;
            return Some(Reference { kind, symbol: written(symbol.name)?.into_owned(), addend: row.addend });
        }
        let to = (row.kind == RelocationKind::RELATIVE64).then_some(row.addend as u64)?;
        self.place(kind, (self.section_at(to)?, to), labels)
    }
}
