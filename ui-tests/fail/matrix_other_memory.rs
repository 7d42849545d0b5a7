//! Error: a fragment of f16 is loaded from a matrix of f32.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(a: &[f32], c: &mut [f32]) {
        let left = FragA::<f16, 32, 8>::load_from(row_major(a, 8), 0, 0);
        let right = FragB::<f16, 8, 32>::from_fn(|_| splat(f16::ONE));
        mfma(left, right, Acc::<f32, 32, 32>::zero()).store_to(row_major(c, 32), 0, 0);
    }
}

fn main() {}
