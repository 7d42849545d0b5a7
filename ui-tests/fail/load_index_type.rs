//! Error: a load with an index type that memory does not accept. The index types are those of stores.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: i64, x: &mut [f32]) {
        let value = x[n];
        x[0] = value;
    }
}

fn main() {}
