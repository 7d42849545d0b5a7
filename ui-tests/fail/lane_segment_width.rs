//! Error: a reduction in segments of a width that the data-parallel primitives do not support.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn sums(x: &mut [f32]) {
        let i = global_id().x;
        x[i] = Lanes::<8>::sum(x[i]);
    }
}

fn main() {}
