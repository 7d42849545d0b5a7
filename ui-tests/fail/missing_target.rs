//! Error: an instruction that one of the targets lacks.
use gcn_dsl::{isa::v_mfma_f32_32x32x8_f16, prelude::*};

gcn_kernel! {
    #[workgroup(64)]
    #[targets(gfx90a, gfx942)]
    fn kernel(a: &[f16], x: &mut [f32]) {
        let i = global_id().x;
        let zero = Vector::<f32, 16>::from([splat(0.0); 16]);
        let fragment = a.load_vector::<4>(4 * i);
        x[i] = v_mfma_f32_32x32x8_f16(fragment, fragment, zero).get(0);
    }
}

fn main() {}
