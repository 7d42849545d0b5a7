//! Dropout with Philox4x32-10, four numbers for each counter, the generator a struct with state.

use gcn_dsl::prelude::*;

use crate::{everywhere, floats};

const PHILOX_KEY: (u32, u32) = (0x9E37_79B9, 0xBB67_AE85);
const PHILOX_MUL: (u32, u32) = (0xD251_1F53, 0xCD9E_8D57);

gcn_kernel! {
    #[device]
    struct Philox {
        counter: [V<u32>; 4],
        key: [V<u32>; 2],
    }

    #[device]
    impl Philox {
        fn new(seed: u64, subsequence: V<u32>, offset: u32) -> Philox {
            Philox { counter: [offset, 0, subsequence, 0], key: [seed as u32, (seed >> 32) as u32] }
        }

        fn incr(&mut self) {
            self.counter[0] += 1;
            if self.counter[0] == 0 {
                self.counter[1] += 1;
            }
        }

        fn single_round(ctr: [V<u32>; 4], key: [V<u32>; 2]) -> [V<u32>; 4] {
            let hi0 = ctr[0].mul_hi(PHILOX_MUL.0);
            let lo0 = ctr[0] * PHILOX_MUL.0;
            let hi1 = ctr[2].mul_hi(PHILOX_MUL.1);
            let lo1 = ctr[2] * PHILOX_MUL.1;
            [hi1 ^ ctr[1] ^ key[0], lo1, hi0 ^ ctr[3] ^ key[1], lo0]
        }

        fn next4(&mut self) -> [V<u32>; 4] {
            let mut ctr = self.counter;
            let mut key = self.key;
            for _ in 0..9 {
                ctr = Self::single_round(ctr, key);
                key[0] += PHILOX_KEY.0;
                key[1] += PHILOX_KEY.1;
            }
            self.incr();
            Self::single_round(ctr, key)
        }
    }

    #[device]
    fn uniform(x: V<u32>) -> V<f32> {
        (x >> 8) as f32 * (1.0 / 16777216.0)
    }

    #[workgroup(64)]
    fn dropout(x: &[f32], y: &mut [f32], mask: &mut [u8], p: f32, seed: u64) {
        let idx = global_id().x;
        let mut rng = Philox::new(seed, idx, 5);
        let scale = 1.0 / (1.0 - p);
        for pass in 0..2 {
            let r = rng.next4();
            #[unroll]
            for k in 0..4 {
                let i = idx * 8 + pass * 4 + k as u32;
                let keep = uniform(r[k]) >= p;
                y[i] = if keep { x[i] * scale } else { 0.0 };
                mask[i] = keep as u8;
            }
        }
    }
}

fn reference(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let (mut c, mut k) = (counter, key);
    for _ in 0..10 {
        let a = u64::from(c[0]) * u64::from(PHILOX_MUL.0);
        let b = u64::from(c[2]) * u64::from(PHILOX_MUL.1);
        c = [(b >> 32) as u32 ^ c[1] ^ k[0], b as u32, (a >> 32) as u32 ^ c[3] ^ k[1], a as u32];
        k = [k[0].wrapping_add(PHILOX_KEY.0), k[1].wrapping_add(PHILOX_KEY.1)];
    }
    c
}

#[test]
fn the_reference_is_philox() {
    // The known answers of Random123's kat_vectors.
    assert_eq!(reference([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
    assert_eq!(reference([u32::MAX; 4], [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
}

#[test]
fn drops() {
    let x = floats(64 * 8);
    let seed = 0x0123_4567_89ab_cdefu64;
    everywhere(|device| {
        let (mut y, mut mask) = (vec![0.0; 512], vec![9u8; 512]);
        dropout.launch(device, Grid::x(1), (&x, &mut y, &mut mask, 0.3, seed)).unwrap();
        for i in 0..512 {
            let (thread, pass) = ((i / 8) as u32, (i % 8 / 4) as u32);
            let r = reference([5 + pass, 0, thread, 0], [seed as u32, (seed >> 32) as u32])[i % 4];
            let keep = (r >> 8) as f32 / 16777216.0 >= 0.3;
            assert_eq!(mask[i], u8::from(keep));
            assert_eq!(y[i], if keep { x[i] * (1.0 / (1.0 - 0.3)) } else { 0.0 });
        }
    });
}
