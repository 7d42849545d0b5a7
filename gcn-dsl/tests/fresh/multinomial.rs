//! PyTorch: `sampleMultinomialOnce`, with Philox.

use gcn_dsl::prelude::*;

use crate::{everywhere, floats};

mod philox {
    use gcn_dsl::prelude::*;

    gcn_kernel! {
        #[device]
        pub struct Philox {
            key: [V<u32>; 2],
            counter: [V<u32>; 4],
        }

        #[device]
        impl Philox {
            pub fn new(seed: u64, subsequence: V<u32>) -> Philox {
                Philox { key: [seed as u32, (seed >> 32) as u32], counter: [0, 0, subsequence, 0] }
            }

            fn single_round(c: [V<u32>; 4], k: [V<u32>; 2]) -> [V<u32>; 4] {
                let (hi0, lo0) = (c[0].mul_hi(0xD251_1F53), c[0] * 0xD251_1F53);
                let (hi1, lo1) = (c[2].mul_hi(0xCD9E_8D57), c[2] * 0xCD9E_8D57);
                [hi1 ^ c[1] ^ k[0], lo1, hi0 ^ c[3] ^ k[1], lo0]
            }

            pub fn next(&mut self) -> [V<u32>; 4] {
                let mut k = self.key;
                let mut c = self.counter;
                #[unroll]
                for _ in 0..10 {
                    c = Philox::single_round(c, k);
                    k = [k[0] + 0x9E37_79B9, k[1] + 0xBB67_AE85];
                }
                self.counter[0] += 1;
                if self.counter[0] == 0 {
                    self.counter[1] += 1;
                }
                c
            }
        }
    }
}

use philox::Philox;

gcn_kernel! {
    #[device]
    fn uniform(bits: V<u32>) -> V<f32> {
        (bits >> 8) as f32 * (1.0 / 16777216.0)
    }

    #[workgroup(64)]
    fn sample_multinomial(dest: &mut [i64], raw: &mut [u32], dist: &[f32], categories: u32, seed: u64) {
        let row = global_id().x;
        let mut rng = Philox::new(seed, row);
        let mut sum = 0.0;
        for i in 0..categories {
            sum += dist[row * categories + i];
        }
        (&mut rng).next();
        let bits = (&mut rng).next();
        raw[row] = bits[0];
        let sample = uniform(bits[0]) * sum;
        let mut acc = 0.0;
        let mut found: Option<V<u32>> = None;
        for i in 0..categories {
            acc += dist[row * categories + i];
            if found.is_none() && acc > sample {
                found = Some(i);
            }
        }
        dest[row] = found.unwrap_or(categories - 1) as i64;
    }
}

#[test]
fn samples() {
    let n = 6usize;
    let dist: Vec<f32> = floats(64 * n).into_iter().map(f32::abs).collect();
    let philox = |ctr: [u32; 4], seed: u64| {
        let (mut c, mut k) = (ctr, [seed as u32, (seed >> 32) as u32]);
        for _ in 0..10 {
            let (a, b) = (u64::from(c[0]) * 0xD251_1F53, u64::from(c[2]) * 0xCD9E_8D57);
            c = [(b >> 32) as u32 ^ c[1] ^ k[0], b as u32, (a >> 32) as u32 ^ c[3] ^ k[1], a as u32];
            k = [k[0].wrapping_add(0x9E37_79B9), k[1].wrapping_add(0xBB67_AE85)];
        }
        c
    };
    let seed = 0x1234_5678_9abc_def0;
    everywhere(|device| {
        let (mut y, mut raw) = (vec![0; 64], vec![0; 64]);
        sample_multinomial.launch(device, Grid::x(1), (&mut y, &mut raw, &dist, n as u32, seed)).unwrap();
        for row in 0..64 {
            assert_eq!(raw[row], philox([1, 0, row as u32, 0], seed)[0]);
            let d = &dist[row * n..][..n];
            let mut total = 0.0f32;
            d.iter().for_each(|x| total += x);
            let sample = (raw[row] >> 8) as f32 / 16777216.0 * total;
            let mut acc = 0.0;
            let want = d
                .iter()
                .position(|x| {
                    acc += x;
                    acc > sample
                })
                .unwrap_or(n - 1);
            assert_eq!(y[row] as usize, want);
        }
    });
}
