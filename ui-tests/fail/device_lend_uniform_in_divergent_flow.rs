//! Error: a uniform variable is passed as `&mut` where only some lanes are active, so the caller could not assign it.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    fn count(n: &mut u32) {
        *n += 1;
    }

    #[workgroup(64)]
    fn kernel(x: &mut [u32]) {
        let mut n: u32 = 0;
        let i = global_id().x;
        if i < 3 {
            count(&mut n);
        }
        x[i] = n;
    }
}

fn main() {}
