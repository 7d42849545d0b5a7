//! The two symbol hash functions of ELF, and the order that the GNU table requires.

/// The hash of a name in a `.hash` section (System V ABI, *Hash Table*).
pub(super) fn sysv(name: &[u8]) -> u32 {
    object::elf::hash(name)
}

/// The hash of a name in a `.gnu.hash` section.
pub(super) fn gnu(name: &[u8]) -> u32 {
    object::elf::gnu_hash(name)
}

/// The dimensions of a `.gnu.hash` section for a number of symbols: about four symbols per bucket and twelve filter
/// bits per symbol, as in LLVM's linker.
pub(super) struct GnuShape {
    /// The number of buckets.
    pub(super) buckets: u32,
    /// The number of 64-bit words of the Bloom filter, a power of two.
    pub(super) bloom_words: u32,
    /// The shift between the two filter bits of a symbol.
    pub(super) bloom_shift: u32,
}

impl GnuShape {
    pub(super) fn of(symbols: u32) -> GnuShape {
        let bloom_words = (u64::from(symbols) * 12 / 64 + 1).next_power_of_two() as u32;
        GnuShape { buckets: (symbols / 4).max(1), bloom_words, bloom_shift: 26 }
    }
}
