//! Sets of instruction sets.

use std::fmt;
use std::str::FromStr;

use super::instruction_set::{Family, Generation, InstructionSet, WaveSize};
use super::processor::Target;

/// The instruction sets that have a property. The set is evaluated at compile time.
macro_rules! those {
    ($set:ident => $fact:expr) => {{
        let (mut bits, mut i) = (0, 0);
        while i < InstructionSet::COUNT {
            let $set = InstructionSet::ALL[i];
            if $fact {
                bits |= 1 << i;
            }
            i += 1;
        }
        TargetSet(bits)
    }};
}

/// A set of instruction sets. Each instruction set represents all processors that have it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TargetSet(u32);

impl TargetSet {
    /// The empty set.
    pub const EMPTY: TargetSet = TargetSet(0);

    /// All instruction sets of all families.
    pub const ALL: TargetSet = TargetSet((1 << InstructionSet::COUNT) - 1);

    /// The instruction sets of GFX9.
    pub const GFX9: TargetSet = TargetSet::of_family(Family::GFX9);

    /// The instruction sets of RDNA.
    pub const RDNA: TargetSet = TargetSet::of_family(Family::RDNA);

    /// The instruction sets of the given processors.
    pub const fn of(targets: &[Target]) -> TargetSet {
        let mut bits = 0;
        let mut i = 0;
        while i < targets.len() {
            bits |= 1 << targets[i].instruction_set() as u8;
            i += 1;
        }
        TargetSet(bits)
    }

    /// The set of one instruction set.
    pub const fn one(set: InstructionSet) -> TargetSet {
        TargetSet(1 << set as u8)
    }

    /// The instruction sets whose VGPR tuples must begin at even numbers.
    pub(crate) const WITH_EVEN_TUPLES: TargetSet = those!(set => set.needs_even_vgpr_tuples());

    /// The instruction sets with back-off barriers, which a wave may execute while memory operations are outstanding.
    pub(crate) const WITH_BACK_OFF_BARRIERS: TargetSet = those!(set => set.has_back_off_barrier());

    /// The instruction sets that support this wave size.
    pub(crate) const fn with_waves(wave: WaveSize) -> TargetSet {
        those!(set => {
            let sizes = set.wave_sizes();
            let mut i = 0;
            while i < sizes.len() && sizes[i] as u8 != wave as u8 {
                i += 1;
            }
            i < sizes.len()
        })
    }

    /// The instruction sets with `.amdhsa_tg_split`.
    pub(crate) const WITH_TG_SPLIT: TargetSet = those!(set => set.has_tg_split());

    /// The instruction sets of a family.
    pub const fn of_family(family: Family) -> TargetSet {
        those!(set => set.family() as u8 == family as u8)
    }

    const fn of_generation(generation: Generation) -> TargetSet {
        those!(set => set.generation() as u8 == generation as u8)
    }

    /// The instruction sets from that of one processor to that of another, inclusive, in the order of
    /// [`InstructionSet::ALL`].
    ///
    /// # Panics
    /// Panics if the processors belong to two families. A constant with this error does not compile.
    pub const fn range(first: Target, last: Target) -> TargetSet {
        TargetSet::between(first.instruction_set(), last.instruction_set())
    }

    /// The instruction sets from one to another of the same family, inclusive.
    ///
    /// # Panics
    /// Panics if the instruction sets belong to two families. A constant with this error does not compile.
    pub const fn between(first: InstructionSet, last: InstructionSet) -> TargetSet {
        assert!(first.family() as u8 == last.family() as u8, "a range ends with its family");
        TargetSet((2 << last as u8) - (1 << first as u8))
    }

    /// True if the set contains the processor's instruction set.
    pub const fn contains(self, target: Target) -> bool {
        self.has(target.instruction_set())
    }

    /// True if the set contains the instruction set.
    pub const fn has(self, set: InstructionSet) -> bool {
        self.0 >> set as u8 & 1 == 1
    }

    /// The instruction sets that have a property.
    pub fn with(fact: impl Fn(InstructionSet) -> bool) -> TargetSet {
        InstructionSet::ALL.into_iter().filter(|set| fact(*set)).collect()
    }

    /// True if the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The union of the two sets.
    #[must_use]
    pub const fn union(self, other: TargetSet) -> TargetSet {
        TargetSet(self.0 | other.0)
    }

    /// The intersection of the two sets.
    #[must_use]
    pub const fn intersection(self, other: TargetSet) -> TargetSet {
        TargetSet(self.0 & other.0)
    }

    /// The instruction sets in this set that are not in `other`.
    #[must_use]
    pub const fn difference(self, other: TargetSet) -> TargetSet {
        TargetSet(self.0 & !other.0)
    }

    /// The set split by generation, that is, by encoding. Some parts may be empty.
    pub(crate) fn generations(self) -> [TargetSet; 4] {
        const EACH: [TargetSet; 4] = {
            let [gfx9, gfx10, gfx11, gfx12] = Generation::ALL;
            [
                TargetSet::of_generation(gfx9),
                TargetSet::of_generation(gfx10),
                TargetSet::of_generation(gfx11),
                TargetSet::of_generation(gfx12),
            ]
        };
        EACH.map(|one| self.intersection(one))
    }

    /// The instruction sets, in the order of [`InstructionSet::ALL`].
    pub fn iter(self) -> impl Iterator<Item = InstructionSet> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            // The bit of an instruction set is its position in the list.
            let first = *InstructionSet::ALL.get(rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(first)
        })
    }

    /// The targets of [`Target::REPRESENTATIVES`] whose instruction set is in this set.
    pub fn representatives(self) -> impl Iterator<Item = Target> {
        Target::REPRESENTATIVES.into_iter().filter(move |target| self.contains(*target))
    }

    /// The processors whose instruction set is in this set, in the order of [`Target::KNOWN`].
    pub fn targets(self) -> impl Iterator<Item = Target> {
        Target::KNOWN.into_iter().filter(move |target| self.contains(*target))
    }
}

impl FromIterator<InstructionSet> for TargetSet {
    fn from_iter<I: IntoIterator<Item = InstructionSet>>(sets: I) -> TargetSet {
        sets.into_iter().fold(TargetSet::EMPTY, |all, set| all.union(TargetSet::one(set)))
    }
}

impl FromIterator<Target> for TargetSet {
    fn from_iter<I: IntoIterator<Item = Target>>(targets: I) -> TargetSet {
        targets.into_iter().map(Target::instruction_set).collect()
    }
}

impl fmt::Debug for TargetSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// The error that a text does not denote a set of instruction sets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnknownSet {
    /// The text contains an unknown name.
    #[error("unknown instruction set `{0}`")]
    Name(String),
    /// A range contains parts of two families, or has neither end.
    #[error("`{0}` is no range within one family: ranges end with their family")]
    Range(String),
}

impl FromStr for TargetSet {
    type Err = UnknownSet;

    /// Parses the notation of the tables: `gfx900+gfx908..gfx942`. A range includes both ends. If one end is missing, the range extends to
    /// that end of the family.
    ///
    /// ```
    /// use gcn_isa::{Target, TargetSet};
    ///
    /// let set: TargetSet = "gfx900+gfx90a..".parse()?;
    /// assert_eq!(set, TargetSet::of(&[Target::GFX900]).union(TargetSet::range(Target::GFX90A, Target::GFX950)));
    /// assert!(!set.contains(Target::GFX1030));
    /// assert!("gfx90a..gfx10.3".parse::<TargetSet>().is_err());
    /// # Ok::<(), gcn_isa::target::UnknownSet>(())
    /// ```
    fn from_str(text: &str) -> Result<TargetSet, UnknownSet> {
        let named = |name: &str| {
            let set = InstructionSet::ALL.into_iter().find(|set| set.name() == name);
            set.ok_or_else(|| UnknownSet::Name(name.to_owned()))
        };
        text.split('+').try_fold(TargetSet::EMPTY, |all, part| {
            let part = match part.split_once("..") {
                None => TargetSet::one(named(part)?),
                Some((first, last)) => {
                    let ends = match (first, last) {
                        ("", "") => None,
                        ("", last) => {
                            let last = named(last)?;
                            TargetSet::of_family(last.family()).iter().next().map(|first| (first, last))
                        }
                        (first, "") => {
                            let first = named(first)?;
                            TargetSet::of_family(first.family()).iter().last().map(|last| (first, last))
                        }
                        (first, last) => Some((named(first)?, named(last)?)),
                    };
                    let ends = ends.filter(|(first, last)| first.family() == last.family() && first <= last);
                    let (first, last) = ends.ok_or_else(|| UnknownSet::Range(part.to_owned()))?;
                    TargetSet::between(first, last)
                }
            };
            Ok(all.union(part))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_end_with_their_family() {
        for family in [Family::GFX9, Family::RDNA] {
            let all = TargetSet::of_family(family);
            for set in all.iter() {
                let (from, to): (TargetSet, TargetSet) =
                    (format!("{set}..").parse().unwrap(), format!("..{set}").parse().unwrap());
                assert_eq!((from.union(to), from.intersection(to)), (all, TargetSet::one(set)), "{set}");
                for other in TargetSet::ALL.difference(all).iter() {
                    let across = format!("{set}..{other}");
                    assert_eq!(across.parse::<TargetSet>(), Err(UnknownSet::Range(across.clone())));
                }
            }
        }
        for wrong in ["..", "gfx950..gfx900", "gfx900+..", "", "gfx9", "gfx900..gfx1030"] {
            assert!(wrong.parse::<TargetSet>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn families_are_contiguous() {
        assert!(InstructionSet::ALL.is_sorted_by_key(|set| set.family()));
    }
}
