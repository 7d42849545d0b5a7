//! Variables are lent whole, in calls, and assigned through `*`.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    fn count(n: &mut V<u32>) {
        n = 1;
    }

    #[workgroup(64)]
    fn kernel(x: &mut [u32]) {
        let mut pair = (x[0], x[1]);
        count(&mut pair.0);
        let mut n = x[2];
        let r = &mut n;
    }
}

fn main() {}
