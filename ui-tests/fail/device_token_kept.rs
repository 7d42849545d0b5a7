//! Error: the `AllLanes` token is stored in a variable, which could be used where only some lanes are active.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    fn wait(all: AllLanes) {
        let kept = all;
        barrier();
    }

    #[workgroup(64)]
    fn kernel(x: &mut [f32]) {
        let token = all_lanes();
        let later = |y: V<f32>| wait(all_lanes());
    }
}

fn main() {}
