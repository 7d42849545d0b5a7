//! Error: a wait that is sufficient on entry to a loop is missing on the path from the loop's end to its start.
use gcn_dsl::prelude::*;

fn main() {
    let _ = gcn_asm!(
        target = gfx942,
        s_mov_b32 s4, 8;
        v_mov_b32 v1, 0;
    again:
        v_add_u32 v2, v1, v2;
        s_sub_u32 s4, s4, 1;
        s_cmp_lg_u32 s4, 0;
        global_load_dword v1, v0, s[0:1];
        s_cbranch_scc1 again;
        s_endpgm;
    );
}
