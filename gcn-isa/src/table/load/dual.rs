//! VOPD: an instruction that is two. Entries say the halves; each pair of them becomes a row.

use super::super::constants::Constants;
use super::super::desc::InstDesc;
use super::super::entry::Entry;
use super::super::format::Format;
use super::super::slot::OperandDesc;

/// Names of operands of the first and of the second half. Both have the name in the entry in front.
const NAMES: [(&str, [&str; 2]); 4] = [
    ("vdst", ["vdstx", "vdsty"]),
    ("src0", ["src0x", "src0y"]),
    ("vsrc1", ["vsrc1x", "vsrc1y"]),
    ("literal", ["literalx", "literaly"]),
];

/// The form of a half that stands first or second; others stand second only.
const EITHER: &str = "xy";

/// Bits of the second half's opcode, above which the first half's stands.
const SECOND_BITS: u16 = 5;

/// Replaces the rows of halves by those of pairs.
pub(super) fn pair(rows: &mut Vec<InstDesc>, first_id: u16) {
    // The halves are no rows, so they have no number.
    let halves = rows.extract_if(.., |row| row.format == Format::Vopd);
    let halves: &'static [InstDesc] =
        halves.map(|half| InstDesc { id: u16::MAX, ..half }).collect::<Vec<_>>().leak();
    for x in halves.iter().filter(|half| half.form == EITHER) {
        for y in halves.iter().filter(|y| !y.targets.intersection(x.targets).is_empty()) {
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
                opcode: x.opcode << SECOND_BITS | y.opcode,
                operands: operands(x, 0).chain(operands(y, 1)).collect::<Vec<_>>().leak(),
                implicit_reads: x.implicit_reads | y.implicit_reads,
                implicit_writes: x.implicit_writes | y.implicit_writes,
                bytes: x.bytes.max(y.bytes),
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

/// The type of constants of a half, at its own source.
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
