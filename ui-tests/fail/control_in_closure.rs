//! Error: `return` in a closure. It is unknown who calls the closure and which lanes are then active.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(n: u32, x: &mut [u32], y: &mut [f32]) {
        let i = global_id().x;
        let f = |v: V<u32>| {
            return v;
        };
        x[i] = f(x[i]);
    }
}

fn main() {}
