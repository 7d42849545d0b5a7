//! Encodes instructions as machine code.

mod error;
mod legality;
mod program;

use gcn_isa::{Inst, Operand, Reg, RegFile, Target};
use smallvec::SmallVec;

pub use crate::fields::check::{Accepts, OperandFault};
pub(crate) use error::Plain;
pub use error::{EncodeError, EncodeFault, ModifierFault};
pub(crate) use program::S_NOP;
pub use program::{BRANCH_REACH, Encoded, encode_program, offsets};

use crate::fields::layout::Code;
use crate::fields::row::{Acc, HALF_BIT, OperandField, RowCodec, mask};
use crate::fields::source::Scalars;
use crate::fields::{check, codec, source};

/// The machine code of one instruction without labels.
///
/// All constraints of the table row are checked first: operand kinds, widths, alignment, register files, immediate
/// ranges, modifiers, the constant bus limit and the limit of one literal.
///
/// ```
/// use gcn_isa::{Inst, Operand, Reg, Target, table};
///
/// let row = table::find(Target::GFX942, "v_add_f32_e32").next().unwrap();
/// let inst = Inst::new(row, [Reg::v(0, 1), Reg::v(1, 1), Reg::v(2, 1)].map(Operand::Reg));
/// let bytes = gcn_emit::encode::encode_inst(&inst, Target::GFX942).unwrap();
/// assert_eq!(bytes.as_slice(), [0x01, 0x05, 0x00, 0x02]);
/// ```
pub fn encode_inst(inst: &Inst, target: Target) -> Result<SmallVec<[u8; 16]>, EncodeError> {
    let word = encode_word(inst, target, Labels::Refused);
    let Word { bits, bytes } = word.map_err(|fault| EncodeError::new(inst, target, fault))?;
    Ok(SmallVec::from_slice(&bits.to_le_bytes()[..bytes]))
}

/// Appends the machine code of one instruction to `out` and returns its length in bytes: 4, 8, 12 or 16.
///
/// Performs the checks of [`encode_inst`]. A label in a branch is encoded as distance 0; the caller, which lays out the program, must patch
/// the two low bytes of the instruction. `out` is unchanged if there is an error.
///
/// ```
/// use gcn_isa::{Inst, Label, Operand, Target, table};
///
/// let row = table::find(Target::GFX942, "s_branch").next().unwrap();
/// let mut code = Vec::new();
/// let length = gcn_emit::encode::encode_into(&Inst::new(row, [Operand::Label(Label(7))]), Target::GFX942, &mut code);
/// assert_eq!(length, Ok(4));
/// assert_eq!(code, [0x00, 0x00, 0x82, 0xbf]);
/// ```
pub fn encode_into(inst: &Inst, target: Target, out: &mut Vec<u8>) -> Result<usize, EncodeFault> {
    let Word { bits, bytes } = encode_word(inst, target, Labels::Zero)?;
    out.extend_from_slice(&bits.to_le_bytes()[..bytes]);
    Ok(bytes)
}

/// The treatment of labels in branches when an instruction is encoded without a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Labels {
    /// As an error, because nothing would patch the distance later.
    Refused,
    /// As the distance 0, which is patched later.
    Zero,
}

/// The machine code of an instruction, and its size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Word {
    /// The code, little-endian from bit 0 on.
    pub bits: u128,
    /// The number of bytes: 4, 8, 12 or 16.
    pub bytes: usize,
}

/// The machine code of one instruction as a number.
pub(crate) fn encode_word(inst: &Inst, target: Target, labels: Labels) -> Result<Word, EncodeFault> {
    let desc = inst.desc;
    if !desc.targets.contains(target) {
        return Err(EncodeFault::WrongTarget);
    }
    if inst.operands.len() != desc.operands.len() {
        return Err(EncodeFault::OperandCount { want: desc.operands.len(), have: inst.operands.len() });
    }
    let row = codec(desc);
    let mut word = Word { bits: row.base, bytes: row.bytes };
    modifiers(inst, row, &mut word)?;
    let mut literal = None;
    for (i, (field, slot)) in row.operands.iter().zip(desc.operands).enumerate() {
        let operand = match inst.operands[i] {
            Operand::Label(_) if labels == Labels::Zero && desc.branch_operand() == Some(i) => {
                Operand::Imm(0)
            }
            operand => operand,
        };
        check::operand(slot, field, row, desc.vgpr_align, &inst.mods, operand)
            .map_err(|fault| EncodeFault::operand(inst, i, fault))?;
        if matches!(operand, Operand::Literal(_) | Operand::Literal64(_)) {
            legality::one_literal(&mut literal, operand)?;
        }
        put_operand(field, operand, row.scalars, inst.mods.op_sel, &mut word.bits);
    }
    check::same_file(desc, &inst.operands).map_err(|(i, fault)| EncodeFault::operand(inst, i, fault))?;
    legality::constant_bus(inst, target)?;
    legality::of_class(inst)?;
    if let Some(bit) = row.opposite {
        let upper = word.bits >> (bit + 1) & 1;
        word.bits = word.bits & !mask(bit, 1) | (upper ^ 1) << bit;
    }
    if let Some((value, bytes)) = literal.and_then(source::literal) {
        word.bits |= u128::from(value) << row.literal;
        word.bytes = word.bytes.max(usize::from(row.literal / 8) + bytes);
    }
    Ok(word)
}

fn put_operand(field: &OperandField, operand: Operand, scalars: Scalars, op_sel: u8, bits: &mut u128) {
    let Some(code) = field.code else { return };
    let source = source::code_of(operand, scalars).map_or(0, u64::from);
    let index = match operand.reg() {
        Some(reg) if reg.file == RegFile::Sgpr => source,
        Some(reg) => reg.index.into(),
        None => 0,
    };
    let value = match code {
        Code::Source => source,
        Code::Vector | Code::Scalar => index,
        Code::VectorPair(_) | Code::ScalarPair => index >> 1,
        Code::ScalarQuad => index >> 2,
        Code::SdwaSource(flag) => {
            *bits |= if source < 256 { mask(flag, 1) } else { 0 };
            source & 0xff
        }
        Code::SdwaScalar(flag) => {
            if operand.reg().is_some_and(|reg| reg.index == gcn_isa::reg::VCC.index) {
                return;
            }
            *bits |= mask(flag, 1);
            index
        }
        Code::Imm => match operand {
            Operand::Imm(value) => value as u64,
            _ => 0,
        },
        // The literal dword is written once, by the caller.
        Code::Literal => return,
    };
    *bits |= (u128::from(value) << field.lo) & mask(field.lo, field.len);
    if let (Some(bit), Operand::Reg(Reg { file: RegFile::Vgpr, .. })) = (field.half, operand) {
        *bits |= u128::from(op_sel >> bit & 1) << (field.lo + HALF_BIT);
    }
    if let (Acc::Bit(bit), Operand::Reg(Reg { file: RegFile::Agpr, .. })) = (field.acc, operand) {
        *bits |= mask(bit, 1);
    }
}

fn modifiers(inst: &Inst, row: &RowCodec, word: &mut Word) -> Result<(), EncodeFault> {
    if inst.mods == row.default_mods {
        word.bits |= row.default_bits;
        return Ok(());
    }
    let mut seen = row.cleared_mods;
    seen.op_sel |= inst.mods.op_sel & row.halves;
    for piece in &row.mods {
        let value = piece.field.get(&inst.mods);
        let part = u128::from(value >> piece.shift) & mask(0, piece.len);
        word.bits |= part << piece.lo;
        let extended = if piece.signed { sign_extend(part as u32, piece.len) } else { part as u32 };
        let so_far = piece.field.get(&seen);
        piece.field.set(&mut seen, so_far | (extended << piece.shift));
    }
    if seen == inst.mods { legality::offset(inst) } else { Err(legality::modifier_fault(inst, &seen)) }
}

fn sign_extend(value: u32, bits: u8) -> u32 {
    let shift = 32 - u32::from(bits);
    (((value << shift) as i32) >> shift) as u32
}
