//! The buffer in its old phase is gone.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(256)]
    fn kernel(x: &mut [f32]) {
        let i = local_id().x;
        let tile = LdsBuf::<f32, 256>::new().store(i, x[i]);
        let full = barrier(tile);
        let again = tile.store(i, 1.0);
        x[i] = full[255 - i];
    }
}

fn main() {}
