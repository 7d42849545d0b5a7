//! Error: an instruction does not exist on the target, or exists on only one of two targets.
use gcn_dsl::prelude::*;

fn main() {
    let _ = gcn_asm!(target = gfx90a, v_mov_b64 v[0:1], 0; v_cvt_pk_fp8_f32 v0, v1, v2;);
    let _ = gcn_asm!(targets = [gfx90a, gfx942], v_mov_b32 v20, 0; v_mfma_f32_32x32x16_fp8_fp8 v[0:15], v[16:17], v[18:19], v[0:15];);
}
