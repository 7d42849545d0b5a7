//! Error: a device function calls itself. Device functions are inlined, so this would not end.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    fn factorial(n: V<u32>) -> V<u32> {
        if n < 2 { splat(1) } else { n * factorial(n - 1) }
    }
}

fn main() {}
