//! Groups of accesses in a run that can be moved next to each other.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::super::align::Split;
use super::super::{Kernel, Memory, Value};
use super::alias::{is_dynamic, is_raw, is_read_only};
use crate::scalar::Elem;

/// An access to whole dwords, or to one narrower element.
#[derive(Clone, Copy)]
pub(super) struct Access {
    /// The position of the access in the run.
    pub at: usize,
    /// The load or store.
    pub inst: Value,
    /// The constant part of its offset.
    pub constant: u32,
    pub bytes: u32,
    /// The element type.
    pub elem: Elem,
}

/// Accesses to one object with one base. No instruction between them prevents moving them next to each other.
pub(super) struct Group {
    pub memory: Memory,
    /// The common part of the offsets; its constant is 0.
    pub base: Split,
    pub store: bool,
    /// The number of bytes of which the base is a multiple: a power of two, or the size of an element.
    pub aligned: u32,
    /// The accesses, in program order.
    pub accesses: Vec<Access>,
    /// Loads between the stores of the group, or stores between its loads, that have the same base and access other
    /// bytes.
    pub passed: Vec<Access>,
}

impl Group {
    /// The first byte, relative to the base, of the aligned block or element that contains byte `constant`.
    pub fn start_of(&self, constant: u32) -> u32 {
        if self.aligned.is_power_of_two() {
            return constant & !(self.aligned - 1);
        }
        let rest = constant.cast_signed().rem_euclid(self.aligned.cast_signed());
        constant.wrapping_sub(rest.cast_unsigned())
    }

    /// For each access, the number of the run of consecutive accesses to one aligned block to which it belongs.
    pub fn block_runs(&self) -> Vec<u32> {
        let mut block_run = 0;
        let mut before = None;
        let number = |a: &Access| {
            let block = self.start_of(a.constant);
            block_run += u32::from(before.replace(block).is_some_and(|old| old != block));
            block_run
        };
        self.accesses.iter().map(number).collect()
    }

    /// True if the accesses `parts`, when merged, may move across the loads (or stores) between them. In one lane the
    /// two kinds access different bytes; if they are in the same aligned block, that holds for the bytes of all lanes.
    pub fn passes(&self, parts: &[Access]) -> bool {
        let ends =
            |a: &Access| [a.constant, a.constant.wrapping_add(a.bytes - 1)].map(|at| self.start_of(at));
        let first = parts.iter().map(|a| a.at).min().unwrap_or_default();
        let last = parts.iter().map(|a| a.at).max().unwrap_or_default();
        let from = self.passed.partition_point(|a| a.at < first);
        let mut between = self.passed[from..].iter().take_while(|a| a.at < last).peekable();
        let [block, _] = ends(&parts[0]);
        between.peek().is_none() || parts.iter().chain(between).all(|a| ends(a) == [block; 2])
    }
}

/// Classes of memory; accesses of different classes never alias.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Class {
    /// Memory behind raw pointers, and slices that overlap others.
    Raw,
    /// The LDS array whose size the launch gives, under any of its names.
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

/// The groups of a class that can still grow. A store closes all groups except the one that it joins, and a load closes
/// the group of stores, so at most one group of stores is open. There is one exception: a load and a store with the
/// same base and different bytes may be reordered, so both groups stay open, and every load is compared with all stores
/// since its group began.
#[derive(Default)]
struct Open {
    loads: HashMap<(Memory, Split), usize>,
    stores: Option<Stores>,
}

struct Stores {
    group: usize,
    taken: Taken,
}

/// The bytes to which a group stores, which do not overlap: the first byte and the size of each store.
#[derive(Default)]
struct Taken {
    bytes: BTreeMap<u32, u32>,
    /// The size in bytes of the widest access.
    most: u32,
}

impl Taken {
    fn add(&mut self, constant: u32, bytes: u32) {
        self.bytes.insert(constant, bytes);
        self.most = self.most.max(bytes);
    }

    /// True if an access to `bytes` bytes at `constant` overlaps an access of the group. Offsets wrap at 2^32.
    fn overlaps(&self, constant: u32, bytes: u32) -> bool {
        let within = |first: u32, bytes: u32, hit: &dyn Fn(u32, u32) -> bool| {
            let last = first.wrapping_add(bytes.saturating_sub(1));
            let hits =
                |range: std::ops::RangeInclusive<u32>| self.bytes.range(range).any(|(c, n)| hit(*c, *n));
            if bytes == 0 {
                false
            } else if first <= last {
                hits(first..=last)
            } else {
                hits(first..=u32::MAX) || hits(0..=last)
            }
        };
        // An access that starts before `constant` overlaps it only if the distance is less than the size of the widest
        // access.
        let reach = self.most;
        within(constant, bytes, &|_, _| true)
            || within(constant.wrapping_sub(reach), reach, &|c, n| constant.wrapping_sub(c) < n)
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
        all.push(Group { memory, base, store, aligned: 4, accesses: Vec::new(), passed: Vec::new() });
        all.len() - 1
    }

    /// Closes the groups at an instruction across which no access may move. Groups of loads from read-only memory stay
    /// open.
    pub fn close_all(&mut self, kernel: &Kernel) {
        self.open.retain(|class, _| matches!(class, Class::Object(memory) if is_read_only(kernel, *memory)));
    }

    /// Adds a load. `access` is `Some` if the load may become part of a wider one.
    pub fn load(&mut self, kernel: &Kernel, memory: Memory, base: Split, access: Option<Access>) {
        let open = self.open.entry(Class::of(kernel, memory)).or_default();
        // A load closes the group of stores: stores are merged at the last store of their group, and a store that moved
        // across the load would come too late for it.
        if let Some(stores) = open.stores.take() {
            let group = &mut self.all[stores.group];
            let apart = (group.memory, group.base) == (memory, base);
            match access.filter(|a| apart && !stores.taken.overlaps(a.constant, a.bytes)) {
                Some(access) => {
                    group.passed.push(access);
                    open.stores = Some(stores);
                }
                None => {
                    // Only loads after the last store may still be merged with each other.
                    let last = group.accesses.last().map_or(0, |a| a.at);
                    let key = (group.memory, group.base);
                    if let Some(before) = open.loads.remove(&key) {
                        let loads = &mut self.all[before].accesses;
                        let after = loads.split_off(loads.partition_point(|a| a.at < last));
                        let group = Groups::begin(&mut self.all, key.0, key.1, false);
                        self.all[group].accesses = after;
                        open.loads.insert(key, group);
                    }
                }
            }
        }
        if let Some(access) = access {
            let all = &mut self.all;
            let begin = || Groups::begin(all, memory, base, false);
            let group = *open.loads.entry((memory, base)).or_insert_with(begin);
            self.all[group].accesses.push(access);
        }
    }

    /// Adds a store. Stores to different bytes of one object, with one base, form a group.
    pub fn store(&mut self, kernel: &Kernel, memory: Memory, base: Split, access: Option<Access>) {
        let open = self.open.entry(Class::of(kernel, memory)).or_default();
        let Some(access) = access else {
            open.loads.clear();
            open.stores = None;
            return;
        };
        // A store closes the groups of loads with another base: loads are merged at the first load of their group, and
        // a load that moved across the store would miss its value.
        let loads = open.loads.remove(&(memory, base));
        open.loads.clear();
        let all = &self.all;
        let joins = |s: &Stores| {
            let group = &all[s.group];
            group.memory == memory && group.base == base && !s.taken.overlaps(access.constant, access.bytes)
        };
        let before = open.stores.take();
        let first = before.is_none();
        let (mut stores, joined) = match before.filter(joins) {
            Some(stores) => (stores, true),
            None => {
                let group = Groups::begin(&mut self.all, memory, base, true);
                (Stores { group, taken: Taken::default() }, false)
            }
        };
        if let Some(loads) = loads.filter(|_| first || joined) {
            self.all[loads].passed.push(access);
            open.loads.insert((memory, base), loads);
        }
        stores.taken.add(access.constant, access.bytes);
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
        /// Compares with a model that treats every byte separately.
        #[test]
        fn overlaps_are_those_of_the_bytes(
            parts in proptest::collection::vec((0u32..96, 1u32..17), 0..6),
            asked in (0u32..96, 1u32..17),
            shift in proptest::sample::select(vec![0u32, 0u32.wrapping_sub(50)]),
        ) {
            let bytes = |(at, count): (u32, u32)| (0..count).map(move |b| shift.wrapping_add(at).wrapping_add(b));
            let mut taken = Taken::default();
            let mut plain = std::collections::HashSet::new();
            for part in parts {
                if bytes(part).all(|b| !plain.contains(&b)) {
                    taken.add(shift.wrapping_add(part.0), part.1);
                    plain.extend(bytes(part));
                }
            }
            let overlaps = bytes(asked).any(|b| plain.contains(&b));
            proptest::prop_assert_eq!(taken.overlaps(shift.wrapping_add(asked.0), asked.1), overlaps);
        }
    }
}
