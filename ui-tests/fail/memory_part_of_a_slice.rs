//! Error: the bounds of a part of a slice are varying.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn own_rows(x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        let row = &x[i * 4..(i + 1) * 4];
        y[i] = row[0];
    }
}

fn main() {}
