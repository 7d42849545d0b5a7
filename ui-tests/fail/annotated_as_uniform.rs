//! Error: a varying value in a variable declared as `S<T>`, which has one value per wave.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(x: &mut [f32]) {
        let i = global_id().x;
        let value: S<f32> = x[i];
        x[i] = value * value;
    }
}

fn main() {}
