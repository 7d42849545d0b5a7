//! Error: a pattern names parts of a device value that has none.
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
