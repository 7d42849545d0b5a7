//! Errors: literals of the wrong kind, numbers as conditions, and wrong types of indices and shift counts.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn numbers(x: &[f32], n: u32, y: &mut [f32]) {
        let i = global_id().x;
        y[i] = x[i].max(0);
        if x[i] > 0 { y[i] = 1.0; }
        if i & 1 { y[i] = 2.0; }
        if i && n { y[i] = 3.0; }
        y[global_id()] = x[i as i32];
        for k in 0..16 { y[i + k] = 0.0; }
        let shifted = i << x[i];
        y[i] = if i < n { 1.0 } else { 2.0 };
        let sum = if i < n { 1.0 } else { 2.0 };
        y[i] = sum;
    }
}

fn main() {}
