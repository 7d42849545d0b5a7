//! Error: an accumulator of f16. Products of f16 are accumulated in f32.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(out: &mut [f16]) {
        Acc::<f16, 32, 32>::zero().store_to(row_major(out, 32), 0, 0);
    }
}

fn main() {}
