//! Error: a device function returns a value but declares no return type.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    fn square(x: V<f32>) {
        x * x
    }

    #[device]
    fn root(x: V<f32>) {
        x.sqrt()
    }
}

fn main() {}
