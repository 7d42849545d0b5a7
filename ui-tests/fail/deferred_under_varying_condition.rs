//! Error: a uniform variable without an initial value is assigned where only some lanes may be active.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn k(x: &mut [u32]) {
        let i = global_id().x;
        let value: S<u32>;
        if x[i] > 3 {
            value = 1;
        } else {
            value = 2;
        }
        x[i] = value;
    }
}

fn main() {}
