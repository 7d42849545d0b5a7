//! Error: a varying value initializes a field of plain scalar type, which is uniform.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    struct Weighted {
        value: f32,
        pair: (V<f32>, u32),
    }

    #[workgroup(64)]
    fn weigh(x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        let w = Weighted { value: x[i], pair: (x[i], i) };
        y[i] = w.value;
    }
}

fn main() {}
