//! Errors: methods of integers on a float, and methods of floats on an integer.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn methods(x: &[f32], n: &[u32], out: &mut [u32], y: &mut [f32]) {
        let i = global_id().x;
        out[i] = x[i].count_ones();
        y[i] = n[i].exp();
        out[i] = n[i].abs();
    }
}

fn main() {}
