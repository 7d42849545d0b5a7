//! Error: a barrier that changes a buffer's phase, in a varying `if`. All lanes have to take part.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(256)]
    fn kernel(x: &mut [f32]) {
        let i = local_id().x;
        let tile = LdsBuf::<f32, 256>::new().store(i, x[i]);
        if i < 100 {
            let tile = barrier(tile);
            x[i] = tile[255 - i];
        }
    }
}

fn main() {}
