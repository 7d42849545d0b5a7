//! A small deterministic generator (SplitMix64), so that a failure can be repeated from its seed.

/// The generator.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `bound`, which is not zero.
    pub fn below_u64(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// True half the times.
    pub fn flip(&mut self) -> bool {
        self.one_in(2)
    }

    /// A number below `bound`, which is not zero.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// 128 random bits.
    pub fn wide(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// A number from `lo` to `hi`, both included; the ends, zero and their neighbours more often than others.
    pub fn within(&mut self, lo: i64, hi: i64) -> i64 {
        let span = (hi - lo) as u64 + 1;
        let edges = [lo, hi, lo + 1, hi - 1, 0, 1, -1, 64, 65];
        let edge = edges[self.below(edges.len())];
        if self.one_in(3) && (lo..=hi).contains(&edge) { edge } else { lo + (self.next() % span) as i64 }
    }

    /// One of the list, which is not empty.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}
