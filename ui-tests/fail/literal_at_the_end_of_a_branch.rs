//! Error: an integer literal as the value of one branch, next to a float in the other.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn positive(x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        y[i] = if x[i] > 0.0 { x[i] } else { 0 };
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn classes(x: &[f32], y: &mut [u32]) {
        let i = global_id().x;
        y[i] = if x[i] > 0.0 { 1.0 } else { 0.0 };
    }
}

fn main() {}
