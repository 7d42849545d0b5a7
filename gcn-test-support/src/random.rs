//! A deterministic random number generator, so that a seed identifies a failing case.

/// SplitMix64 (G. Steele, D. Lea and C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014). All seeds are equally good.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The generator for a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// 64 random bits.
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// 32 random bits.
    pub const fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    /// 128 random bits.
    pub fn next_u128(&mut self) -> u128 {
        u128::from(self.next_u64()) << 64 | u128::from(self.next_u64())
    }

    /// A random number below `bound`, which must not be zero.
    pub const fn below(&mut self, bound: usize) -> usize {
        self.below_u64(bound as u64) as usize
    }

    /// A random number below `bound`, which must not be zero.
    pub const fn below_u64(&mut self, bound: u64) -> u64 {
        self.next_u64() % bound
    }

    /// True with probability 1 / `n`.
    pub const fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// True with probability 1/2.
    pub const fn flip(&mut self) -> bool {
        self.one_in(2)
    }

    /// True with a probability of `percent` %.
    pub const fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// A number from `low` to `high`, both inclusive; the ends, zero and their neighbours are more likely than others.
    pub fn within(&mut self, low: i64, high: i64) -> i64 {
        let span = (high - low) as u64 + 1;
        let edges = [low, high, low + 1, high - 1, 0, 1, -1, 64, 65];
        let edge = *self.pick(&edges);
        if self.one_in(3) && (low..=high).contains(&edge) { edge } else { low + self.below_u64(span) as i64 }
    }

    /// A random element of the list, which must not be empty.
    pub const fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    /// Random words; if `special` is not empty, half of them come from it.
    pub fn words<const N: usize>(&mut self, special: &[u32]) -> [u32; N] {
        std::array::from_fn(|_| {
            let bits = self.next_u64();
            if bits & 1 == 0 && !special.is_empty() {
                special[(bits >> 8) as usize % special.len()]
            } else {
                (bits >> 32) as u32
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    /// The first numbers of the reference implementation (S. Vigna, prng.di.unimi.it/splitmix64.c) for the seed 1234567, which tests of
    /// other libraries use as well.
    #[test]
    fn the_numbers_are_those_of_splitmix64() {
        let mut random = Random::new(1_234_567);
        let numbers = [(); 3].map(|()| random.next_u64());
        assert_eq!(
            numbers,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }
}
