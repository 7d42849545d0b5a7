//! Error: an accumulator is stored to a `&[T]`.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(c: &[f32]) {
        Acc::<f32, 32, 32>::zero().store_to(row_major(c, 32), 0, 0);
    }
}

fn main() {}
