//! Error: a pattern has another type than the matched value.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: u32, x: &mut [u32], y: &mut [f32]) {
        let i = global_id().x;
        match x[i] {
            true => x[i] = 1,
            _ => {}
        }
    }
}

fn main() {}
