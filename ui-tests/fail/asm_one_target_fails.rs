//! Error: the waits are sufficient on one target but not on another.
use gcn_dsl::prelude::*;

fn main() {
    let _ = gcn_asm!(
        targets = [gfx90a, gfx942],
        v_mfma_f32_16x16x16f16 v[0:3], v[16:17], v[18:19], v[0:3];
        s_nop 6;
        v_add_f32 v20, v0, v1;
        s_endpgm;
    );
}
