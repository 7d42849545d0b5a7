//! What `asm!` does not have says where it is.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn kernel(x: &mut [f32]) {
        let i = global_id().x;
        let a = asm! { a = in(x[i]), r = out; v_add_f32 {r}, {a}, {a} clamp; };
    }

    #[workgroup(64)]
    fn operand(x: &mut [f32]) {
        let i = global_id().x;
        let a = asm! { a = input(x[i]), r = out; v_add_f32 {r}, {a}, {a}; };
    }
}

fn main() {}
