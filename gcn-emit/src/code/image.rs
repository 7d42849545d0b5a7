//! The memory image of a section's code, in which indirect jumps look up addresses.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use gcn_isa::cfg::{AddressPlace, Image};

use crate::object::RelocationKind;

/// The first of the artificial addresses for external functions and slots of the global offset table; they are far from any section.
const OUTSIDE: i64 = 1 << 44;
const TABLE: i64 = 1 << 45;
/// The distance in bytes between two such addresses.
const APART: i64 = 16;

/// The values that a linker or loader writes into a section, and the addresses stored in memory. Addresses are relative
/// to the start of the section.
#[derive(Clone, Debug, Default)]
pub(super) struct Links {
    /// The 64-bit values that are written, or of which a half is written to a dword, by the offset, with the half that is written; `None` if
    /// the value is unknown.
    literals: HashMap<u64, Option<(i64, Half)>>,
    /// The addresses that are stored in memory, by the address at which they are stored.
    pointers: HashMap<i64, i64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Half {
    Low,
    High,
    Both,
}

/// The destination of a relocation or pointer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Target {
    /// An offset in the section itself.
    Here(i64),
    /// A function outside of the section, identified by a number.
    Outside(usize),
    /// A destination that is unknown before linking.
    Unknown,
}

impl Target {
    fn address(self) -> Option<i64> {
        match self {
            Target::Here(offset) => Some(offset),
            Target::Outside(number) => Some(OUTSIDE + APART * number as i64),
            Target::Unknown => None,
        }
    }
}

impl Links {
    /// Records a relocation in the section. `symbol` is the number of the relocation's base, and `addend` is relative to that base.
    pub fn relocation(
        &mut self,
        offset: u64,
        kind: RelocationKind,
        symbol: usize,
        target: Target,
        addend: i64,
    ) {
        use RelocationKind as K;
        let half = match kind {
            K::Rel32Lo | K::GotPcRel32Lo => Some(Half::Low),
            K::Rel32Hi | K::GotPcRel32Hi => Some(Half::High),
            // LLVM 22 uses this kind for literals of 64 bits; the upper half stays 0.
            K::GotPcRel | K::Rel64 => Some(Half::Both),
            _ => None,
        };
        let place = match kind {
            K::GotPcRel | K::GotPcRel32Lo | K::GotPcRel32Hi => {
                let slot = TABLE + APART * symbol as i64;
                target.address().map(|address| {
                    self.pointers.insert(slot, address);
                    slot
                })
            }
            _ => target.address(),
        };
        let value = place.map(|place| place.wrapping_add(addend).wrapping_sub(offset as i64));
        self.literals.insert(offset, value.zip(half));
    }

    /// Records an address that a loader writes at `place`.
    pub fn pointer(&mut self, place: i64, target: Target) {
        self.pointers.extend(target.address().map(|address| (place, address)));
    }
}

/// A section with its lines.
pub(super) struct CodeImage<'a, L> {
    pub bytes: &'a [u8],
    pub places: &'a [super::CodePlace],
    pub links: &'a Links,
    pub label: L,
    /// The offsets at which code was looked up although no line begins there.
    pub missed: RefCell<BTreeSet<u64>>,
}

impl<L: Fn(u64) -> String> Image for CodeImage<'_, L> {
    fn after(&self, line: usize) -> i64 {
        self.places.get(line).map_or(0, |p| p.offset as i64 + i64::from(p.length))
    }

    fn literal(&self, line: usize, _: u32) -> Option<u32> {
        let offset = (self.after(line) as u64).checked_sub(4)?;
        match self.links.literals.get(&offset) {
            Some(value) => value.map(|(value, half)| match half {
                Half::Low | Half::Both => value as u32,
                Half::High => (value >> 32) as u32,
            }),
            None => {
                let word = self.bytes.get(usize::try_from(offset).ok()?..)?.first_chunk::<4>()?;
                Some(u32::from_le_bytes(*word))
            }
        }
    }

    fn long_literal(&self, line: usize, _: u64) -> Option<u64> {
        let offset = (self.after(line) as u64).checked_sub(8)?;
        match self.links.literals.get(&offset) {
            Some(value) => value.filter(|(_, half)| *half == Half::Both).map(|(value, _)| value as u64),
            None => {
                let bytes = self.bytes.get(usize::try_from(offset).ok()?..)?.first_chunk::<8>()?;
                Some(u64::from_le_bytes(*bytes))
            }
        }
    }

    fn pointer(&self, address: i64) -> Option<i64> {
        self.links.pointers.get(&address).copied()
    }

    fn place(&self, address: i64) -> Option<AddressPlace> {
        if (OUTSIDE..TABLE).contains(&address) {
            return Some(AddressPlace::Outside);
        }
        let offset = u64::try_from(address).ok()?;
        let line = self.places.binary_search_by_key(&offset, |p| p.offset).ok();
        if line.is_none() {
            self.missed.borrow_mut().insert(offset);
        }
        line.map(AddressPlace::Line)
    }

    fn label(&self, line: usize) -> String {
        (self.label)(self.places.get(line).map_or(0, |p| p.offset))
    }
}
