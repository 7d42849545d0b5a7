//! A branch to a label that is not there, one that is there twice, and a name that means nothing.
use gcn_dsl::prelude::*;

fn main() {
    let _ = gcn_asm!(
        target = gfx942,
    loop_begin:
        s_cbranch_scc0 loop_begn;
        s_branch elsewhere;
    loop_begin:
        s_endpgm;
    );
}
