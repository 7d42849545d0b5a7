//! Legal instructions whose text LLVM 22 does not accept back: its disassembler prints a text that its assembler rejects or turns into
//! other bytes. They are excluded from the comparison of texts, each for a reason in this list.

use gcn_isa::{Format, Inline, Inst, Operand};

/// The reason why LLVM's own text of the instruction does not represent its bytes; `None` if it does.
pub fn reason(inst: &Inst) -> Option<&'static str> {
    REASONS.iter().find(|r| (r.1)(inst)).map(|r| r.0)
}

type Holds = fn(&Inst) -> bool;

const REASONS: [(&str, Holds); 9] = [
    (
        "a float constant read as a 16-bit integer is printed as a number, which assembles to a literal",
        float_as_int16,
    ),
    (
        "the literal of madmk and madak is printed as the inline constant whose source code it equals",
        literal_like_code,
    ),
    (
        "a small literal of an f64 source is printed as the integer that assembles to an inline constant",
        small_f64_literal,
    ),
    ("sext() of a constant is printed in v_ldexp_f16_sdwa, but not parsed", ldexp_sext),
    (
        "6- and 4-bit matrix operands in the last registers are not disassembled: eight would run out of the file",
        last_registers,
    ),
    ("undefined bits of the s_waitcnt immediate are not printed", waitcnt_bits),
    ("undefined bits of the message are not printed", message_bits),
    ("swizzle patterns that do the same are printed alike", swizzle),
    ("long forms of instructions without operands are printed without their suffix", long_without_operands),
];

fn long_without_operands(inst: &Inst) -> bool {
    inst.operands.is_empty() && inst.desc.printed != inst.desc.mnemonic
}

fn float_as_int16(inst: &Inst) -> bool {
    let name = inst.desc.mnemonic;
    let reads = ["_i16", "_u16", "_b16"].iter().any(|end| name.ends_with(end)) || name == "v_ldexp_f16";
    reads
        && !name.starts_with("v_pk_")
        && inst.operands.iter().any(|o| matches!(o, Operand::Inline(Inline::Float(_))))
}

fn literal_like_code(inst: &Inst) -> bool {
    let own = inst.desc.operand_index("literal");
    inst.desc.format == Format::Vop2
        && own.is_some_and(|i| matches!(inst.operands[i], Operand::Literal(128..=208 | 240..=248)))
}

fn small_f64_literal(inst: &Inst) -> bool {
    let small = |value: u32| (-16..=64).contains(&(value as i32));
    inst.desc.mnemonic.contains("f64")
        && inst.operands.iter().any(|o| matches!(o, Operand::Literal(value) if small(*value)))
}

fn ldexp_sext(inst: &Inst) -> bool {
    inst.desc.printed == "v_ldexp_f16_sdwa"
        && inst.mods.sext & 2 != 0
        && matches!(inst.operands.last(), Some(Operand::Inline(_)))
}

fn last_registers(inst: &Inst) -> bool {
    let runs_out = |o: &Operand| o.reg().is_some_and(|r| r.len < 8 && r.len > 1 && r.index + 8 > 256);
    inst.desc.mnemonic.ends_with("f8f6f4") && inst.operands.iter().any(runs_out)
}

fn immediate(inst: &Inst) -> Option<i64> {
    match inst.operands.first() {
        Some(Operand::Imm(value)) => Some(*value),
        _ => None,
    }
}

fn waitcnt_bits(inst: &Inst) -> bool {
    // vmcnt in bits 3:0 and 15:14, expcnt in 6:4, lgkmcnt in 11:8.
    inst.desc.mnemonic == "s_waitcnt" && immediate(inst).is_some_and(|value| value & 0x3080 != 0)
}

fn message_bits(inst: &Inst) -> bool {
    // Message in bits 3:0, operation in 6:4, stream in 9:8; other bits have no name.
    inst.desc.mnemonic.starts_with("s_sendmsg")
        && immediate(inst).is_some_and(|value| value > 0x3ff || value & 0x80 != 0)
}

fn swizzle(inst: &Inst) -> bool {
    if inst.desc.mnemonic != "ds_swizzle_b32" {
        return false;
    }
    let offset = inst.mods.offset;
    let (and, or, xor) = (offset & 31, offset >> 5 & 31, offset >> 10 & 31);
    match offset >> 8 {
        // QUAD_PERM
        0x80 => false,
        // FFT and ROTATE
        0xe0..=0xff => offset & 0x1fe0 != 0,
        0xc0..=0xdf => offset & 0x181f != 0,
        // Bit mask: for each lane bit one of "0", "1", "p" and "i", each in its plain form.
        0..=0x7f => and & or != 0 || or & xor != 0 || !and & !or & xor & 31 != 0,
        _ => true,
    }
}
