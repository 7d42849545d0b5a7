//! Error: the `break`s of a loop have values of different types.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: u32, x: &mut [u32], y: &mut [f32]) {
        let i = global_id().x;
        let v = loop {
            if n > 3 {
                break x[i];
            }
            break y[i];
        };
        x[i] = v;
    }
}

fn main() {}
