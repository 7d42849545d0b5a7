//! Error: a function that needs all lanes is called where only some are active.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    fn wait(all: AllLanes) {
        barrier();
    }

    #[workgroup(64)]
    fn kernel(x: &mut [f32]) {
        let i = global_id().x;
        if i < x.len() {
            wait(all_lanes());
        }
    }
}

fn main() {}
