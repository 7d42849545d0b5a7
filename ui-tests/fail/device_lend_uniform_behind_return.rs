//! Error: a function writes a caller's uniform variable after some lanes returned. These still read the variable.
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
