//! Operands that are both read and written, several results, and results that must not overlap a source: the operands
//! of single instructions that a kernel calls (`gcn_dsl::isa`).

use gcn_isa::{Operand, Reg, RegFile, Target, reg};

use super::build::{Build, int};
use super::hand::allocated;
use gcn_dsl::mir::{Function, Op, VReg};
use gcn_dsl::regalloc::{Allocated, verify};

/// A builder, and a VGPR that contains the work-item id.
fn with_id(target: Target) -> (Build, VReg) {
    let mut b = Build::new(target);
    let id = b.v(1);
    b.copy(&id, &Operand::Reg(Reg::v(0, 1)));
    b.f.live_in.push(Reg::v(0, 1));
    (b, id)
}

/// The index of the machine instruction with this mnemonic.
fn find(a: &Allocated, mnemonic: &str) -> usize {
    a.program.lines.iter().position(|l| l.inst.desc.mnemonic == mnemonic).expect("it is in the program")
}

fn moves(a: &Allocated) -> usize {
    a.program.lines.iter().filter(|l| l.inst.desc.mnemonic == "v_mov_b32").count()
}

/// `acc = fmac(acc, x, x)`. `keep_old` says whether the old accumulator is used afterwards.
fn fmac(keep_old: bool) -> Function {
    let (mut b, id) = with_id(Target::GFX942);
    let (x, old, acc) = (b.v(1), b.v(1), b.v(1));
    b.load(x, id);
    b.load(old, id);
    b.copy(&acc, &old);
    b.inst("v_fmac_f32_e32", &[&acc, &x, &x]);
    b.inst("ds_write_b32", &[&id, &acc]);
    if keep_old {
        b.inst("ds_write_b32", &[&id, &old]);
    }
    b.end()
}

#[test]
fn a_tied_operand_takes_the_old_values_register_where_that_dies() {
    assert_eq!(moves(&allocated(&fmac(false))), 0);
    assert_eq!(moves(&allocated(&fmac(true))), 1);
}

/// Changes an operand of the only instruction with this mnemonic. Returns true if the verifier rejects the result.
fn refused(f: &Function, mnemonic: &str, operand: usize, to: impl Fn(Reg) -> Reg) -> bool {
    let mut bad = allocated(f);
    let line = find(&bad, mnemonic);
    let Operand::Reg(reg) = bad.program.lines[line].inst.operands[operand] else { panic!("a register") };
    bad.program.lines[line].inst_mut().operands[operand] = Operand::Reg(to(reg));
    verify(f, &bad).is_err()
}

#[test]
fn the_verifier_wants_the_old_value_in_a_tied_operand() {
    let f = fmac(true);
    assert!(verify(&f, &allocated(&f)).is_ok());
    assert!(refused(&f, "v_fmac_f32", 0, |r| Reg::v(r.index + 40, 1)));
    // The register that is free for the result does not contain the old value.
    let a = allocated(&f);
    let source = a.program.lines[find(&a, "v_fmac_f32")].inst.operands[1].reg().expect("a register");
    assert!(refused(&f, "v_fmac_f32", 0, |_| source));
}

#[test]
fn a_swap_has_two_results_and_two_old_values() {
    let (mut b, id) = with_id(Target::GFX90A);
    let (x, y, p, q) = (b.v(1), b.v(1), b.v(1), b.v(1));
    b.load(x, id);
    b.load(y, id);
    b.copy(&p, &x);
    b.copy(&q, &y);
    b.inst("v_swap_b32", &[&p, &q]);
    b.inst("ds_write_b32", &[&id, &p]);
    b.inst("ds_write_b32", &[&id, &q]);
    let f = b.end();
    let a = allocated(&f);
    assert_eq!(moves(&a), 0);
    let other = a.program.lines[find(&a, "v_swap_b32")].inst.operands[1].reg().expect("a register");
    assert!(refused(&f, "v_swap_b32", 0, |_| other), "both results in one register");
}

#[test]
fn two_results_of_different_files() {
    let (mut b, id) = with_id(Target::GFX942);
    let (low, high, sum, carry, upper, out) = (b.v(1), b.v(1), b.v(1), b.s(2), b.v(1), b.s(2));
    b.load(low, id);
    b.load(high, id);
    b.inst("v_add_co_u32_e64", &[&sum, &carry, &low, &id]);
    b.inst("v_addc_co_u32_e64", &[&upper, &out, &high, &int(0), &carry]);
    b.inst("ds_write_b32", &[&id, &sum]);
    b.inst("ds_write_b32", &[&id, &upper]);
    let f = b.end();
    allocated(&f);
    assert!(refused(&f, "v_addc_co_u32", 4, |r| Reg::s(r.index + 20, 2)), "another mask than the carry");
    assert!(refused(&f, "v_add_co_u32", 1, |r| Reg::s(r.index + 20, 2)), "the carry goes elsewhere");
}

#[test]
fn a_returned_value_is_disjoint_from_the_atomics_sources() {
    let (mut b, id) = with_id(Target::GFX942);
    let (data, old) = (b.v(1), b.v(1));
    b.load(data, id);
    b.inst("ds_add_rtn_u32", &[&old, &id, &data]);
    b.inst("ds_write_b32", &[&old, &old]);
    let f = b.end();
    let a = allocated(&f);
    let [dst, address, source] = a.program.lines[find(&a, "ds_add_rtn_u32")].inst.operands[..] else {
        panic!()
    };
    assert!(dst != address && dst != source);
    for taken in [address, source] {
        let taken = taken.reg().expect("a register");
        let mut bad = allocated(&f);
        // Every use of the result refers to a source's register instead, so only the overlap is wrong.
        let (at, result) = (find(&bad, "ds_add_rtn_u32"), dst.reg().expect("a register"));
        for line in &mut bad.program.lines[at..] {
            let first = line.inst.desc.mnemonic == "ds_add_rtn_u32";
            for (i, operand) in line.inst_mut().operands.iter_mut().enumerate() {
                if *operand == Operand::Reg(result) && (!first || i == 0) {
                    *operand = Operand::Reg(taken);
                }
            }
        }
        let error = verify(&f, &bad).expect_err("the result overlaps a source");
        assert!(error.what.contains("overlaps a source"), "{error}");
    }
}

/// A DPP move with an old value, and copies to and from M0 and VCC around instructions that read these registers.
#[test]
fn registers_with_a_meaning_are_filled_and_read() {
    let (mut b, id) = with_id(Target::GFX942);
    let (x, old, dst, word, mask, out) = (b.v(1), b.v(1), b.v(1), b.s(1), b.s(2), b.v(1));
    b.load(x, id);
    b.load(old, id);
    b.inst("v_readfirstlane_b32", &[&word, &x]);
    b.inst("v_cmp_lt_u32_e64", &[&mask, &x, &old]);
    b.copy(&dst, &old);
    let dpp = b.inst("v_mov_b32_dpp", &[&dst, &x]);
    if let Op::Machine(_, mods) = &mut dpp.op {
        mods.dpp = Some(gcn_isa::Dpp { ctrl: 0x111, row_mask: 0xf, bank_mask: 0xf, bound_ctrl: false });
    }
    b.copy(&Operand::Reg(reg::VCC), &mask);
    b.inst("v_cndmask_b32_e32", &[&out, &old, &dst, &Operand::Reg(reg::VCC)]);
    b.copy(&Operand::Reg(reg::M0), &word);
    b.inst("ds_write_addtid_b32", &[&out]);
    let f = b.end();
    let a = allocated(&f);
    assert!(a.usage.uses_vcc);
    // Without the move to M0 or VCC, the instruction reads another value.
    for (file, index) in [(RegFile::Sgpr, reg::M0.index), (RegFile::Sgpr, reg::VCC.index)] {
        let mut bad = allocated(&f);
        let is_move = |l: &gcn_isa::Line| {
            let dst = l.inst.operands.first().and_then(|o| o.reg());
            l.inst.desc.mnemonic.starts_with("s_mov_b")
                && dst.is_some_and(|d| d.file == file && d.index == index)
        };
        let at = bad.program.lines.iter().position(is_move).expect("a move");
        let Some(Operand::Reg(source)) = bad.program.lines[at].inst.operands.get(1).copied() else {
            panic!()
        };
        bad.program.lines[at].inst_mut().operands[1] =
            Operand::Reg(Reg { index: source.index + 30, ..source });
        assert!(verify(&f, &bad).is_err());
    }
    // A DPP move reads the old content of its destination.
    assert!(refused(&f, "v_mov_b32", 0, |r| Reg::v(r.index + 40, 1)));
}
