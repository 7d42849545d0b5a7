//! Kernels that are generic over the element type, and declared by a macro.

use gcn_dsl::prelude::*;

use crate::{everywhere, floats, near};

gcn_kernel! {
    /// Root-mean-square norm of rows of `n` elements, with one workgroup per row.
    #[workgroup(256)]
    fn rms_norm<T: Float>(x: &[T], weight: &[T], y: &mut [T], n: u32, eps: f32) {
        let row = workgroup_id().x;
        let mut sum = 0.0f32;
        for i in (local_id().x..n).step_by(256) {
            let v = x[row * n + i] as f32;
            sum += v * v;
        }
        let scale = (workgroup_sum(sum) / n as f32 + eps).sqrt().recip();
        for i in (local_id().x..n).step_by(256) {
            y[row * n + i] = (x[row * n + i] as f32 * scale * weight[i] as f32) as T;
        }
    }

    #[workgroup(64)]
    fn scale<T: Float>(a: T, x: &mut [T]) {
        let i = global_id().x;
        if i < x.len() {
            x[i] = a * x[i] + 1.0;
        }
    }
}

#[test]
fn rms_norm_of_three_types() {
    const N: usize = 300;
    fn want(x: &[f32], w: &[f32]) -> Vec<f32> {
        let mut out = Vec::new();
        for row in x.chunks(N) {
            let mean = row.iter().map(|v| v * v).sum::<f32>() / N as f32;
            out.extend(row.iter().zip(w).map(|(v, w)| v / (mean + 1e-5).sqrt() * w));
        }
        out
    }
    let (x, w) = (floats(2 * N), floats(N));
    everywhere(|device| {
        let mut y = vec![0.0; 2 * N];
        rms_norm::<f32>.launch(device, Grid::x(2), (&x, &w, &mut y, N as u32, 1e-5)).unwrap();
        assert!(y.iter().zip(want(&x, &w)).all(|(a, b)| near(*a, b, 1e-5)));

        let half = |x: &[f32]| x.iter().map(|x| f16::from_f32(*x)).collect::<Vec<_>>();
        let (hx, hw) = (half(&x), half(&w));
        let mut y = vec![f16::ZERO; 2 * N];
        rms_norm::<f16>.launch(device, Grid::x(2), (&hx, &hw, &mut y, N as u32, 1e-5)).unwrap();
        assert!(y.iter().zip(want(&x, &w)).all(|(a, b)| near(a.to_f32(), b, 4e-3)));
    });
    assert_eq!(rms_norm::<f16>.build(Target::GFX90A).unwrap().name(), "rms_norm_f16");
}

#[test]
fn scale_of_f16_and_f64() {
    everywhere(|device| {
        let mut x: Vec<f16> = (0..70).map(|i| f16::from_f32(i as f32)).collect();
        scale::<f16>.launch(device, Grid::x(2), (f16::from_f32(0.5), &mut x)).unwrap();
        assert!(x.iter().enumerate().all(|(i, x)| x.to_f32() == i as f32 * 0.5 + 1.0));
        let mut x: Vec<f64> = (0..70).map(f64::from).collect();
        scale::<f64>.launch(device, Grid::x(2), (0.5, &mut x)).unwrap();
        assert!(x.iter().enumerate().all(|(i, x)| *x == i as f64 * 0.5 + 1.0));
    });
}

macro_rules! elementwise {
    ($($name:ident: $t:ty, $op:tt;)*) => {$(
        gcn_kernel! {
            #[workgroup(64)]
            fn $name(a: &[$t], b: &[$t], out: &mut [$t], factor: $t) {
                let i = global_id().x;
                let x: V<$t> = a[i];
                out[i] = (x $op b[i]) * factor;
            }
        }
    )*};
}
elementwise! { add_f32: f32, +; sub_i32: i32, -; }

#[test]
fn kernels_of_a_macro() {
    everywhere(|device| {
        let (a, b) = (floats(64), floats(64));
        let mut out = vec![0.0; 64];
        add_f32.launch(device, Grid::x(1), (&a, &b, &mut out, 2.0)).unwrap();
        assert!((0..64).all(|i| out[i] == (a[i] + b[i]) * 2.0));
        let (a, b): (Vec<i32>, Vec<i32>) = ((0..64).collect(), (0..64).map(|x| 3 * x).collect());
        let mut out = vec![0; 64];
        sub_i32.launch(device, Grid::x(1), (&a, &b, &mut out, 7)).unwrap();
        assert!((0..64).all(|i| out[i] == (a[i] - b[i]) * 7));
    });
}
