//! Error: a value is stored to a slice of another element type.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(x: &mut [f32]) {
        let i = global_id().x;
        x[i] = i;
    }
}

fn main() {}
