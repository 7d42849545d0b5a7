//! Error: a scaled product on a target other than gfx950.

use gcn_dsl::lang::matrix::{Fp4, Fp8, MxA, MxB, Scales};
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    #[targets(gfx942)]
    fn kernel(a: &[u8], c: &mut [f32]) {
        let left = MxA::<Fp8, 32, 64>::load_from(row_major(a, 64), 0, 0);
        let right = MxB::<Fp4, 64, 32>::load_from(col_major(a, 64), 0, 0);
        let one = Scales::new(127);
        mfma_scale(left, one, right, one, Acc::<f32, 32, 32>::zero()).store_to(row_major(c, 32), 0, 0);
    }
}

fn main() {}
