//! Soundness: result bits that count as defined do not change if undefined bits of the sources change.

use std::collections::BTreeSet;

use gcn_emit::encode::encode_program;
use gcn_emit::text::parse_program;
use gcn_isa::dataflow::{self, Flow};
use gcn_isa::reg::{self, RegFile};
use gcn_isa::table::{self, Access, Class, InstDesc, Modifiers, OperandDesc, OperandKinds};
use gcn_isa::target::Subtarget;
use gcn_isa::{Inline, Inst, Operand, Reg, Sdwa, Target};
use gcn_sim::{Alone, KernelState, Machine, Registers};
use gcn_test_support::Random;
use gcn_test_support::env::{fuzz_count, fuzz_step};

/// The number of lanes of a wave.
const LANES: usize = gcn_isa::target::WAVE_SIZE as usize;

/// A random word as it may occur in programs.
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

/// Random undefined bits: most often none, otherwise a few, half, or all of them.
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

/// A machine with more registers than any operand reaches.
fn machine(on: Subtarget) -> Machine {
    let agprs = if on.target.has_agprs() { 64 } else { 0 };
    let state = KernelState { vgprs: 64, agprs, sgprs: 102, wave_size: on.wave, ..KernelState::default() };
    let end = encode_program(&parse_program("s_endpgm", on.target, "test").unwrap()).unwrap();
    Machine::new(on.target, &end.bytes, state).unwrap()
}

/// A random operand that the row accepts, among the first registers, so that operands overlap.
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

/// The instruction `row` with random operands and modifiers.
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

/// The number of vector registers of the machine.
fn vectors(machine: &Machine) -> usize {
    (machine.state().vgprs + machine.state().agprs) as usize
}

fn values(random: &mut Random, machine: &Machine) -> Registers {
    let mut s: [u32; 128] = std::array::from_fn(|_| word(random));
    let mut v: Vec<[u32; LANES]> = vec![[0; LANES]; vectors(machine)];
    v.iter_mut().flatten().for_each(|value| *value = word(random));
    if random.one_in(2) {
        (s[126], s[127]) = (u32::MAX, u32::MAX);
    }
    Registers { s, v, scc: random.one_in(2) }
}

fn undefined(random: &mut Random, machine: &Machine) -> Registers {
    let mut s = [0; 128];
    for bits in &mut s {
        *bits = if random.one_in(3) { mask(random) } else { 0 };
    }
    s[108..].fill(0);
    let mut v = vec![[0; LANES]; vectors(machine)];
    for register in &mut v {
        let some = random.one_in(2);
        *register = std::array::from_fn(|_| if some { mask(random) } else { 0 });
    }
    Registers { s, v, scc: random.one_in(3) }
}

/// The register values with the undefined bits changed randomly.
fn flipped(random: &mut Random, values: &Registers, undefined: &Registers) -> Registers {
    let flip = |random: &mut Random, undefined: u32| match random.below(4) {
        0 => undefined,
        1 => undefined & 1 << random.below(32),
        _ => undefined & random.next_u64() as u32,
    };
    let s = std::array::from_fn(|n| values.s[n] ^ flip(random, undefined.s[n]));
    let mut v = values.v.clone();
    for (word, &undefined) in v.iter_mut().flatten().zip(undefined.v.iter().flatten()) {
        *word ^= flip(random, undefined);
    }
    Registers { s, v, scc: values.scc ^ (undefined.scc && random.one_in(2)) }
}

/// A description of bits that differ although they count as defined; `None` if there are none.
fn differs(one: &Registers, other: &Registers, undefined: &Registers) -> Option<String> {
    let wrong = |a: u32, b: u32, undefined: u32| (a ^ b) & !undefined;
    for number in 0..126 {
        let wrong = wrong(one.s[number], other.s[number], undefined.s[number]);
        if wrong != 0 {
            return Some(format!("s{number}, bits {wrong:#x}"));
        }
    }
    if one.scc != other.scc && !undefined.scc {
        return Some("scc".to_owned());
    }
    for slot in 0..one.v.len() {
        for lane in 0..LANES {
            let wrong = wrong(one.v[slot][lane], other.v[slot][lane], undefined.v[slot][lane]);
            if wrong != 0 {
                return Some(format!("slot {slot}, lane {lane}, bits {wrong:#x}"));
            }
        }
    }
    None
}

/// Runs the instruction on random registers, then again with the undefined bits changed. Returns whether it ran; an error if bits that
/// count as defined changed.
fn trial(random: &mut Random, machine: &Machine, inst: &Inst) -> Result<bool, String> {
    let Some(mut alone) = Alone::new(machine, inst) else { return Ok(false) };
    let (values, before) = (values(random, machine), undefined(random, machine));
    let Some(after) = alone.undefined_after(&values, &before) else { return Ok(false) };
    let Some(first) = alone.after(&values) else { return Ok(false) };
    for _ in 0..4 {
        let Some(other) = alone.after(&flipped(random, &values, &before)) else { continue };
        if let Some(what) = differs(&first, &other, &after) {
            return Err(what);
        }
    }
    Ok(true)
}

#[test]
fn undefined_bits_reach_nothing_that_counts_as_defined() {
    let mut random = Random::new(1);
    let step = fuzz_step(1);
    let targets = [(Target::GFX908, 900), (Target::GFX942, 900), (Target::GFX950, 900)];
    for (skipped, (target, least)) in targets.into_iter().enumerate() {
        let machine = machine(target.into());
        let (mut wrong, mut tried, mut rows) = (Vec::new(), 0, 0);
        for row in table::rows_on(target).skip(skipped % step).step_by(step) {
            let moves = row.is_relative();
            let computes =
                row.is_valu() || row.is_matrix() || row.is_salu() || row.class == Class::LdsPermute;
            if !computes || moves {
                continue;
            }
            let mut ran = 0;
            for _ in 0..fuzz_count(if row.is_matrix() { 1 } else { 2 }) {
                let Some(inst) = instruction(&mut random, row) else { break };
                match trial(&mut random, &machine, &inst) {
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
        assert!(rows * step > least, "{target}: {rows} rows");
    }
}

/// An instruction with a register of its own for each operand; `None` if an operand cannot be a register.
fn spread(row: &'static InstDesc) -> Option<Inst> {
    let register = |(i, named): (usize, &OperandDesc)| {
        let (at, dwords) = (4 * i as u16, named.dwords.max(1));
        Some(Operand::Reg(match named.kinds {
            kinds if kinds.contains(OperandKinds::VGPR) => Reg::v(at, dwords),
            kinds if kinds.contains(OperandKinds::SGPR) => Reg::s(at, dwords),
            _ => return None,
        }))
    };
    let operands: Option<Vec<Operand>> = row.operands.iter().enumerate().map(register).collect();
    Some(Inst::new(row, operands?))
}

/// The value of a register of one or two dwords in each lane.
fn number(registers: &Registers, reg: Reg) -> Vec<u64> {
    let word = |i: u16, lane: usize| {
        let at = usize::from(reg.index + i);
        u64::from(if reg.file == RegFile::Sgpr { registers.s[at] } else { registers.v[at][lane] })
    };
    let high = |lane| if reg.len > 1 { word(1, lane) << 32 } else { 0 };
    (0..LANES).map(|lane| word(0, lane) | high(lane)).collect()
}

/// True if the low bits of the instruction's result never depend on upper bits of its sources, as in sums and low halves of products. False
/// if the result is the same for all sources.
fn carries_upwards(random: &mut Random, machine: &Machine, inst: &Inst) -> bool {
    let row = inst.desc;
    let (Some(alone), [Operand::Reg(to), ..]) = (Alone::new(machine, inst), &inst.operands[..]) else {
        return false;
    };
    let scalar = row.is_salu();
    if to.len > 2 || (to.file == RegFile::Sgpr) != scalar || row.operands[0].access != Access::Write {
        return false;
    }
    let sources: Vec<Reg> = inst.operands[1..]
        .iter()
        .zip(&row.operands[1..])
        .filter(|(_, named)| named.access == Access::Read)
        .filter_map(|(operand, _)| operand.reg())
        .filter(|reg| (reg.file == RegFile::Sgpr) == scalar)
        .collect();
    let mut depends = false;
    for _ in 0..200 {
        let mut before = values(random, machine);
        (before.s[126], before.s[127], before.s[usize::from(reg::M0.index)]) = (u32::MAX, u32::MAX, 0);
        let low = 1 + random.below(if to.len > 1 { 63 } else { 31 });
        let mut other = before.clone();
        for (source, i) in sources.iter().flat_map(|s| (0..s.len).map(move |i| (s, i))) {
            let upper = (u64::MAX << low).checked_shr(32 * u32::from(i)).unwrap_or(0) as u32;
            let at = usize::from(source.index) + usize::from(i);
            match scalar {
                true => other.s[at] ^= random.next_u64() as u32 & upper,
                false => other.v[at].iter_mut().for_each(|word| *word ^= random.next_u64() as u32 & upper),
            }
        }
        let (Some(one), Some(other)) = (alone.after(&before), alone.after(&other)) else { return false };
        let (one, other) = (number(&one, *to), number(&other, *to));
        let lanes = machine.state().wave_size.lanes() as usize;
        for (a, b) in one.into_iter().zip(other).take(lanes) {
            if (a ^ b) & !(u64::MAX << low) != 0 {
                return false;
            }
            depends |= a != b;
        }
    }
    depends
}

/// An instruction of which a random search finds no bit of the result that depends on a higher bit of a source has a flow that says so: its
/// sums with some undefined upper bits have defined lower bits.
#[test]
fn what_carries_upwards_says_so() {
    let mut random = Random::new(2);
    let (mut silent, mut others) = (BTreeSet::new(), BTreeSet::new());
    for target in [Target::GFX942, Target::GFX1030, Target::GFX1100, Target::GFX1201, Target::GFX1250] {
        let machine = machine(target.into());
        let arranged = Modifiers::DPP_CTRL | Modifiers::DPP8 | Modifiers::SDWA;
        let rows = table::rows_on(target)
            .filter(|row| (row.is_valu() || row.is_salu()) && !row.is_matrix() && row.halves.is_none())
            .filter(|row| !row.modifiers.intersects(arranged));
        for row in rows {
            let of_entry = (dataflow::of(row).flow, row.entry.mnemonic);
            let known = if of_entry.0 == Flow::All { &mut silent } else { &mut others };
            if !known.contains(of_entry.1)
                && let Some(inst) = spread(row)
                && carries_upwards(&mut random, &machine, &inst)
            {
                known.insert(of_entry.1);
            }
        }
    }
    // These read few bits of a source, and their results are not sums.
    let parts = ["cvt_", "pack_", "mbcnt_"];
    silent.retain(|name| !parts.iter().any(|part| name[2..].starts_with(part)));
    assert_eq!(silent, BTreeSet::new());
    assert!(others.len() > 100, "{}", others.len());
}
