//! Error: the buffer is used in its old phase after a barrier has changed the phase.
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
