//! Lanes are reduced in segments that the data-parallel primitives have.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn sums(x: &mut [f32]) {
        let i = global_id().x;
        x[i] = Lanes::<8>::sum(x[i]);
    }
}

fn main() {}
