//! Groups: the accesses of a run that can be moved next to each other.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::super::align::Split;
use super::super::{Kernel, Memory, Value};
use super::run::{is_dynamic, is_raw, is_read_only};

/// An access of whole dwords.
#[derive(Clone, Copy)]
pub(super) struct Access {
    /// Its position in the run.
    pub at: usize,
    /// The load or store.
    pub inst: Value,
    /// The constant part of its offset.
    pub constant: u32,
    pub dwords: u32,
}

/// Accesses to one object with one base, with nothing in between that they must not pass.
pub(super) struct Group {
    pub memory: Memory,
    /// The common part; its constant is 0.
    pub base: Split,
    pub store: bool,
    /// The base is a multiple of this many bytes.
    pub aligned: u32,
    /// In order of position.
    pub accesses: Vec<Access>,
}

impl Group {
    /// A number for each access: consecutive accesses to the same aligned block have the same one.
    pub fn block_runs(&self) -> Vec<u32> {
        let mut block_run = 0;
        let mut before = None;
        let number = |a: &Access| {
            let block = a.constant & !(self.aligned - 1);
            block_run += u32::from(before.replace(block).is_some_and(|old| old != block));
            block_run
        };
        self.accesses.iter().map(number).collect()
    }
}

/// Memory that may be the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Class {
    /// Memory behind raw pointers, and slices that overlap.
    Raw,
    /// All names of the LDS array whose size the launch gives.
    Dynamic,
    Object(Memory),
}

impl Class {
    fn of(kernel: &Kernel, memory: Memory) -> Class {
        match memory {
            memory if is_raw(kernel, memory) => Class::Raw,
            Memory::Lds(id) if is_dynamic(kernel, id) => Class::Dynamic,
            _ => Class::Object(memory),
        }
    }
}

/// The groups of a class that can still grow. A store closes all groups but the one that it joins, and a load
/// closes groups of stores, so at most one group of stores is open.
#[derive(Default)]
struct Open {
    loads: HashMap<(Memory, Split), usize>,
    stores: Option<Stores>,
}

struct Stores {
    group: usize,
    taken: Taken,
}

/// The bytes to which a group stores; they do not overlap. First byte and dwords of each access.
#[derive(Default)]
struct Taken {
    dwords: BTreeMap<u32, u32>,
    /// The dwords of the widest access.
    most: u32,
}

impl Taken {
    fn add(&mut self, constant: u32, dwords: u32) {
        self.dwords.insert(constant, dwords);
        self.most = self.most.max(dwords);
    }

    /// True if an access of `dwords` at `constant` overlaps one of the group. Offsets wrap at 2^32.
    fn overlaps(&self, constant: u32, dwords: u32) -> bool {
        let within = |first: u32, bytes: u32, hit: &dyn Fn(u32, u32) -> bool| {
            let last = first.wrapping_add(bytes.saturating_sub(1));
            let hits =
                |range: std::ops::RangeInclusive<u32>| self.dwords.range(range).any(|(c, d)| hit(*c, *d));
            if bytes == 0 {
                false
            } else if first <= last {
                hits(first..=last)
            } else {
                hits(first..=u32::MAX) || hits(0..=last)
            }
        };
        // An access that starts before `constant` overlaps it if it is long enough; none is longer than the
        // widest.
        let reach = 4 * self.most;
        within(constant, 4 * dwords, &|_, _| true)
            || within(constant.wrapping_sub(reach), reach, &|c, d| constant.wrapping_sub(c) < 4 * d)
    }
}

/// The groups of a run.
#[derive(Default)]
pub(super) struct Groups {
    all: Vec<Group>,
    open: HashMap<Class, Open>,
}

impl Groups {
    fn begin(all: &mut Vec<Group>, memory: Memory, base: Split, store: bool) -> usize {
        all.push(Group { memory, base, store, aligned: 4, accesses: Vec::new() });
        all.len() - 1
    }

    /// Closes the groups at an instruction that no access may pass. Loads of read-only memory pass
    /// everything.
    pub fn close_all(&mut self, kernel: &Kernel) {
        self.open.retain(|class, _| matches!(class, Class::Object(memory) if is_read_only(kernel, *memory)));
    }

    /// Adds a load; `access` if it is one of whole dwords.
    pub fn load(&mut self, kernel: &Kernel, memory: Memory, base: Split, access: Option<Access>) {
        let open = self.open.entry(Class::of(kernel, memory)).or_default();
        // A load ends the group of stores: stores move down to the last one of their group, and one that
        // moved below the load would come too late for it.
        open.stores = None;
        if let Some(access) = access {
            let all = &mut self.all;
            let begin = || Groups::begin(all, memory, base, false);
            let group = *open.loads.entry((memory, base)).or_insert_with(begin);
            self.all[group].accesses.push(access);
        }
    }

    /// Adds a store. Stores to different bytes of one object form a group.
    pub fn store(&mut self, kernel: &Kernel, memory: Memory, base: Split, access: Option<Access>) {
        let open = self.open.entry(Class::of(kernel, memory)).or_default();
        // A store ends the groups of loads: loads move up to the first one of their group, and one that moved
        // above the store would miss its value.
        open.loads.clear();
        let Some(access) = access else {
            open.stores = None;
            return;
        };
        let all = &self.all;
        let joins = |s: &Stores| {
            let group = &all[s.group];
            group.memory == memory && group.base == base && !s.taken.overlaps(access.constant, access.dwords)
        };
        let mut stores = match open.stores.take().filter(joins) {
            Some(stores) => stores,
            None => {
                Stores { group: Groups::begin(&mut self.all, memory, base, true), taken: Taken::default() }
            }
        };
        stores.taken.add(access.constant, access.dwords);
        self.all[stores.group].accesses.push(access);
        open.stores = Some(stores);
    }

    /// All groups.
    pub fn finish(self) -> Vec<Group> {
        self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        /// The witness is every byte by itself.
        #[test]
        fn overlaps_are_those_of_the_bytes(
            parts in proptest::collection::vec((0u32..24, 1u32..5), 0..6),
            asked in (0u32..24, 1u32..5),
            shift in proptest::sample::select(vec![0u32, 0u32.wrapping_sub(50)]),
        ) {
            let bytes = |(at, dwords): (u32, u32)| (0..4 * dwords).map(move |b| (shift.wrapping_add(4 * at + at % 3)).wrapping_add(b));
            let mut taken = Taken::default();
            let mut plain = std::collections::HashSet::new();
            for part in parts {
                if bytes(part).all(|b| !plain.contains(&b)) {
                    taken.add(shift.wrapping_add(4 * part.0 + part.0 % 3), part.1);
                    plain.extend(bytes(part));
                }
            }
            let overlaps = bytes(asked).any(|b| plain.contains(&b));
            proptest::prop_assert_eq!(taken.overlaps(shift.wrapping_add(4 * asked.0 + asked.0 % 3), asked.1), overlaps);
        }
    }
}
