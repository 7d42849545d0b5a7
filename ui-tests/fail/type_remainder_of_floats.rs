//! There is no remainder of floats on the device.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn wrap(x: &mut [f32]) {
        let i = global_id().x;
        x[i] = x[i] % 360.0;
    }
}

fn main() {}
