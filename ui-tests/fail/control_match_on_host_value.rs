//! Error: `match` on a host value, which is known when the kernel is built, without `comptime`.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: u32, x: &mut [u32], y: &mut [f32]) {
        let i = global_id().x;
        let mode = 3u32;
        match mode {
            0 => x[i] = 1,
            _ => {}
        }
    }
}

fn main() {}
