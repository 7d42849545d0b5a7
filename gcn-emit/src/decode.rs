//! Machine code to instructions.
//!
//! A first dword names its format and opcode; the table rows that share both are tried, the most specific first. A row
//! fits if every bit that it does not leave to a field has the row's value. Whatever fits no row is an error.

mod error;
mod index;
mod program;

use gcn_isa::table::InstDesc;
use gcn_isa::{Inst, Operand, Reg, RegFile, Target};
use smallvec::SmallVec;

pub use error::{DecodeError, DecodeFault};
pub use program::decode_program;

use crate::encode::dpp_control;
use crate::fields::layout::Code;
use crate::fields::row::{Acc, OperandField, RowCodec, mask};
use crate::fields::{check, codec, source};

/// Decodes the first instruction of `bytes`, and says how many bytes it takes.
///
/// Branch targets stay the unsigned value of the 16-bit field. Other 16-bit immediates are their unsigned value, too.
///
/// ```
/// use gcn_isa::Target;
///
/// let (inst, length) = gcn_emit::decode::decode_inst(&[0x01, 0x05, 0x00, 0x02], Target::GFX90A).unwrap();
/// assert_eq!((inst.desc.printed, length), ("v_add_f32_e32", 4));
/// assert!(gcn_emit::decode::decode_inst(&[0xff, 0xff, 0xff, 0xff], Target::GFX90A).is_err());
/// ```
pub fn decode_inst(bytes: &[u8], target: Target) -> Result<(Inst, usize), DecodeError> {
    decode_at(bytes, target).map_err(|fault| DecodeError::new(0, bytes, target, fault))
}

/// The word of up to 16 bytes at the start of `bytes`; missing bytes are zero.
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

fn decode_at(bytes: &[u8], target: Target) -> Result<(Inst, usize), DecodeFault> {
    if bytes.len() < 4 {
        return Err(DecodeFault::Truncated { need: 4, have: bytes.len() });
    }
    let bits = window(bytes);
    let candidates = index::candidates(bits as u32, target)?;
    for desc in candidates {
        let row = codec(desc);
        let excluded = row.excluded.is_some_and(|(mask, value)| bits & mask == value);
        if (bits ^ row.base) & row.compared == 0 && !excluded {
            return decode_row(desc, row, bits, bytes.len());
        }
    }
    Err(DecodeFault::ReservedBits { mnemonic: candidates.first().map_or("", |d| d.mnemonic) })
}

fn decode_row(
    desc: &'static InstDesc,
    row: &RowCodec,
    bits: u128,
    have: usize,
) -> Result<(Inst, usize), DecodeFault> {
    let mut inst = Inst { desc, operands: SmallVec::new(), mods: desc.default_mods() };
    for piece in &row.mods {
        piece.field.set(&mut inst.mods, 0);
    }
    for piece in &row.mods {
        let part = (bits >> piece.lo & mask(0, piece.len)) as u32;
        let shift = 32 - u32::from(piece.len);
        let part = if piece.signed { (((part << shift) as i32) >> shift) as u32 } else { part };
        let so_far = piece.field.get(&inst.mods);
        piece.field.set(&mut inst.mods, so_far | (part << piece.shift));
    }
    let mut length = row.bytes;
    for (i, field) in row.operands.iter().enumerate() {
        let name = desc.operands[i].name;
        let operand = get_operand(desc, i, field, &inst, bits)
            .ok_or(DecodeFault::Operand { mnemonic: desc.printed, name })?;
        if matches!(operand, Operand::Literal(_)) {
            length = length.max(8);
        }
        check::operand(&desc.operands[i], field, desc.vgpr_align, &inst.mods, operand)
            .map_err(|fault| DecodeFault::IllegalOperand { mnemonic: desc.printed, name, fault })?;
        inst.operands.push(operand);
    }
    check_modifiers(&inst)?;
    if have < length {
        return Err(DecodeFault::Truncated { need: length, have });
    }
    Ok((inst, length))
}

fn get_operand(
    desc: &InstDesc,
    position: usize,
    field: &OperandField,
    inst: &Inst,
    bits: u128,
) -> Option<Operand> {
    let Some(code) = field.code else {
        let off = desc.operands[position].kinds == gcn_isa::table::OperandKinds::OFF;
        return Some(if off { Operand::Off } else { Operand::Reg(gcn_isa::reg::VCC) });
    };
    let value = (bits >> field.lo & mask(0, field.len)) as u64;
    let file = match field.acc {
        Acc::Always(file) => file,
        Acc::Bit(bit) if bits >> bit & 1 == 1 => RegFile::Agpr,
        Acc::Bit(_) => RegFile::Vgpr,
    };
    let len = field.width.dwords(&inst.mods);
    let scalar = |index: u64| (index < 128).then(|| Operand::Reg(Reg::s(index as u16, len)));
    let source_operand = |code: u16| match code {
        source::LITERAL => Some(Operand::Literal((bits >> 32) as u32)),
        _ => source::operand_of(code, len, file),
    };
    match code {
        Code::Source => source_operand(value as u16),
        Code::Vector => Some(Operand::Reg(Reg { file, index: value as u16, len })),
        Code::Scalar => scalar(value),
        Code::ScalarPair => scalar(value << 1),
        Code::ScalarQuad => scalar(value << 2),
        Code::SdwaSource(flag) if bits >> flag & 1 == 0 => source::operand_of(256 + value as u16, len, file),
        // There is no literal after an SDWA dword.
        Code::SdwaSource(_) => source::operand_of(value as u16, len, file),
        Code::SdwaScalar(flag) if bits >> flag & 1 == 1 => scalar(value),
        Code::SdwaScalar(_) => (value == 0).then_some(Operand::Reg(gcn_isa::reg::VCC)),
        Code::Imm if field.signed => {
            let shift = 64 - u32::from(field.len);
            Some(Operand::Imm(((value << shift) as i64) >> shift))
        }
        Code::Imm => Some(Operand::Imm(value as i64)),
        Code::Literal => Some(Operand::Literal(value as u32)),
    }
}

/// Values that fit their field but mean nothing.
fn check_modifiers(inst: &Inst) -> Result<(), DecodeFault> {
    let fault = |name, value: i64| DecodeFault::Modifier { mnemonic: inst.desc.printed, name, value };
    if let Some((lo, hi)) = inst.desc.offset_range
        && !(lo..=hi).contains(&inst.mods.offset)
    {
        return Err(fault("offset", inst.mods.offset.into()));
    }
    if let Some(dpp) = inst.mods.dpp
        && !dpp_control(inst.desc, dpp)
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
