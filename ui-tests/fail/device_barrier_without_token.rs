//! Error: a barrier in a function without the `AllLanes` token. Nothing then states that the caller runs all lanes.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    fn shared(x: V<f32>) -> V<f32> {
        let block = Lds::<f32, 64>::new();
        block[local_id().x] = x;
        barrier();
        block[0]
    }
}

fn main() {}
