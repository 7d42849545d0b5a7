//! Error: an accumulator of i8. Products of i8 are accumulated in i32.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(out: &mut [i8]) {
        Acc::<i8, 32, 32>::zero().store_to(row_major(out, 32), 0, 0);
    }
}

fn main() {}
