//! Errors: argument and return types that a kernel cannot have.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(x: &f32, y: [f32; 4]) -> u32 {
        y
    }
}

fn main() {}
