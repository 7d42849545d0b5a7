//! Error: an MX operand of f16. Its elements are 8-, 6- or 4-bit floats.

use gcn_dsl::lang::matrix::MxA;
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(out: &mut [u32]) {
        out[lane_id()] = MxA::<f16, 32, 64>::row();
    }
}

fn main() {}
