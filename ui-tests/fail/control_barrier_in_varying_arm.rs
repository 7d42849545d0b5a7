//! Error: a barrier in an arm of a `match` on a varying value. Lanes of a wave can take different arms.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: u32, x: &mut [u32], y: &mut [f32]) {
        let i = global_id().x;
        match x[i] {
            0 => barrier(),
            _ => {}
        }
    }
}

fn main() {}
