//! Soundness: bits of a result that count as defined do not change when undefined bits of the sources do.

use gcn_isa::table::{self, Access, Class, InstDesc, Modifiers, OperandDesc, OperandKinds};
use gcn_isa::{Inline, Inst, Operand, Reg, Sdwa, Target};
use gcn_test_support::Random;
use gcn_test_support::env::fuzz_count;

use super::corners::Aside;
use super::info::Kind;
use super::{Bits, Info, Now, Word};
use crate::core::exec::Cx;
use crate::core::kernel::KernelState;
use crate::core::machine::Machine;
use crate::core::memory::Memory;
use crate::core::step::Step;
use crate::core::value::LANES;
use crate::core::wave::{Mode, Wave};
use crate::semantics::execute::execute;
use crate::semantics::op;

/// A word as programs have them.
fn word(random: &mut Random) -> u32 {
    let word = random.next_u64() as u32;
    match random.below(8) {
        0 => 0,
        1 => u32::MAX,
        2 => word & 0xff,
        3 => word & 0xffff,
        4 => 0x3f80_0000 ^ word & 0x8040_0000,
        5 => 0x3c00_3c00 ^ word & 0x8200_8200,
        _ => word,
    }
}

/// Undefined bits: most often none, else a few, half or all of them.
fn mask(random: &mut Random) -> u32 {
    match random.below(12) {
        0 => u32::MAX,
        1 => 0xffff_0000,
        2 => 0xffff,
        3 => 1 << random.below(32),
        4 => random.next_u64() as u32 & random.next_u64() as u32 & random.next_u64() as u32,
        5 => 0xff << (8 * random.below(4)),
        _ => 0,
    }
}

const STATE: fn(Target) -> KernelState = |target| KernelState {
    vgprs: 128,
    agprs: if target.has_agprs() { 128 } else { 0 },
    sgprs: 102,
    ..KernelState::default()
};

/// An operand that the row accepts, among the first registers, so that operands overlap.
fn operand(random: &mut Random, row: &InstDesc, named: &OperandDesc) -> Option<Operand> {
    let kinds = named.kinds;
    let written = named.access != Access::Read;
    let (dwords, align) = (u16::from(named.dwords.max(1)), u16::from(row.vgpr_align.max(1)));
    let start = |random: &mut Random, align: u16| random.below(8) as u16 * align.max(1);
    let vector = |random: &mut Random| Reg::v(start(random, align), dwords as u8);
    let scalar = |random: &mut Random| {
        Operand::Reg(Reg::s(start(random, if dwords > 1 { 4 } else { 1 }), dwords as u8))
    };
    let registers = [
        kinds.contains(OperandKinds::VGPR).then(|| Operand::Reg(vector(random))),
        kinds.contains(OperandKinds::SGPR).then(|| scalar(random)),
        kinds.contains(OperandKinds::AGPR).then(|| Operand::Reg(Reg::a(start(random, align), dwords as u8))),
    ];
    let mut choices: Vec<Operand> = registers.into_iter().flatten().collect();
    if !written && kinds.contains(OperandKinds::INLINE_INT) {
        choices.push(Operand::Inline(Inline::Int(random.below(65) as i8)));
    }
    if !written && kinds.contains(OperandKinds::IMM) {
        return Some(Operand::Imm(random.below(32) as i64));
    }
    if choices.is_empty() && kinds.contains(OperandKinds::SPECIAL) {
        return Some(Operand::Reg(gcn_isa::reg::VCC));
    }
    if choices.is_empty() && kinds.contains(OperandKinds::LITERAL) {
        return Some(Operand::Literal(word(random)));
    }
    let which = random.below(choices.len().max(1));
    choices.get(which).copied()
}

/// The row with random operands and modifiers.
fn instruction(random: &mut Random, row: &'static InstDesc) -> Option<Inst> {
    let operands: Option<Vec<Operand>> = row.operands.iter().map(|o| operand(random, row, o)).collect();
    let mut inst = Inst::new(row, operands?);
    let has = |modifier| row.modifiers.contains(modifier);
    let mods = &mut inst.mods;
    if random.one_in(2) {
        return Some(inst);
    }
    if has(Modifiers::OP_SEL) {
        mods.op_sel = random.next_u64() as u8 & ((1 << row.op_sel_bits()) - 1);
    }
    if has(Modifiers::OP_SEL_HI) && !row.is_matrix() {
        mods.op_sel_hi = random.next_u64() as u8 & ((1 << row.op_sel_bits()) - 1);
    }
    if let Some(dpp) = &mut mods.dpp
        && row.dpp_controls != gcn_isa::mods::DppControls::ROW_NEWBCAST
    {
        dpp.ctrl = [0x1b, 0x101, 0x113, 0x121, 0x140, 0x141, 0x142][random.below(7)];
        (dpp.row_mask, dpp.bank_mask) = (random.next_u64() as u8 & 15, random.next_u64() as u8 & 15);
        dpp.bound_ctrl = random.one_in(2);
    }
    if mods.sdwa.is_some() {
        let part = |random: &mut Random| random.below(7) as u8;
        let (dst_sel, src0_sel, src1_sel) = (part(random), part(random), part(random));
        let compares = row.class == Class::Cmp || row.class == Class::Cmpx;
        let (dst_sel, dst_unused) = if compares { (6, 2) } else { (dst_sel, random.below(3) as u8) };
        mods.sdwa = Some(Sdwa { dst_sel, dst_unused, src0_sel, src1_sel });
    }
    mods.clamp = has(Modifiers::CLAMP) && random.one_in(4);
    if has(Modifiers::BITOP3) {
        mods.bitop3 = random.next_u64() as u8;
    }
    Some(inst)
}

/// A wave with these registers.
fn wave(machine: &Machine, s: &[u32; 128], v: &[[u32; LANES]], scc: bool) -> Wave {
    let mut wave = Wave::new(machine.vector_registers(), 0);
    wave.s = *s;
    wave.v.copy_from_slice(v);
    (wave.scc, wave.mode) = (scc, Mode::new(0xf0));
    wave
}

struct Trial<'a> {
    machine: &'a Machine,
    memory: &'a Memory,
    aside: &'a mut Aside,
}

impl Trial<'_> {
    /// Runs the instruction on random registers; what changes although it counts as defined.
    fn run(&mut self, random: &mut Random, inst: &Inst) -> Result<bool, String> {
        let (machine, memory) = (self.machine, self.memory);
        let Ok((exec, directed)) = op::of(inst, machine.target()) else { return Ok(false) };
        let step = Step::resolve(inst.clone(), (0, 8), machine.target(), machine.registers(), exec, directed);
        let info = Info::of(machine, inst);
        if matches!(info.kind, Kind::Memory | Kind::Decides | Kind::Nothing) {
            return Ok(false);
        }
        let mut s: [u32; 128] = std::array::from_fn(|_| word(random));
        let mut v: Vec<[u32; LANES]> = vec![[0; LANES]; machine.vector_registers()];
        v.iter_mut().flatten().for_each(|value| *value = word(random));
        if random.one_in(2) {
            (s[126], s[127]) = (u32::MAX, u32::MAX);
        }
        let scc = random.one_in(2);
        let mut bits = Bits::default();
        bits.start(machine, 0, 0);
        for number in 0..128 {
            let mask = if random.one_in(3) { mask(random) } else { 0 };
            bits.scalars[number] = if number < 108 { mask } else { 0 };
        }
        for slot in 0..v.len() {
            let some = random.one_in(2);
            let register: [u32; LANES] = std::array::from_fn(|_| if some { mask(random) } else { 0 });
            bits.set(Word::Vector(slot), &register);
        }
        bits.scc = random.one_in(3);

        let mut lds = Vec::new();
        let mut before = wave(machine, &s, &v, scc);
        let cx = Cx { w: &mut before, lds: &mut lds, memory, machine, trace: None };
        let now = Now { cx: &cx, step: &step, inst, info: &info, bits: &bits };
        let Ok(changes) = now.changes(self.aside) else { return Ok(false) };
        if now.uses().is_some() || changes.exec().is_some() {
            return Ok(false);
        }
        let mut after = bits.clone();
        changes.apply(&mut after);
        let run = |wave: &mut Wave| {
            let mut lds = Vec::new();
            execute(&mut Cx { w: wave, lds: &mut lds, memory, machine, trace: None }, &step).is_ok()
        };
        let mut first = wave(machine, &s, &v, scc);
        if !run(&mut first) {
            return Ok(false);
        }
        for _ in 0..4 {
            let flip = |random: &mut Random, undefined: u32| match random.below(4) {
                0 => undefined,
                1 => undefined & 1 << random.below(32),
                _ => undefined & random.next_u64() as u32,
            };
            let s: [u32; 128] = std::array::from_fn(|n| s[n] ^ flip(random, bits.scalars[n]));
            let mut v = v.clone();
            for (slot, register) in v.iter_mut().enumerate() {
                for (lane, word) in register.iter_mut().enumerate() {
                    *word ^= flip(random, bits.bits(Word::Vector(slot), lane));
                }
            }
            let scc = scc ^ (bits.scc && random.one_in(2));
            let mut other = wave(machine, &s, &v, scc);
            if !run(&mut other) {
                continue;
            }
            for number in 0..126 {
                let wrong = (first.s[number] ^ other.s[number]) & !after.scalars[number];
                if wrong != 0 {
                    return Err(format!("s{number}, bits {wrong:#x}"));
                }
            }
            if (first.scc != other.scc) && !after.scc {
                return Err("scc".to_owned());
            }
            for slot in 0..v.len() {
                for lane in 0..LANES {
                    let differ = first.v[slot][lane] ^ other.v[slot][lane];
                    let wrong = differ & !after.bits(Word::Vector(slot), lane);
                    if wrong != 0 {
                        return Err(format!("slot {slot}, lane {lane}, bits {wrong:#x}"));
                    }
                }
            }
        }
        Ok(true)
    }
}

#[test]
fn undefined_bits_reach_nothing_that_counts_as_defined() {
    let (mut random, mut aside, memory) = (Random::new(1), Aside::default(), Memory::new());
    let endpgm = [0, 0, 0x81, 0xbf];
    for target in [Target::GFX908, Target::GFX942, Target::GFX950] {
        let machine = Machine::new(target, &endpgm, STATE(target)).unwrap();
        let mut trial = Trial { machine: &machine, memory: &memory, aside: &mut aside };
        let (mut wrong, mut tried, mut rows) = (Vec::new(), 0, 0);
        for row in table::rows().iter().filter(|row| row.targets.contains(target)) {
            let moves = matches!(row.class, Class::MovrelSource | Class::MovrelDestination);
            let computes =
                row.is_valu() || row.is_matrix() || row.is_salu() || row.class == Class::LdsPermute;
            if !computes || moves {
                continue;
            }
            let mut ran = 0;
            for _ in 0..fuzz_count(if row.is_matrix() { 1 } else { 2 }) {
                let Some(inst) = instruction(&mut random, row) else { break };
                match trial.run(&mut random, &inst) {
                    Ok(true) => ran += 1,
                    Ok(false) => {}
                    Err(what) => wrong.push(format!("{}: {what}: {inst:?}", row.printed)),
                }
            }
            rows += usize::from(ran > 0);
            tried += ran;
        }
        let listed: Vec<&String> = wrong.iter().take(10).collect();
        assert!(wrong.is_empty(), "{target}: {} of {tried}: {listed:#?}", wrong.len());
        assert!(rows > 900, "{target}: {rows} rows");
    }
}
