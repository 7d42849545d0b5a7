//! Errors in declarations of assembly kernels, and missing attributes.
use gcn_dsl::prelude::*;

type Real = f32;

gcn_asm! {
    #[workgroup(64)]
    fn no_target(x: *mut f32) {
        s_endpgm;
    }

    #[targets(gfx942)]
    fn no_workgroup(x: *mut f32) {
        s_endpgm;
    }

    #[workgroup(64)]
    #[targets(gfx942)]
    fn other_names(v0: *mut f32, a: Real) {
        s_endpgm;
    }

    #[workgroup(64)]
    #[targets(gfx942)]
    #[check(always)]
    fn wrong_check(x: *mut f32) {
        s_endpgm;
    }

    #[workgroup(64)]
    #[targets(gfx942)]
    fn runs_on(x: *mut f32) {
        s_load_dword s4, s[0:1], y;
        s_nop 0;
    }

    #[workgroup(64)]
    #[targets(gfx942)]
    fn runs_off_its_end(x: *mut f32) {
        s_nop 0;
        s_nop 0;
    }

    #[workgroup(64)]
    #[targets(gfx942)]
    fn generic<const N: u32>(x: *mut f32) {
        s_endpgm;
    }
}

fn main() {
    let _ = runs_on.build(Target::GFX942);
}
