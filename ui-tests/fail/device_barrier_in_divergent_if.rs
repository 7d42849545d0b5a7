//! With the token all lanes run at the start of the function, and not inside a varying `if` of its own.
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
