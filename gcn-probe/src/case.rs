//! A test program of the suite `values`: it loads registers from a buffer, runs one instruction, and stores registers, LDS and the lanes'
//! blocks of memory. It accesses that buffer and no other memory.

use std::fmt::Write as _;

use gcn_emit::encode::encode_inst;
use gcn_emit::text::{Comments, print_program};
use gcn_isa::mods::{Modifier, Modifiers};
use gcn_isa::operand::Inline;
use gcn_isa::reg::RegFile;
use gcn_isa::table::{Access, Behaviours, InstDesc, OperandDesc, OperandKinds};
use gcn_isa::target::{Family, InstructionSet, Subtarget};
use gcn_isa::{Inst, Operand, Program, Reg, Target, reg};

use crate::bench::Bench;
use crate::form::{self, Form, MOST_DWORDS};
use crate::launch::{KERNEL, LANES, Launch, Shape};
use crate::random::Random;
use crate::spelling::{Masks, settled, spelled};

/// The VGPRs and SGPRs that an instruction under test may name: the first one and the count. The harness uses others.
const VGPRS: (u16, u16) = (8, 48);
const SGPRS: (u16, u16) = (16, 32);
/// The size in bytes of one VGPR in the buffer.
const ROW: u32 = 256;
/// Log2 of the size in bytes of each lane's block of LDS and of memory.
const BLOCK_SHIFT: u32 = 6;

/// Byte offsets in the buffer: inputs, the lanes' blocks, outputs.
const IN_S: u32 = VGPRS.1 as u32 * ROW;
const BLOCKS: u32 = 0x4000;
const BLOCK_BYTES: u32 = LANES << BLOCK_SHIFT;
const OUT_V: u32 = BLOCKS + BLOCK_BYTES;
const OUT_S: u32 = OUT_V + VGPRS.1 as u32 * ROW;
const OUT_LDS: u32 = OUT_S + 0x1000;
/// The size of the buffer in bytes.
pub const BUFFER: usize = (OUT_LDS + BLOCK_BYTES) as usize;

/// The named scalars that are stored in addition to the numbered SGPRs.
const NAMED: [&str; 5] = ["vcc_lo", "vcc_hi", "exec_lo", "exec_hi", "scc"];

/// Boundary values for arithmetic, interpreted as f32, as two f16, as integers and as the high half of an f64.
const SPECIAL: [u32; 40] = [
    0,
    1,
    2,
    31,
    32,
    64,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x3f80_0000,
    0xbf80_0000,
    0x3f00_0000,
    0x4000_0000,
    0x7f7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x7f80_0001,
    0xffc0_1234,
    0x0080_0000,
    0x007f_ffff,
    0x8000_0001,
    0x4b00_0001,
    0x4f00_0000,
    0xcf00_0000,
    0x3c00_3c00,
    0x7c00_fc00,
    0x7e00_7d01,
    0x0001_0400,
    0x7bff_83ff,
    0x3ff0_0000,
    0x7ff0_0000,
    0x7ff8_0000,
    0x000f_ffff,
];

/// A literal of 16 bits, which some instructions require. An instruction can have it twice, since that is one literal.
const SMALL_LITERAL: u32 = 0x3c01;

/// The bits of the widest modifier whose every value is legal: `dpp8`.
const MODIFIER_BITS: u32 = (1 << 24) - 1;

/// A test program with its data.
#[derive(Debug, Clone)]
pub struct Case {
    /// The instruction under test as assembly text.
    pub instruction: String,
    /// The initial value of the low byte of MODE: rounding and denormals.
    pub mode: u8,
    /// The program, which runs as a single wave, and its data.
    pub launch: Launch,
    /// The harness, for programs that use [`Bench`] instead of this module's own.
    pub(crate) bench: Option<Bench>,
}

impl Case {
    /// Program number `variant` for a form. Variant 0 has the form's default modifiers, rounds to nearest and keeps denormals; in other
    /// variants modifiers and MODE are random. Directed rounding is chosen only if `rounded`.
    ///
    /// # Errors
    /// The error of the encoder or the linker, if no program could be made.
    pub fn of(form: Form, seed: u64, variant: u32, rounded: bool) -> Result<Case, String> {
        let Form { row, on } = form;
        let mut random = Random::of(seed, &form.name(), variant);
        let input = data(form, &mut random);
        let inst = instruction(row, on.target, &mut random, variant > 0)?;
        let mode = mode(variant, rounded, &mut random);
        // Output modifiers have an effect only if denormal results are flushed and IEEE mode is off (CDNA ISA 6.2.2).
        let is_modified = inst.mods.omod != 0 && random.below(4) > 0;
        let mode = if is_modified { mode & 0x0f } else { mode };
        let ieee = !is_modified && (variant == 0 || random.below(4) > 0);
        let instruction = print(&inst, on);
        let text = program(form, &instruction, mode, ieee)
            .ok_or("the target lacks an instruction of the harness")?;
        let lds_bytes = if row.is_ds() { BLOCK_BYTES } else { 0 };
        let shape = Shape { on, workgroups: 1, waves: 1, lds_bytes, one_unit: false, room: 0 };
        let launch =
            Launch::shaped(&text, input, shape).map_err(|error| format!("{instruction}: {error}"))?;
        Ok(Case { instruction, mode, launch, bench: None })
    }

    /// A description for reports of the value at byte `offset` of the buffer after the program.
    pub fn place(&self, offset: usize) -> String {
        self.bench.as_ref().map_or_else(|| place(offset), |bench| bench.place(offset))
    }
}

/// An instruction as text.
pub(crate) fn print(inst: &Inst, on: impl Into<Subtarget>) -> String {
    let on = on.into();
    let mut line = Program { wave: on.wave, ..Program::new(on.target, KERNEL) };
    line.push(inst.clone());
    print_program(&line, Comments::None).trim().to_owned()
}

/// As [`Case::place`], for the harness of this module.
fn place(offset: usize) -> String {
    let at = offset as u32;
    match at {
        OUT_LDS.. => format!("LDS byte {}", at - OUT_LDS),
        OUT_S.. => {
            let index = (at - OUT_S) / 4;
            let named = index.checked_sub(SGPRS.1.into()).and_then(|i| NAMED.get(i as usize));
            named.map_or_else(|| format!("s{}", index + u32::from(SGPRS.0)), |name| (*name).to_owned())
        }
        OUT_V.. => {
            let (register, lane) = ((at - OUT_V) / ROW, (at - OUT_V) % ROW / 4);
            format!("v{} of lane {lane}", register + u32::from(VGPRS.0))
        }
        _ if at >= BLOCKS => format!("byte {} of lane {}'s memory", at & 63, (at - BLOCKS) >> BLOCK_SHIFT),
        _ => format!("input byte {at}, which no program writes"),
    }
}

/// A random value for a dword of a register. For mixed-precision instructions it is often 2^-15 or 1 + 2^-11. With such sources, the exact
/// result of a multiply-add may lie just above the middle between two f16 values; if it is first rounded to f32, it becomes exactly that
/// middle, so that rounding twice gives another result than rounding once.
fn source(row: &InstDesc, random: &mut Random) -> u32 {
    match random.below(3) {
        0 if row.is_mixed_precision() => 0x3f80_1000,
        1 if row.is_mixed_precision() => 0x3800_0000,
        _ => special(random),
    }
}

/// A special value, one next to a special value, or any value.
pub(crate) fn special(random: &mut Random) -> u32 {
    match random.below(3) {
        0 => random.one_of(&SPECIAL),
        1 => random.one_of(&SPECIAL) ^ random.below(4) as u32,
        _ => random.bits() as u32,
    }
}

/// The low byte of MODE for a variant.
pub(crate) fn mode(variant: u32, rounded: bool, random: &mut Random) -> u8 {
    match variant {
        0 => 0xf0,
        _ => (random.bits() as u8) & if rounded { 0xff } else { 0xf0 },
    }
}

/// The initial contents of the buffer: registers, EXEC and memory.
fn data(form: Form, random: &mut Random) -> Vec<u8> {
    let mut words: Vec<u32> = (0..OUT_V / 4).map(|_| source(form.row, random)).collect();
    let exec = (IN_S / 4 + u32::from(SGPRS.1) + 2) as usize;
    let lanes = match random.below(4) {
        0 => u64::MAX,
        1 => 1 << random.below(form.on.wave.lanes() as usize),
        2 => random.bits() | random.bits(),
        _ => random.bits(),
    };
    // At least one lane is active: with none, `v_readfirstlane_b32` and similar instructions read lane 0.
    let lanes = if lanes & form.on.wave.mask() == 0 { 1 } else { lanes };
    (words[exec], words[exec + 1]) = (lanes as u32, (lanes >> 32) as u32);
    words.resize(BUFFER / 4, 0);
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// An instruction of the form that the encoder accepts: with random operands and modifiers or, if it rejects those, with the defaults.
fn instruction(
    row: &'static InstDesc,
    target: Target,
    random: &mut Random,
    varied: bool,
) -> Result<Inst, String> {
    const TRIES: usize = 8; // the two after them are plain
    let mut refusal = String::new();
    for attempt in 0..=TRIES + 1 {
        let varied = varied && attempt < TRIES;
        let operands = (0..row.operands.len()).map(|slot| operand(row, slot, random, varied, attempt));
        let mut inst = Inst::new(row, operands);
        if row.modifiers.contains(Modifiers::OFFSET1) {
            inst.mods.offset1 = 1;
        }
        if varied {
            modify(&mut inst, random);
        }
        match encode_inst(&inst, target) {
            Ok(_) => return Ok(inst),
            Err(error) => refusal = error.to_string(),
        }
    }
    Err(refusal)
}

/// The operand for a slot.
fn operand(row: &InstDesc, slot: usize, random: &mut Random, varied: bool, attempt: usize) -> Operand {
    let desc = &row.operands[slot];
    if let Some(address) = address(row, desc) {
        return address;
    }
    let kinds = desc.kinds;
    // Many instructions can read only one SGPR or literal, so every other attempt uses the same one in all slots.
    let place = if attempt % 2 == 1 && desc.access == Access::Read { 1 } else { slot as u16 };
    let (v, s) = (
        Operand::Reg(Reg::v(VGPRS.0 + vgpr(row, slot), desc.dwords.max(1))),
        Operand::Reg(Reg::s(SGPRS.0 + place % 4 * u16::from(MOST_DWORDS), desc.dwords.max(1))),
    );
    let mut choices = Vec::new();
    if kinds.intersects(OperandKinds::VGPR | OperandKinds::HALF_VGPR) {
        choices.push(v);
    }
    if kinds.contains(OperandKinds::SGPR) {
        choices.push(s);
    }
    // An instruction that reads VCC as a mask reads nothing else from it: LLVM counts the two as different values in waves of 32 lanes.
    let reads_vcc =
        row.operands.iter().any(|other| other.kinds == OperandKinds::SPECIAL && other.access == Access::Read);
    let has_vcc = desc.allows_special("vcc_lo") || desc.allows_special("vcc");
    if has_vcc && (choices.is_empty() || !reads_vcc || row.family() == Family::GFX9) {
        choices.push(Operand::Reg(reg::VCC.slice(0, desc.dwords.clamp(1, 2))));
    } else if choices.is_empty() && (desc.allows_special("exec_lo") || desc.allows_special("exec")) {
        choices.push(Operand::Reg(reg::EXEC.slice(0, desc.dwords.clamp(1, 2))));
    }
    if desc.access == Access::Read {
        if kinds.contains(OperandKinds::INLINE_INT) {
            choices.push(Operand::Inline(Inline::Int(random.below(81) as i8 - 16)));
        }
        // LLVM does not accept all inline floats as 16-bit integers in SDWA.
        if kinds.contains(OperandKinds::INLINE_FLOAT) && row.default_mods().sdwa.is_none() {
            // Nor 1/(2π) in the long encoding with DPP.
            let floats = if row.format.is_long_dpp() { 8 } else { 9 };
            choices.push(Operand::Inline(Inline::Float(240 + random.below(floats) as u8)));
        }
        if kinds.contains(OperandKinds::LITERAL) {
            let any = random.bits() as u32 | 1 << 20;
            choices.push(Operand::Literal(if attempt % 2 == 1 || row.entry.has_half_floats() {
                SMALL_LITERAL
            } else {
                any
            }));
        }
        if kinds.contains(OperandKinds::LITERAL64) {
            choices.push(Operand::Literal64(random.bits() | 1 << 52));
        }
        if kinds.contains(OperandKinds::LITERAL16) {
            choices.push(Operand::Literal(random.below(0x7000) as u32 + 0x1000));
        }
        if kinds.contains(OperandKinds::IMM) {
            choices.push(Operand::Imm(if varied { random.below(0x8000) as i64 } else { 1 }));
        }
        if kinds.contains(OperandKinds::OFF) {
            choices.push(Operand::Off);
        }
    }
    // A vector register as often as all other choices together, because most instructions accept at most one scalar or constant.
    if !varied || random.below(2) == 0 { choices[0] } else { random.one_of(&choices) }
}

/// The first VGPR of an operand, counted from the first one that instructions under test may name.
fn vgpr(row: &InstDesc, slot: usize) -> u16 {
    match row.halves {
        None => slot as u16 * u16::from(MOST_DWORDS),
        // The operands of the second half are in other banks than those of the first (RDNA3 ISA, VOPD): the number of the bank is the
        // register's number modulo 4, for destinations modulo 2.
        Some([first, _]) => {
            let bank = match row.operands[slot].access {
                _ if slot < first.operands.len() => 0,
                // Of the third sources, only the lowest bit counts.
                Access::Read if row.operands[slot].dwords < 2 => 3,
                Access::Read => 2,
                Access::Write | Access::ReadWrite => 1,
            };
            slot as u16 * 4 + bank
        }
    }
}

/// The operand that holds the lanes' addresses, if the slot is an address.
fn address(row: &InstDesc, desc: &OperandDesc) -> Option<Operand> {
    let global = form::is_addressed(row);
    match desc.name {
        "addr" if row.is_ds() => Some(Operand::Reg(Reg::v(58, 1))),
        "vaddr" if global && desc.dwords == 2 => Some(Operand::Reg(Reg::v(56, 2))),
        "vaddr" if global => Some(Operand::Reg(Reg::v(58, 1))),
        "saddr" if global && desc.kinds.contains(OperandKinds::SGPR) => Some(Operand::Reg(Reg::s(6, 2))),
        _ => None,
    }
}

/// Sets random values for the modifiers that the form accepts.
pub(crate) fn modify(inst: &mut Inst, random: &mut Random) {
    let has = |flag: Modifiers| inst.desc.modifiers.contains(flag);
    let three = |random: &mut Random| (random.bits() & random.bits()) as u8 & 7;
    let accepted = |modifier| inst.desc.accepted_bits(modifier) as u8;
    let [neg, abs, op_sel, op_sel_hi, neg_lo, neg_hi] =
        [Modifier::Neg, Modifier::Abs, Modifier::OpSel, Modifier::OpSelHi, Modifier::NegLo, Modifier::NegHi]
            .map(accepted);
    // The bits for halves of registers, and those of them whose operand is a VGPR.
    let (mut halves, mut chosen) = (0, 0);
    for (slot, operand) in inst.desc.operands.iter().zip(&inst.operands) {
        let bit = inst.desc.half_bit(slot).map_or(0, |bit| 1 << bit);
        halves |= bit;
        chosen |= if matches!(operand, Operand::Reg(Reg { file: RegFile::Vgpr, .. })) { bit } else { 0 };
    }
    let takes = |ctrl: &u16| inst.desc.takes_dpp_control(*ctrl);
    let mods = &mut inst.mods;
    if neg | abs != 0 {
        mods.neg = three(random) & neg;
        mods.abs = three(random) & abs;
    }
    if has(Modifiers::CLAMP) {
        mods.clamp = random.below(3) == 0;
    }
    if has(Modifiers::OMOD) && random.below(3) == 0 {
        mods.omod = random.below(4) as u8;
    }
    if has(Modifiers::OP_SEL) {
        mods.op_sel = (random.bits() & random.bits()) as u8 & op_sel;
    }
    if has(Modifiers::OP_SEL_HI) {
        mods.op_sel_hi = random.below(8) as u8 & op_sel_hi;
    }
    if has(Modifiers::NEG_LO) {
        mods.neg_lo = three(random) & neg_lo;
    }
    if has(Modifiers::NEG_HI) {
        mods.neg_hi = three(random) & neg_hi;
    }
    if let Some(dpp) = &mut mods.dpp {
        let all = [0x1b, 0x4e, 0x101, 0x113, 0x125, 0x140, 0x141, 0x153, 0x165, 0x16a];
        let controls: Vec<u16> = all.into_iter().filter(takes).collect();
        if !controls.is_empty() {
            dpp.ctrl = random.one_of(&controls);
        }
        dpp.row_mask = random.one_of(&[0xf, 0xf, 0x5, 0xe]);
        dpp.bank_mask = random.one_of(&[0xf, 0xf, 0x3, 0xd]);
        dpp.bound_ctrl = random.below(2) == 0;
    }
    if let Some(sdwa) = &mut mods.sdwa {
        sdwa.src0_sel = random.below(7) as u8;
        if inst.desc.operand_index("src1").is_some() {
            sdwa.src1_sel = random.below(7) as u8;
        }
        if inst.desc.modifiers.contains(Modifiers::DST_SEL) {
            sdwa.dst_sel = random.below(7) as u8;
            sdwa.dst_unused = random.below(3) as u8;
        }
    }
    if inst.desc.does(Behaviours::PATTERN_IN_OFFSET) {
        mods.offset = random.below(0x8000) as i32;
    } else if inst.desc.modifiers.contains(Modifiers::OFFSET) {
        // Even the widest access at this offset stays within the lane's block.
        mods.offset = 16 * random.below(3) as i32;
    }
    if halves != 0 {
        mods.op_sel = random.bits() as u8 & chosen;
        // The accumulator is the last source, and the same half as the destination.
        let named = inst.desc.operands.iter().filter(|slot| slot.is_source()).count() as u8;
        if inst.desc.sources() > named {
            let destination = mods.op_sel >> inst.desc.sources() & 1;
            mods.op_sel = mods.op_sel & !(1 << named) | destination << named;
        }
    }
    let sources = inst.desc.operands.iter().zip(&inst.operands).filter(|(slot, _)| slot.is_source());
    for (i, (slot, operand)) in sources.enumerate() {
        // LLVM's assembler has no notation for a 64-bit literal of which a sign is changed.
        if slot.dwords == 2 && matches!(operand, Operand::Literal(_) | Operand::Literal64(_)) {
            mods.neg &= !(1 << i);
            mods.abs &= !(1 << i);
        }
        // The only scalar registers with halves of 32 bits are those before gfx12.5 (LLVM 22, measured).
        let is_vector = matches!(operand, Operand::Reg(Reg { file: RegFile::Vgpr, .. }));
        if slot.dwords == 2 && !is_vector && inst.desc.instruction_set() == InstructionSet::GFX12_5 {
            let default = inst.desc.default_mods().op_sel_hi;
            mods.op_sel &= !(1 << i);
            mods.op_sel_hi = mods.op_sel_hi & !(1 << i) | default & 1 << i;
        }
    }
    for modifier in [Modifier::Dpp8, Modifier::Fi, Modifier::Bitop3] {
        if has(modifier.flag()) {
            modifier.set(mods, random.bits() as u32 & MODIFIER_BITS);
        }
    }
    for modifier in [Modifier::ByteSel, Modifier::IndexKey] {
        if accepted(modifier) != 0 {
            modifier.set(mods, random.below(usize::from(accepted(modifier)) + 1) as u32);
        }
    }
}

/// The text of the whole program; `None` if the target lacks one of its instructions.
fn program(form: Form, instruction: &str, mode: u8, ieee: bool) -> Option<String> {
    let Form { row, on } = form;
    let settle = settled(on.target);
    let masks = Masks::of(on.wave);
    let Masks { exec, vcc, bits, .. } = masks;
    // The lanes copy LDS in rows of one dword each, through registers that are not in use yet, or no longer.
    let row_bytes = 4 * on.wave.lanes();
    let rows = || {
        (0..if row.is_ds() { BLOCK_BYTES / LANES / 4 } else { 0 })
            .map(|i| (i * row_bytes, u32::from(VGPRS.0) + i))
    };
    let mut text = format!(
        "{{s_load_dwordx2}} s[4:5], s[0:1], 0x0\nv_lshlrev_b32 v60, 2, v0\n{settle}\ns_mov_b32 m0, -1\n"
    );
    // Writing to a string cannot fail.
    let mut line = |what: std::fmt::Arguments<'_>| {
        let _ = writeln!(text, "{what}");
    };
    for (at, v) in rows() {
        line(format_args!(
            "{{v_add_u32}} v61, {:#x}, v60\n{{global_load_dword}} v{v}, v61, s[4:5]",
            BLOCKS + at
        ));
    }
    line(format_args!("{settle}"));
    for (at, v) in rows() {
        line(format_args!("{{v_add_u32}} v61, {at:#x}, v60\n{{ds_write_b32}} v61, v{v}"));
    }
    line(format_args!("{settle}"));
    for i in 0..VGPRS.1 {
        line(format_args!("{{v_add_u32}} v61, {:#x}, v60", u32::from(i) * ROW));
        line(format_args!("{{global_load_dword}} v{}, v61, s[4:5]", VGPRS.0 + i));
    }
    line(format_args!("{{s_load_dwordx16}} s[16:31], s[4:5], {IN_S:#x}"));
    line(format_args!("{{s_load_dwordx16}} s[32:47], s[4:5], {:#x}", IN_S + 64));
    line(format_args!("{{s_load_dwordx4}} s[48:51], s[4:5], {:#x}", IN_S + 128));
    line(format_args!("{{s_load_dword}} s52, s[4:5], {:#x}", IN_S + 144));
    line(format_args!("v_lshlrev_b32 v58, {BLOCK_SHIFT}, v0"));
    line(format_args!("s_add_u32 s6, s4, {BLOCKS:#x}\ns_addc_u32 s7, s5, 0\nv_mov_b32 v57, s7"));
    line(format_args!("{{v_add_co_u32}} v56, {vcc}, s6, v58\n{settle}"));
    line(format_args!("{{v_addc_co_u32}} v57, {vcc}, 0, v57, {vcc}"));
    line(format_args!("{settle}\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), {mode:#x}"));
    if !ieee && on.has_dx10_clamp() {
        line(format_args!("s_nop 7\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 9, 1), 0x0"));
    }
    line(format_args!("s_mov_b32 vcc_lo, s48\ns_mov_b32 vcc_hi, s49\ns_mov_{bits} {exec}, {}", masks.at(50)));
    line(format_args!("s_bitcmp1_b32 s52, 0\n{settle}\n{instruction}\n{settle}\ns_cselect_b32 s52, 1, 0"));
    line(format_args!("s_mov_b32 s48, vcc_lo\ns_mov_b32 s49, vcc_hi\ns_mov_{bits} {}, {exec}", masks.at(50)));
    line(format_args!("s_mov_{bits} {exec}, -1\n{settle}"));
    for i in 0..VGPRS.1 {
        line(format_args!("{{v_add_u32}} v61, {:#x}, v60", OUT_V + u32::from(i) * ROW));
        line(format_args!("{{global_store_dword}} v61, v{}, s[4:5]", VGPRS.0 + i));
    }
    for i in 0..u32::from(SGPRS.1) + NAMED.len() as u32 {
        line(format_args!("v_mov_b32 v62, s{}\nv_mov_b32 v61, {:#x}", u32::from(SGPRS.0) + i, OUT_S + 4 * i));
        line(format_args!("{{global_store_dword}} v61, v62, s[4:5]"));
    }
    line(format_args!("{settle}"));
    for (at, v) in rows() {
        line(format_args!("{{v_add_u32}} v61, {at:#x}, v60\n{{ds_read_b32}} v{v}, v61"));
    }
    line(format_args!("{settle}"));
    for (at, v) in rows() {
        line(format_args!(
            "{{v_add_u32}} v61, {:#x}, v60\n{{global_store_dword}} v61, v{v}, s[4:5]",
            OUT_LDS + at
        ));
    }
    line(format_args!("s_endpgm"));
    spelled(&text, on.target)
}
