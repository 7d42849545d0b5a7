//! A uniform variable has one value for all lanes, so some lanes alone cannot change it.
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
