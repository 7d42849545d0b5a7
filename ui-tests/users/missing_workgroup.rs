//! Every kernel says how large its workgroup is.
use gcn_dsl::prelude::*;

gcn_kernel! {
    fn kernel(x: &mut [f32]) {
        x[global_id().x] = 0.0;
    }
}

fn main() {}
