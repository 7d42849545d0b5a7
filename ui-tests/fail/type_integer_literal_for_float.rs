//! Error: an integer literal next to a float.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn double(x: &mut [f32]) {
        let i = global_id().x;
        x[i] = x[i] * 2;
    }
}

fn main() {}
