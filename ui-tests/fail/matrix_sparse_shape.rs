//! Error: a sparse product of a shape that does not exist.

use gcn_dsl::lang::matrix::{SparseA, SparseIndex};
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    #[targets(gfx942)]
    fn kernel(a: &[f16], index: &[u32], c: &mut [f32]) {
        let left = SparseA::<f16, 32, 16>::load(&a, lane_id() * 4);
        let right = FragB::<f16, 32, 32>::load(&a, lane_id() * 16);
        let index = SparseIndex::new(index[lane_id()]);
        let acc = smfmac(left, index, right, Acc::<f32, 32, 32>::zero());
        acc.store_to(row_major(c, 32), 0, 0);
    }
}

fn main() {}
