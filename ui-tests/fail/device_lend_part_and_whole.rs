//! Error: a call borrows both a variable and a part of it.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    fn set(pair: &mut (V<u32>, V<u32>), one: &mut V<u32>) {
        *one = pair.0 + pair.1;
    }

    #[workgroup(64)]
    fn kernel(x: &mut [u32]) {
        let mut pair = (x[0], x[1]);
        set(&mut pair, &mut pair.0);
    }
}

fn main() {}
