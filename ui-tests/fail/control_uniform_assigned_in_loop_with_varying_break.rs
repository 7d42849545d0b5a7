//! Error: a uniform variable is assigned after some lanes left the loop. These lanes read the variable later.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: u32, x: &mut [u32], y: &mut [f32]) {
        let i = global_id().x;
        let mut trips: S<u32> = 0;
        for k in 0..n {
            if x[i] == k {
                break;
            }
            trips += 1;
        }
        x[i] = trips;
    }
}

fn main() {}
