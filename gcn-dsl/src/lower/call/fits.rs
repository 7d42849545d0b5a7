//! Checks which rows of the instruction table have a call's modifiers, and which operand slots accept its operands.

use gcn_isa::Target;
use gcn_isa::inst::Mods;
use gcn_isa::mods::Modifier;
use gcn_isa::operand::{Inline, Operand};
use gcn_isa::reg::RegFile;
use gcn_isa::table::{
    Access, Behaviours, Format, InstDesc, Modifiers, OperandBits, OperandDesc, OperandKinds,
};
use gcn_isa::target::Family;

use crate::ir::Call;
use crate::ir::call::BUFFER_FORMAT;
use crate::lower::emit::{can_copy, file_kind, slot_takes, to_operand};
use crate::lower::{Src, Width};
use crate::mir::MOperand;

/// The row's default modifiers, overridden by those of the call.
pub(super) fn modifiers(row: &InstDesc, call: &Call, target: Target) -> Mods {
    let mut mods = row.default_mods();
    // The call's mnemonic implies signed factors; the instruction that it stands for on this target has `neg_lo` for
    // that.
    let renamed = row.mnemonic != call.mnemonic;
    if renamed && target.signs_by_neg_lo() && row.does(Behaviours::BYTES_OR_NIBBLES) {
        mods.neg_lo = 0b11;
    }
    call.given.apply(&mut mods);
    let read = row.operands.iter().filter(|o| o.access != Access::Write);
    for (i, slot) in read.enumerate() {
        let source = slot.name.strip_prefix("src").and_then(|n| n.parse::<u8>().ok());
        let Some(source) = source else { continue };
        let bit = |mask: u8| (mask >> i & 1) << source;
        mods.neg |= bit(call.arg_mods.neg);
        mods.abs |= bit(call.arg_mods.abs);
        mods.sext |= bit(call.arg_mods.sext);
    }
    mods
}

pub(super) struct Fit {
    pub copies: u32,
    pub literal: bool,
}

/// True if the row has the call's addressing form and every modifier that was set.
pub(super) fn has_modifiers(row: &InstDesc, call: &Call) -> bool {
    let addressing = Modifiers::OFFEN | Modifiers::IDXEN;
    let given = call.given.set;
    let addressed = !row.format.is_buffer()
        || (row.required & addressing) == (given & addressing)
        || row.operand_index("vaddr").is_none();
    // Use the scalar memory form with both offsets only if both are given.
    let both =
        row.format != Format::Smem || row.form.ends_with("sgpr_imm") == given.contains(Modifiers::OFFSET);
    let format = row.is_typed_buffer() || !given.contains(BUFFER_FORMAT);
    // DPP has two encodings with different controls, so the row must have the encoding of the call's control.
    let lanes = row.modifiers.contains(Modifiers::DPP8) == given.contains(Modifiers::DPP8);
    let read = row.operands.iter().filter(|o| o.access != Access::Write).enumerate();
    let OperandBits { neg, abs, sext, .. } = row.bits;
    let f64_neg = row.modifiers.contains(Modifiers::NEG);
    let sources = read.into_iter().all(|(i, slot)| {
        let wants = |mask: u8| mask >> i & 1 == 1;
        let source: Option<u8> = slot.name.strip_prefix("src").and_then(|n| n.parse().ok());
        let has = |mask: u8| source.is_some_and(|s| mask >> s & 1 == 1);
        (!wants(call.arg_mods.neg) || has(neg) || f64_neg)
            && (!wants(call.arg_mods.abs) || has(abs))
            && (!wants(call.arg_mods.sext) || has(sext))
    });
    // For the scaled matrix instructions, the assembler accepts op_sel_hi only together with op_sel, so the table does
    // not list it.
    let with_op_sel = if row.format == Format::Vop3px2 { Modifiers::OP_SEL_HI } else { Modifiers::empty() };
    addressed
        && both
        && format
        && lanes
        && sources
        && (row.modifiers | with_op_sel).contains(given - BUFFER_FORMAT)
}

/// True if the row accepts the value of each modifier that selects operands. A short form may have `op_sel` for its result only.
pub(super) fn accepts_bits(row: &InstDesc, mods: &Mods) -> bool {
    let selectors = [Modifier::OpSel, Modifier::NegLo, Modifier::NegHi];
    selectors.into_iter().all(|modifier| modifier.get(mods) & !row.accepted_bits(modifier) == 0)
}

/// True if the slot accepts the source without a copy and reads it with the same meaning.
pub(super) fn takes(row: &InstDesc, slot: &OperandDesc, src: Src, file: Option<RegFile>) -> bool {
    let operand = to_operand(src);
    // A 16-bit operand reads an inline float as f16, so a 32-bit pattern must be in a register.
    let other_width = matches!(src, Src::Const(_, Width::B32))
        && matches!(operand, MOperand::Fixed(Operand::Inline(Inline::Float(_))))
        && row.entry.has_words()
        && !row.multiplies_matrices();
    let literal16 =
        matches!(src, Src::Fixed(Operand::Literal(_))) && slot.kinds.contains(OperandKinds::LITERAL16);
    let narrow = narrow_fits(row, slot, src) && file.is_some_and(|f| slot.kinds.contains(file_kind(f)));
    !other_width && (literal16 || narrow || slot_takes(slot, src, file)) && !loses_half(row, slot, file)
}

/// True for a pair of SGPRs in packed f32 arithmetic of gfx12.5, which uses the first of the two registers for both halves and has no
/// `op_sel` for them (LLVM: `hasPKF32InstsReplicatingLower32BitsOfScalarInput`). Other RDNA targets have no such arithmetic.
fn loses_half(row: &InstDesc, slot: &OperandDesc, file: Option<RegFile>) -> bool {
    let is_packed = row.format == Format::Vop3p && row.modifiers.contains(Modifiers::OP_SEL_HI);
    row.family() == Family::RDNA && is_packed && slot.dwords == 2 && file == Some(RegFile::Sgpr)
}

/// True if the source is narrower than the slot and the row still accepts it: A and B of the `f8f6f4` instructions may
/// have all dwords of the slot, three quarters or half of them. The encoder checks the size against the format.
pub(super) fn narrow_fits(row: &InstDesc, slot: &OperandDesc, src: Src) -> bool {
    row.width_by_format
        && matches!(slot.name, "src0" | "src1")
        && matches!(src, Src::Reg(s) if [4, 3, 2].contains(&(4 * s.len / slot.dwords)) && 4 * s.len % slot.dwords == 0)
}

/// True if the source is a constant and the slot is the C operand of a matrix instruction that accepts only registers
/// as C (the instructions of gfx908 that have mnemonics of their own).
pub(super) fn starts_accumulator(row: &InstDesc, slot: &OperandDesc, src: Src) -> bool {
    row.is_matrix() && slot.name == "src2" && matches!(src, Src::Const(_, Width::B32))
}

/// True if the register of a tied operand can be initialised from `src`.
pub(super) fn can_hold(slot: &OperandDesc, src: Src, file: Option<RegFile>) -> bool {
    can_copy(slot, src, file) || slot_takes(slot, src, file) && matches!(src, Src::Reg(_) | Src::Const(..))
}
