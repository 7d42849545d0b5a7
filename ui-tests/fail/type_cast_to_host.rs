//! Error: `as` with a type that no device value can have.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn casts(x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        let c = i as char;
        let b = x[i] as bool;
    }
}

fn main() {}
