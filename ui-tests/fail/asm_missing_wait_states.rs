//! Error: the result of a matrix instruction is read too early.
use gcn_dsl::prelude::*;

fn main() {
    let _ = gcn_asm!(
        target = gfx942,
        v_mfma_f32_32x32x8_f16 v[0:15], v[16:17], v[18:19], v[0:15];
        s_nop 1;
        v_add_f32 v20, v0, v1;
        s_endpgm;
    );
}
