//! Error: the result of a scan as a uniform value. It differs between lanes; only a reduction over a wave is uniform.
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
