//! Softmax, layer norm, rotary embedding, activations.

use gcn_dsl::prelude::*;

use crate::{everywhere, floats, near};

gcn_kernel! {
    /// Softmax of rows of 64 elements, by butterfly shuffles.
    #[workgroup(64)]
    #[wave(64)]
    fn softmax_butterfly(x: &mut [f32]) {
        let i = global_id().x;
        let mut largest = x[i];
        let mut m = 32;
        while m > 0 {
            largest = largest.max(shuffle_xor(largest, m));
            m >>= 1;
        }
        let e = (x[i] - largest).exp();
        let mut sum = e;
        let mut m = 32;
        while m > 0 {
            sum += shuffle_xor(sum, m);
            m >>= 1;
        }
        x[i] = e / sum;
    }
}

#[test]
fn softmax() {
    let start = floats(128);
    everywhere(|device| {
        let mut x = start.clone();
        softmax_butterfly.launch(device, Grid::x(2), (&mut x,)).unwrap();
        for (row, got) in start.chunks(64).zip(x.chunks(64)) {
            let most = row.iter().fold(f32::MIN, |a, b| a.max(*b));
            let sum: f32 = row.iter().map(|v| (v - most).exp()).sum();
            assert!(row.iter().zip(got).all(|(v, g)| near(*g, (v - most).exp() / sum, 1e-5)));
        }
    });
}

gcn_kernel! {
    /// Mean and variance in one pass over two slices.
    #[workgroup(128)]
    fn layer_norm(x: &[f32], gamma: &[f32], beta: &[f32], y: &mut [f32], n: u32) {
        let row = &x[workgroup_id().x * n..(workgroup_id().x + 1) * n];
        let t = local_id().x;
        let (mut sum, mut squares) = (0.0, 0.0);
        let mut i = t;
        while i < n {
            let v = row[i];
            sum += v;
            squares += v * v;
            i += 128;
        }
        let mean = workgroup_sum(sum) / n as f32;
        let variance = workgroup_sum(squares) / n as f32 - mean * mean;
        let inv = 1.0 / (variance + 1e-5).sqrt();
        for i in (t..n).step_by(128) {
            y[workgroup_id().x * n + i] = (row[i] - mean) * inv * gamma[i] + beta[i];
        }
    }
}

#[test]
fn layer_norm_of_rows() {
    const N: usize = 200;
    let (x, gamma, beta) = (floats(3 * N), floats(N), vec![0.25; N]);
    everywhere(|device| {
        let mut y = vec![0.0; 3 * N];
        layer_norm.launch(device, Grid::x(3), (&x, &gamma, &beta, &mut y, N as u32)).unwrap();
        for (row, got) in x.chunks(N).zip(y.chunks(N)) {
            let mean = row.iter().sum::<f32>() / N as f32;
            let var = row.iter().map(|v| (v - mean) * (v - mean)).sum::<f32>() / N as f32;
            for i in 0..N {
                let want = (row[i] - mean) / (var + 1e-5).sqrt() * gamma[i] + beta[i];
                assert!(near(got[i], want, 1e-4), "{} {want}", got[i]);
            }
        }
    });
}

gcn_kernel! {
    /// Rotary embedding: pairs of each row are rotated by an angle that depends on the position.
    #[workgroup(64)]
    fn rope(x: &mut [f32], pos: &[i32], base: f32, dim: u32) {
        let row = workgroup_id().x;
        let pair = local_id().x;
        if pair < dim / 2 {
            let theta = pos[row] as f32 * base.powf(-2.0 * pair as f32 / dim as f32);
            let (c, s) = (theta.cos(), theta.sin());
            let at = row * dim + pair * 2;
            let (a, b) = (x[at], x[at + 1]);
            x[at] = a * c - b * s;
            x[at + 1] = a * s + b * c;
        }
    }

    /// Activations, one of which a flag selects.
    #[workgroup(64)]
    fn activate(kind: u32, slope: f32, x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        let v = x[i];
        y[i] = match kind {
            0 => if v > 0.0 { v } else { 0.0 },
            1 => if v > 0.0 { v } else { slope * v },
            2 => 0.5 * v * (1.0 + (0.797_884_6 * (v + 0.044715 * v * v * v)).tanh()),
            3 => slope.max(v),
            4 => slope.mul_add(v, v).clamp(-1.0, 1.0),
            _ => 1.0,
        };
    }
}

#[test]
fn rotary_embedding() {
    const DIM: usize = 96;
    let start = floats(4 * DIM);
    let pos = [0, 3, -2, 17];
    everywhere(|device| {
        let mut x = start.clone();
        rope.launch(device, Grid::x(4), (&mut x, &pos, 10000.0, DIM as u32)).unwrap();
        for row in 0..4 {
            for pair in 0..DIM / 2 {
                let theta = pos[row] as f32 * 10000f32.powf(-2.0 * pair as f32 / DIM as f32);
                let (a, b) = (start[row * DIM + 2 * pair], start[row * DIM + 2 * pair + 1]);
                assert!(near(x[row * DIM + 2 * pair], a * theta.cos() - b * theta.sin(), 1e-5));
                assert!(near(x[row * DIM + 2 * pair + 1], a * theta.sin() + b * theta.cos(), 1e-5));
            }
        }
    });
}

#[test]
fn activations() {
    let x = floats(64);
    everywhere(|device| {
        for kind in 0..6 {
            let mut y = vec![9.0; 64];
            activate.launch(device, Grid::x(1), (kind, 0.125, &x, &mut y)).unwrap();
            for (v, got) in x.iter().zip(&y) {
                let want = match kind {
                    0 => v.max(0.0),
                    1 if *v > 0.0 => *v,
                    1 => 0.125 * v,
                    2 => 0.5 * v * (1.0 + (0.797_884_6 * (v + 0.044715 * v * v * v)).tanh()),
                    3 => v.max(0.125),
                    4 => 0.125f32.mul_add(*v, *v).clamp(-1.0, 1.0),
                    _ => 1.0,
                };
                assert!(near(*got, want, 1e-6), "{kind}: {got} {want}");
            }
        }
    });
}
