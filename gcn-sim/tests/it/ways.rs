//! Tests matrix instructions with the code for each host instruction set.

use gcn_isa::table::{self, InstDesc, OperandDesc, OperandKinds};
use gcn_isa::{Inst, Operand, Reg, Target, layout};
use gcn_sim::{Alone, KernelState, Machine, Registers, Way, forced};
use gcn_test_support::Random;

/// The number of lanes of a wave.
const LANES: usize = gcn_isa::target::WAVE_SIZE as usize;

/// The distance between the first registers of operands; an operand has at most 32 registers.
const APART: u16 = 40;

/// Random bits: floats of ordinary size in most formats, special values, or arbitrary bits.
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

/// A random scale, most often one that keeps products in the range of f32.
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

/// The instruction `row` with random formats and signs.
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

/// Registers with random numbers and, if the instruction takes them, scales.
fn registers(random: &mut Random, inst: &Inst) -> Registers {
    let mut v = vec![[0; LANES]; 512];
    v.iter_mut().flatten().for_each(|bits| *bits = word(random));
    for (named, operand) in inst.desc.operands.iter().zip(&inst.operands) {
        if let (true, Operand::Reg(reg)) = (named.name.contains("scale"), operand) {
            v[usize::from(reg.index)].iter_mut().for_each(|bits| *bits = scale(random));
        }
    }
    Registers { s: [0; 128], v, scc: false }
}

/// Hosts with vectors of 64 bytes, of 32 bytes, and without vectors give the same bits.
#[test]
fn all_ways_of_the_host_have_the_same_bits() {
    let mut random = Random::new(7);
    for target in [Target::GFX908, Target::GFX90A, Target::GFX942, Target::GFX950] {
        let state = KernelState { vgprs: 256, agprs: 256, ..KernelState::default() };
        let machine = Machine::new(target, &[0, 0, 0x81, 0xbf], state).unwrap();
        let (mut tried, mut scaled) = (0, 0);
        for row in table::rows().iter().filter(|row| row.is_matrix() && row.targets.contains(target)) {
            let formats = layout::shape(row, target).is_some_and(|shape| shape.formats_chosen);
            for _ in 0..if formats { 12 } else { 3 } {
                let Some(inst) = instruction(&mut random, row, target) else { continue };
                let Some(alone) = Alone::new(&machine, &inst) else { continue };
                let before = registers(&mut random, &inst);
                let best = alone.after(&before).unwrap();
                for way in [Way::Avx2, Way::Portable] {
                    let other = forced(way, || alone.after(&before)).unwrap();
                    assert!(best.v == other.v, "{target}, {way:?}: {inst:?}");
                }
                assert!(best.v != before.v, "{target}: {inst:?} changes nothing");
                tried += 1;
                scaled += usize::from(row.operands.iter().any(|operand| operand.name.contains("scale")));
            }
        }
        assert!(
            tried >= 40 && (scaled > 0) == (target == Target::GFX950),
            "{target}: {tried}, {scaled} scaled"
        );
    }
}
