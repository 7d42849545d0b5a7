//! Error: an approximation of f64. The hardware approximates only f32 and f16.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn fast(x: &mut [f64]) {
        let i = global_id().x;
        x[i] = x[i].approx_exp2();
    }
}

fn main() {}
