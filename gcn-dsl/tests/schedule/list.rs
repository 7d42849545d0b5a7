//! List scheduling, tested by symbolic execution. Each instruction computes a value whose name consists of what it
//! read; loads read the current version of their memory, stores create a new version. Two orders of a block are the
//! same program if every register and memory has the same name at the end.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use gcn_dsl::mir::{Function, MBlock, MInst, MOperand, Op, VReg, VSlice};
use gcn_dsl::sched::list::{WINDOW, schedule};
use gcn_isa::operand::Inline;
use gcn_isa::reg::{self, Reg, RegFile};
use gcn_isa::table::{Access, ImplicitRegs};
use gcn_isa::{Operand, Target, table};
use gcn_test_support::Random;

const TARGET: Target = Target::GFX942;

fn virt(f: &Function, reg: VReg) -> MOperand {
    MOperand::Virt(reg.all(f.info(reg)))
}

fn slice(reg: VReg, start: u8, len: u8) -> MOperand {
    MOperand::Virt(VSlice { reg, start, len })
}

fn int(value: i8) -> MOperand {
    MOperand::Fixed(Operand::Inline(Inline::Int(value)))
}

fn fixed(reg: Reg) -> MOperand {
    MOperand::Fixed(Operand::Reg(reg))
}

fn inst(printed: &str, form: &str, operands: &[MOperand]) -> MInst {
    let desc = table::find_form(TARGET, printed, form).unwrap_or_else(|| panic!("{printed} {form}"));
    assert_eq!(desc.operands.len(), operands.len(), "{printed}: {:?}", desc.operands);
    let op = Op::Machine(desc, desc.default_mods());
    MInst { op, operands: operands.iter().copied().collect(), keeps_dst: false, loc: None }
}

fn pseudo(op: Op, operands: &[MOperand]) -> MInst {
    MInst { op, operands: operands.iter().copied().collect(), keeps_dst: false, loc: None }
}

fn name(inst: &MInst) -> &'static str {
    match &inst.op {
        Op::Machine(desc, _) => desc.mnemonic,
        Op::Copy => "copy",
        Op::Undef => "undef",
        Op::Order => "order",
        Op::Mark(_) => "mark",
    }
}

/// Everything that has a value: registers by dword, flags, memories.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Place {
    Virt(VReg, u8),
    Fixed(RegFile, u16),
    Scc,
    Lds,
    Memory,
    /// Barriers and similar instructions are ordered with all memory accesses.
    Order,
}

type State = HashMap<Place, u64>;

fn places(operand: &MOperand) -> Vec<Place> {
    match operand {
        MOperand::Virt(s) => (s.start..s.start + s.len).map(|i| Place::Virt(s.reg, i)).collect(),
        MOperand::Fixed(Operand::Reg(r)) => (r.index..r.end()).map(|i| Place::Fixed(r.file, i)).collect(),
        MOperand::Fixed(_) => Vec::new(),
    }
}

fn implicit(set: ImplicitRegs) -> Vec<Place> {
    let pair = |r: Reg| (r.index..r.end()).map(move |i| Place::Fixed(r.file, i));
    let mut found = Vec::new();
    if set.contains(ImplicitRegs::EXEC) {
        found.extend(pair(reg::EXEC));
    }
    if set.contains(ImplicitRegs::VCC) {
        found.extend(pair(reg::VCC));
    }
    if set.contains(ImplicitRegs::M0) {
        found.extend(pair(reg::M0));
    }
    if set.contains(ImplicitRegs::SCC) {
        found.push(Place::Scc);
    }
    found
}

fn execute(f: &Function, insts: &[MInst]) -> State {
    let mut state = State::new();
    for inst in insts {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        let vector = |o: &MOperand| matches!(o, MOperand::Virt(s) if f.info(s.reg).file != RegFile::Sgpr);
        match &inst.op {
            Op::Machine(desc, _) => {
                for (operand, slot) in inst.operands.iter().zip(desc.operands) {
                    if slot.access != Access::Write || inst.keeps_dst {
                        reads.extend(places(operand));
                    }
                    if slot.access != Access::Read {
                        writes.extend(places(operand));
                    }
                }
                reads.extend(implicit(desc.implicit_reads));
                writes.extend(implicit(desc.implicit_writes));
            }
            Op::Order | Op::Mark(_) => {}
            Op::Copy | Op::Undef => {
                writes.extend(places(&inst.operands[0]));
                reads.extend(inst.operands[1..].iter().flat_map(places));
                if vector(&inst.operands[0]) {
                    reads.extend(implicit(ImplicitRegs::EXEC));
                }
            }
        }
        let name = name(inst);
        let (loads, stores): (&[Place], &[Place]) = match name {
            "ds_read_b32" | "ds_read_b128" => (&[Place::Lds, Place::Order], &[]),
            "ds_write_b32" => (&[Place::Lds, Place::Order], &[Place::Lds]),
            "global_load_dword" | "global_load_dwordx4" | "s_load_dword" => {
                (&[Place::Memory, Place::Order], &[])
            }
            "global_store_dword" => (&[Place::Memory, Place::Order], &[Place::Memory]),
            "s_barrier" => (&[Place::Memory, Place::Lds, Place::Order], &[Place::Order]),
            _ => (&[], &[]),
        };
        reads.extend(loads);
        writes.extend(stores);
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        for operand in &inst.operands {
            if places(operand).is_empty() {
                operand.hash(&mut hasher);
            }
        }
        for place in reads {
            state.get(&place).copied().unwrap_or_default().hash(&mut hasher);
        }
        let value = hasher.finish();
        for (i, place) in writes.into_iter().enumerate() {
            state.insert(place, value.wrapping_add(i as u64));
        }
    }
    state
}

/// A function with one block of random instructions that use few registers.
fn random_function(seed: u64) -> Function {
    let mut rng = Random::new(seed);
    let mut f = Function::new(TARGET, "random");
    let s: Vec<VReg> = (0..5).map(|_| f.new_vreg(RegFile::Sgpr, 1)).collect();
    let pairs: Vec<VReg> = (0..2).map(|_| f.new_vreg(RegFile::Sgpr, 2)).collect();
    let v: Vec<VReg> = (0..6).map(|_| f.new_vreg(RegFile::Vgpr, 1)).collect();
    let quads: Vec<VReg> = (0..3).map(|_| f.new_vreg(RegFile::Vgpr, 4)).collect();
    let accs: Vec<VReg> = (0..2).map(|_| f.new_vreg(RegFile::Agpr, 4)).collect();
    let mut insts = Vec::new();
    let length = 5 + rng.below(60);
    for _ in 0..length {
        let mut any_s = || virt(&f, s[rng.below(s.len())]);
        let (s0, s1, s2) = (any_s(), any_s(), any_s());
        let pair = virt(&f, pairs[rng.below(pairs.len())]);
        let mut any_v = || virt(&f, v[rng.below(v.len())]);
        let (v0, v1, v2) = (any_v(), any_v(), any_v());
        let quad = quads[rng.below(quads.len())];
        let part = slice(quad, rng.below(4) as u8, 1);
        let halves = [slice(quad, 0, 2), slice(quads[rng.below(3)], 2, 2)];
        let acc = virt(&f, accs[rng.below(accs.len())]);
        let none = fixed(reg::VCC);
        insts.push(match rng.below(22) {
            0 => inst("v_add_u32_e32", "", &[v0, v1, v2]),
            1 => inst("v_add_co_u32_e32", "", &[v0, none, v1, v2]),
            2 => inst("v_addc_co_u32_e32", "", &[v0, none, v1, v2, none]),
            3 => inst("v_cndmask_b32_e32", "", &[v0, v1, v2, none]),
            4 => inst("v_cmp_eq_u32_e32", "", &[none, v0, v1]),
            5 => inst("s_add_u32", "", &[s0, s1, s2]),
            6 => inst("s_addc_u32", "", &[s0, s1, s2]),
            7 => inst("s_cmp_eq_u32", "", &[s0, s1]),
            8 => inst("s_cselect_b32", "", &[s0, s1, s2]),
            9 => inst("s_mov_b32", "", &[s0, int(rng.below(60) as i8)]),
            10 => inst("ds_read_b32", "", &[v0, v1]),
            11 => inst("ds_read_b128", "", &[virt(&f, quad), v1]),
            12 => inst("ds_write_b32", "", &[v0, v1]),
            13 => inst("global_load_dword", "vaddr_saddr", &[v0, v1, pair]),
            14 => inst("global_store_dword", "vaddr_saddr", &[v0, v1, pair]),
            15 => inst("s_load_dword", "imm", &[s0, pair, MOperand::Fixed(Operand::Imm(0))]),
            16 => inst("v_mfma_f32_16x16x16_f16", "", &[acc, halves[0], halves[1], acc]),
            17 => inst("s_and_saveexec_b64", "", &[pair, none]),
            18 if rng.one_in(3) => inst("s_barrier", "", &[]),
            19 => pseudo(Op::Copy, &[part, v1]),
            20 => pseudo(Op::Undef, &[virt(&f, quad)]),
            21 => {
                let mut kept = inst("v_mov_b32_e32", "", &[v0, part]);
                kept.keeps_dst = true;
                kept
            }
            _ => inst("v_mul_f32_e32", "", &[v0, part, v2]),
        });
    }
    insts.push(inst("s_endpgm", "", &[MOperand::Fixed(gcn_isa::Operand::Imm(0))]));
    f.blocks.push(MBlock { insts, loop_depth: 0 });
    f
}

#[test]
fn random_blocks_compute_the_same() {
    let mut moved = 0;
    for seed in 1..=3000 {
        let before = random_function(seed);
        let mut after = before.clone();
        schedule(&mut after).unwrap();
        let (old, new) = (&before.blocks[0].insts, &after.blocks[0].insts);
        assert_eq!(old.len(), new.len());
        assert_eq!(name(new.last().unwrap()), "s_endpgm");
        assert_eq!(execute(&before, old), execute(&after, new), "seed {seed}");
        moved += usize::from(old != new);
    }
    assert!(moved > 1000, "only {moved} of 3000 blocks were reordered");
}

fn names(f: &Function) -> Vec<&'static str> {
    f.blocks[0].insts.iter().map(name).collect()
}

fn scheduled(f: &mut Function, insts: Vec<MInst>) -> Vec<&'static str> {
    f.blocks.push(MBlock { insts, loop_depth: 0 });
    schedule(f).unwrap();
    names(f)
}

#[test]
fn a_load_starts_before_work_that_does_not_need_it() {
    let mut f = Function::new(TARGET, "load");
    let [a, b, c] = [(); 3].map(|()| f.new_vreg(RegFile::Vgpr, 1));
    let p = f.new_vreg(RegFile::Sgpr, 2);
    let (va, vb, vc, vp) = (virt(&f, a), virt(&f, b), virt(&f, c), virt(&f, p));
    let insts = vec![
        inst("v_mul_f32_e32", "", &[vb, vb, vb]),
        inst("global_load_dword", "vaddr_saddr", &[va, vc, vp]),
        inst("v_add_f32_e32", "", &[va, va, vc]),
    ];
    assert_eq!(scheduled(&mut f, insts), ["global_load_dword", "v_mul_f32", "v_add_f32"]);
}

#[test]
fn independent_work_fills_the_passes_of_a_matrix_instruction() {
    let mut f = Function::new(TARGET, "mfma");
    let (acc, out) = (f.new_vreg(RegFile::Agpr, 4), f.new_vreg(RegFile::Vgpr, 1));
    let (x, y) = (f.new_vreg(RegFile::Vgpr, 2), f.new_vreg(RegFile::Vgpr, 1));
    let (vacc, vx, vy) = (virt(&f, acc), virt(&f, x), virt(&f, y));
    let insts = vec![
        inst("v_mfma_f32_16x16x16_f16", "", &[vacc, vx, vx, vacc]),
        inst("v_accvgpr_read_b32", "", &[virt(&f, out), slice(acc, 0, 1)]),
        inst("v_mul_f32_e32", "", &[vy, vy, vy]),
        inst("v_mul_f32_e32", "", &[vy, vy, vy]),
    ];
    let expected = ["v_mfma_f32_16x16x16_f16", "v_mul_f32", "v_mul_f32", "v_accvgpr_read_b32"];
    assert_eq!(scheduled(&mut f, insts), expected);
}

#[test]
fn nothing_passes_a_store_of_its_space_but_other_memory_does() {
    let mut f = Function::new(TARGET, "store");
    let [a, b, c, d] = [(); 4].map(|()| f.new_vreg(RegFile::Vgpr, 1));
    let p = f.new_vreg(RegFile::Sgpr, 2);
    let (va, vb, vc, vd, vp) = (virt(&f, a), virt(&f, b), virt(&f, c), virt(&f, d), virt(&f, p));
    let insts = vec![
        inst("ds_write_b32", "", &[vc, vd]),
        inst("ds_read_b32", "", &[va, vc]),
        inst("global_load_dword", "vaddr_saddr", &[vb, vc, vp]),
    ];
    assert_eq!(scheduled(&mut f, insts), ["global_load_dword", "ds_write_b32", "ds_read_b32"]);
}

#[test]
fn a_compare_stays_the_last_writer_of_scc_before_its_branch() {
    let mut f = Function::new(TARGET, "scc");
    let [a, b] = [(); 2].map(|()| f.new_vreg(RegFile::Sgpr, 1));
    let (va, vb) = (virt(&f, a), virt(&f, b));
    let insts = vec![
        inst("s_add_u32", "", &[va, va, vb]),
        inst("s_add_u32", "", &[va, va, vb]),
        inst("s_cmp_eq_u32", "", &[vb, vb]),
        inst("s_cbranch_scc1", "", &[MOperand::Fixed(Operand::Label(gcn_isa::Label(0)))]),
    ];
    assert_eq!(scheduled(&mut f, insts), ["s_add_u32", "s_add_u32", "s_cmp_eq_u32", "s_cbranch_scc1"]);
}

#[test]
fn initial_copies_stay_first() {
    let mut f = Function::new(TARGET, "entry");
    f.live_in = vec![Reg::s(0, 2), Reg::v(0, 1)];
    let (p, t) = (f.new_vreg(RegFile::Sgpr, 2), f.new_vreg(RegFile::Vgpr, 1));
    let (vp, vt) = (virt(&f, p), virt(&f, t));
    let insts = vec![
        pseudo(Op::Copy, &[vt, fixed(Reg::v(0, 1))]),
        pseudo(Op::Copy, &[vp, fixed(Reg::s(0, 2))]),
        inst("v_mul_f32_e32", "", &[vt, vt, vt]),
        inst("s_load_dwordx2", "imm", &[vp, vp, MOperand::Fixed(Operand::Imm(0))]),
    ];
    assert_eq!(scheduled(&mut f, insts), ["copy", "copy", "s_load_dwordx2", "v_mul_f32"]);
}

/// The number of VGPRs that a block with only local registers needs, computed backwards.
fn peak_vgprs(f: &Function, insts: &[MInst]) -> u32 {
    let (mut live, mut peak) = (std::collections::HashSet::new(), 0);
    for inst in insts.iter().rev() {
        let mut here = live.clone();
        for (i, operand) in inst.operands.iter().enumerate() {
            let MOperand::Virt(s) = operand else { continue };
            here.insert(s.reg);
            let writes = matches!(&inst.op, Op::Machine(d, _) if d.operands[i].access == Access::Write);
            if writes {
                live.remove(&s.reg);
            }
        }
        for (i, operand) in inst.operands.iter().enumerate() {
            if let (MOperand::Virt(s), Op::Machine(d, _)) = (operand, &inst.op)
                && d.operands[i].access != Access::Write
            {
                live.insert(s.reg);
            }
        }
        let size = |r: &VReg| if f.info(*r).file == RegFile::Vgpr { u32::from(f.info(*r).len) } else { 0 };
        peak = peak.max(here.iter().map(size).sum());
    }
    peak
}

#[test]
fn pressure_keeps_to_the_budget() {
    // 80 loads of four registers with one use each: if all were hoisted, they would need 320 VGPRs.
    let mut f = Function::new(TARGET, "pressure");
    let (address, p) = (f.new_vreg(RegFile::Vgpr, 1), f.new_vreg(RegFile::Sgpr, 2));
    let (va, vp) = (virt(&f, address), virt(&f, p));
    let mut insts = vec![inst("v_mov_b32_e32", "", &[va, int(0)]), inst("s_mov_b64", "", &[vp, int(0)])];
    for _ in 0..80 {
        let quad = f.new_vreg(RegFile::Vgpr, 4);
        insts.push(inst("global_load_dwordx4", "vaddr_saddr", &[virt(&f, quad), va, vp]));
        insts.push(inst("ds_write_b128", "", &[va, virt(&f, quad)]));
    }
    f.blocks.push(MBlock { insts, loop_depth: 0 });
    assert_eq!(peak_vgprs(&f, &f.blocks[0].insts), 5);
    schedule(&mut f).unwrap();
    let peak = peak_vgprs(&f, &f.blocks[0].insts);
    assert!((100..=128).contains(&peak), "{peak} VGPRs");
}

#[test]
fn windows_bound_how_far_an_instruction_moves() {
    let mut f = Function::new(TARGET, "long");
    let (a, p, x) =
        (f.new_vreg(RegFile::Vgpr, 1), f.new_vreg(RegFile::Sgpr, 2), f.new_vreg(RegFile::Vgpr, 1));
    let (va, vp, vx) = (virt(&f, a), virt(&f, p), virt(&f, x));
    let mut insts = vec![inst("v_mul_f32_e32", "", &[vx, vx, vx]); WINDOW + 10];
    insts.push(inst("global_load_dword", "vaddr_saddr", &[va, vx, vp]));
    insts[WINDOW + 10].operands[1] = va;
    insts.push(inst("v_add_f32_e32", "", &[va, va, va]));
    let order = scheduled(&mut f, insts);
    assert_eq!(order.iter().position(|n| *n == "global_load_dword"), Some(WINDOW));
}
