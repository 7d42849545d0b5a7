//! Errors: a barrier changes the phase of a buffer that was neither written nor read, or that has no phases.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(256)]
    fn kernel(x: &mut [f32]) {
        let tile = LdsBuf::<f32, 256>::new();
        let tile = barrier(tile);
        x[0] = tile[0];
    }

    #[workgroup(256)]
    fn pair(x: &mut [f32]) {
        let pair = LdsPair::<f32, 256>::new();
        let pair = barrier(pair);
        x[0] = pair[0];
    }

    #[workgroup(256)]
    fn plain(x: &mut [f32]) {
        let tile = Lds::<f32, 256>::new();
        barrier(tile);
    }
}

fn main() {}
