//! Error: an LDS buffer is written while other waves may still read it, without a barrier in between.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(256)]
    fn kernel(x: &mut [f32]) {
        let i = local_id().x;
        let tile = LdsBuf::<f32, 256>::new();
        let tile = barrier(tile.store(i, x[i]));
        x[i] = tile[255 - i];
        let tile = tile.store(i, 0.0);
    }
}

fn main() {}
