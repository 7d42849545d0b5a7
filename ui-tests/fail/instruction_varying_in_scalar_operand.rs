//! Error: a varying value in an operand that has one value per wave.
use gcn_dsl::{isa, prelude::*};

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(x: &mut [u32]) {
        let i = global_id().x;
        let (sum, carry) = isa::s_add_u32(x[i], 1);
        x[i] = splat(sum) + select(carry, 1u32, 0u32);
    }
}

fn main() {}
