//! Error: at the end of a loop, the buffer is in another phase than at its start.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(256)]
    fn kernel(n: u32, x: &mut [f32]) {
        let i = local_id().x;
        #[carried]
        let mut tile = LdsBuf::<f32, 256>::new();
        for k in 0..n {
            let full = barrier(tile.store(i, x[i]));
            x[i] = full[255 - i];
            tile = full;
        }
    }

    #[workgroup(256)]
    fn not_given_back(n: u32, x: &mut [f32]) {
        let i = local_id().x;
        let tile = LdsBuf::<f32, 256>::new();
        for k in 0..n {
            let full = barrier(tile.store(i, x[i]));
            x[i] = full[255 - i];
        }
    }
}

fn main() {}
