//! Error: the body's value does not have the declared return type.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    fn first(x: V<f32>) -> f32 {
        x + 1.0
    }

    #[device]
    fn pair(x: V<f32>) -> (V<f32>, V<u32>) {
        (x, x)
    }

    #[device]
    fn nothing(x: V<f32>) -> V<f32> {
        x + 1.0;
    }
}

fn main() {}
