//! Errors: operands that the instruction does not accept. Each error points at the operand.
use gcn_dsl::prelude::*;

fn main() {
    let _ = gcn_asm!(
        target = gfx942,
        s_mov_b32 s0, v1;
        v_mov_b64 v[1:2], 0;
        global_load_dwordx2 v[4:6], v[0:1], off;
        ds_read_b32 v0, v1 offset:65536;
        s_add_u32 s0, s1;
        v_mov_b32 v0, 1
        s_endpgm;
    );
}
