//! Error: the element type of an argument has no device counterpart.
use gcn_dsl::prelude::*;

struct Pair {
    _a: f32,
    _b: f32,
}

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(pairs: &[Pair], x: &mut [f32]) {
        x[global_id().x] = 0.0;
    }
}

fn main() {}
