//! Error: a product of a shape that one of the targets lacks.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    #[targets(gfx90a, gfx942, gfx950)]
    fn kernel(a: &[f16], c: &mut [f32]) {
        let left = FragA::<f16, 32, 16>::load(&a, lane_id() * 8);
        let right = FragB::<f16, 16, 32>::load(&a, lane_id() * 8);
        let acc = mfma(left, right, Acc::<f32, 32, 32>::zero());
        acc.store_to(row_major(c, 32), 0, 0);
    }
}

fn main() {}
