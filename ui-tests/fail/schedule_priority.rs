//! `s_setprio` has two bits.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(y: &mut [f32]) {
        set_priority(4);
        y[0] = 0.0;
    }
}

fn main() {}
