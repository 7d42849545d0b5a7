//! What a kernel takes.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(x: &f32, y: [f32; 4]) -> u32 {
        y
    }
}

fn main() {}
