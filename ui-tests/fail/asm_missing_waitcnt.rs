//! Error: a load's result is used without a wait for the load's counter.
use gcn_dsl::prelude::*;

gcn_asm! {
    #[workgroup(64)]
    #[targets(gfx942)]
    fn kernel(x: *mut f32) {
        s_load_dwordx2 s[4:5], s[0:1], x;
        v_lshlrev_b32 v0, 2, v0;
        global_load_dword v1, v0, s[4:5];
        s_waitcnt vmcnt(0);
        v_add_f32 v1, 1.0, v1;
        global_store_dword v0, v1, s[4:5];
        s_endpgm;
    }
}

fn main() {}
