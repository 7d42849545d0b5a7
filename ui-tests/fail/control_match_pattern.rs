//! Device values have no parts that a pattern could name.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: u32, x: &mut [u32], y: &mut [f32]) {
        let i = global_id().x;
        match x[i] {
            Some(v) => x[i] = v,
            _ => {}
        }
    }
}

fn main() {}
