//! The halves of VOPD, an instruction that is two: each half is a row with the form `x` or `y`, by the place that it takes.
//!
//! `tests/data/rdna-vopd.tsv.gz` was measured with LLVM 22. With how many others a half goes together is not a fact about it: those
//! are all halves of the other place on its target, which is the second witness here.

use std::io::Read as _;

use gcn_isa::mods::{DppControls, Modifiers, TemporalHints};
use gcn_isa::table::{Class, Format, ImplicitRegs, InstDesc, MemBytes, OperandBits, WaveSizes};

use super::write::names;
use super::{entry, leak, set, slots};
use crate::columns;

const HEADER: &str = "mnemonic\trole\ttarget\topcode\twave\toperands\tspecial_registers\timplicit_reads\tsource_modifiers\t\
                      partners\texample";

fn table() -> String {
    let mut text = String::new();
    let packed = &include_bytes!("../../data/rdna-vopd.tsv.gz")[..];
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).expect("the data file is gzip");
    text
}

fn read(id: usize, line: &str) -> InstDesc {
    let cells: Vec<&str> = line.split('\t').collect();
    let &[mnemonic, role, target, opcode, wave, operands, specials, reads, sources, ..] = &cells[..] else {
        panic!("line {}: {} cells", id + 2, cells.len())
    };
    assert_eq!((wave, sources), ("wave32 only", "no"), "line {}", id + 2);
    let mnemonic = leak(mnemonic);
    let entry = entry(mnemonic);
    InstDesc {
        id: u16::try_from(id).unwrap(),
        mnemonic,
        printed: mnemonic,
        format: Format::Vopd,
        form: if role == "X" { "x" } else { "y" },
        targets: set(target),
        waves: WaveSizes::W32,
        opcode: u16::from_str_radix(&opcode[2..], 16).unwrap(),
        bytes: 8,
        operands: slots(operands, specials, "").leak(),
        same_file: &[],
        implicit_reads: if reads == "vcc_lo" { ImplicitRegs::VCC } else { ImplicitRegs::empty() },
        implicit_writes: ImplicitRegs::empty(),
        modifiers: Modifiers::empty(),
        required: Modifiers::empty(),
        offset_range: None,
        bits: OperandBits::default(),
        dpp_controls: DppControls::empty(),
        hints: TemporalHints::empty(),
        last_selector: 0,
        class: Class::Valu,
        mem_bytes: MemBytes::None,
        vgpr_align: 1,
        half: None,
        width_by_format: false,
        entry,
    }
}

fn write(row: &InstDesc, partners: usize, example: &str) -> String {
    // Waves of 32 lanes have the low half.
    let reads = if row.implicit_reads.contains(ImplicitRegs::VCC) { "vcc_lo" } else { "" };
    let cells = [
        row.mnemonic.to_owned(),
        row.form.to_ascii_uppercase(),
        names(row.targets),
        format!("{:#x}", row.opcode),
        if row.waves == WaveSizes::W32 { "wave32 only" } else { "" }.to_owned(),
        columns::operands(row),
        columns::specials(row, " ; "),
        reads.to_owned(),
        if row.bits == OperandBits::default() { "no" } else { "yes" }.to_owned(),
        partners.to_string(),
        example.to_owned(),
    ];
    cells.join("\t")
}

#[test]
fn both_halves_of_vopd_are_rows() {
    let text = table();
    let lines: Vec<&str> = text.lines().skip(1).collect();
    let rows: Vec<InstDesc> = lines.iter().enumerate().map(|(id, line)| read(id, line)).collect();
    assert_eq!((rows.len(), text.lines().next()), (93, Some(HEADER)));
    for (row, line) in rows.iter().zip(lines) {
        let partners =
            rows.iter().filter(|other| other.form != row.form && other.targets == row.targets).count();
        let example = line.rsplit('\t').next().unwrap_or_default();
        assert!(example.starts_with(row.printed), "{line}");
        assert_eq!(write(row, partners, example), line);
    }
}
