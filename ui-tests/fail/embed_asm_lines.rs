//! Errors: lines of `asm!` that need a DSL construct instead, lack operands, or do not exist on a target.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn language(x: &[u32]) {
        let i = global_id().x;
        asm! { s_cbranch_scc0 4; };
        asm! { s_endpgm; };
        asm! { i = in(i); scratch_load_dword {r}, {i}, off; };
        asm! { i = in(i); v_cmpx_lt_u32 vcc, {i}, 7; };
        asm! { s_mov_b64 {r}, exec; };
    }

    #[workgroup(64)]
    fn addresses(x: &[u32], y: *mut u32) {
        let i = global_id().x;
        asm! { i = in(i), x = in(x); buffer_load_dword {r}, {i}, {x}, 0 idxen offen; };
        asm! { i = in(i), x = in(x); buffer_load_dword {i}, {x}, 0 offen lds; };
        asm! { m0 = in(0u32), i = in(i), x = in(x); buffer_load_dword {r}, {i}, {x}, 0 offen lds; };
        asm! { i = in(i), one = in(1u32), y = in(y); global_atomic_add {old}, {i}, {one}, {y}; };
        asm! { i = in(i); v_add_u32 {r}, [{i}, {i}], {i}; };
    }

    #[workgroup(64)]
    fn numbers(x: &[u32]) {
        let i = global_id().x;
        asm! { s_getreg_b32 {r}, hwreg(HW_REG_NONE, 0, 4); };
        asm! { i = in(i); v_add_u16 {r}, {i}, 0.5; };
        asm! { i = in(i); v_ad_u32 {r}, {i}, 1; };
    }

    #[workgroup(64)]
    #[targets(gfx942, gfx950)]
    fn targets(x: &[u32]) {
        let i = global_id().x;
        asm! { m0 = in(0u32), i = in(i), x = in(x); buffer_load_dwordx4 {i}, {x}, 0 offen lds; };
    }
}

fn main() {}
