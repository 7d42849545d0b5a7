//! Converts the data of loads and stores between registers and bytes, including bytes that are contiguous across lanes.

use crate::core::value::LANES;
use crate::core::wave::Lanes;

/// The form of the data of a load or store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Datum {
    /// The suffix of the mnemonic.
    pub suffix: &'static str,
    /// The size of a piece in bytes.
    pub bytes: u32,
    /// The number of pieces: the number of dwords of a multi-dword access, otherwise 1.
    pub pieces: u16,
    /// True if the data are sign-extended.
    pub signed: bool,
    /// The half of the register that a 16-bit datum uses: true for the upper half; `None` for other data.
    pub half: Option<bool>,
}

impl Datum {
    /// The total size in bytes.
    pub(crate) const fn size(&self) -> u32 {
        self.bytes * self.pieces as u32
    }
}

/// A loaded datum extended to 32 bits.
pub(crate) fn extend(datum: &Datum, raw: u32) -> u32 {
    let shift = 32 - 8 * datum.bytes;
    if datum.signed { ((raw << shift) as i32 >> shift) as u32 } else { raw }
}

/// The new content of a register after a load; a 16-bit datum replaces one half. With SRAM ECC the other half is cleared (MI100 ISA 9.1.6).
pub(crate) fn merge(datum: &Datum, ecc: bool, old: u32, value: u32) -> u32 {
    let old = if ecc { 0 } else { old };
    match datum.half {
        None => value,
        Some(false) => old & 0xffff_0000 | value & 0xffff,
        Some(true) => old & 0xffff | value << 16,
    }
}

/// Distributes loaded data to the lanes; `bytes` contains the data of all lanes, one after the other.
#[inline]
pub(super) fn deal(datum: &Datum, bytes: &[u8], registers: &mut [Lanes]) {
    match (datum.bytes, registers) {
        (1, [register, ..]) => {
            deal_each(bytes.as_chunks().0, register, |[byte]| extend(datum, u32::from(byte)));
        }
        (2, [register, ..]) => {
            deal_each(bytes.as_chunks().0, register, |half| {
                extend(datum, u32::from(u16::from_le_bytes(half)))
            });
        }
        (_, [register]) => deal_each(bytes.as_chunks().0, register, u32::from_le_bytes),
        (_, [a, b]) => deal_words(bytes.as_chunks::<8>().0, [a, b]),
        (_, [a, b, c]) => deal_words(bytes.as_chunks::<12>().0, [a, b, c]),
        (_, [a, b, c, d, ..]) => deal_words(bytes.as_chunks::<16>().0, [a, b, c, d]),
        (_, []) => {}
    }
}

#[inline]
fn deal_each<const N: usize>(data: &[[u8; N]], to: &mut Lanes, value: impl Fn([u8; N]) -> u32) {
    for (to, datum) in to.iter_mut().zip(data) {
        *to = value(*datum);
    }
}

#[inline]
fn deal_words<const N: usize, const WORDS: usize>(data: &[[u8; N]], mut to: [&mut Lanes; WORDS]) {
    for (four, data) in data.as_chunks::<4>().0.iter().enumerate().take(LANES / 4) {
        put_four(&mut to, four, data.map(|datum| words(&datum)));
    }
}

/// A datum of `N` bytes as dwords; the last one may be partial.
#[inline(always)]
pub(super) fn words<const N: usize, const WORDS: usize>(bytes: &[u8; N]) -> [u32; WORDS] {
    let mut words = [0; WORDS];
    for (i, word) in words.iter_mut().enumerate() {
        let (mut of_word, count) = ([0; 4], N.min(4));
        of_word[..count].copy_from_slice(&bytes[4 * i..4 * i + count]);
        *word = u32::from_le_bytes(of_word);
    }
    words
}

/// Writes the dwords of four consecutive lanes, starting with lane 4 * `four`. The host's vector instructions transpose four lanes at a
/// time.
#[inline(always)]
pub(super) fn put_four<const WORDS: usize>(
    to: &mut [&mut Lanes; WORDS],
    four: usize,
    data: [[u32; WORDS]; 4],
) {
    for (i, to) in to.iter_mut().enumerate() {
        let lanes = [data[0][i], data[1][i], data[2][i], data[3][i]];
        to[4 * four..4 * four + 4].copy_from_slice(&lanes);
    }
}

/// Collects the data of all lanes into `bytes`, one after the other.
#[inline]
pub(super) fn collect(datum: &Datum, registers: &[Lanes], bytes: &mut [u8]) {
    match (datum.bytes, registers) {
        (1, [register, ..]) => collect_each(register, bytes.as_chunks_mut().0, |value| [value as u8]),
        (2, [register, ..]) => {
            collect_each(register, bytes.as_chunks_mut().0, |value| (value as u16).to_le_bytes());
        }
        (_, [register]) => collect_each(register, bytes.as_chunks_mut().0, u32::to_le_bytes),
        (_, [a, b]) => collect_words([a, b], bytes.as_chunks_mut::<8>().0),
        (_, [a, b, c]) => collect_words([a, b, c], bytes.as_chunks_mut::<12>().0),
        (_, [a, b, c, d, ..]) => collect_words([a, b, c, d], bytes.as_chunks_mut::<16>().0),
        (_, []) => {}
    }
}

#[inline]
fn collect_each<const N: usize>(from: &Lanes, to: &mut [[u8; N]], datum: impl Fn(u32) -> [u8; N]) {
    for (to, value) in to.iter_mut().zip(from) {
        *to = datum(*value);
    }
}

#[inline]
fn collect_words<const N: usize, const WORDS: usize>(from: [&Lanes; WORDS], to: &mut [[u8; N]]) {
    for (four, data) in to.as_chunks_mut::<4>().0.iter_mut().enumerate().take(LANES / 4) {
        let mut lanes = [[0; 4]; WORDS];
        for (lanes, from) in lanes.iter_mut().zip(from) {
            lanes.copy_from_slice(&from[4 * four..4 * four + 4]);
        }
        for (lane, datum) in data.iter_mut().enumerate() {
            for (i, lanes) in lanes.iter().enumerate() {
                datum[4 * i..4 * i + 4].copy_from_slice(&lanes[lane].to_le_bytes());
            }
        }
    }
}
