//! Lanes that return from a function still read their caller's variables.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    fn count(n: &mut u32, x: V<u32>) {
        if x < 3 {
            return;
        }
        *n += 1;
    }
}

fn main() {}
