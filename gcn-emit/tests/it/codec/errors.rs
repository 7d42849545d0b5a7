//! Tests error messages: each names the position, the rule and, if there is one, the remedy.

use gcn_emit::encode::encode_inst;
use gcn_emit::text::{parse_inst, parse_program};
use gcn_isa::{Inst, Operand, Reg, Target, table};

fn message(text: &str, target: Target) -> String {
    parse_inst(text, target)
        .map_or_else(|e| e.to_string(), |i| format!("accepted: {}", super::text(&i, target)))
}

#[test]
fn parse_errors() {
    let cases = [
        ("v_ad_f32 v0, v1, v2", "1:1: gfx942 has no instruction `v_ad_f32`; the nearest name is `v_add_f32`"),
        ("frobnicate v0", "1:1: gfx942 has no instruction `frobnicate`"),
        (
            "v_mfma_f32_32x32x16_bf16 v[0:15], v[0:3], v[0:3], v[0:15]",
            "1:1: `v_mfma_f32_32x32x16_bf16` exists on gfx950 only, not on gfx942",
        ),
        (
            "v_add_f32 v0, s0, s1",
            "1:1: `v_add_f32_e64`: reads s0 and s1: a vector instruction may read one SGPR or literal; copy one into a \
             VGPR first",
        ),
        ("v_add_f32 v0, v1", "1:1: `v_add_f32_e32` takes 3 operands, 2 given: vdst, src0, src1"),
        (
            "s_mov_b32 s0, 0x123456789",
            "1:15: operand `ssrc0` of `s_mov_b32`: 0x123456789 does not fit the 32 bits of a literal",
        ),
        (
            "s_mov_b64 s[1:2], 0",
            "1:11: `s_mov_b64`: operand `sdst` = s[1:2]: the first register's number must be a multiple of 2",
        ),
        ("s_mov_b32 s0,, s1", "1:14: expected an operand"),
        (
            "s_branch .Lloop",
            "1:10: `.Lloop` has no meaning outside a program: a register, a number or a keyword is wanted",
        ),
        (
            "global_load_dword v0, v1, s[0:1] glc",
            "1:34: modifier `glc` of `global_load_dword`: the cache bits are glc, slc, scc up to gfx90a and sc0, nt, sc1 \
             from gfx942 on",
        ),
        ("v_mov_b32_dpp v0, v1", "1:1: `v_mov_b32_dpp` needs a DPP control such as quad_perm:[0,1,2,3]"),
        (
            "s_waitcnt vmcnt(64)",
            "1:17: the counters are vmcnt (up to 63), expcnt (up to 7) and lgkmcnt (up to 15)",
        ),
        (
            "v_cvt_i32_f64 v0, 0.1",
            "1:19: operand `src0` of `v_cvt_i32_f64_e32`: 0.1 needs 64 bits, but a literal gives only the upper 32 of a \
             64-bit float",
        ),
        (
            "ds_read_b32 v0, v1 offset:65536",
            "1:1: `ds_read_b32`: modifier `offset`: 65536 is outside 0..=65535",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(message(text, Target::GFX942), expected, "{text}");
    }
}

#[test]
fn deep_nesting_is_refused_quickly() {
    for opening in ["-", "neg(", "|", "sext(", "["] {
        let text = format!("v_mov_b32 v0, {}v1", opening.repeat(200_000));
        assert!(parse_inst(&text, Target::GFX942).is_err(), "{opening}");
    }
}

#[test]
fn program_errors_have_line_and_column() {
    let cases = [
        ("s_nop 0\n  s_noop 0\n", "2:3: gfx90a has no instruction `s_noop`; the nearest name is `s_nop`"),
        ("a:\ns_nop 0\na: s_nop 0\n", "3:1: the label `a` is already defined in line 1"),
        ("s_nop 0\ns_branch b\n", "2:1: the label `b` is not defined"),
        (
            ".text\n",
            "1:1: the directive `.text` is not understood here: the text may hold instructions, labels and comments",
        ),
        ("s_nop 0 /* open\n s_nop 0\n", "1:9: the comment is not closed"),
        (
            "/* é */ s_nop x\n",
            "1:15: operand `simm16` of `s_nop`: an absolute expression is wanted: its value must be known here",
        ),
    ];
    for (text, expected) in cases {
        let error = parse_program(text, Target::GFX90A, "k").unwrap_err();
        assert_eq!(error.to_string(), expected, "{text}");
    }
}

/// An instruction that is built without the parser.
fn built(target: Target, printed: &str, operands: &[Operand]) -> Inst {
    Inst::new(table::find(target, printed).next().unwrap(), operands.iter().copied())
}

#[test]
fn encode_errors() {
    let v = |i| Operand::Reg(Reg::v(i, 1));
    let t = Target::GFX90A;
    let cases = [
        (
            built(t, "v_add_f32_e32", &[v(0), v(1), Operand::Reg(Reg::s(3, 1))]),
            "operand `src1` = s3: not accepted here; this operand takes a VGPR",
        ),
        (built(t, "v_add_f32_e32", &[v(0), v(1)]), "takes 3 operands, 2 given"),
        (
            built(t, "ds_read_b64", &[Operand::Reg(Reg::v(1, 2)), v(1)]),
            "operand `vdst` = v[1:2]: the first register's number must be a multiple of 2",
        ),
        (
            built(t, "ds_read_b64", &[v(2), v(1)]),
            "operand `vdst` = v2: 1 registers wide, but the operand has 2",
        ),
        (
            built(t, "s_add_u32", &[Reg::s(0, 1).into(), Operand::Literal(100), Operand::Literal(200)]),
            "has the literals 0x64 and 0xc8: only one fits; move one into a register first",
        ),
        (
            built(t, "v_add_f32_e32", &[v(0), v(1), v(2)]).with(|m| m.clamp = true),
            "modifier `clamp`: the value 1 is not accepted by this instruction",
        ),
        (
            built(t, "ds_read_b32", &[v(0), v(1)]).with(|m| m.offset = -4),
            "modifier `offset`: -4 is outside 0..=65535",
        ),
        (
            built(
                t,
                "v_mfma_f32_32x32x8f16",
                &[Reg::v(0, 16).into(), Reg::v(32, 2).into(), Reg::v(34, 2).into(), Reg::v(2, 16).into()],
            ),
            "operand `src2` = v[2:17]: overlaps `vdst` partly; make it the same registers or disjoint ones",
        ),
        (
            built(
                t,
                "v_mfma_f32_32x32x8f16",
                &[Reg::v(0, 16).into(), Reg::v(32, 2).into(), Reg::v(34, 2).into(), Reg::a(0, 16).into()],
            ),
            "operand `src2` = a[0:15]: must be in the same register file as `vdst` (both VGPRs or both AGPRs)",
        ),
    ];
    for (inst, expected) in cases {
        let error = encode_inst(&inst, t).unwrap_err();
        assert_eq!(error.fault.to_string(), expected);
        assert_eq!(error.mnemonic, inst.desc.printed);
    }
    let elsewhere = encode_inst(&built(t, "v_mfma_f32_32x32x8f16", &[]), Target::GFX942).unwrap_err();
    assert_eq!(
        elsewhere.to_string(),
        "`v_mfma_f32_32x32x8f16` on gfx942: the target has no such instruction in this form"
    );
}

#[test]
fn variants_that_assemblers_take() {
    let cases = [
        ("v_add_f32 v0, v1, v2", "v_add_f32_e32 v0, v1, v2"),
        ("v_add_f32 v0, v1, s2", "v_add_f32_e64 v0, v1, s2"),
        ("v_add_f32 v0, abs(v1), - v2", "v_add_f32_e64 v0, |v1|, -v2"),
        ("v_add_f32 v0, 0x3f800000, v1", "v_add_f32_e32 v0, 1.0, v1"),
        ("v_add_f16 v0, 0x3c00, v1", "v_add_f16_e32 v0, 1.0, v1"),
        ("v_max_u16 v0, 0x3c00, v1", "v_max_u16_e32 v0, 0x3c00, v1"),
        ("v_add_f16 v0, 1.5, v1", "v_add_f16_e32 v0, 0x3e00, v1"),
        ("v_cvt_i32_f64 v0, 1.5", "v_cvt_i32_f64_e32 v0, 0x3ff80000"),
        ("s_mov_b64 s[0:1], 0x3ff0000000000000", "s_mov_b64 s[0:1], 1.0"),
        ("s_mov_b32 s0, 0b101", "s_mov_b32 s0, 5"),
        ("s_mov_b32 s0, 017", "s_mov_b32 s0, 15"),
        ("s_mov_b64 [s0,s1], exec", "s_mov_b64 s[0:1], exec"),
        ("v_mov_b32 v[0], v[1]", "v_mov_b32_e32 v0, v1"),
        ("v_mov_b32 v0, vccz", "v_mov_b32_e32 v0, src_vccz"),
        ("v_mov_b32 v0, lit(0)", "v_mov_b32_e32 v0, lit(0x0)"),
        ("v_cndmask_b32 v0, v1, v2, s[0:1]", "v_cndmask_b32_e64 v0, v1, v2, s[0:1]"),
        ("v_cmp_eq_f32 s[0:1], v0, v1", "v_cmp_eq_f32_e64 s[0:1], v0, v1"),
        ("s_waitcnt vmcnt(0) & lgkmcnt(0)", "s_waitcnt vmcnt(0) lgkmcnt(0)"),
        ("s_waitcnt vmcnt(0), lgkmcnt(0)", "s_waitcnt vmcnt(0) lgkmcnt(0)"),
        ("s_waitcnt 0", "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)"),
        ("s_movk_i32 s0, -1", "s_movk_i32 s0, 0xffff"),
        ("s_cbranch_scc0 -5", "s_cbranch_scc0 65531"),
        ("s_setreg_b32 0x1801, s0", "s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s0"),
        ("s_sendmsg 1", "s_sendmsg sendmsg(MSG_INTERRUPT)"),
        ("s_endpgm 0", "s_endpgm"),
        (
            "buffer_load_dword v0, off, s[0:3], 0, offset:0x10",
            "buffer_load_dword v0, off, s[0:3], 0 offset:16",
        ),
        (
            "tbuffer_load_format_x v0, off, s[0:3], dfmt:4, nfmt:7, 0",
            "tbuffer_load_format_x v0, off, s[0:3], 0 format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_FLOAT]",
        ),
        (
            "v_mov_b32_dpp v0, v1 row_shr:1 bound_ctrl:0",
            "v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1",
        ),
        (
            "v_mov_b32_sdwa v0, v1",
            "v_mov_b32_sdwa v0, v1 dst_sel:DWORD dst_unused:UNUSED_PRESERVE src0_sel:DWORD",
        ),
        ("v_accvgpr_read v0, acc0", "v_accvgpr_read_b32 v0, a0"),
        (
            "v_mfma_f32_32x32x8f16 a[0:15], v[0:1], v[2:3], 0",
            "v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], 0",
        ),
    ];
    for (text, canonical) in cases {
        assert_eq!(message(text, Target::GFX942), format!("accepted: {canonical}"), "{text}");
    }
}
