//! Errors: operands of `asm!` that are undeclared, read before they are written, or of the wrong number.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(x: &mut [f32]) {
        let i = global_id().x;
        x[i] = asm! {
            a = in(x[i]), r = out, never = out;
            v_add_f32 {r}, {a}, {b};
            v_mul_f32 {r}, {a};
            v_no_such_f32 {r}, {a};
            global_load_dword {r}, {a}, off;
            v_mov_b32 v1, {a};
        };
    }

    #[workgroup(64)]
    fn reads(x: &mut [f32]) {
        let i = global_id().x;
        x[i] = asm! {
            a = in(x[i]), r = out, never = out;
            v_add_f32 {r}, {a}, {b};
            v_mul_f32 {r}, {a};
            v_no_such_f32 {r}, {a};
            v_add_f32 7, {a}, {a};
            s_cselect_b32 {r}, 1, 2;
        };
    }
}

fn main() {}
