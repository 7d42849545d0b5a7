//! Error: a uniform field is passed as `&mut` where only some lanes are active.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    fn count(n: &mut u32) {
        *n += 1;
    }

    #[workgroup(64)]
    fn kernel(x: &mut [u32], n: u32) {
        let mut counts = (n, x[1]);
        if x[2] == 1 {
            count(&mut counts.0);
        }
    }
}

fn main() {}
