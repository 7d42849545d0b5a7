//! Loops end by their condition.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(x: &mut [u32]) {
        let i = global_id().x;
        let mut n: V<u32> = 0;
        while n < 100 {
            if x[i] == n {
                break;
            }
            n += 1;
        }
        x[i] = n;
    }
}

fn main() {}
