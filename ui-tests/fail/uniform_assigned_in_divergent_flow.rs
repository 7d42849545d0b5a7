//! Error: a uniform variable, which has one value for all lanes, is assigned where only some lanes are active.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(x: &mut [u32]) {
        let i = global_id().x;
        let mut hits: S<u32> = 0;
        if x[i] > 3 {
            hits += 1;
        }
        x[i] = x[i] + hits;
    }
}

fn main() {}
