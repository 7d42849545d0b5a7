//! Generates words for the comparison: uniformly random ones, ones with the prefix and a valid opcode of each format, and LLVM's vectors
//! with a few bits changed. What must follow a word (literal, second half) is included.

use std::collections::BTreeMap;
use std::io::Read as _;

use gcn_isa::{Format, Target, table};
use gcn_test_support::Random;

/// A format's identifying bits in the first dword, and the position of its opcode (CDNA3 ISA, chapter 13). This is a second copy of the
/// decoder's list, so that an error in the latter is detected.
struct Prefix {
    format: Format,
    mask: u32,
    value: u32,
    opcode_lo: u8,
}

const fn prefix(format: Format, mask: u32, value: u32, opcode_lo: u8) -> Prefix {
    Prefix { format, mask, value, opcode_lo }
}

const PREFIXES: [Prefix; 25] = [
    prefix(Format::Sop2, 0xc000_0000, 0x8000_0000, 23),
    prefix(Format::Sopk, 0xf000_0000, 0xb000_0000, 23),
    prefix(Format::Sop1, 0xff80_0000, 0xbe80_0000, 8),
    prefix(Format::Sopc, 0xff80_0000, 0xbf00_0000, 16),
    prefix(Format::Sopp, 0xff80_0000, 0xbf80_0000, 16),
    prefix(Format::Smem, 0xfc00_0000, 0xc000_0000, 18),
    prefix(Format::Vop1, 0xfe00_0000, 0x7e00_0000, 9),
    prefix(Format::Vop1Dpp, 0xfe00_01ff, 0x7e00_00fa, 9),
    prefix(Format::Vop1Sdwa, 0xfe00_01ff, 0x7e00_00f9, 9),
    prefix(Format::Vop2, 0x8000_0000, 0x0000_0000, 25),
    prefix(Format::Vop2Dpp, 0x8000_01ff, 0x0000_00fa, 25),
    prefix(Format::Vop2Sdwa, 0x8000_01ff, 0x0000_00f9, 25),
    prefix(Format::Vopc, 0xfe00_0000, 0x7c00_0000, 17),
    prefix(Format::VopcSdwa, 0xfe00_01ff, 0x7c00_00f9, 17),
    prefix(Format::Vop3a, 0xfc00_0000, 0xd000_0000, 16),
    prefix(Format::Vop3b, 0xfc00_0000, 0xd000_0000, 16),
    prefix(Format::Vop3p, 0xff80_0000, 0xd380_0000, 16),
    prefix(Format::Vop3pMai, 0xff80_0000, 0xd380_0000, 16),
    prefix(Format::Vop3px2, 0xffff_0000, 0xd3ac_0000, 16),
    prefix(Format::Ds, 0xfc00_0000, 0xd800_0000, 17),
    prefix(Format::Flat, 0xfc00_c000, 0xdc00_0000, 18),
    prefix(Format::Scratch, 0xfc00_c000, 0xdc00_4000, 18),
    prefix(Format::Global, 0xfc00_c000, 0xdc00_8000, 18),
    prefix(Format::Mubuf, 0xfc00_0000, 0xe000_0000, 18),
    prefix(Format::Mtbuf, 0xfc00_0000, 0xe800_0000, 15),
];

/// A generator of words for one target.
pub struct Words {
    rng: Random,
    /// The opcodes of the target by format.
    opcodes: BTreeMap<Format, Vec<u16>>,
    /// Encodings for the target from the golden vectors.
    seeds: Vec<Vec<u8>>,
}

impl Words {
    pub fn new(target: Target, seed: u64, seeds: Vec<Vec<u8>>) -> Words {
        let mut opcodes: BTreeMap<Format, Vec<u16>> = BTreeMap::new();
        for row in table::rows().iter().filter(|r| r.targets.contains(target)) {
            opcodes.entry(row.format).or_default().push(row.opcode);
        }
        Words { rng: Random::new(seed ^ (target as u64) << 56), opcodes, seeds }
    }

    /// The next word with what must follow it: 4, 8, 12 or 16 bytes.
    pub fn next(&mut self) -> Vec<u8> {
        let bits = match self.rng.below(8) {
            0 | 1 => self.rng.next_u128(),
            2 | 3 => self.with_prefix(),
            _ => self.near_a_seed(),
        };
        let bits = keep_off_crashes(bits);
        bits.to_le_bytes()[..size(bits)].to_vec()
    }

    /// A format's prefix, one of its opcodes, and random bits. In half of the words most of these bits are 0, because many formats have
    /// fields that must be zero.
    fn with_prefix(&mut self) -> u128 {
        let prefix = &PREFIXES[self.rng.below(PREFIXES.len())];
        let thin = self.rng.below(4);
        let noise = (0..thin).fold(self.rng.next_u128(), |bits, _| bits & self.rng.next_u128());
        let Some(opcodes) = self.opcodes.get(&prefix.format) else { return noise };
        let opcode = u32::from(opcodes[self.rng.below(opcodes.len())]);
        let width = 32 - prefix.mask.leading_ones() - u32::from(prefix.opcode_lo);
        // If one format is a part of another, its opcode is inside the prefix of the larger format.
        let opcode_mask =
            if prefix.format == Format::Vop3px2 { 0 } else { ((1 << width) - 1) << prefix.opcode_lo };
        let fixed = prefix.mask | opcode_mask;
        let first = noise as u32 & !fixed | prefix.value | opcode << prefix.opcode_lo & opcode_mask;
        let bits = noise & !0xffff_ffff | u128::from(first);
        if prefix.format == Format::Vop3px2 {
            let second = 0xd380_0000 | opcode << 16 | (noise >> 64) as u32 & 0xffff;
            return bits & !(0xffff_ffff << 64) | u128::from(second) << 64;
        }
        bits
    }

    /// An encoding from the vectors with up to three bits flipped, or one byte replaced.
    fn near_a_seed(&mut self) -> u128 {
        let seed = &self.seeds[self.rng.below(self.seeds.len())];
        let mut bytes = self.rng.next_u128().to_le_bytes();
        bytes[..seed.len()].copy_from_slice(seed);
        let mut bits = u128::from_le_bytes(bytes);
        let length = seed.len();
        if self.rng.below(3) == 0 {
            let at = 8 * self.rng.below(length);
            return bits & !(0xff << at) | u128::from(self.rng.next_u64() as u8) << at;
        }
        for _ in 0..self.rng.below(4) {
            bits ^= 1 << self.rng.below(8 * length);
        }
        bits
    }
}

/// Formats of 8 bytes, by the six highest bits of the first dword: SMEM, EXP, VOP3 and VOP3P, DS, FLAT, MUBUF, MTBUF, MIMG.
const EIGHT_BYTES: [u32; 8] =
    [0b110000, 0b110001, 0b110100, 0b110110, 0b110111, 0b111000, 0b111010, 0b111100];

/// The size in bytes of the encoding that starts with these bits, by format prefix and literal marker.
fn size(bits: u128) -> usize {
    let word = bits as u32;
    let src0 = word & 0x1ff;
    if word >> 16 == 0xd3ac {
        return 16;
    }
    if EIGHT_BYTES.contains(&(word >> 26)) {
        return 8;
    }
    if word >> 31 == 0 {
        // SDWA, DPP, a literal, or one of the four VOP2 opcodes that always have a literal (madmk and madak, f32 and f16).
        let always = matches!(word >> 25, 0x17 | 0x18 | 0x24 | 0x25);
        return if always || matches!(src0, 0xf9 | 0xfa | 0xff) { 8 } else { 4 };
    }
    if word >> 30 == 0b10 {
        let sopk = word >> 28 == 0b1011 && word >> 23 < 0b1_0111_1101;
        let sopp = word >> 23 == 0b1_0111_1111;
        let sop1 = word >> 23 == 0b1_0111_1101;
        let literal = word & 0xff == 0xff || (!sop1 && word >> 8 & 0xff == 0xff);
        let long = if sopk { word >> 23 & 0x1f == 20 } else { !sopp && literal };
        return if long { 8 } else { 4 };
    }
    4
}

/// Changes words on which LLVM 22's disassembler crashes: SDWA selectors 7 and `dst_unused` 3 (which have no name), the literal marker in
/// formats without literals (VOP3, VOP3P, MUBUF, MTBUF), VOP3 with scalar destination 0xff, the literal 255 of madmk and madak, and
/// constants as A or B of the f8f6f4 matrix instructions.
fn keep_off_crashes(bits: u128) -> u128 {
    let word = bits as u32;
    let mut bits = vector_f8f6f4_sources(bits);
    let mut keep_off = |lo: u32, len: u32, bad: u128| {
        if bits >> lo & ((1 << len) - 1) == bad {
            bits ^= 1 << (lo + len - 1);
        }
    };
    if word >> 31 == 0 && word & 0x1ff == 0xf9 {
        let compare = word >> 25 == 0b0111110;
        for (lo, len) in [(40, 3), (43, 2), (48, 3), (56, 3)] {
            if !(compare && lo < 48) {
                keep_off(lo, len, (1 << len) - 1);
            }
        }
    }
    if word >> 31 == 0 && matches!(word >> 25, 0x17 | 0x18 | 0x24 | 0x25) {
        keep_off(32, 32, 0xff);
    }
    match word >> 26 {
        0b110100 => {
            for half in [0, 64] {
                [32, 41, 50].into_iter().for_each(|lo| keep_off(half + lo, 9, 0xff));
            }
            // Comparisons and v_readlane_b32.
            if word >> 24 & 3 == 0 || word >> 16 & 0x3ff == 0x289 {
                keep_off(0, 8, 0xff);
            }
        }
        0b111000 | 0b111010 => keep_off(56, 8, 0xff),
        _ => {}
    }
    bits
}

/// Gives vector registers as sources to the matrix instructions with 8-, 6- and 4-bit elements (opcodes 0x2d and 0x2e of VOP3P).
fn vector_f8f6f4_sources(bits: u128) -> u128 {
    [0, 64].into_iter().fold(bits, |bits, half| {
        let word = (bits >> half) as u32;
        let is_one = word >> 23 == 0b1_1010_0111 && matches!(word >> 16 & 0x7f, 0x2d | 0x2e);
        if is_one { bits | 1 << (half + 40) | 1 << (half + 49) } else { bits }
    })
}

/// The machine code of the golden vectors of a target.
pub fn seeds(target: Target) -> Vec<Vec<u8>> {
    let packed: &[u8] = include_bytes!("../../data/encodings.tsv.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).expect("the data file is gzip");
    let own = text.lines().filter(|line| line.split('\t').next() == Some(target.name()));
    let hex = own.filter_map(|line| line.rsplit('\t').next());
    let byte =
        |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).expect("ASCII"), 16).expect("hexadecimal");
    hex.map(|hex| hex.as_bytes().chunks(2).map(byte).collect()).collect()
}
