//! Error: a uniform variable gets the value of a varying `break`. Lanes leave on different trips with different values.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: u32, x: &mut [u32], y: &mut [f32]) {
        let i = global_id().x;
        let first: S<u32> = loop {
            if x[i] > n {
                break n;
            }
            x[i] = x[i] + 1;
        };
        x[i] = first;
    }
}

fn main() {}
