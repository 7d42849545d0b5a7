//! Error: the arms of a `match` have values of different types.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: u32, x: &mut [u32], y: &mut [f32]) {
        let i = global_id().x;
        x[i] = match n {
            0 => 1u32,
            _ => y[i],
        };
    }
}

fn main() {}
