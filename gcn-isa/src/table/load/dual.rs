//! VOPD and VOPD3: instructions that contain two operations. Entries describe the halves; each valid pair of halves
//! becomes a row.

use super::super::constants::Constants;
use super::super::desc::InstDesc;
use super::super::entry::Entry;
use super::super::format::Format;
use super::super::slot::{OperandBits, OperandDesc};

/// The names of operands in the first half and in the second half, each after the operand's common name in the entries.
const NAMES: [(&str, [&str; 2]); 6] = [
    ("vdst", ["vdstx", "vdsty"]),
    ("src0", ["src0x", "src0y"]),
    ("vsrc1", ["vsrc1x", "vsrc1y"]),
    ("vsrc2", ["vsrc2x", "vsrc2y"]),
    ("lane_mask", ["lane_maskx", "lane_masky"]),
    ("literal", ["literalx", "literaly"]),
];

/// The number of sources of each half that have bits in modifiers. The bits of the second half come after those of the
/// first.
const SOURCES: u8 = 3;

/// The forms of halves that can be first, and those that can be second; `xy` can be either.
const PLACES: [[&str; 2]; 2] = [["xy", "x"], ["xy", "y"]];

/// The number of bits of the second half's opcode. The first half's opcode is above these bits.
fn second_bits(format: Format) -> u16 {
    if format == Format::Vopd3 { 6 } else { 5 }
}

/// Replaces the rows of halves by rows of pairs.
pub(super) fn pair(rows: &mut Vec<InstDesc>, first_id: u16) {
    // The halves are not rows themselves, so they have no number.
    let halves = rows.extract_if(.., |row| row.format.is_pair());
    let halves: &'static [InstDesc] =
        halves.map(|half| InstDesc { id: u16::MAX, ..half }).collect::<Vec<_>>().leak();
    let standing = |place: usize| halves.iter().filter(move |half| PLACES[place].contains(&half.form));
    for x in standing(0) {
        let fits = |y: &&InstDesc| y.format == x.format && !y.targets.intersection(x.targets).is_empty();
        for y in standing(1).filter(fits) {
            let mnemonic: &'static str = [x.mnemonic, " :: ", y.mnemonic].concat().leak();
            let constants = constants(x, 0).chain(constants(y, 1)).collect::<Vec<_>>().leak();
            let behaviours = x.entry.behaviours | y.entry.behaviours;
            let entry = Entry { mnemonic, meaning: "", behaviours, constants, ..*x.entry };
            rows.push(InstDesc {
                id: 0,
                mnemonic,
                printed: mnemonic,
                form: "",
                targets: x.targets.intersection(y.targets),
                opcode: x.opcode << second_bits(x.format) | y.opcode,
                operands: operands(x, 0).chain(operands(y, 1)).collect::<Vec<_>>().leak(),
                implicit_reads: x.implicit_reads | y.implicit_reads,
                implicit_writes: x.implicit_writes | y.implicit_writes,
                bytes: x.bytes.max(y.bytes),
                modifiers: x.modifiers | y.modifiers,
                bits: OperandBits { neg: x.bits.neg | y.bits.neg << SOURCES, ..x.bits },
                vgpr_align: x.vgpr_align.max(y.vgpr_align),
                halves: Some([x, y]),
                entry: Box::leak(Box::new(entry)),
                ..*x
            });
        }
    }
    for (id, row) in (first_id..).zip(rows) {
        row.id = id;
    }
}

/// The constant types of a half, assigned to its own source.
fn constants(half: &InstDesc, place: usize) -> impl Iterator<Item = Constants> {
    let source = NAMES[1].1[place];
    half.entry.constants.iter().map(move |constants| Constants { operand: source, ..*constants })
}

fn operands(half: &InstDesc, place: usize) -> impl Iterator<Item = OperandDesc> {
    half.operands.iter().map(move |operand| {
        let names = NAMES.iter().find(|names| names.0 == operand.name);
        OperandDesc { name: names.map_or(operand.name, |names| names.1[place]), ..*operand }
    })
}
