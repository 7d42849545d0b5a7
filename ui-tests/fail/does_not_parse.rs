//! Error: the input is not Rust syntax.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(x: &mut [f32]) {
        let = 3;
    }
}

fn main() {}
