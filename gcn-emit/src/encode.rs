//! Instructions to machine code.

mod error;
mod legality;
mod program;

use gcn_isa::{Inst, Operand, Reg, RegFile, Target};
use smallvec::SmallVec;

pub use crate::fields::check::OperandFault;
pub use error::{EncodeError, EncodeFault, ModifierFault};
pub(crate) use legality::dpp_control;
pub use program::{Encoded, encode_program};

use crate::fields::layout::Code;
use crate::fields::row::{Acc, OperandField, RowCodec, mask};
use crate::fields::{check, codec, source};

/// The machine code of one instruction that has no label.
///
/// Everything that the table says about the row is checked first: operand kinds, widths, alignment, register files,
/// immediate ranges, modifiers, the constant bus limit and the single literal.
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
    let word = word(inst, target).map_err(|fault| EncodeError::new(inst, target, fault))?;
    Ok(SmallVec::from_slice(&word.bits.to_le_bytes()[..word.bytes]))
}

/// An instruction's bits and their number of bytes.
struct Word {
    bits: u128,
    bytes: usize,
}

fn word(inst: &Inst, target: Target) -> Result<Word, EncodeFault> {
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
    for (i, field) in row.operands.iter().enumerate() {
        let operand = inst.operands[i];
        check::operand(&desc.operands[i], field, desc.vgpr_align, &inst.mods, operand)
            .map_err(|fault| EncodeFault::operand(inst, i, fault))?;
        if let Operand::Literal(value) = operand {
            legality::one_literal(&mut literal, value)?;
        }
        put_operand(field, operand, &mut word.bits);
    }
    check::same_file(desc, &inst.operands).map_err(|(i, fault)| EncodeFault::operand(inst, i, fault))?;
    legality::constant_bus(inst)?;
    legality::matrix_overlap(inst)?;
    if let Some(value) = literal {
        word.bits |= u128::from(value) << 32;
        word.bytes = word.bytes.max(8);
    }
    Ok(word)
}

fn put_operand(field: &OperandField, operand: Operand, bits: &mut u128) {
    let Some(code) = field.code else { return };
    let index = operand.reg().map_or(0, |r| u64::from(r.index));
    let source = source::code_of(operand).map_or(0, u64::from);
    let value = match code {
        Code::Source => source,
        Code::Vector | Code::Scalar => index,
        Code::ScalarPair => index >> 1,
        Code::ScalarQuad => index >> 2,
        Code::SdwaSource(flag) => {
            *bits |= if source < 256 { mask(flag, 1) } else { 0 };
            source & 0xff
        }
        Code::SdwaScalar(flag) => {
            if operand == Operand::Reg(gcn_isa::reg::VCC) {
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
    if let (Acc::Bit(bit), Operand::Reg(Reg { file: RegFile::Agpr, .. })) = (field.acc, operand) {
        *bits |= mask(bit, 1);
    }
}

fn modifiers(inst: &Inst, row: &RowCodec, word: &mut Word) -> Result<(), EncodeFault> {
    let mut seen = inst.desc.default_mods();
    for piece in &row.mods {
        piece.field.set(&mut seen, 0);
    }
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
