//! Random numbers with a state that methods change.

use gcn_dsl::prelude::*;

use crate::everywhere;

gcn_kernel! {
    /// Philox 4x32-10.
    #[device]
    pub struct Philox {
        counter: [V<u32>; 4],
        key: [u32; 2],
    }

    #[device]
    impl Philox {
        pub fn new(seed: u32, stream: V<u32>) -> Philox {
            Philox { counter: [0, 0, stream, 0], key: [seed, 0x1234_5678] }
        }

        pub fn next(&mut self) -> [V<u32>; 4] {
            let mut c: [V<u32>; 4] = self.counter;
            let (mut k0, mut k1) = (self.key[0], self.key[1]);
            #[unroll]
            for _ in 0..10 {
                let hi0 = c[0].mul_hi(0xD251_1F53);
                let lo0 = c[0] * 0xD251_1F53;
                let hi1 = c[2].mul_hi(0xCD9E_8D57);
                let lo1 = c[2] * 0xCD9E_8D57;
                c = [hi1 ^ c[1] ^ k0, lo1, hi0 ^ c[3] ^ k1, lo0];
                k0 += 0x9E37_79B9;
                k1 += 0xBB67_AE85;
            }
            self.counter[0] += 1;
            c
        }
    }

    /// A generator with minimal state.
    #[device]
    pub struct XorShift {
        state: V<u32>,
    }

    #[device]
    impl XorShift {
        pub fn next(&mut self) -> V<u32> {
            self.state ^= self.state << 13;
            self.state ^= self.state >> 17;
            self.state ^= self.state << 5;
            self.state
        }

        pub fn uniform(&mut self) -> V<f32> {
            (self.next() >> 8) as f32 * (1.0 / 16777216.0)
        }
    }

    #[workgroup(64)]
    fn philox(seed: u32, rounds: u32, out: &mut [u32]) {
        let i = global_id().x;
        let mut rng = Philox::new(seed, i);
        for r in 0..rounds {
            let words = rng.next();
            #[unroll]
            for k in 0..4 {
                out[(i * rounds + r) * 4 + k as u32] = words[k];
            }
        }
    }

    /// An estimate of pi from `samples` points in each lane.
    #[workgroup(64)]
    fn monte_carlo(samples: u32, hits: &mut [u32]) {
        let i = global_id().x;
        let mut rng = XorShift { state: i * 747796405 + 1 };
        let mut count = 0;
        for _ in 0..samples {
            let (x, y) = (rng.uniform(), rng.uniform());
            if x * x + y * y < 1.0 {
                count += 1;
            }
        }
        hits[i] = count;
    }
}

fn philox_host(seed: u32, stream: u32, block: u32) -> [u32; 4] {
    let mut c = [block, 0, stream, 0];
    let (mut k0, mut k1) = (seed, 0x1234_5678u32);
    for _ in 0..10 {
        let (p0, p1) = (u64::from(c[0]) * 0xD251_1F53, u64::from(c[2]) * 0xCD9E_8D57);
        c = [(p1 >> 32) as u32 ^ c[1] ^ k0, p1 as u32, (p0 >> 32) as u32 ^ c[3] ^ k1, p0 as u32];
        k0 = k0.wrapping_add(0x9E37_79B9);
        k1 = k1.wrapping_add(0xBB67_AE85);
    }
    c
}

#[test]
fn philox_numbers() {
    everywhere(|device| {
        let mut out = vec![0; 64 * 3 * 4];
        philox.launch(device, Grid::x(1), (42, 3, &mut out)).unwrap();
        for i in 0..64 {
            for r in 0..3 {
                let want = philox_host(42, i, r);
                assert_eq!(out[((i * 3 + r) * 4) as usize..][..4], want);
            }
        }
    });
}

#[test]
fn points_in_a_circle() {
    everywhere(|device| {
        let mut hits = vec![0; 128];
        monte_carlo.launch(device, Grid::x(2), (50, &mut hits)).unwrap();
        for (i, &got) in hits.iter().enumerate() {
            let mut state = (i as u32).wrapping_mul(747796405).wrapping_add(1);
            let mut next = || {
                state ^= state << 13;
                state ^= state >> 17;
                state ^= state << 5;
                (state >> 8) as f32 * (1.0 / 16777216.0)
            };
            let want = (0..50)
                .filter(|_| {
                    let (x, y) = (next(), next());
                    x * x + y * y < 1.0
                })
                .count();
            assert_eq!(got as usize, want);
        }
    });
}
