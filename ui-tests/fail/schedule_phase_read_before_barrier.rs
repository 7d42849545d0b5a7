//! Error: an LDS buffer is read after it is written, without a barrier in between.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(256)]
    fn kernel(x: &mut [f32]) {
        let i = local_id().x;
        let tile = LdsBuf::<f32, 256>::new();
        let tile = tile.store(i, x[i]);
        x[i] = tile[255 - i];
    }
}

fn main() {}
