//! Error: a sum of conditions. `ballot`, `any`, `all` and `count_ones` exist for conditions.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn count(x: &[f32], out: &mut [u32]) {
        let i = global_id().x;
        let positive = x[i] > 0.0;
        out[i] = wave_sum(positive);
    }
}

fn main() {}
