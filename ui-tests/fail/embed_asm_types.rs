//! Errors: operands of `asm!` whose types do not fit the instruction.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    #[targets(gfx90a)]
    fn kernel(x: &mut [f32], d: &[f64]) {
        let i = global_id().x;
        x[i] = asm! { a = in(x[i]), b = in(d[i]), r = out; v_add_f32 {r}, {a}, {b}; };
        let s = asm! { a = in(i), r = out; s_add_u32 {r}, {a}, 1; };
        let t = asm! { a = in(i), r = out; v_prng_b32 {r}, {a}; };
    }
}

fn main() {}
