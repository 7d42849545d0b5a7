//! Errors: a branch to an undefined label, a label that is defined twice, and an undefined name.
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
