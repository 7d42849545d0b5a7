//! Error: a product of fragments whose shapes, which are part of their types, do not fit.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(a: &[f16], b: &[f16], c: &mut [f32]) {
        let left = FragA::<f16, 32, 8>::load(&a, lane_id() * 4);
        let right = FragB::<f16, 16, 16>::load(&b, lane_id() * 4);
        let sum = mfma(left, right, Acc::<f32, 32, 32>::zero());
        c[lane_id()] = sum.get(0);
    }
}

fn main() {}
