//! Error: a bitwise reduction of floats.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn bits(x: &mut [f32]) {
        let i = global_id().x;
        x[i] = wave_or(x[i]);
    }
}

fn main() {}
