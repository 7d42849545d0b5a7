//! The positions of the loads and stores of spilled values that are live through loops.

use gcn_isa::{Operand, Reg, Target};

use super::build::{Build, int, slice};
use super::exec;
use gcn_dsl::mir::{Function, VReg};
use gcn_dsl::regalloc::{Allocated, Limits, SpillTo, allocate};

/// The registers of a function: the address, and values that were loaded.
fn start(values: usize) -> (Build, VReg, Vec<VReg>) {
    let mut b = Build::new(Target::GFX942);
    b.f.live_in.push(Reg::v(0, 1));
    let p = b.v(1);
    b.copy(&p, &Operand::Reg(Reg::v(0, 1)));
    let values: Vec<VReg> = (0..values).map(|_| b.v(1)).collect();
    values.iter().for_each(|&v| b.load(v, p));
    (b, p, values)
}

fn write(b: &mut Build, p: VReg, values: &[VReg]) {
    for v in values {
        b.inst("ds_write_b32", &[&p, v]);
    }
}

/// Loads `count` values, and stores them after all have been loaded.
fn crowd(b: &mut Build, p: VReg, count: usize) {
    let values: Vec<VReg> = (0..count).map(|_| b.v(1)).collect();
    values.iter().for_each(|&v| b.load(v, p));
    write(b, p, &values);
}

pub fn allocated(f: &Function, vgprs: u16) -> Allocated {
    let spill = SpillTo { frame: Some(0), ..SpillTo::default() };
    let a = allocate(f, &Limits { vgprs, spill, ..Limits::default() }).unwrap();
    assert_eq!(a.refused, None);
    for path in 0..4 {
        exec::run(f, &a, 2000, path).unwrap();
    }
    a
}

/// The numbers of stores to and loads from the frame in each block.
fn accesses(a: &Allocated) -> Vec<[usize; 2]> {
    let count = |block: &[u32], verb| {
        let lines = &a.program.lines[block[0] as usize..block[1] as usize];
        lines.iter().filter(|l| l.inst.desc.printed.starts_with(verb)).count()
    };
    let verbs = ["scratch_store", "scratch_load"];
    a.block_line.windows(2).map(|block| verbs.map(|verb| count(block, verb))).collect()
}

/// Eight values are defined and read before a loop and read twice after it, far apart. The loop needs their registers.
#[test]
fn what_a_loop_does_not_name_is_stored_and_loaded_once() {
    let (mut b, p, values) = start(8);
    write(&mut b, p, &values);
    let head = b.block(1);
    crowd(&mut b, p, 12);
    b.branch("s_cbranch_scc1", head);
    b.block(0);
    write(&mut b, p, &values);
    (0..20).for_each(|_| crowd(&mut b, p, 1));
    write(&mut b, p, &values);
    let a = allocated(&b.end(), 16);
    let [before, inside, after] = accesses(&a)[..] else { panic!("{:?}", a.block_line) };
    assert_eq!((before[1], inside, after[0]), (0, [0, 0], 0));
    // Thirteen of the sixteen registers are used in the loop.
    assert_eq!((before[0], after[1]), (5, 5));
}

/// A loop whose own code leaves none of the sixteen registers to the four values that its inner loop reads.
pub fn inner_loop() -> Function {
    let (mut b, p, values) = start(4);
    let outer = b.block(1);
    crowd(&mut b, p, 15);
    let inner = b.block(2);
    write(&mut b, p, &values);
    b.branch("s_cbranch_scc1", inner);
    b.block(1);
    crowd(&mut b, p, 15);
    b.branch("s_cbranch_scc1", outer);
    b.block(0);
    write(&mut b, p, &values);
    b.end()
}

/// The loads are before the inner loop, not in it.
#[test]
fn what_an_inner_loop_reads_is_loaded_before_it() {
    let a = allocated(&inner_loop(), 16);
    let counts = accesses(&a);
    assert_eq!(counts[0], [4, 0], "{counts:?}");
    assert_eq!((counts[1], counts[2], counts[3]), ([0, 4], [0, 0], [0, 0]), "{counts:?}");
}

/// A loop adds to four sums, which are in registers in the loop and are stored after it, since the next loop needs the
/// registers.
#[test]
fn a_value_that_a_loop_changes_is_stored_after_it() {
    let (mut b, p, sums) = start(4);
    let first = b.block(1);
    crowd(&mut b, p, 8);
    for s in &sums {
        b.inst("v_add_f32_e32", &[s, s, &p]);
    }
    b.branch("s_cbranch_scc1", first);
    b.block(0);
    let second = b.block(1);
    crowd(&mut b, p, 15);
    b.branch("s_cbranch_scc1", second);
    b.block(0);
    write(&mut b, p, &sums);
    let a = allocated(&b.end(), 16);
    let counts = accesses(&a);
    assert_eq!((counts[1], counts[3]), ([0, 0], [0, 0]), "{counts:?}");
    assert_eq!((counts[2][0], counts[4][1]), (4, 4), "{counts:?}");
}

/// One instruction computes a 64-bit value from values that stay in registers. Only one half is read where registers
/// are scarce, but the instruction cannot be repeated for that half alone.
#[test]
fn halves_are_not_recomputed() {
    let (mut b, p, _) = start(0);
    let (pair, half) = (b.v(2), b.v(1));
    b.inst("v_lshlrev_b64", &[&pair, &p, &int(1)]);
    crowd(&mut b, p, 8);
    b.copy(&half, &slice(pair, 1, 1));
    write(&mut b, p, &[half]);
    b.inst("v_or3_b32", &[&half, &slice(pair, 0, 1), &p, &p]);
    crowd(&mut b, p, 8);
    write(&mut b, p, &[half]);
    b.inst("v_and_or_b32", &[&half, &slice(pair, 1, 1), &p, &p]);
    write(&mut b, p, &[half]);
    let f = b.end();
    let a = allocated(&f, 10);
    assert!(accesses(&a).iter().flatten().sum::<usize>() > 0, "{:?}", accesses(&a));
}
