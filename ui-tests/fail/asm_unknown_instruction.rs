//! Error: a mnemonic is misspelt. The message suggests the nearest name.
use gcn_dsl::prelude::*;

fn main() {
    let _ = gcn_asm!(
        target = gfx942,
        v_mov_b32 v0, 1;
        v_ad_f32 v0, v0, v1;
        s_endpgm;
    );
}
