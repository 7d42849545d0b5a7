//! Tests the entries of the instruction table against the rows that they replaced.
//!
//! `tests/data/instructions.tsv.gz` has the table as measured with LLVM 22, with one row for each form and group of targets. It includes
//! the only correction of a mistake in the measurement (`v_cvt_scalef32_sr_pk_fp4_*` read the bits that they keep). Only the code of this
//! test reads the cells.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;

use gcn_isa::Target;
use gcn_isa::table::{self, DstHalf, Format, InstDesc, Modifiers};

use crate::columns;

/// The columns as text. For a measured row, they are unchanged; for a row of our table, they are written in the same words.
type Cells = BTreeMap<&'static str, String>;

const COLUMNS: [&str; 19] = [
    "mnemonic",
    "printed",
    "format",
    "form",
    "targets",
    "opcode",
    "bytes",
    "operands",
    "same_file",
    "special_registers",
    "implicit_reads",
    "implicit_writes",
    "modifiers",
    "source_modifiers",
    "class",
    "mem_bytes",
    "passes",
    "vgpr_align",
    "notes",
];

/// Forms without a row in the measurement. LLVM's bytes for them are in the spellings that the tests of gcn-emit read.
const MEASURED_LATER: [(&str, &str); 3] =
    [("v_clrexcp_e64", "VOP3A"), ("v_nop_e64", "VOP3A"), ("v_nop_sdwa", "VOP1_SDWA")];

#[test]
fn entries_expand_to_the_measured_rows() {
    let measured = joined(measured().into_iter().map(normal));
    let expanded = joined(table::rows().iter().map(cells));
    let key = |c: &Cells| [&c["printed"], &c["format"], &c["form"], &c["targets"]].map(String::clone);
    let measured: BTreeMap<_, Cells> = measured.into_iter().map(|c| (key(&c), c)).collect();
    let expanded: BTreeMap<_, Cells> = expanded.into_iter().map(|c| (key(&c), c)).collect();
    for (key, cells) in &measured {
        let row = expanded.get(key).unwrap_or_else(|| panic!("no entry expands to {key:?}"));
        assert_eq!(row, cells, "{key:?}");
    }
    // The number of keys in the measurement, by target.
    let count =
        |t: Target| measured.values().filter(|c| c["targets"].split(',').any(|n| n == t.name())).count();
    assert_eq!(Target::REPRESENTATIVES.map(count), [2605, 2619, 2669, 2720, 2823, 2947]);
    // Instructions that were added after the measurement are confirmed by other sources.
    let known: BTreeSet<&String> = measured.values().map(|c| &c["mnemonic"]).collect();
    let unknown: Vec<_> = expanded
        .iter()
        .filter(|(k, c)| !measured.contains_key(*k) && known.contains(&c["mnemonic"]))
        .filter(|(k, _)| !MEASURED_LATER.contains(&(k[0].as_str(), k[1].as_str())))
        .collect();
    assert!(unknown.is_empty(), "entries expand to what was not measured: {unknown:#?}");
}

fn measured() -> Vec<Cells> {
    let mut text = String::new();
    let packed = &include_bytes!("../data/instructions.tsv.gz")[..];
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).expect("the data file is gzip");
    let row = |line: &str| COLUMNS.into_iter().zip(line.split('\t').map(str::to_owned)).collect();
    text.lines().skip(1).map(row).collect()
}

/// Merges rows that differ only in their targets. The measurement distinguished some of them because of LLVM's scheduling model.
fn joined(rows: impl Iterator<Item = Cells>) -> Vec<Cells> {
    let mut sets: BTreeMap<Cells, Vec<Target>> = BTreeMap::new();
    for mut row in rows {
        let targets = row.insert("targets", String::new()).unwrap();
        sets.entry(row).or_default().extend(targets.split(',').map(|t| t.parse::<Target>().unwrap()));
    }
    sets.into_iter()
        .map(|(mut row, mut targets)| {
            targets.sort();
            row.insert("targets", targets.iter().map(|t| t.name()).collect::<Vec<_>>().join(","));
            row
        })
        .collect()
}

/// The words of a cell, sorted.
fn sorted(text: &str) -> String {
    let mut words: Vec<&str> = text.split([' ', ';']).filter(|w| !w.is_empty()).collect();
    words.sort_unstable();
    words.join(" ")
}

/// A measured row in a normal form, without differences in the order of words and in equivalent spellings.
fn normal(mut row: Cells) -> Cells {
    for column in ["implicit_reads", "implicit_writes", "source_modifiers", "same_file", "special_registers"]
    {
        let text = sorted(&row[column]);
        row.insert(column, text);
    }
    // Widths that depend on cbsz and blgp are listed as the largest width, and the note says so.
    let operands = row["operands"].clone();
    row.insert("operands", operands.replace(":4|6|8", ":8"));
    // The entry has one class for relative moves, and says by which operands they are relative in another way.
    if row["class"].starts_with("movrel_") {
        row.insert("class", "movrel".to_owned());
    }
    let mut notes = Vec::new();
    for (part, fact) in [
        ("the other half is kept", "kept"),
        ("the result fills the register", "filled"),
        ("keeps its old value in lanes", "dpp"),
        ("when dst_unused:UNUSED_PRESERVE", "sdwa"),
        ("truncates out-of-range offset", "truncated"),
    ] {
        if row["notes"].contains(part) {
            notes.push(fact);
        }
    }
    if operands.contains(":4|6|8") {
        notes.push("width by format");
    }
    row.insert("notes", notes.join(" "));
    row.insert("passes", row["passes"].replace('?', ""));
    let mut words = Vec::new();
    for word in row["modifiers"].split(' ').filter(|w| !w.is_empty()) {
        let (word, required) = word.strip_suffix('!').map_or((word, ""), |w| (w, "!"));
        let (name, argument) = word.split_at(word.find(['[', '(']).unwrap_or(word.len()));
        // On gfx942, the names sc0, nt and sc1 are used for glc, slc and scc.
        let name = match name {
            "sc0" => "glc",
            "nt" => "slc",
            "sc1" => "scc",
            name => name,
        };
        words.push(match name {
            "offset" => format!("offset{argument}{required}"),
            "op_sel" | "op_sel_hi" | "neg_lo" | "neg_hi" => format!("{name}{argument}"),
            "dpp_ctrl" => format!("{name}{}", argument.replace("row_bcast:15,row_bcast:31", "row_bcast")),
            _ => format!("{name}{required}"),
        });
    }
    words.sort();
    row.insert("modifiers", words.join(" "));
    row
}

/// A row of our table in the words of the measurement.
fn cells(row: &InstDesc) -> Cells {
    let values = [
        row.mnemonic.to_owned(),
        row.printed.to_owned(),
        row.format.name().to_owned(),
        row.form.to_owned(),
        row.targets.representatives().map(Target::name).collect::<Vec<_>>().join(","),
        format!("{:#x}", row.opcode),
        row.bytes.to_string(),
        columns::operands(row),
        same_file(row),
        sorted(&columns::specials(row, " ")),
        sorted(&columns::implicit(row.implicit_reads)),
        sorted(&columns::implicit(row.implicit_writes)),
        modifiers(row),
        columns::source_modifiers(row, " "),
        row.class.name().to_owned(),
        columns::mem_bytes(row.mem_bytes),
        columns::passes(row),
        row.vgpr_align.to_string(),
        notes(row),
    ];
    COLUMNS.into_iter().zip(values).collect()
}

fn same_file(row: &InstDesc) -> String {
    let name = |i: u8| row.operands[usize::from(i)].name;
    sorted(
        &row.same_file.iter().map(|p| format!("{}={}", name(p.a), name(p.b))).collect::<Vec<_>>().join(" "),
    )
}

fn modifiers(row: &InstDesc) -> String {
    let mut words: Vec<String> = row
        .modifiers
        .iter()
        .map(|one| {
            let name = one.iter_names().next().unwrap().0.to_ascii_lowercase();
            let required = if row.required.contains(one) { "!" } else { "" };
            match one {
                Modifiers::OFFSET => {
                    let (low, high) = row.offset_range.unwrap();
                    format!("offset[{low}..{high}]{required}")
                }
                Modifiers::OP_SEL | Modifiers::OP_SEL_HI | Modifiers::NEG_LO | Modifiers::NEG_HI => {
                    columns::listed(&name, *{ row.bits }.named(&name, false).unwrap())
                }
                Modifiers::DPP_CTRL => {
                    let words = row.dpp_controls.iter_names().map(|n| n.0.to_ascii_lowercase());
                    format!("{name}({})", columns::join(words, ","))
                }
                _ => format!("{name}{required}"),
            }
        })
        .collect();
    words.sort();
    words.join(" ")
}

fn notes(row: &InstDesc) -> String {
    let buffer = matches!(row.format, Format::Mubuf | Format::Mtbuf);
    let facts = [
        (row.half == Some(DstHalf::Kept), "kept"),
        (row.half == Some(DstHalf::Filled), "filled"),
        (row.format.is_dpp(), "dpp"),
        (row.modifiers.contains(Modifiers::DST_UNUSED), "sdwa"),
        (buffer && row.offset_range.is_some(), "truncated"),
        (row.width_by_format, "width by format"),
    ];
    facts.iter().filter(|f| f.0).map(|f| f.1).collect::<Vec<_>>().join(" ")
}
