//! Error: device memory is indexed by a type other than u32.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: i32, x: &mut [f32]) {
        x[n] = 0.0;
    }
}

fn main() {}
