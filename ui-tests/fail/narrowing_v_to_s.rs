//! Error: a varying value where a uniform one is needed. There is no implicit conversion.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(x: &mut [f32]) {
        let i = global_id().x;
        let mut sum: S<f32> = 0.0;
        sum += x[i];
        x[i] = sum;
    }
}

fn main() {}
