//! Random numbers that are reproducible from a seed on every machine.

/// `SplitMix64`: Steele, Lea, Flood, *Fast Splittable Pseudorandom Number Generators*, 2014.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The generator for one test case, seeded from these three values alone.
    pub fn of(seed: u64, name: &str, variant: u32) -> Random {
        // FNV-1a.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in name.bytes().chain(variant.to_le_bytes()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
        Random(seed ^ hash)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `n`, which must not be 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() >> 16) as usize % n
    }

    /// A random element of `choices`.
    pub fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}
