//! Error: a barrier in a varying `if` of a function. The `AllLanes` token covers only code outside such an `if`.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    fn shared(all: AllLanes, x: V<f32>) {
        if x > 0.0 {
            barrier();
        }
    }
}

fn main() {}
