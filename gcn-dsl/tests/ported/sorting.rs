//! Sorting: bitonic, top-k.

use gcn_dsl::prelude::*;

use crate::{everywhere, numbers};

gcn_kernel! {
    /// Sorts blocks of 256 elements.
    #[workgroup(128)]
    fn bitonic(x: &mut [u32]) {
        let s = Lds::<u32, 256>::new();
        let t = local_id().x;
        let base = workgroup_id().x * 256;
        s[t] = x[base + t];
        s[t + 128] = x[base + t + 128];
        let mut k = 2;
        while k <= 256 {
            let mut j = k / 2;
            while j > 0 {
                barrier();
                let a = 2 * t - (t & (j - 1));
                let b = a + j;
                let (p, q) = (s[a], s[b]);
                let up = a & k == 0;
                if (p > q) == up {
                    s[a] = q;
                    s[b] = p;
                }
                j /= 2;
            }
            k *= 2;
        }
        barrier();
        x[base + t] = s[t];
        x[base + t + 128] = s[t + 128];
    }

    /// The four largest elements of each row of `n`, by insertion in registers.
    #[workgroup(64)]
    fn top4(x: &[f32], n: u32, values: &mut [f32], places: &mut [u32]) {
        let row = global_id().x;
        let mut best = [f32::NEG_INFINITY; 4];
        let mut at = [0; 4];
        for i in 0..n {
            let mut v = x[row * n + i];
            let mut p = i;
            #[unroll]
            for k in 0..4 {
                if v > best[k] {
                    (best[k], v) = (v, best[k]);
                    (at[k], p) = (p, at[k]);
                }
            }
        }
        #[unroll]
        for k in 0..4 {
            values[row * 4 + k as u32] = best[k];
            places[row * 4 + k as u32] = at[k];
        }
    }
}

#[test]
fn sorted() {
    let start = numbers(512, 1000);
    everywhere(|device| {
        let mut x = start.clone();
        bitonic.launch(device, Grid::x(2), (&mut x,)).unwrap();
        for (got, from) in x.chunks(256).zip(start.chunks(256)) {
            let mut want = from.to_vec();
            want.sort_unstable();
            assert_eq!(got, want);
        }
    });
}

#[test]
fn four_largest() {
    const N: usize = 20;
    let x: Vec<f32> = numbers(64 * N, 500).into_iter().map(|x| x as f32).collect();
    everywhere(|device| {
        let (mut values, mut places) = (vec![0.0; 256], vec![0; 256]);
        top4.launch(device, Grid::x(1), (&x, N as u32, &mut values, &mut places)).unwrap();
        for (row, r) in x.chunks(N).enumerate().map(|(i, r)| (r, i)) {
            let (mut best, mut at) = ([f32::NEG_INFINITY; 4], [0; 4]);
            for (i, v) in row.iter().enumerate() {
                let (mut v, mut p) = (*v, i as u32);
                for k in 0..4 {
                    if v > best[k] {
                        std::mem::swap(&mut best[k], &mut v);
                        std::mem::swap(&mut at[k], &mut p);
                    }
                }
            }
            assert_eq!((&values[r * 4..][..4], &places[r * 4..][..4]), (&best[..], &at[..]));
        }
    });
}
