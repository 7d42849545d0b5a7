//! Tables of constants, and arrays by value.

use gcn_dsl::prelude::*;

use crate::{everywhere, floats, numbers};

const LEVELS: [f32; 16] = [
    -1.0, -0.6961928, -0.5250731, -0.3949175, -0.2844414, -0.1847734, -0.0910500, 0.0, 0.0795803, 0.1609302,
    0.2461123, 0.3379152, 0.4407098, 0.562_617, 0.7229568, 1.0,
];

const BITS: [u32; 4] = [1, 10, 100, 1000];

gcn_kernel! {
    /// NF4 as bitsandbytes has it: a level for each nibble.
    #[workgroup(64)]
    fn dequantise_nf4(q: &[u8], scale: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        let byte = q[i];
        let s = scale[i / 32];
        y[i * 2] = LEVELS[(byte >> 4) as u32] * s;
        y[i * 2 + 1] = LEVELS[(byte & 15) as u32] * s;
    }

    /// Permutes a tensor of four dimensions.
    #[workgroup(64)]
    fn permute(x: &[f32], y: &mut [f32], shape: [u32; 4], strides: [u32; 4]) {
        let i = global_id().x;
        if i < y.len() {
            let mut rest = i;
            let mut from = 0;
            for d in (0..4).rev() {
                from += (rest % shape[d]) * strides[d];
                rest /= shape[d];
            }
            y[i] = x[from];
        }
    }

    /// Clamp with bounds as a pair, weights by a table.
    #[workgroup(64)]
    fn weighted(bounds: (u32, u32), x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        let (lo, hi) = bounds;
        let mut v = x[i].clamp(lo, hi);
        for k in 0..4 {
            v += BITS[k];
        }
        y[i] = if v & 1 == 0 { v } else { 0 };
    }
}

#[test]
fn nf4() {
    let q: Vec<u8> = numbers(128, 256).into_iter().map(|x| x as u8).collect();
    let scale = floats(4);
    everywhere(|device| {
        let mut y = vec![0.0; 256];
        dequantise_nf4.launch(device, Grid::x(2), (&q, &scale, &mut y)).unwrap();
        for i in 0..128 {
            assert_eq!(y[2 * i], LEVELS[usize::from(q[i] >> 4)] * scale[i / 32]);
            assert_eq!(y[2 * i + 1], LEVELS[usize::from(q[i] & 15)] * scale[i / 32]);
        }
    });
}

#[test]
fn permutation() {
    // (2, 3, 4, 5) to (5, 3, 2, 4).
    let x: Vec<f32> = (0..120).map(|i| i as f32).collect();
    let shape = [5, 3, 2, 4];
    let strides = [1, 20, 60, 5];
    everywhere(|device| {
        let mut y = vec![0.0; 120];
        permute.launch(device, Grid::x(2), (&x, &mut y, shape, strides)).unwrap();
        let mut at = 0;
        for a in 0..5 {
            for b in 0..3 {
                for c in 0..2 {
                    for d in 0..4 {
                        assert_eq!(y[at], x[a + 20 * b + 60 * c + 5 * d]);
                        at += 1;
                    }
                }
            }
        }
    });
}

#[test]
fn weights() {
    let x = numbers(64, 100);
    everywhere(|device| {
        let mut y = vec![0; 64];
        weighted.launch(device, Grid::x(1), ((20, 60), &x, &mut y)).unwrap();
        for (x, y) in x.iter().zip(&y) {
            let v = (*x).clamp(20, 60) + 1111;
            assert_eq!(*y, if v & 1 == 0 { v } else { 0 });
        }
    });
}
