//! The backward pass of an embedding: rows of gradients are added to the looked-up rows by atomics. Floats are added by
//! compare-and-exchange, which CUDA code uses for types without an atomic addition.

use gcn_dsl::prelude::*;

use crate::{assert_near, everywhere, floats, numbers};

gcn_kernel! {
    #[device]
    fn atomic_add_f32(address: &mut [u32], i: V<u32>, val: V<f32>) {
        let mut old = address.atomic(i).load(Scope::Agent, Ordering::Relaxed);
        loop {
            let assumed = old;
            let sum = V::<f32>::from_bits(assumed) + val;
            old = address.atomic(i).compare_exchange(assumed, sum.to_bits(), Scope::Agent, Ordering::AcqRel, Ordering::Relaxed);
            if old == assumed {
                break;
            }
        }
    }

    #[workgroup(64)]
    fn embedding_backward(indices: &[i64], grad_output: &[f32], grad_weight: &mut [u32], stride: u32, padding_idx: i64) {
        let idx = workgroup_id().x;
        let row = indices[idx];
        if row != padding_idx {
            for feature in (local_id().x..stride).step_by(64) {
                atomic_add_f32(grad_weight, row as u32 * stride + feature, grad_output[idx * stride + feature]);
            }
        }
    }
}

#[test]
fn adds() {
    let (rows, stride, n) = (5, 70, 12);
    let indices: Vec<i64> = numbers(n, rows as u32).into_iter().map(i64::from).collect();
    let grad = floats(n * stride);
    everywhere(|device| {
        let mut weight = vec![0u32; rows * stride];
        embedding_backward.launch(device, Grid::x(12), (&indices, &grad, &mut weight, 70, 2)).unwrap();
        let mut want = vec![0.0; rows * stride];
        for (k, row) in indices.iter().enumerate().filter(|(_, r)| **r != 2) {
            (0..stride).for_each(|f| want[*row as usize * stride + f] += grad[k * stride + f]);
        }
        let got: Vec<f32> = weight.into_iter().map(f32::from_bits).collect();
        assert_near(&got, &want, 1e-5);
    });
}
