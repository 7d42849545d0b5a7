//! Error: a function for kernels without `#[device]`.
use gcn_dsl::prelude::*;

gcn_kernel! {
    fn square(x: V<f32>) -> V<f32> {
        x * x
    }

    #[workgroup(64)]
    fn squares(x: &mut [f32]) {
        let i = global_id().x;
        x[i] = square(x[i]);
    }
}

fn main() {}
