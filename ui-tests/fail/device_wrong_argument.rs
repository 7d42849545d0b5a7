//! Errors: wrong arguments of a device function. Arguments are converted implicitly only if nothing is lost.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    fn scaled(x: V<f32>, by: f32) -> V<f32> {
        x * by
    }

    #[workgroup(64)]
    fn kernel(n: u32, x: &mut [f32]) {
        let i = global_id().x;
        x[i] = scaled(x[i], x[i + 1]);
        x[i] = scaled(n, 2.0);
        x[i] = scaled(x[i], 2.0, 3.0);
    }
}

fn main() {}
