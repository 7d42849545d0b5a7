//! Error: a `match` whose patterns do not cover all cases. rustc checks this.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: u32, x: &mut [u32], y: &mut [f32]) {
        let i = global_id().x;
        match x[i] {
            0 => x[i] = 1,
            2..=100 => x[i] = 2,
        }
    }
}

fn main() {}
