//! Errors: modifiers and address forms that the instruction in `asm!` does not have.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn unknown(x: &mut [f32]) {
        let i = global_id().x;
        let a = asm! { a = in(x[i]), r = out; v_add_f32 {r}, {a}, {a} saturate; };
        let b = asm! { a = in(x[i]), r = out; v_not_b32 {r}, {a} mul:2; };
        let c = asm! { a = in(x[i]), r = out; v_add_f32 {r}, {a}, {a} mul:3; };
    }

    #[workgroup(64)]
    fn kept(x: &mut [u32]) {
        let i = global_id().x;
        let a = asm! { a = in(x[i]), r = out; v_mov_b32_dpp {r}, {a} row_shr:1; };
        let b = asm! { a = in(x[i]), r = out; v_mov_b32_sdwa {r}, {a} dst_sel:BYTE_1; };
    }

    #[workgroup(64)]
    fn addresses(x: *mut u32, y: &[u32]) {
        let i = global_id().x;
        let a = asm! { x = in(x), r = out; global_load_dword {r}, off, {x}; };
        let b = asm! { i = in(i * 4), y = in(y), r = out; buffer_load_dword {r}, {i}, {y}, 0 offen lds; };
        asm! { i = in(i); v_add_u32 {t}, {i}, off; };
    }

    #[workgroup(64)]
    fn operand(x: &mut [f32]) {
        let i = global_id().x;
        let a = asm! { a = input(x[i]), r = out; v_add_f32 {r}, {a}, {a}; };
    }
}

fn main() {}
