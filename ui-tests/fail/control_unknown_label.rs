//! Error: `break` with a label that is not one of an enclosing loop or block.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: u32, x: &mut [u32], y: &mut [f32]) {
        let i = global_id().x;
        'rows: for k in 0..n {
            if x[i] == k {
                break 'columns;
            }
        }
    }
}

fn main() {}
