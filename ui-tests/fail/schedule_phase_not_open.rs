//! Error: an element is assigned before `write()` is called.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(256)]
    fn kernel(x: &mut [f32]) {
        let tile = LdsBuf::<f32, 256>::new();
        tile[local_id().x] = 1.0;
    }
}

fn main() {}
