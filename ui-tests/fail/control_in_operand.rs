//! Error: an exit in an operand. The rest of the statement would still execute for the lanes that left.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: u32, x: &mut [u32], y: &mut [f32]) {
        let i = global_id().x;
        x[i] = 1 + if x[i] == n { return } else { 2 };
    }
}

fn main() {}
