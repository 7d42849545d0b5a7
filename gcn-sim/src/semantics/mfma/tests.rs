//! Whole instructions in each way that hosts may do them.

use std::collections::BTreeMap;

use gcn_isa::table::{self, InstDesc, OperandDesc, OperandKinds};
use gcn_isa::{Inst, Operand, Reg, Target, layout};
use gcn_test_support::Random;

use crate::core::exec::Cx;
use crate::core::kernel::KernelState;
use crate::core::machine::{Machine, Resolved};
use crate::core::memory::Memory;
use crate::core::step::{RegisterMap, Step};
use crate::core::value::LANES;
use crate::core::wave::{Lanes, Mode, Wave};
use crate::fp::host::forced::{Way, with};

/// Registers between the operands of an instruction, which have 32 at most.
const APART: u16 = 40;

/// Bits that are floats of ordinary size in most formats, special, or any.
fn word(random: &mut Random) -> u32 {
    let word = random.next_u64() as u32;
    match random.below(8) {
        0 => word & 0x8000_8000,
        1 => 0x7c00_7f80 ^ word & 0x8001_8001,
        2 => word & 0x807f_807f,
        3 | 4 => 0x3f80_3c00 ^ word & 0x807f_83ff,
        _ => word,
    }
}

/// A scale, most often one that keeps products in the range of f32.
fn scale(random: &mut Random) -> u32 {
    let near = [0, 8, 16, 24].map(|shift| (119 + random.below(17) as u32) << shift);
    if random.one_in(8) { random.next_u64() as u32 } else { near.iter().sum() }
}

fn operand(number: usize, named: &OperandDesc) -> Option<Operand> {
    let (first, len) = (number as u16 * APART, named.dwords.max(1));
    if named.kinds.contains(OperandKinds::VGPR) {
        return Some(Operand::Reg(Reg::v(first, len)));
    }
    named.kinds.contains(OperandKinds::AGPR).then(|| Operand::Reg(Reg::a(first, len)))
}

/// The row with random formats and signs.
fn instruction(random: &mut Random, row: &'static InstDesc, target: Target) -> Option<Inst> {
    let operands: Option<Vec<Operand>> =
        row.operands.iter().enumerate().map(|(i, o)| operand(i, o)).collect();
    let mut inst = Inst::new(row, operands?);
    let shape = layout::shape(row, target)?;
    if shape.formats_chosen {
        (inst.mods.cbsz, inst.mods.blgp) = (random.below(5) as u8, random.below(5) as u8);
    }
    if shape.negates {
        inst.mods.neg = random.below(8) as u8;
    }
    Some(inst)
}

/// The registers after the instruction, done in one way.
fn after(machine: &Machine, step: &Step, v: &[Lanes], way: Option<Way>) -> Vec<Lanes> {
    let mut wave = Wave::new(machine.vector_registers(), 0);
    wave.v.copy_from_slice(v);
    wave.mode = Mode::new(0xf0);
    let (mut lds, memory) = (Vec::new(), Memory::new());
    let mut cx = Cx { w: &mut wave, lds: &mut lds, memory: &memory, machine, trace: None };
    let next = with(way, || step.exec.run(&mut cx, step));
    assert!(next.is_ok(), "{:?}", step.inst);
    wave.v.to_vec()
}

/// Vectors of 64 bytes, of 32, and none: the same bits.
#[test]
fn all_ways_of_the_host_have_the_same_bits() {
    let mut random = Random::new(7);
    for target in [Target::GFX908, Target::GFX90A, Target::GFX942, Target::GFX950] {
        let state = KernelState { vgprs: 256, agprs: 256, ..KernelState::default() };
        // Without code, whose loading would make every instruction a part of this test's binary.
        let resolved = Resolved {
            steps: Vec::new(),
            registers: RegisterMap { vgprs: 256, agprs: 256, sgprs: 102 },
            copies_to_lds: false,
            entry: 0,
            faults: BTreeMap::new(),
        };
        let machine = Machine::of_steps(target, state, resolved);
        let mut tried = 0;
        for row in table::rows().iter().filter(|row| row.is_matrix() && row.targets.contains(target)) {
            let formats = layout::shape(row, target).is_some_and(|shape| shape.formats_chosen);
            for _ in 0..if formats { 12 } else { 3 } {
                let Some(inst) = instruction(&mut random, row, target) else { continue };
                let Ok(exec) = super::exec(&inst, target) else { continue };
                let step = Step::resolve(inst, (0, 8), target, machine.registers(), exec, None);
                let mut v: Vec<Lanes> = vec![[0; LANES]; machine.vector_registers()];
                v.iter_mut().flatten().for_each(|bits| *bits = word(&mut random));
                for slot in step.scales {
                    if let Some(register) = v.get_mut(usize::from(slot)) {
                        register.iter_mut().for_each(|bits| *bits = scale(&mut random));
                    }
                }
                let best = after(&machine, &step, &v, None);
                for way in [Way::Avx2, Way::Portable] {
                    let other = after(&machine, &step, &v, Some(way));
                    assert!(best == other, "{target}, {way:?}: {:?}", step.inst);
                }
                tried += 1;
            }
        }
        assert!(tried >= 40, "{target}: {tried}");
    }
}
