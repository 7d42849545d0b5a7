//! Device functions are inlined.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    fn factorial(n: V<u32>) -> V<u32> {
        if n < 2 { splat(1) } else { n * factorial(n - 1) }
    }
}

fn main() {}
