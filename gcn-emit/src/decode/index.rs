//! Finds the candidate rows for a first dword: dense tables by format and opcode, built once per target.

use std::sync::OnceLock;

use gcn_isa::table::InstDesc;
use gcn_isa::{InstructionSet, Target, table};

use super::error::DecodeFault;
use crate::fields::codec;
use crate::fields::row::RowCodec;

/// The formats as far as the first dword tells them apart. VOP3A and VOP3B, and the three VOP3P formats, have
/// disjoint opcodes and count as one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Major {
    Sop1,
    Sop2,
    Sopc,
    Sopk,
    Sopp,
    Smem,
    Vop1,
    Vop1Sdwa,
    Vop1Dpp,
    Vop2,
    Vop2Sdwa,
    Vop2Dpp,
    Vopc,
    VopcSdwa,
    VopcDpp,
    Vop3,
    Vop3p,
    Ds,
    Flat,
    Scratch,
    Global,
    Mubuf,
    Mtbuf,
}

/// Names in messages, and how many opcodes the field has; in the order of [`Major`].
const MAJORS: [(&str, usize); 23] = [
    ("SOP1", 256),
    ("SOP2", 128),
    ("SOPC", 128),
    ("SOPK", 32),
    ("SOPP", 128),
    ("SMEM", 256),
    ("VOP1", 256),
    ("VOP1 SDWA", 256),
    ("VOP1 DPP", 256),
    ("VOP2", 64),
    ("VOP2 SDWA", 64),
    ("VOP2 DPP", 64),
    ("VOPC", 256),
    ("VOPC SDWA", 256),
    ("VOPC DPP", 256),
    ("VOP3", 1024),
    ("VOP3P", 128),
    ("DS", 256),
    ("FLAT", 128),
    ("SCRATCH", 128),
    ("GLOBAL", 128),
    ("MUBUF", 128),
    ("MTBUF", 16),
];

/// Format and opcode of a first dword (CDNA3 ISA, chapter 13: the encoding bits of each format).
fn classify(word: u32) -> Option<(Major, usize)> {
    let bits = |lo: u32, len: u32| (word >> lo & ((1 << len) - 1)) as usize;
    if word >> 31 == 0 {
        return Some(classify_vop(bits(25, 6), bits(9, 8), bits(17, 8), bits(0, 9)));
    }
    Some(match word >> 26 {
        0b100000..=0b101111 => match word >> 23 {
            0b1_0111_1101 => (Major::Sop1, bits(8, 8)),
            0b1_0111_1110 => (Major::Sopc, bits(16, 7)),
            0b1_0111_1111 => (Major::Sopp, bits(16, 7)),
            _ if word >> 28 == 0b1011 => (Major::Sopk, bits(23, 5)),
            _ => (Major::Sop2, bits(23, 7)),
        },
        0b110000 => (Major::Smem, bits(18, 8)),
        0b110100 if bits(23, 3) == 0b111 => (Major::Vop3p, bits(16, 7)),
        0b110100 => (Major::Vop3, bits(16, 10)),
        0b110110 => (Major::Ds, bits(17, 8)),
        0b110111 => match bits(14, 2) {
            0 => (Major::Flat, bits(18, 7)),
            1 => (Major::Scratch, bits(18, 7)),
            2 => (Major::Global, bits(18, 7)),
            _ => return None,
        },
        0b111000 => (Major::Mubuf, bits(18, 7)),
        0b111010 => (Major::Mtbuf, bits(15, 4)),
        _ => return None,
    })
}

fn classify_vop(vop2: usize, vop1: usize, vopc: usize, src0: usize) -> (Major, usize) {
    let by_src0 = |plain, sdwa, dpp| match src0 {
        0xf9 => sdwa,
        0xfa => dpp,
        _ => plain,
    };
    match vop2 {
        0x3f => (by_src0(Major::Vop1, Major::Vop1Sdwa, Major::Vop1Dpp), vop1),
        0x3e => (by_src0(Major::Vopc, Major::VopcSdwa, Major::VopcDpp), vopc),
        op => (by_src0(Major::Vop2, Major::Vop2Sdwa, Major::Vop2Dpp), op),
    }
}

/// A row that a first dword may begin, with its template.
pub(super) struct Candidate {
    pub desc: &'static InstDesc,
    pub row: &'static RowCodec,
}

impl Candidate {
    fn new(desc: &'static InstDesc) -> Candidate {
        Candidate { desc, row: codec(desc) }
    }

    /// True if every bit that the row does not leave to a field has the row's value.
    pub(super) fn fits(&self, bits: u128) -> bool {
        let excluded = self.row.excluded.is_some_and(|(mask, value)| bits & mask == value);
        (bits ^ self.row.base) & self.row.compared == 0 && !excluded
    }
}

/// The rows of one target, by format and opcode.
struct Index {
    /// Where each (format, opcode) begins and ends in `rows`.
    ranges: [Vec<(u16, u16)>; MAJORS.len()],
    rows: Vec<Candidate>,
}

impl Index {
    fn new(target: Target) -> Index {
        let mut buckets: [Vec<Vec<&'static InstDesc>>; MAJORS.len()] =
            std::array::from_fn(|i| vec![Vec::new(); MAJORS[i].1]);
        for desc in table::rows().iter().filter(|r| r.targets.contains(target)) {
            if let Some((major, opcode)) = classify(codec(desc).base as u32) {
                buckets[major as usize][opcode].push(desc);
            }
        }
        let mut rows = Vec::new();
        let ranges = buckets.map(|opcodes| {
            let range = |mut bucket: Vec<&'static InstDesc>| {
                // The row with the most fixed bits first: `off` is a register code, 16-byte rows begin like
                // 8-byte ones.
                bucket.sort_by_key(|d| std::cmp::Reverse((d.bytes, codec(d).compared.count_ones())));
                let start = rows.len() as u16;
                rows.extend(bucket.into_iter().map(Candidate::new));
                (start, rows.len() as u16)
            };
            opcodes.into_iter().map(range).collect()
        });
        Index { ranges, rows }
    }
}

static INDICES: [OnceLock<Index>; InstructionSet::COUNT] = [const { OnceLock::new() }; InstructionSet::COUNT];

/// The rows that the first dword may begin, most specific first; at least one.
pub(super) fn candidates(word: u32, target: Target) -> Result<&'static [Candidate], DecodeFault> {
    let (major, opcode) = classify(word).ok_or(DecodeFault::UnknownFormat)?;
    let index = INDICES[target.instruction_set().index()].get_or_init(|| Index::new(target));
    let (start, end) = index.ranges[major as usize][opcode];
    if start == end {
        let format = MAJORS[major as usize].0;
        return Err(DecodeFault::UnknownOpcode { format, opcode: opcode as u16 });
    }
    Ok(&index.rows[usize::from(start)..usize::from(end)])
}
