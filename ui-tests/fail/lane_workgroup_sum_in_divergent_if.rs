//! Error: a workgroup reduction in a varying `if`. It contains barriers, which every work-item must reach.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(256)]
    fn sums(x: &[f32], out: &mut [f32]) {
        let i = global_id().x;
        if i < x.len() {
            out[i] = workgroup_sum(x[i]);
        }
    }
}

fn main() {}
