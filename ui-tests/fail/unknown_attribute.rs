//! Error: a misspelt attribute.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(x: &mut [f32]) {
        let i = global_id().x;
        #[unrol]
        for k in 0..4 {
            x[i + k] = 0.0;
        }
    }
}

fn main() {}
