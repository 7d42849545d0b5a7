//! Errors in string literals. For a string of several lines, the message quotes the line.
use gcn_dsl::prelude::*;

fn main() {
    let _ = gcn_asm!(
        target = gfx942,
        "v_mov_b32 v0, 1",
        "v_mov_b32 v0, q7",
        r"
            s_mov_b32 s4, 8         ; how often
        again:
            s_sub_u32 s4, s4, 1
            s_cmp_lg_u32 s4, z
            s_cbranch_scc1 again
            .align 4
            s_endpgm
        ",
    );
    let _ = gcn_asm!(
        target = gfx942,
        r"
            global_load_dword v1, v0, s[0:1]
            v_mov_b32 v2, v1
            s_endpgm
        ",
    );
}
