//! Error: a vector load or store of a width that no instruction supports.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn five(x: &[f32], y: &mut [f32]) {
        let i = global_id().x;
        let v = x.load_vector::<5>(5 * i);
        let w = x.load_vector_with::<32>(i, Cache::Streaming);
        y[i] = v.get(0) + w.get(0);
    }
}

fn main() {}
