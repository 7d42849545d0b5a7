//! Registers that the user chose.

use gcn_isa::{Operand, Reg, RegFile, Target};
use gcn_test_support::Random;

use super::build::Build;
use super::exec;
use super::hand::allocated;
use super::random::function;
use gcn_dsl::mir::{Function, Pin, VReg};
use gcn_dsl::regalloc::{AllocError, Limits, SpillTo, allocate, verify};

fn pin(f: &mut Function, reg: VReg, to: Reg) {
    let loc = f.blocks[0].insts.first().and_then(|i| i.loc);
    f.pins.push(Pin { reg, to, loc });
}

/// `a = load; b = load; store a; store b`.
fn two() -> (Function, VReg, VReg) {
    let mut b = Build::new(Target::GFX942);
    let (address, x, y) = (b.v(1), b.v(1), b.v(1));
    b.f.live_in.push(Reg::v(0, 1));
    b.copy(&address, &Operand::Reg(Reg::v(0, 1)));
    b.inst("ds_read_b32", &[&x, &address]);
    b.inst("ds_read_b32", &[&y, &address]);
    b.inst("ds_write_b32", &[&address, &x]);
    b.inst("ds_write_b32", &[&address, &y]);
    (b.end(), x, y)
}

fn refused(f: &Function, limits: &Limits) -> String {
    match allocate(f, limits) {
        Err(error @ AllocError::Pinned { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_pinned_is_there() {
    let (mut f, x, y) = two();
    pin(&mut f, x, Reg::v(17, 1));
    pin(&mut f, y, Reg::v(5, 1));
    let a = allocated(&f);
    let first = |line: usize| a.program.lines[line].inst.operands[0];
    let loads: Vec<usize> = (0..a.program.lines.len())
        .filter(|l| a.program.lines[*l].inst.desc.mnemonic == "ds_read_b32")
        .collect();
    assert_eq!((first(loads[0]), first(loads[1])), (Reg::v(17, 1).into(), Reg::v(5, 1).into()));
    assert_eq!(a.usage.vgprs, 18);
}

/// Values that are not live at the same time may have the same register, one after the other.
#[test]
fn two_in_one_register_are_refused_if_both_are_needed() {
    let (mut f, x, y) = two();
    pin(&mut f, x, Reg::v(7, 1));
    pin(&mut f, y, Reg::v(7, 1));
    let error = refused(&f, &Limits::default());
    assert!(error.contains("`v7` cannot be had") && error.matches("k.rs:").count() >= 2, "{error}");
    let mut b = Build::new(Target::GFX942);
    let (address, x, y) = (b.v(1), b.v(1), b.v(1));
    b.f.live_in.push(Reg::v(0, 1));
    b.copy(&address, &Operand::Reg(Reg::v(0, 1)));
    for value in [&x, &y] {
        b.inst("ds_read_b32", &[value, &address]);
        b.inst("ds_write_b32", &[&address, value]);
    }
    let mut f = b.end();
    pin(&mut f, x, Reg::v(7, 1));
    pin(&mut f, y, Reg::v(7, 1));
    allocated(&f);
}

#[test]
fn registers_that_are_taken_or_not_granted_are_refused() {
    let mut b = Build::new(Target::GFX942);
    let (early, id) = (b.s(1), b.s(1));
    b.f.live_in.push(Reg::s(4, 1));
    b.inst("s_add_u32", &[&early, &super::build::int(1), &super::build::int(2)]);
    b.copy(&id, &Operand::Reg(Reg::s(4, 1)));
    b.inst("s_add_u32", &[&id, &id, &early]);
    let mut f = b.end();
    pin(&mut f, early, Reg::s(4, 1));
    let error = refused(&f, &Limits::default());
    assert!(error.contains("`s4`") && error.contains("dispatcher"), "{error}");

    let (mut f, x, _) = two();
    pin(&mut f, x, Reg::v(64, 1));
    let error = refused(&f, &Limits { vgprs: 64, ..Limits::default() });
    assert!(error.contains("64 registers of this file"), "{error}");
}

/// The other parts of a tuple get registers other than the pinned one, whatever could be coalesced with it.
#[test]
fn pins_of_another_shape_are_malformed() {
    for to in [Reg::v(6, 2), Reg::s(6, 1), Reg::a(6, 1)] {
        let (mut f, x, _) = two();
        pin(&mut f, x, to);
        assert!(matches!(allocate(&f, &Limits::default()), Err(AllocError::Malformed { .. })), "{to}");
    }
    let mut f = two().0;
    let pair = f.new_vreg(RegFile::Vgpr, 2);
    pin(&mut f, pair, Reg::v(7, 2));
    assert!(matches!(allocate(&f, &Limits::default()), Err(AllocError::Malformed { .. })));
}

/// A function in which some registers are pinned.
fn with_pins(target: Target, seed: u64) -> Function {
    let mut f = function(target, seed, 12);
    let mut rng = Random::new(seed ^ 0x5eed);
    for _ in 0..1 + rng.below(4) {
        let reg = VReg(rng.below(f.vregs.len()) as u32);
        if f.pins.iter().any(|p| p.reg == reg) {
            continue;
        }
        let info = f.info(reg);
        let end = if info.file == RegFile::Sgpr { 102 } else { 120 };
        let align = usize::from(info.align);
        let index = rng.below((end - usize::from(info.len)) / align + 1) * align;
        pin(&mut f, reg, Reg { file: info.file, index: index as u16, len: info.len });
    }
    f
}

/// The checker verifies pins on its own, and execution does not depend on them: the result must be the same.
#[test]
fn random_functions_with_pins_compute_what_they_say() {
    let (mut done, mut refused, mut spilled) = (0, 0, 0);
    for seed in 0..48 {
        let target = [Target::GFX90A, Target::GFX942][(seed % 2) as usize];
        let f = with_pins(target, seed);
        let spill = SpillTo { lanes: true, agprs: true, ..SpillTo::default() };
        for limits in
            [Limits::default(), Limits { vgprs: 124, sgprs: 102, agprs: 124, spill, ..Limits::default() }]
        {
            match allocate(&f, &limits) {
                Ok(a) => {
                    verify(&f, &a).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
                    for path in 0..4 {
                        exec::run(&f, &a, 600, path)
                            .unwrap_or_else(|e| panic!("seed {seed} path {path}: {e}"));
                    }
                    done += 1;
                    spilled += usize::from(a.spills.total() > 0);
                }
                Err(AllocError::Pinned { .. } | AllocError::DoesNotFit { .. }) => refused += 1,
                Err(error) => panic!("seed {seed}: {error}"),
            }
        }
    }
    println!("{done} allocated, {spilled} of them with spills, {refused} refused");
    assert!(done > 40 && refused > 0, "{done} {refused}");
}

#[test]
fn the_checker_sees_what_is_not_where_it_was_promised() {
    let mut seen = 0;
    for seed in 0..60 {
        let f = with_pins(Target::GFX942, seed);
        let Ok(a) = allocate(&f, &Limits::default()) else { continue };
        for n in 0..f.pins.len() {
            let mut promised = f.clone();
            let pin = &mut promised.pins[n];
            pin.to.index += u16::from(f.info(pin.reg).align);
            let used = f.blocks.iter().flat_map(|b| &b.insts).any(|i| {
                matches!(i.op, gcn_dsl::mir::Op::Machine(..))
                    && i.operands
                        .iter()
                        .any(|o| matches!(o, gcn_dsl::mir::MOperand::Virt(s) if s.reg == pin.reg))
            });
            if used {
                assert!(verify(&promised, &a).is_err(), "seed {seed}, pin {n}");
                seen += 1;
            }
        }
    }
    assert!(seen > 30, "{seen}");
}
