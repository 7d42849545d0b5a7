//! Error: `&`, `|` or `^` on floats. They exist for integers and conditions.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn mask(x: &[f32], y: &[f32], out: &mut [f32]) {
        let i = global_id().x;
        out[i] = x[i] & y[i];
        out[i] = !x[i];
    }
}

fn main() {}
