//! Errors: unknown options, and unknown values of options.
use gcn_dsl::prelude::*;

fn main() {
    let _ = gcn_asm!(target = gfx942, check = warn, s_endpgm;);
    let _ = gcn_asm!(target = gfx1310, s_endpgm;);
    let _ = gcn_asm!(target = gfx942, chek = deny, s_endpgm;);
    let _ = gcn_asm!(target = gfx942, rules = all, s_endpgm;);
    let _ = gcn_asm!(target = gfx942, check = deny, check = fix, s_endpgm;);
    let _ = gcn_asm!(targets = [gfx942, gfx942], s_endpgm;);
    let _ = gcn_asm!(s_endpgm;);
    let _ = gcn_asm!(target = gfx942);
}
