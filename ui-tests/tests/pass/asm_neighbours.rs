//! Correct forms of the `asm_` programs in `fail/`.
use gcn_dsl::prelude::*;

/// All waits are written.
const RIGHT: AsmProgram = gcn_asm!(
    target = gfx942,
    v_mfma_f32_32x32x8_f16 v[0:15], v[16:17], v[18:19], v[0:15];
    s_nop 10;
    v_add_f32 v20, v0, |v1|;
    s_endpgm;
);

/// The macro inserts the waits, also on the path from the loop's end to its start.
const FIXED: AsmProgram = gcn_asm! {
    targets = [gfx90a, gfx942], check = fix, rules = manual,
    s_mov_b32 s4, 8;
    v_mov_b32 v1, 0;
again:
    v_add_u32 v2, v1, v2;
    s_sub_u32 s4, s4, 1;
    s_cmp_lg_u32 s4, 0;
    global_load_dword v1, v0, s[0:1];
    s_cbranch_scc1 again;
    s_endpgm;
};

/// Strings of one line and of several lines, with tokens between them.
static STRINGS: AsmProgram = gcn_asm!(
    target = gfx90a, check = deny,
    "v_mov_b32 v0, 1",
    s_nop 1;
    v_mov_b32_dpp v1, v0 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf;
    r"
    again:                      ; a comment
        s_sub_u32 s4, s4, 1     // another
        s_cmp_lg_u32 s4, 0
        s_cbranch_scc1 again
    ",
    "s_endpgm",
);

gcn_asm! {
    #[workgroup(16, 4)]
    #[targets(gfx90a, gfx942)]
    #[check(fix)]
    #[rules(safe)]
    #[lds(256 * 4)]
    pub fn first(n: u16, x: &[f32], y: &mut [f32]) {
        s_load_dword s5, s[0:1], n;
        s_load_dword s6, s[0:1], x.len;
        s_load_dwordx2 s[8:9], s[0:1], y;
        s_endpgm;
    }

    #[workgroup(64)]
    #[targets(gfx900, gfx906, gfx908)]
    fn second() { s_endpgm; }
}

pub fn main() {
    assert_eq!(RIGHT.targets().collect::<Vec<_>>(), [Target::GFX942]);
    let lines = |target| FIXED.program(target).unwrap().lines.len();
    assert_eq!((lines(Target::GFX90A), lines(Target::GFX942)), (9, 9));
    assert_eq!(STRINGS.program(Target::GFX90A).unwrap().lines.len(), 7);
    for target in [Target::GFX90A, Target::GFX942] {
        let built = first.build(target).unwrap();
        assert_eq!(built.spec().lds_bytes, 1024);
        assert!(built.assembly(Comments::None).contains("s_load_dword s6, s[0:1], 0x10"));
    }
    assert!(second.build(Target::GFX908).is_ok() && second.build(Target::GFX942).is_err());
}
