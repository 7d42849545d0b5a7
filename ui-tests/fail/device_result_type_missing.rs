//! A device function that gives a value says of which type.
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
