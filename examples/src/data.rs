//! Test data: the same numbers on every machine and in every run.

use gcn_dsl::prelude::*;

/// A small generator (xorshift64*, Vigna 2016), so that the examples need no dependency.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A generator whose sequence depends only on `seed`.
    pub fn new(seed: u64) -> Random {
        // The state must not be 0. The factor is the increment of splitmix64; it spreads small seeds.
        Random(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number from -1 (inclusive) to 1 (exclusive) with a resolution of 2^-52.
    pub fn unit(&mut self) -> f64 {
        let fraction = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        2.0 * fraction - 1.0
    }

    /// `n` numbers from [-1, 1).
    pub fn f64s(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.unit()).collect()
    }

    /// `n` numbers from [-1, 1), rounded to f32.
    pub fn f32s(&mut self, n: usize) -> Vec<f32> {
        (0..n).map(|_| self.unit() as f32).collect()
    }

    /// `n` integers, uniformly distributed.
    pub fn u32s(&mut self, n: usize) -> Vec<u32> {
        (0..n).map(|_| (self.next() >> 32) as u32).collect()
    }

    /// `n` numbers from [-1, 1), rounded to f16.
    pub fn f16s(&mut self, n: usize) -> Vec<f16> {
        (0..n).map(|_| f16::from_f64(self.unit())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_deterministic_and_spread_over_the_interval() {
        let xs = Random::new(7).f64s(1000);
        assert_eq!(xs, Random::new(7).f64s(1000));
        assert_ne!(xs[0], Random::new(8).unit());
        assert!(xs.iter().all(|x| (-1.0..1.0).contains(x)));
        let mean = xs.iter().sum::<f64>() / 1000.0;
        assert!(mean.abs() < 0.06, "three standard deviations of the mean are 0.055, this is {mean}");
    }
}
