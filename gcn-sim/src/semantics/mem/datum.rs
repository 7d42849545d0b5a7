//! What loads and stores move, between registers and bytes that lie one after another, too.

use crate::core::value::LANES;
use crate::core::wave::Lanes;

/// What a load or store moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Datum {
    /// Suffix of the mnemonic.
    pub suffix: &'static str,
    /// Bytes of one piece.
    pub bytes: u32,
    /// Pieces: dwords of a multi-dword access, else 1.
    pub pieces: u16,
    /// Sign-extend.
    pub signed: bool,
    /// Half of the register that a 16-bit datum uses.
    pub half: Option<bool>,
}

impl Datum {
    /// Bytes of all pieces.
    pub(crate) const fn size(&self) -> u32 {
        self.bytes * self.pieces as u32
    }
}

/// A loaded datum as the register sees it.
pub(crate) fn extend(datum: &Datum, raw: u32) -> u32 {
    let shift = 32 - 8 * datum.bytes;
    if datum.signed { ((raw << shift) as i32 >> shift) as u32 } else { raw }
}

/// Puts a datum into a register; a 16-bit one into its half. With SRAM ECC the other half is cleared (MI100 ISA 9.1.6).
pub(crate) fn merge(datum: &Datum, ecc: bool, old: u32, value: u32) -> u32 {
    let old = if ecc { 0 } else { old };
    match datum.half {
        None => value,
        Some(false) => old & 0xffff_0000 | value & 0xffff,
        Some(true) => old & 0xffff | value << 16,
    }
}

/// Bytes of the largest access: four dwords of every lane.
pub(super) const MOST: usize = 16 * LANES;

/// Gives each lane its datum; `bytes` has those of all lanes, one after another.
#[inline]
pub(super) fn deal(datum: &Datum, bytes: &[u8], registers: &mut [Lanes]) {
    let pieces = registers.len();
    for (piece, register) in registers.iter_mut().enumerate() {
        match datum.bytes {
            1 => deal_each(bytes.as_chunks().0.iter(), register, |[byte]| extend(datum, u32::from(byte))),
            2 => deal_each(bytes.as_chunks().0.iter(), register, |half| {
                extend(datum, u32::from(u16::from_le_bytes(half)))
            }),
            _ if pieces == 1 => deal_each(bytes.as_chunks().0.iter(), register, u32::from_le_bytes),
            _ => deal_each(
                bytes[4 * piece..].as_chunks().0.iter().step_by(pieces),
                register,
                u32::from_le_bytes,
            ),
        }
    }
}

#[inline]
fn deal_each<'a, const N: usize>(
    data: impl Iterator<Item = &'a [u8; N]>,
    to: &mut Lanes,
    value: impl Fn([u8; N]) -> u32,
) {
    for (to, datum) in to.iter_mut().zip(data) {
        *to = value(*datum);
    }
}

/// Takes each lane's datum, to lie in `bytes` one after another.
#[inline]
pub(super) fn collect(datum: &Datum, registers: &[Lanes], bytes: &mut [u8]) {
    let pieces = registers.len();
    for (piece, register) in registers.iter().enumerate() {
        match datum.bytes {
            1 => collect_each(register, bytes.as_chunks_mut().0.iter_mut(), |value| [value as u8]),
            2 => collect_each(register, bytes.as_chunks_mut().0.iter_mut(), |value| {
                (value as u16).to_le_bytes()
            }),
            _ if pieces == 1 => {
                collect_each(register, bytes.as_chunks_mut().0.iter_mut(), u32::to_le_bytes);
            }
            _ => collect_each(
                register,
                bytes[4 * piece..].as_chunks_mut().0.iter_mut().step_by(pieces),
                u32::to_le_bytes,
            ),
        }
    }
}

#[inline]
fn collect_each<'a, const N: usize>(
    from: &Lanes,
    to: impl Iterator<Item = &'a mut [u8; N]>,
    datum: impl Fn(u32) -> [u8; N],
) {
    for (to, value) in to.zip(from) {
        *to = datum(*value);
    }
}
