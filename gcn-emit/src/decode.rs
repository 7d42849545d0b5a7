//! Decodes machine code into instructions.
//!
//! The first dword determines format and opcode. The table rows with this format and opcode are tried in order, the most specific row
//! first. A row matches if every bit outside of its fields has the row's value. It is an error if no row matches.

mod error;
mod index;
mod program;

use gcn_isa::table::{InstDesc, OperandDesc, OperandKinds};
use gcn_isa::target::Subtarget;
use gcn_isa::{Inst, Mods, Operand, Reg, RegFile};
use smallvec::SmallVec;

pub use error::{DecodeError, DecodeFault};
pub use program::decode_program;

use crate::fields::layout::Code;
use crate::fields::row::{Acc, HALF_BIT, OperandField, RowCodec, mask};
use crate::fields::{check, source};
use index::Candidate;

/// Decodes the first instruction of `bytes`, and returns its length in bytes.
///
/// A branch target remains the unsigned value of the 16-bit field, and so does any other 16-bit immediate.
///
/// ```
/// use gcn_isa::Target;
///
/// let (inst, length) = gcn_emit::decode::decode_inst(&[0x01, 0x05, 0x00, 0x02], Target::GFX90A).unwrap();
/// assert_eq!((inst.desc.printed, length), ("v_add_f32_e32", 4));
/// assert!(gcn_emit::decode::decode_inst(&[0xff, 0xff, 0xff, 0xff], Target::GFX90A).is_err());
/// ```
pub fn decode_inst(bytes: &[u8], on: impl Into<Subtarget>) -> Result<(Inst, usize), DecodeError> {
    let on = on.into();
    decode_at(bytes, on).map_err(|fault| DecodeError::new(0, bytes, on.target, fault))
}

/// The first 16 bytes of `bytes` as a number; missing bytes are zero.
fn window(bytes: &[u8]) -> u128 {
    match bytes.first_chunk::<16>() {
        Some(chunk) => u128::from_le_bytes(*chunk),
        None => {
            let mut chunk = [0; 16];
            chunk[..bytes.len()].copy_from_slice(bytes);
            u128::from_le_bytes(chunk)
        }
    }
}

pub(crate) fn decode_at(bytes: &[u8], on: impl Into<Subtarget>) -> Result<(Inst, usize), DecodeFault> {
    if bytes.len() < 4 {
        return Err(DecodeFault::Truncated { need: 4, have: bytes.len() });
    }
    let bits = window(bytes);
    let candidates = index::candidates(bits as u32, on.into())?;
    match candidates.iter().find(|candidate| candidate.fits(bits)) {
        Some(candidate) => decode_row(candidate.desc, candidate.row, bits, bytes.len()),
        None => Err(no_row_fits(candidates, bits, bytes.len())),
    }
}

/// The error: either the code ends inside an instruction, or no row has these bits.
fn no_row_fits(candidates: &[Candidate], bits: u128, have: usize) -> DecodeFault {
    // Missing dwords match any row.
    let seen = if have < 16 { mask(0, 8 * have as u8) } else { u128::MAX };
    let cut =
        candidates.iter().find(|c| have < c.row.bytes && (bits ^ c.row.base) & c.row.compared & seen == 0);
    match cut {
        Some(candidate) => DecodeFault::Truncated { need: candidate.row.bytes, have },
        None => DecodeFault::ReservedBits { mnemonic: candidates.first().map_or("", |c| c.desc.mnemonic) },
    }
}

fn decode_row(
    desc: &'static InstDesc,
    row: &RowCodec,
    bits: u128,
    have: usize,
) -> Result<(Inst, usize), DecodeFault> {
    let mut length = row.bytes;
    if have < length {
        return Err(DecodeFault::Truncated { need: length, have });
    }
    let mut inst = Inst { desc, operands: SmallVec::new(), mods: modifiers(row, bits) };
    let literal_at = usize::from(row.literal / 8);
    for (i, field) in row.operands.iter().enumerate() {
        let slot = &desc.operands[i];
        let operand = get_operand(slot, field, row, &mut inst.mods, bits)
            .ok_or(DecodeFault::Operand { mnemonic: desc.printed, name: slot.name })?;
        if let Some((_, bytes)) = source::literal(operand)
            && length < literal_at + bytes
        {
            length = literal_at + bytes;
            if have < length {
                return Err(DecodeFault::Truncated { need: length, have });
            }
        }
        check::operand(slot, field, row, desc.vgpr_align, &inst.mods, operand).map_err(|fault| {
            DecodeFault::IllegalOperand { mnemonic: desc.printed, name: slot.name, fault }
        })?;
        inst.operands.push(operand);
    }
    check_modifiers(&inst)?;
    Ok((inst, length))
}

fn modifiers(row: &RowCodec, bits: u128) -> Mods {
    let mut mods = row.cleared_mods;
    for piece in &row.mods {
        let part = (bits >> piece.lo & mask(0, piece.len)) as u32;
        if part == 0 {
            // `cleared_mods` already contains this value. This is the usual case, because most modifiers of most instructions are absent.
            continue;
        }
        let shift = 32 - u32::from(piece.len);
        let part = if piece.signed { (((part << shift) as i32) >> shift) as u32 } else { part };
        let so_far = piece.field.get(&mods);
        piece.field.set(&mut mods, so_far | (part << piece.shift));
    }
    mods
}

fn get_operand(
    slot: &OperandDesc,
    field: &OperandField,
    row: &RowCodec,
    mods: &mut Mods,
    bits: u128,
) -> Option<Operand> {
    let Some(code) = field.code else {
        let off = slot.kinds == OperandKinds::OFF;
        let vcc = gcn_isa::reg::VCC.slice(0, slot.dwords.clamp(1, 2));
        return Some(if off { Operand::Off } else { Operand::Reg(vcc) });
    };
    let value = (bits >> field.lo & mask(0, field.len)) as u64;
    let file = match field.acc {
        Acc::Always(file) => file,
        Acc::Bit(bit) if bits >> bit & 1 == 1 => RegFile::Agpr,
        Acc::Bit(_) => RegFile::Vgpr,
    };
    let len = field.width.dwords(mods);
    let scalars = row.scalars;
    let scalar = |index: u64| (index < 128).then(|| Operand::Reg(scalars.register(index as u16, len)));
    let source_operand = |code: u16| match code {
        source::LITERAL => Some(Operand::Literal((bits >> row.literal) as u32)),
        source::LITERAL64 if field.kinds.contains(OperandKinds::LITERAL64) => {
            Some(Operand::Literal64((bits >> row.literal) as u64))
        }
        _ => source::operand_of(code, len, file, scalars),
    };
    // A field that selects half of a VGPR has 7 bits for the register's number and, above them, a bit for the half. It belongs to `op_sel`.
    // Source codes below 256 are not VGPRs and have no such bit.
    let mut value = value;
    let is_vector = matches!(code, Code::Vector) || matches!(code, Code::Source) && value >= 256;
    if let (Some(bit), true) = (field.half, is_vector) {
        mods.op_sel |= ((value >> HALF_BIT & 1) as u8) << bit;
        value &= !(1 << HALF_BIT);
    }
    match code {
        Code::Source => source_operand(value as u16),
        Code::Vector => Some(Operand::Reg(Reg { file, index: value as u16, len })),
        Code::VectorPair(other) => {
            let index = value << 1 | u64::from(bits >> other & 1 == 0);
            Some(Operand::Reg(Reg { file, index: index as u16, len }))
        }
        Code::Scalar => scalar(value),
        Code::ScalarPair => scalar(value << 1),
        Code::ScalarQuad => scalar(value << 2),
        Code::SdwaSource(flag) if bits >> flag & 1 == 0 => {
            source::operand_of(256 + value as u16, len, file, scalars)
        }
        // An SDWA dword cannot be followed by a literal.
        Code::SdwaSource(_) => source::operand_of(value as u16, len, file, scalars),
        Code::SdwaScalar(flag) if bits >> flag & 1 == 1 => scalar(value),
        Code::SdwaScalar(_) => (value == 0).then_some(Operand::Reg(gcn_isa::reg::VCC.slice(0, len))),
        Code::Imm if field.signed => {
            let shift = 64 - u32::from(field.len);
            Some(Operand::Imm(((value << shift) as i64) >> shift))
        }
        Code::Imm => Some(Operand::Imm(value as i64)),
        Code::Literal if slot.kinds.contains(OperandKinds::LITERAL64) => {
            Some(Operand::Literal64((bits >> row.literal) as u64))
        }
        Code::Literal => Some(Operand::Literal((bits >> row.literal) as u32)),
    }
}

/// Rejects values that fit their field but have no meaning.
fn check_modifiers(inst: &Inst) -> Result<(), DecodeFault> {
    let fault = |name, value: i64| DecodeFault::Modifier { mnemonic: inst.desc.printed, name, value };
    if let Some((lo, hi)) = inst.desc.offset_range
        && !(lo..=hi).contains(&inst.mods.offset)
    {
        return Err(fault("offset", inst.mods.offset.into()));
    }
    if let Some(dpp) = inst.mods.dpp
        && !inst.desc.takes_dpp_control(dpp.ctrl)
    {
        return Err(fault("dpp_ctrl", dpp.ctrl.into()));
    }
    if let Some(sdwa) = inst.mods.sdwa {
        let selectors = [("dst_sel", sdwa.dst_sel), ("src0_sel", sdwa.src0_sel), ("src1_sel", sdwa.src1_sel)];
        if let Some((name, value)) = selectors.into_iter().find(|s| s.1 > 6) {
            return Err(fault(name, value.into()));
        }
        if sdwa.dst_unused > 2 {
            return Err(fault("dst_unused", sdwa.dst_unused.into()));
        }
    }
    Ok(())
}
