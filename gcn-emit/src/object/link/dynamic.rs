//! The loader's symbol tables: the order of the dynamic symbols, their names, and the sizes of the hash tables.

use super::super::hash::{self, GnuShape};
use super::reloc::Needs;
use super::strings::Strings;
use super::symbol::{Place, Symbols};

/// The dynamic symbol table and related tables.
pub(super) struct Tables {
    /// The number of each symbol and the offset of its name, in the order of `.dynsym`, without the null row.
    pub(super) symbols: Vec<(usize, u32)>,
    /// The number of undefined symbols, which come first and are not in `.gnu.hash`.
    pub(super) undefined: usize,
    pub(super) names: Strings,
    pub(super) shape: GnuShape,
    /// The number of entries of `.rela.dyn`.
    pub(super) relocations: u64,
}

impl Tables {
    /// Numbers the dynamic symbols: first the undefined ones, then the others by their bucket in the GNU hash table.
    pub(super) fn of(symbols: &mut Symbols<'_>, needs: &Needs) -> Tables {
        let mut names = Strings::repeating();
        let exported = symbols.list.iter().enumerate().filter(|s| s.1.is_exported);
        let named: Vec<_> = exported
            .map(|(index, linked)| (index, names.add(&symbols.module[index].name), linked.place))
            .collect();
        let is_undefined = |place| place == Place::Undefined;
        let (undefined, mut defined): (Vec<_>, Vec<_>) = named.into_iter().partition(|s| is_undefined(s.2));
        let shape = GnuShape::of(defined.len() as u32);
        let bucket = |index: usize| hash::gnu(symbols.module[index].name.as_bytes()) % shape.buckets;
        defined.sort_by_cached_key(|(index, name, _)| (bucket(*index), *name));
        let count = undefined.len();
        let list: Vec<_> =
            undefined.into_iter().chain(defined).map(|(index, name, _)| (index, name)).collect();
        for (number, (index, _)) in (1..).zip(&list) {
            symbols.list[*index].dynamic_index = number;
        }
        Tables { symbols: list, undefined: count, names, shape, relocations: needs.loaded.len() as u64 }
    }

    /// The size of `.gnu.hash` in bytes.
    pub(super) fn gnu_hash_size(&self) -> u64 {
        let hashed = (self.symbols.len() - self.undefined) as u64;
        16 + u64::from(self.shape.bloom_words) * 8 + (u64::from(self.shape.buckets) + hashed) * 4
    }

    /// The size of `.hash` in bytes.
    pub(super) fn hash_size(&self) -> u64 {
        (2 + 2 * (self.symbols.len() as u64 + 1)) * 4
    }

    /// The `.gnu.hash` section: filter, buckets and chains (in glibc's format).
    pub(super) fn gnu_hash(&self, name: impl Fn(usize) -> Vec<u8>) -> Vec<u8> {
        let hashes: Vec<u32> =
            self.symbols.iter().skip(self.undefined).map(|(index, _)| hash::gnu(&name(*index))).collect();
        let shape = &self.shape;
        let mut filter = vec![0u64; shape.bloom_words as usize];
        let mut buckets = vec![0u32; shape.buckets as usize];
        let mut chains = Vec::with_capacity(hashes.len());
        let first = self.undefined as u32 + 1;
        for (i, &hash) in hashes.iter().enumerate() {
            let word = (hash / 64) as usize & (filter.len() - 1);
            filter[word] |= 1 << (hash % 64) | 1 << ((hash >> shape.bloom_shift) % 64);
            let bucket = hash % shape.buckets;
            let slot = &mut buckets[bucket as usize];
            if *slot == 0 {
                *slot = first + i as u32;
            }
            let is_last = hashes.get(i + 1).is_none_or(|next| next % shape.buckets != bucket);
            chains.push(hash & !1 | u32::from(is_last));
        }
        let head = [shape.buckets, first, shape.bloom_words, shape.bloom_shift];
        let words = |list: &[u32]| list.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<_>>();
        let mut out = words(&head);
        out.extend(filter.iter().flat_map(|w| w.to_le_bytes()));
        out.extend(words(&buckets));
        out.extend(words(&chains));
        out
    }

    /// The `.hash` section (System V ABI, *Hash Table*), with a bucket for each symbol.
    pub(super) fn hash(&self, name: impl Fn(usize) -> Vec<u8>) -> Vec<u8> {
        let count = self.symbols.len() as u32 + 1;
        let mut buckets = vec![0u32; count as usize];
        let mut chains = vec![0u32; count as usize];
        for (number, (index, _)) in (1u32..).zip(&self.symbols) {
            let slot = &mut buckets[(hash::sysv(&name(*index)) % count) as usize];
            chains[number as usize] = std::mem::replace(slot, number);
        }
        [count, count].iter().chain(&buckets).chain(&chains).flat_map(|w| w.to_le_bytes()).collect()
    }
}
