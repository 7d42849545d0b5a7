//! A scan has another value in each lane; only a whole wave's reduction is uniform.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn prefix(x: &mut [u32]) {
        let i = global_id().x;
        let total: u32 = wave_sum(x[i]);
        let before: S<u32> = wave_exclusive_sum(x[i]);
        x[i] = total - before;
    }
}

fn main() {}
