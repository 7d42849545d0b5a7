//! Correct forms of the programs `fail/instruction_*`.
use gcn_dsl::{isa, prelude::*};

gcn_kernel! {
    #[workgroup(64)]
    #[targets(gfx90a, gfx942)]
    fn kernel(a: &[u32], d: &mut [f64], x: &mut [u32]) {
        let i = global_id().x;
        let (sum, carry) = isa::s_add_u32(a.uniform(0), 1);
        let (low, over) = isa::v_add_co_u32(x[i], sum);
        let loaded = isa::buffer_load_dword(isa::Offen(i * 4), a, 0, 0);
        x[i] = low + loaded + select(carry, 1u32, 0u32) + isa::v_cndmask_b32(0, 1, over);
        d[i] = isa::v_fmac_f64_dpp(d[i], d[i], d[i], isa::Options::new().row_newbcast(3));
    }
}

pub fn main() {
    for target in [Target::GFX90A, Target::GFX942] {
        kernel.build(target).unwrap();
    }
}
