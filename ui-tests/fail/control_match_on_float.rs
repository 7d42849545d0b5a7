//! Error: `match` on a float. Floats can only be compared.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: u32, x: &mut [u32], y: &mut [f32]) {
        let i = global_id().x;
        match y[i] {
            0.0 => x[i] = 1,
            _ => {}
        }
    }
}

fn main() {}
