//! Finds the rows that may match a first dword: dense tables by format and opcode, built once per target.

use std::sync::OnceLock;

use gcn_isa::table::InstDesc;
use gcn_isa::target::{Generation, Subtarget};
use gcn_isa::{InstructionSet, table};

use super::error::DecodeFault;
use crate::fields::codec;
use crate::fields::row::{RowCodec, head};

/// The formats that the first dword distinguishes. VOP3A and VOP3B, and the three VOP3P formats, have disjoint opcodes
/// and count as one.
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
    Vopd,
    Vopd3,
    VImage,
    LdsDir,
}

/// For each [`Major`], in order: the name in messages, and the number of values of the opcode field.
const MAJORS: [(&str, usize); 27] = [
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
    ("VOP3P", 256),
    ("DS", 256),
    ("FLAT", 256),
    ("SCRATCH", 256),
    ("GLOBAL", 256),
    ("MUBUF", 256),
    ("MTBUF", 16),
    ("VOPD", 512),
    ("VOPD3", 4096),
    ("VIMAGE", 256),
    ("LDSDIR", 4),
];

/// Format and opcode of a first dword; `None` if no format begins with these bits.
fn classify(word: u32, generation: Generation) -> Option<(Major, usize)> {
    match generation {
        Generation::GFX9 => classify_gfx9(word),
        generation => classify_rdna(word, generation),
    }
}

/// The encoding bits of each format (RDNA2 ISA chapter 13, RDNA3 ISA and RDNA4 ISA chapter 15). If the upper bits of an opcode are in a
/// later dword, the bits in the first dword are sufficient to identify it.
fn classify_rdna(word: u32, generation: Generation) -> Option<(Major, usize)> {
    use Generation::{GFX10, GFX11, GFX12};
    let bits = |lo: u32, len: u32| (word >> lo & ((1 << len) - 1)) as usize;
    let segment = |at: u32| [Some(Major::Flat), Some(Major::Scratch), Some(Major::Global), None][bits(at, 2)];
    if word >> 31 == 0 || word >> 30 == 0b10 {
        return classify_gfx9(word);
    }
    Some(match (word >> 26, generation) {
        (0b110001, GFX12) => (Major::Mubuf, bits(14, 8)),
        (0b110010, GFX11 | GFX12) => (Major::Vopd, bits(17, 9)),
        (0b110011, GFX12) if bits(24, 2) == 0 => (Major::Vop3p, bits(16, 8)),
        (0b110011, GFX12) if bits(24, 2) == 0b11 => (Major::Vopd3, bits(12, 12)),
        (0b110011, _) if bits(23, 3) == 0 => (Major::Vop3p, bits(16, 7)),
        (0b110100, GFX12) => (Major::VImage, bits(14, 8)),
        (0b110011, GFX11 | GFX12) if bits(24, 2) == 0b10 => (Major::LdsDir, bits(20, 2)),
        (0b110101, _) => (Major::Vop3, bits(16, 10)),
        (0b110110, _) => (Major::Ds, bits(18, 8)),
        (0b110111, GFX10) => (segment(14)?, bits(18, 7)),
        (0b110111, GFX11) => (segment(16)?, bits(18, 7)),
        (0b111000, GFX10 | GFX11) => (Major::Mubuf, bits(18, 8)),
        (0b111010, GFX10) => (Major::Mtbuf, bits(16, 3)),
        (0b111010, GFX11) => (Major::Mtbuf, bits(15, 4)),
        (0b111011, GFX12) => (segment(24)?, bits(14, 8)),
        (0b111101, GFX12) => (Major::Smem, bits(13, 6)),
        (0b111101, _) => (Major::Smem, bits(18, 8)),
        _ => return None,
    })
}

/// The encoding bits of each format (CDNA3 ISA, chapter 13). Scalar instructions and the short vector encodings have the same encoding bits
/// on RDNA.
fn classify_gfx9(word: u32) -> Option<(Major, usize)> {
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
        0xe9 | 0xea | 0xfa => dpp,
        _ => plain,
    };
    match vop2 {
        0x3f => (by_src0(Major::Vop1, Major::Vop1Sdwa, Major::Vop1Dpp), vop1),
        0x3e => (by_src0(Major::Vopc, Major::VopcSdwa, Major::VopcDpp), vopc),
        op => (by_src0(Major::Vop2, Major::Vop2Sdwa, Major::Vop2Dpp), op),
    }
}

/// A row that may match a first dword, with its template.
pub(super) struct Candidate {
    pub desc: &'static InstDesc,
    pub row: &'static RowCodec,
}

impl Candidate {
    fn new(desc: &'static InstDesc) -> Candidate {
        Candidate { desc, row: codec(desc) }
    }

    /// True if every bit outside of the row's fields has the row's value.
    pub(super) fn fits(&self, bits: u128) -> bool {
        let excluded = self.row.excluded.iter().any(|(mask, value)| bits & mask == *value);
        let opposite = self.row.opposite.is_none_or(|lo| (bits >> lo ^ bits >> (lo + 1)) & 1 == 1);
        (bits ^ self.row.base) & self.row.compared == 0 && !excluded && opposite
    }
}

/// The rows of one target, by format and opcode.
struct Index {
    /// The range of each (format, opcode) in `rows`.
    ranges: [Vec<(u16, u16)>; MAJORS.len()],
    rows: Vec<&'static InstDesc>,
    /// The candidates of the range that starts with a row. They are made when they are needed first, because a program uses few of the
    /// rows, and their templates take most of the time.
    candidates: Vec<OnceLock<Box<[Candidate]>>>,
}

impl Index {
    fn new(on: Subtarget) -> Index {
        let mut buckets: [Vec<Vec<&'static InstDesc>>; MAJORS.len()] =
            std::array::from_fn(|i| vec![Vec::new(); MAJORS[i].1]);
        for desc in table::rows_on(on) {
            if let Some((major, opcode)) = classify(head(desc) as u32, on.generation()) {
                buckets[major as usize][opcode].push(desc);
            }
        }
        let mut rows = Vec::new();
        let ranges = buckets.map(|opcodes| {
            let range = |bucket: Vec<&'static InstDesc>| {
                let start = rows.len() as u16;
                rows.extend(bucket);
                (start, rows.len() as u16)
            };
            opcodes.into_iter().map(range).collect()
        });
        let candidates = rows.iter().map(|_| OnceLock::new()).collect();
        Index { ranges, rows, candidates }
    }

    /// The candidates with a format and an opcode, the most specific first.
    fn candidates(&self, major: Major, opcode: usize) -> &[Candidate] {
        let (start, end) = self.ranges[major as usize][opcode];
        let range = usize::from(start)..usize::from(end);
        if range.is_empty() {
            return &[];
        }
        self.candidates[range.start].get_or_init(|| {
            let mut rows = self.rows[range].to_vec();
            // The row with the most fixed bits comes first: `off` is encoded as a register number, and 16-byte rows begin like 8-byte ones.
            rows.sort_by_key(|d| std::cmp::Reverse((d.bytes, codec(d).compared.count_ones())));
            rows.into_iter().map(Candidate::new).collect()
        })
    }
}

/// The index of each instruction set and wave size, built on first use.
static INDICES: [[OnceLock<Index>; 2]; InstructionSet::COUNT] =
    [const { [const { OnceLock::new() }; 2] }; InstructionSet::COUNT];

/// The rows that may match the first dword, the most specific first; an error if there are none.
pub(super) fn candidates(word: u32, on: Subtarget) -> Result<&'static [Candidate], DecodeFault> {
    let (major, opcode) = classify(word, on.generation()).ok_or(DecodeFault::UnknownFormat)?;
    let index = &INDICES[on.instruction_set().index()][on.wave as usize];
    let index = index.get_or_init(|| Index::new(on));
    match index.candidates(major, opcode) {
        [] => {
            let format = MAJORS[major as usize].0;
            Err(DecodeFault::UnknownOpcode { format, opcode: opcode as u16 })
        }
        candidates => Ok(candidates),
    }
}

#[cfg(test)]
mod tests {
    use gcn_isa::Target;
    use gcn_isa::target::WaveSize;

    use super::*;

    /// The index classifies rows by the bits of their formats and opcodes only, which must be as good as all bits.
    #[test]
    fn format_and_opcode_classify_every_row() {
        let mut rows = 0;
        for target in Target::KNOWN {
            for desc in table::rows_on(Subtarget { target, wave: WaveSize::W64 }) {
                let of = |bits: u128| classify(bits as u32, target.generation());
                assert_eq!(
                    of(head(desc)),
                    of(codec(desc).base),
                    "{target} {} {:?}",
                    desc.mnemonic,
                    desc.format
                );
                rows += 1;
            }
        }
        assert!(rows > 10_000, "{rows}");
    }
}
