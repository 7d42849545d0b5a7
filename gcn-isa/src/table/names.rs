//! Hash maps whose keys are names of the table. They are queried for every line of an assembly file. Their keys come from the table, so no
//! attacker can choose colliding keys, and a short multiplicative hash is sufficient.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map whose keys are names of the table.
pub type NameMap<T> = HashMap<&'static str, T, BuildHasherDefault<NameHasher>>;

/// Hashes short texts, eight bytes at a time.
#[derive(Default, Clone, Copy, Debug)]
pub struct NameHasher(u64);

impl NameHasher {
    #[inline]
    fn mix(&mut self, word: u64) {
        // The upper half of the product depends on all bits of the word; each bit of the lower half depends only on the
        // bits at or below it. Combining both halves makes every bit of the hash depend on all bits of the word.
        let product = u128::from(self.0.rotate_left(5) ^ word) * 0x517c_c1b7_2722_0a95;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }
}

impl Hasher for NameHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.mix(u64::from_le_bytes(*word));
        }
        // Hash the remaining bytes without a loop, whose exit would be mispredicted: the chunks overlap, so some bytes
        // are hashed twice.
        let last = match (bytes.last_chunk(), rest.last_chunk(), rest) {
            (Some(word), ..) => u64::from_le_bytes(*word),
            (_, Some(half), _) => {
                let first = rest.first_chunk().map_or(0, |first| u32::from_le_bytes(*first));
                u64::from(u32::from_le_bytes(*half)) << 32 | u64::from(first)
            }
            (.., [first, .., last]) => {
                let middle = u64::from(rest[rest.len() / 2]);
                u64::from(*first) | middle << 8 | u64::from(*last) << 16
            }
            (.., [one]) => (*one).into(),
            (.., []) => 0,
        };
        self.mix(last ^ (bytes.len() as u64) << 56);
    }

    fn write_u8(&mut self, _: u8) {
        // `str` writes an end mark after its bytes. It is not necessary here, because the length is part of the hash.
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;
    use std::collections::HashSet;
    use std::hash::BuildHasher as _;

    #[test]
    fn names_spread() {
        let hash = BuildHasherDefault::<NameHasher>::default();
        let names: HashSet<&str> = table::rows().iter().flat_map(|r| [r.mnemonic, r.printed]).collect();
        let hashes: HashSet<u64> = names.iter().map(|n| hash.hash_one(n)).collect();
        assert_eq!(hashes.len(), names.len(), "two names with one hash");
        let buckets: HashSet<u64> = hashes.iter().map(|h| h & 0x3fff).collect();
        // With 16384 buckets a random function fills 15% of them with about 2700 names.
        let expected = 16384.0 * (1.0 - (-(names.len() as f64) / 16384.0).exp());
        assert!(buckets.len() as f64 > 0.95 * expected, "{} of {expected}", buckets.len());
    }
}
