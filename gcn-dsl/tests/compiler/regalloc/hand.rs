//! Small cases whose correct result is obvious.

use gcn_isa::{Operand, Reg, Target, reg};

use super::build::{Build, int, slice};
use super::exec;
use gcn_dsl::mir::{Function, VReg};
use gcn_dsl::regalloc::{AllocError, Allocated, Limits, allocate, verify};

pub fn allocated(f: &Function) -> Allocated {
    let a = allocate(f, &Limits::default()).unwrap_or_else(|e| panic!("{e}"));
    verify(f, &a).unwrap_or_else(|e| panic!("{e}"));
    for seed in 0..20 {
        exec::run(f, &a, 400, seed).unwrap_or_else(|e| panic!("{e}"));
    }
    a
}

fn text(a: &Allocated) -> Vec<String> {
    let operand = |o: &Operand| match o {
        Operand::Reg(reg) => reg.to_string(),
        Operand::Inline(inline) => inline.to_string(),
        Operand::Literal(bits) => format!("{bits:#x}"),
        Operand::Label(label) => a.program.labels[label.0 as usize].name.clone(),
        other => format!("{other:?}"),
    };
    let line = |l: &gcn_isa::Line| {
        let operands: Vec<String> = l.inst.operands.iter().map(operand).collect();
        format!("{} {}", l.inst.desc.printed, operands.join(", ")).trim_end().to_owned()
    };
    a.program.lines.iter().map(line).collect()
}

/// `acc = 0; loop { acc' = mfma(x, y, acc); acc = acc' }; store acc`, with the accumulators in AGPRs.
fn accumulate(target: Target, mfma: &str, separate: bool) -> Function {
    let mut b = Build::new(target);
    let (addr, x, y) = (b.v(1), b.v(2), b.v(2));
    let (init, acc) = (b.a(16), b.a(16));
    let next = if separate { b.a(16) } else { acc };
    b.copy(&addr, &Operand::Reg(Reg::v(0, 1)));
    b.f.live_in.push(Reg::v(0, 1));
    b.copy(&init, &int(0));
    b.copy(&acc, &init);
    let head = b.block(1);
    b.inst("ds_read_b64", &[&x, &addr]);
    b.inst("ds_read_b64", &[&y, &addr]);
    b.inst(mfma, &[&next, &x, &y, &acc]);
    if separate {
        b.copy(&acc, &next);
    }
    b.branch("s_cbranch_scc1", head);
    b.block(0);
    let out = b.v(16);
    b.copy(&out, &acc);
    for k in 0..4 {
        b.inst("ds_write_b128", &[&addr, &slice(out, 4 * k, 4)]);
    }
    b.end()
}

#[test]
fn loop_carried_accumulators_cost_no_move() {
    for (target, mfma) in
        [(Target::GFX908, "v_mfma_f32_32x32x8f16"), (Target::GFX942, "v_mfma_f32_32x32x8_f16")]
    {
        for separate in [false, true] {
            let f = accumulate(target, mfma, separate);
            let a = allocated(&f);
            // 16 to set the accumulators to zero, 16 to read them after the loop.
            assert_eq!(a.moves, 32, "{:#?}", text(&a));
            assert_eq!((a.usage.agprs, a.usage.sgprs), (16, 0));
            let head = a.program.labels[0].at.unwrap();
            assert_eq!(
                &text(&a)[head..head + 4],
                [
                    "ds_read_b64 v[2:3], v0",
                    "ds_read_b64 v[4:5], v0",
                    &format!("{mfma} a[0:15], v[2:3], v[4:5], a[0:15]"),
                    "s_cbranch_scc1 .LBB0_1"
                ]
                .map(|s| if target == Target::GFX908 {
                    s.replace("v[2:3]", "v[1:2]").replace("v[4:5]", "v[3:4]")
                } else {
                    s.to_owned()
                })
            );
        }
    }
}

#[test]
fn a_matrix_result_is_disjoint_from_sources_that_die_in_it() {
    let mut b = Build::new(Target::GFX942);
    let (p, x, y, c, d, e) = (b.v(1), b.v(2), b.v(2), b.v(16), b.v(16), b.v(16));
    b.undef(p);
    b.inst("ds_read_b64", &[&x, &p]);
    b.inst("ds_read_b64", &[&y, &p]);
    b.copy(&c, &int(0));
    // C is used later, so D cannot have the registers of C; afterwards it can.
    b.inst("v_mfma_f32_32x32x8_f16", &[&d, &x, &y, &c]);
    b.inst("v_mfma_f32_32x32x8_f16", &[&e, &x, &y, &c]);
    b.inst("ds_write_b128", &[&p, &slice(d, 0, 4)]);
    b.inst("ds_write_b128", &[&p, &slice(e, 12, 4)]);
    let a = allocated(&b.end());
    let mfma: Vec<_> = a.program.lines.iter().filter(|l| l.inst.desc.is_matrix()).collect();
    let reg = |i: usize, name| mfma[i].inst.operand(name).and_then(Operand::reg).unwrap();
    assert!(!reg(0, "vdst").overlaps(reg(0, "src2")));
    assert_eq!(reg(1, "vdst"), reg(1, "src2"));
    for i in 0..2 {
        assert!(!reg(i, "vdst").overlaps(reg(i, "src0")) && !reg(i, "vdst").overlaps(reg(i, "src1")));
    }
}

/// C and A are the same value, so if D had the registers of C, it would overlap A.
#[test]
fn a_matrix_result_leaves_c_alone_if_c_is_a_source_twice() {
    let mut b = Build::new(Target::GFX942);
    let (p, x, y, d) = (b.v(1), b.v(4), b.v(2), b.v(4));
    b.undef(p);
    b.inst("ds_read_b128", &[&x, &p]);
    b.inst("ds_read_b64", &[&y, &p]);
    b.inst("v_mfma_f32_16x16x16_f16", &[&d, &slice(x, 2, 2), &y, &x]);
    b.inst("ds_write_b128", &[&p, &d]);
    let a = allocated(&b.end());
    let mfma = &a.program.lines[2].inst;
    let reg = |name| mfma.operand(name).and_then(Operand::reg).unwrap();
    assert!(!reg("vdst").overlaps(reg("src0")) && !reg("vdst").overlaps(reg("src2")));
}

#[test]
fn a_scalar_load_of_several_dwords_keeps_its_base() {
    let mut b = Build::new(Target::GFX90A);
    b.f.live_in.push(Reg::s(0, 2));
    let (base, one, four) = (b.s(2), b.s(1), b.s(4));
    b.copy(&base, &Operand::Reg(Reg::s(0, 2)));
    b.form("s_load_dwordx4", "imm", &[&four, &base, &Operand::Imm(0)]);
    b.form("s_load_dword", "imm", &[&one, &slice(four, 0, 2), &Operand::Imm(0)]);
    b.inst("s_mov_b32", &[&Operand::Reg(reg::M0), &one]);
    let a = allocated(&b.end());
    assert_eq!(
        text(&a),
        [
            // The kernarg pointer keeps its registers. The result of four dwords must not overlap it; a result of one
            // dword may overlap its base.
            "s_load_dwordx4 s[4:7], s[0:1], Imm(0)",
            "s_load_dword s0, s[4:5], Imm(0)",
            "s_mov_b32 m0, s0",
            "s_endpgm Imm(0)"
        ]
    );
}

#[test]
fn singles_move_into_the_tuple_that_they_are_put_together_in() {
    let mut b = Build::new(Target::GFX942);
    let (p, t) = (b.v(1), b.v(4));
    let parts: Vec<VReg> = (0..4).map(|_| b.v(1)).collect();
    b.undef(p);
    for &part in &parts {
        b.load(part, p);
    }
    b.undef(t);
    for (k, part) in parts.iter().enumerate() {
        b.copy(&slice(t, k as u8, 1), part);
    }
    b.inst("ds_write_b128", &[&p, &t]);
    let a = allocated(&b.end());
    assert_eq!(a.moves, 0, "{:#?}", text(&a));
}

/// A pair must be even, so it cannot be the middle of a tuple of four.
#[test]
fn alignment_forbids_coalescing() {
    let mut b = Build::new(Target::GFX942);
    let (p, t, x) = (b.v(1), b.v(4), b.v(2));
    b.undef(p);
    b.undef(t);
    b.inst("ds_read_b64", &[&x, &p]);
    b.copy(&slice(t, 1, 2), &x);
    b.inst("ds_write_b128", &[&p, &t]);
    let a = allocated(&b.end());
    assert_eq!(a.moves, 2, "{:#?}", text(&a));
}

#[test]
fn a_value_needed_after_its_copy_is_moved() {
    let mut b = Build::new(Target::GFX942);
    let (p, x, y) = (b.v(1), b.v(1), b.v(1));
    b.undef(p);
    b.load(x, p);
    b.copy(&y, &x);
    b.inst("v_add_f32_e32", &[&y, &y, &x]);
    b.inst("v_add_f32_e32", &[&y, &y, &x]);
    b.inst("ds_write_b32", &[&p, &y]);
    let a = allocated(&b.end());
    assert_eq!(a.moves, 1);
}

#[test]
fn scalar_copies_go_by_pairs_and_repeat_constants() {
    let mut b = Build::new(Target::GFX942);
    let (x, y, z) = (b.s(4), b.s(4), b.s(2));
    b.copy(&x, &int(-1));
    b.copy(&y, &x);
    b.copy(&z, &Operand::Literal(0x1234_5678));
    for k in 0..4 {
        b.inst("s_add_u32", &[&slice(x, k, 1), &slice(x, k, 1), &slice(y, k, 1)]);
        b.inst("s_add_u32", &[&slice(z, 0, 1), &slice(x, k, 1), &slice(z, 1, 1)]);
    }
    b.inst("s_mov_b32", &[&Operand::Reg(reg::M0), &slice(z, 0, 1)]);
    let a = allocated(&b.end());
    assert_eq!(
        &text(&a)[..6],
        [
            "s_mov_b64 s[0:1], -1",
            "s_mov_b64 s[2:3], -1",
            "s_mov_b64 s[4:5], s[0:1]",
            "s_mov_b64 s[6:7], s[2:3]",
            "s_mov_b32 s8, 0x12345678",
            "s_mov_b32 s9, 0x12345678"
        ]
    );
}

#[test]
fn accvgprs_of_gfx908_are_reached_through_a_vgpr() {
    let mut b = Build::new(Target::GFX908);
    b.f.live_in.push(Reg::s(0, 1));
    let (s, x, y, v) = (b.s(1), b.a(1), b.a(1), b.v(1));
    b.copy(&s, &Operand::Reg(Reg::s(0, 1)));
    b.copy(&x, &s);
    b.copy(&y, &x);
    b.copy(&v, &x);
    b.inst("ds_write_b32", &[&v, &v]);
    b.copy(&v, &y);
    b.inst("ds_write_b32", &[&v, &v]);
    b.copy(&y, &Operand::Literal(77));
    b.copy(&v, &y);
    b.inst("ds_write_b32", &[&v, &v]);
    let a = allocated(&b.end());
    assert_eq!(
        text(&a)[..4],
        [
            "v_mov_b32_e32 v0, s0",
            "v_accvgpr_write_b32 a0, v0",
            "v_accvgpr_read_b32 v0, a0",
            "v_accvgpr_write_b32 a1, v0"
        ]
    );
}

#[test]
fn masked_copies_keep_the_old_lanes() {
    let mut b = Build::new(Target::GFX90A);
    let (p, x, y) = (b.v(1), b.v(1), b.v(1));
    b.undef(p);
    b.load(x, p);
    b.load(y, p);
    b.copy(&x, &y).keeps_dst = true;
    b.inst("ds_write_b32", &[&p, &x]);
    let a = allocated(&b.end());
    assert_eq!(a.moves, 1);
}

#[test]
fn initial_state_is_safe_until_it_is_read() {
    let mut b = Build::new(Target::GFX942);
    b.f.live_in = vec![Reg::s(0, 2), Reg::s(2, 1), Reg::v(0, 1)];
    let (t, id) = (b.s(1), b.s(1));
    let tid = b.v(1);
    b.copy(&t, &int(5));
    b.inst("s_add_u32", &[&t, &t, &Operand::Reg(Reg::s(2, 1))]);
    b.copy(&id, &Operand::Reg(Reg::s(1, 1)));
    b.copy(&tid, &Operand::Reg(Reg::v(0, 1)));
    b.inst("v_add_u32_e32", &[&tid, &t, &tid]);
    b.inst("v_add_u32_e32", &[&tid, &id, &tid]);
    b.inst("ds_write_b32", &[&tid, &tid]);
    let a = allocated(&b.end());
    assert_eq!(a.moves, 1, "{:#?}", text(&a));
    assert_eq!((a.usage.sgprs, a.usage.vgprs), (3, 1));
}

#[test]
fn what_may_be_read_unwritten_is_reported() {
    let mut b = Build::new(Target::GFX942);
    let (p, x, y) = (b.v(1), b.v(1), b.v(1));
    b.undef(p);
    b.undef(y);
    b.branch("s_cbranch_scc1", 2);
    b.block(0);
    b.load(x, p);
    b.block(0);
    b.inst("v_add_u32_e32", &[&x, &x, &y]);
    b.inst("ds_write_b32", &[&p, &x]);
    assert_eq!(allocated(&b.end()).undefined, [x]);
}

#[test]
fn labels_stand_before_the_blocks_that_are_branched_to() {
    let mut b = Build::new(Target::GFX942);
    b.branch("s_cbranch_scc0", 2);
    b.block(0);
    b.inst("s_barrier", &[]);
    b.block(0);
    let a = allocated(&b.end());
    let labels: Vec<_> = a.program.labels.iter().map(|l| (l.name.as_str(), l.at)).collect();
    assert_eq!(labels, [(".LBB0_2", Some(2))]);
}

#[test]
fn malformed_functions_are_refused_with_the_rule() {
    let refuse = |change: &dyn Fn(&mut Build)| {
        let mut b = Build::new(Target::GFX942);
        change(&mut b);
        match allocate(&b.end(), &Limits::default()) {
            Err(error @ AllocError::Malformed { .. }) => error.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let message = refuse(&|b| {
        let (s, v) = (b.s(1), b.v(1));
        b.copy(&s, &v);
    });
    assert_eq!(
        message,
        "kernel `k`, k.rs:1:1 (block 0, instruction 0): Copy from a vector to a scalar register; use v_readfirstlane_b32"
    );
    let message = refuse(&|b| {
        let (d, x) = (b.v(16), b.v(2));
        b.inst("v_mfma_f32_32x32x8_f16", &[&d, &slice(d, 0, 2), &x, &int(0)]);
    });
    assert!(message.contains("D (%0) overlaps A or B"), "{message}");
    let message = refuse(&|b| b.branch("s_branch", 7));
    assert!(message.contains("a branch to block 7; the function has 1"), "{message}");
    let message = refuse(&|b| {
        let (x, y) = (b.v(2), b.v(3));
        b.copy(&x, &y);
    });
    assert!(message.contains("Copy of 3 registers to 2"), "{message}");
    let message = refuse(&|b| {
        let x = b.v(2);
        b.copy(&slice(x, 1, 2), &int(0));
    });
    assert!(message.contains("registers 1..3 of %0 are named, which has 2"), "{message}");
    let message = refuse(&|b| {
        let x = b.s(1);
        b.copy(&x, &Operand::Reg(Reg::s(9, 1)));
    });
    assert!(message.contains("s9 is read, which holds nothing here"), "{message}");
    let message = refuse(&|b| {
        let (x, y) = (b.a(1), b.v(1));
        b.inst("v_add_f32_e32", &[&x, &y, &y]);
    });
    assert!(message.contains("v_add_f32_e32: vdst takes no Agpr (%0)"), "{message}");
    let message = refuse(&|b| {
        b.branch("s_branch", 0);
        b.inst("s_barrier", &[]);
    });
    assert!(message.contains("a branch inside a block"), "{message}");
}
