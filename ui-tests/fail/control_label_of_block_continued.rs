//! Error: `continue` with the label of a block, which has no next trip.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: u32, x: &mut [u32], y: &mut [f32]) {
        let i = global_id().x;
        'block: {
            if x[i] == n {
                continue 'block;
            }
        }
    }
}

fn main() {}
