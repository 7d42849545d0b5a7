//! Error: a product of a shape for which there is no matrix instruction.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(a: &[f16], b: &[f16], c: &mut [f32]) {
        let left = FragA::<f16, 32, 4>::load(&a, lane_id() * 2);
        let right = FragB::<f16, 4, 32>::load(&b, lane_id() * 2);
        let sum = mfma(left, right, Acc::<f32, 32, 32>::zero());
        c[lane_id()] = sum.get(0);
    }
}

fn main() {}
