//! A literal has the type that it is written with.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn double(x: &mut [f32]) {
        let i = global_id().x;
        x[i] = x[i] * 2;
    }
}

fn main() {}
