//! Error: a uniform load with a varying index.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(table: &[u32], x: &mut [u32]) {
        let i = global_id().x;
        x[i] = table.uniform(i) + x[i];
    }
}

fn main() {}
