//! What the function writes, its caller must be able to write where it calls.
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
