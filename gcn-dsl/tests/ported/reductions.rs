//! Reductions: argmax, histogram, split-K.

use gcn_dsl::prelude::*;

use crate::{everywhere, floats, near, numbers};

gcn_kernel! {
    /// The position of the largest element of each row of 64; of equal elements, the first.
    #[workgroup(64)]
    #[wave(64)]
    fn argmax(x: &[f32], out: &mut [u32]) {
        let lane = lane_id();
        let mut best = x[global_id().x];
        let mut at = lane;
        #[unroll]
        for m in [32u32, 16, 8, 4, 2, 1] {
            let other = shuffle_xor(best, m);
            let other_at = shuffle_xor(at, m);
            if other > best || other == best && other_at < at {
                best = other;
                at = other_at;
            }
        }
        if lane == 0 {
            out[workgroup_id().x] = at;
        }
    }

    /// Counts numbers by class.
    #[workgroup(64)]
    fn classes(x: &[i32], out: &mut [u32]) {
        let i = global_id().x;
        let class = match x[i] {
            0 => 0,
            1..=9 => 1,
            n if n < 0 => 2,
            _ => 3,
        };
        out[i] = class;
    }

    /// 256 bins, counted in LDS first.
    #[workgroup(256)]
    fn histogram(x: &[u8], bins: &mut [u32]) {
        let shared = Lds::<u32, 256>::new();
        let t = local_id().x;
        shared[t] = 0;
        barrier();
        let mut i = global_id().x;
        while i < x.len() {
            shared.atomic(x[i] as u32).fetch_add(1, Scope::Workgroup, Ordering::Relaxed);
            i += 512;
        }
        barrier();
        if shared[t] > 0 {
            bins.atomic(t).fetch_add(shared[t], Scope::Agent, Ordering::Relaxed);
        }
    }

    /// Parts of dot products, then their sums.
    #[workgroup(64)]
    #[wave(64)]
    fn split_k(a: &[f32], b: &[f32], partial: &mut [f32], k: u32, splits: u32) {
        let part = workgroup_id().x;
        let per = k.div_ceil(splits);
        let start = part * per;
        let end = (start + per).min(k);
        let mut acc = 0.0;
        for i in start..end {
            acc += a[i * 64 + lane_id()] * b[i];
        }
        partial[part * 64 + lane_id()] = acc;
    }

    #[workgroup(64)]
    #[wave(64)]
    fn split_k_sum(partial: &[f32], y: &mut [f32], splits: u32) {
        let i = lane_id();
        let mut acc = 0.0;
        for s in 0..splits {
            acc += partial[s * 64 + i];
        }
        y[i] = acc;
    }
}

#[test]
fn first_of_the_largest() {
    let x: Vec<f32> = numbers(256, 40).into_iter().map(|x| x as f32).collect();
    everywhere(|device| {
        let mut out = vec![0; 4];
        argmax.launch(device, Grid::x(4), (&x, &mut out)).unwrap();
        for (row, &at) in x.chunks(64).zip(&out) {
            let most = row.iter().fold(0f32, |a, b| a.max(*b));
            assert_eq!(at as usize, row.iter().position(|v| *v == most).unwrap());
        }
    });
}

#[test]
fn classes_of_numbers() {
    let x: Vec<i32> = numbers(64, 30).into_iter().map(|x| x as i32 - 10).collect();
    everywhere(|device| {
        let mut out = vec![9; 64];
        classes.launch(device, Grid::x(1), (&x, &mut out)).unwrap();
        for (x, class) in x.iter().zip(&out) {
            let want = match x {
                0 => 0,
                1..=9 => 1,
                n if *n < 0 => 2,
                _ => 3,
            };
            assert_eq!(*class, want);
        }
    });
}

#[test]
fn histogram_of_bytes() {
    let x: Vec<u8> = numbers(5000, 256).into_iter().map(|x| x as u8).collect();
    everywhere(|device| {
        let mut bins = vec![0; 256];
        histogram.launch(device, Grid::x(2), (&x, &mut bins)).unwrap();
        for (value, &count) in bins.iter().enumerate() {
            assert_eq!(count as usize, x.iter().filter(|v| usize::from(**v) == value).count());
        }
    });
}

#[test]
fn split_k_matches() {
    const K: usize = 100;
    let (a, b) = (floats(K * 64), floats(K));
    everywhere(|device| {
        let (mut partial, mut y) = (vec![0.0; 8 * 64], vec![0.0; 64]);
        split_k.launch(device, Grid::x(8), (&a, &b, &mut partial, K as u32, 8)).unwrap();
        split_k_sum.launch(device, Grid::x(1), (&partial, &mut y, 8)).unwrap();
        for i in 0..64 {
            let want: f32 = (0..K).map(|k| a[k * 64 + i] * b[k]).sum();
            assert!(near(y[i], want, 1e-4));
        }
    });
}
