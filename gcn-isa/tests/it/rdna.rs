//! The record of instructions has room for RDNA: every measured row of gfx1030, gfx1100, gfx1151 and gfx1201 becomes an
//! `InstDesc` and is written back, and the text must be the same to the byte.
//!
//! `tests/data/rdna-instructions.tsv.gz` was measured with LLVM 22. Two of its columns are not facts about an instruction: what
//! LLVM's scheduling model says, and the text from which the measurement began. They stand beside the row here, and the text is a
//! second witness: each of its operands and modifiers must be one that the row accepts.

mod examples;
mod vopd;
mod write;

use std::io::Read as _;

use gcn_isa::mods::{DppControls, Modifiers, TemporalHints};
use gcn_isa::table::{
    Behaviours, Class, DstHalf, Entry, Format, ImplicitRegs, InstDesc, MemBytes, OperandBits, OperandDesc,
    OperandKinds, Rule, WaveSizes,
};
use gcn_isa::{InstructionSet, TargetSet};

use crate::columns::{ACCESS, IMPLICIT, KINDS, value};
use write::write;

/// The targets of the table. The last is gfx1201 with registers of 16 bits, an option of the assembler.
const NAMES: [(&str, InstructionSet); 5] = [
    ("gfx1030", InstructionSet::GFX10_3),
    ("gfx1100", InstructionSet::GFX11),
    ("gfx1151", InstructionSet::GFX11_5),
    ("gfx1201", InstructionSet::GFX12),
    ("gfx1201+real-true16", REAL_TRUE16),
];

/// Stands for gfx12 with registers of 16 bits; no row of the table is of it otherwise.
const REAL_TRUE16: InstructionSet = InstructionSet::GFX10_1;

/// A row, and what the measurement says beside its facts.
struct Measured {
    row: InstDesc,
    schedules: Vec<Schedule>,
    /// The measurement could not find out what operands take, and a person said it.
    kinds_by_hand: bool,
    example: String,
}

/// What LLVM's scheduling model says, on some of the row's targets or on all.
struct Schedule {
    latency: u16,
    units: Vec<(&'static str, u8)>,
    on: Option<TargetSet>,
}

const UNITS: [&str; 7] = ["HWBranch", "HWLGKM", "HWRC", "HWSALU", "HWTransVALU", "HWVALU", "HWVMEM"];

const WAVES: [(&str, WaveSizes); 3] =
    [("32", WaveSizes::W32), ("64", WaveSizes::W64), ("both", WaveSizes::all())];

/// Formats by the name that RDNA's manuals give them, where it is another.
const RENAMED: [(&str, Format); 10] = [
    ("VOP1_DPP16", Format::Vop1Dpp),
    ("VOP2_DPP16", Format::Vop2Dpp),
    ("VOPC_DPP16", Format::VopcDpp),
    ("VOP3", Format::Vop3a),
    ("VOP3_DPP16", Format::Vop3aDpp),
    ("VOP3_DPP8", Format::Vop3aDpp8),
    ("VOP3SD", Format::Vop3b),
    ("VOP3SD_DPP16", Format::Vop3bDpp),
    ("VOP3SD_DPP8", Format::Vop3bDpp8),
    ("VOP3P_DPP16", Format::Vop3pDpp),
];

const HEADER: &str = "mnemonic\tprinted\tformat\tform\ttargets\topcode\tbytes\toperands\tsame_file\tspecial_registers\t\
                      implicit_reads\timplicit_writes\tmodifiers\tsource_modifiers\tclass\tmem_bytes\tpasses\tvgpr_align\t\
                      llvm_sched\tnotes\twave\tvgpr_max\texample";

fn table() -> String {
    let mut text = String::new();
    let packed = &include_bytes!("../data/rdna-instructions.tsv.gz")[..];
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).expect("the data file is gzip");
    text
}

fn rows(text: &str) -> Vec<Measured> {
    text.lines().skip(1).enumerate().map(|(id, line)| read(id, line)).collect()
}

#[test]
fn every_row_of_rdna_is_written_back_as_it_was_read() {
    let text = table();
    let rows = rows(&text);
    assert_eq!((rows.len(), text.lines().next()), (9377, Some(HEADER)));
    let mut written = format!("{HEADER}\n");
    for measured in &rows {
        written += &write(measured);
        written.push('\n');
    }
    for (number, (was, is)) in (1..).zip(text.lines().zip(written.lines())) {
        assert_eq!(is, was, "line {number}");
    }
    assert_eq!(written, text);
}

fn leak(text: &str) -> &'static str {
    text.to_owned().leak()
}

/// What the instruction is, of which these rows say nothing.
fn entry(mnemonic: &'static str) -> &'static Entry {
    Box::leak(Box::new(Entry {
        mnemonic,
        meaning: "",
        witness: "",
        rule: Rule::default(),
        behaviours: Behaviours::empty(),
        inverse: "",
        passes: &[],
        passes_by_format: 0,
        constants: &[],
    }))
}

fn read(id: usize, line: &str) -> Measured {
    let cells: Vec<&str> = line.split('\t').collect();
    let &[
        mnemonic,
        printed,
        format,
        form,
        targets,
        opcode,
        bytes,
        operands,
        same_file,
        specials,
        reads,
        writes,
        modifiers,
        sources,
        class,
        mem_bytes,
        passes,
        vgpr_align,
        schedule,
        notes,
        wave,
        vgpr_max,
        example,
    ] = &cells[..]
    else {
        panic!("line {}: {} cells", id + 2, cells.len())
    };
    assert_eq!((same_file, passes), ("", ""), "RDNA has one vector register file and no passes");
    let mnemonic = leak(mnemonic);
    let entry = entry(mnemonic);
    let notes: Vec<&str> = notes.split("; ").collect();
    let kept = notes.contains(&"the other half is kept");
    let mut row = InstDesc {
        id: u16::try_from(id).unwrap(),
        mnemonic,
        printed: leak(printed),
        format: Format::named(format).unwrap_or_else(|| value(&RENAMED, format)),
        form: leak(form),
        targets: set(targets),
        waves: value(&WAVES, wave),
        opcode: u16::from_str_radix(&opcode[2..], 16).unwrap(),
        bytes: bytes.parse().unwrap(),
        operands: slots(operands, specials, vgpr_max).leak(),
        same_file: &[],
        implicit_reads: implicit(reads),
        implicit_writes: implicit(writes),
        modifiers: Modifiers::empty(),
        required: Modifiers::empty(),
        offset_range: None,
        bits: OperandBits::default(),
        dpp_controls: DppControls::empty(),
        hints: TemporalHints::empty(),
        last_selector: 0,
        class: Class::named(class).unwrap_or_else(|| panic!("unknown class `{class}`")),
        mem_bytes: moved(mem_bytes),
        vgpr_align: vgpr_align.parse().unwrap(),
        half: kept.then_some(DstHalf::Kept),
        width_by_format: false,
        entry,
    };
    for word in words(modifiers) {
        add_modifier(&mut row, word);
    }
    for part in sources.split(" ; ").filter(|p| !p.is_empty()) {
        let (source, words) = part.split_once('=').unwrap();
        let source: u8 = source.strip_prefix("src").unwrap().parse().unwrap();
        for word in words.split('+') {
            *row.bits.named(word, true).unwrap() |= 1 << source;
        }
    }
    Measured {
        row,
        schedules: schedule.split(';').map(read_schedule).collect(),
        kinds_by_hand: notes.contains(&BY_HAND),
        example: example.to_owned(),
    }
}

fn set(names: &str) -> TargetSet {
    names.split(',').map(|name| value(&NAMES, name)).collect()
}

fn slots(operands: &str, specials: &str, last: &str) -> Vec<OperandDesc> {
    let of = |cell: &str, separator: &str, name: &str| {
        let parts = cell.split(separator).filter_map(|part| part.split_once('='));
        parts.filter(|part| part.0 == name).map(|part| leak(part.1)).next()
    };
    let slot = |text: &str| {
        let parts: Vec<&str> = text.split(':').collect();
        let &[name, access, kinds, width] = &parts[..] else { panic!("operand `{text}`") };
        let kinds = kinds.split('|').fold(OperandKinds::empty(), |all, kind| all | value(&KINDS, kind));
        assert_eq!(width == "h", kinds.contains(OperandKinds::HALF_VGPR), "{text}");
        OperandDesc {
            name: leak(name),
            access: value(&ACCESS, access),
            kinds,
            dwords: if width == "h" { 1 } else { width.parse().unwrap() },
            last_vgpr: of(last, " ", name).map_or(255, |n| n.parse().unwrap()),
            specials: of(specials, " ; ", name).unwrap_or(""),
        }
    };
    operands.split(" ; ").filter(|o| !o.is_empty()).map(slot).collect()
}

fn implicit(cell: &str) -> ImplicitRegs {
    let words = cell.split(' ').filter(|w| !w.is_empty());
    words.fold(ImplicitRegs::empty(), |all, word| all | value(&IMPLICIT, word))
}

fn moved(cell: &str) -> MemBytes {
    match cell.strip_prefix("fmt:") {
        Some(count) => MemBytes::FormatComponents(count.parse().unwrap()),
        None if cell.is_empty() => MemBytes::None,
        None => MemBytes::Bytes(cell.parse().unwrap()),
    }
}

/// The words of a cell; a list in parentheses is part of its word.
fn words(cell: &str) -> Vec<&str> {
    let mut depth = 0;
    let outside = move |c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ' ' && depth == 0
    };
    cell.split(outside).filter(|w| !w.is_empty()).collect()
}

fn add_modifier(row: &mut InstDesc, word: &str) {
    let (word, required) = word.strip_suffix('!').map_or((word, false), |word| (word, true));
    let (name, argument) = word.split_at(word.find(['[', '(', ':']).unwrap_or(word.len()));
    let argument = argument.trim_matches(['[', ']', '(', ')', ':']);
    let range = || {
        let (low, high) = argument.split_once("..").expect("a range");
        (low.parse::<i32>().unwrap(), high.parse::<i32>().unwrap())
    };
    if name == "format" {
        // It goes with the encoding, as on GFX9.
        return;
    }
    let flag = Modifiers::named(name).unwrap_or_else(|| panic!("unknown modifier `{name}`"));
    if let Some(bits) = row.bits.named(name, false) {
        *bits = argument.split('/').fold(0, |all, operand| all | 1 << operand.parse::<u8>().unwrap());
    }
    match flag {
        Modifiers::OFFSET | Modifiers::IMM_OFFSET => row.offset_range = Some(range()),
        Modifiers::OFFSET0 | Modifiers::OFFSET1 => assert_eq!(range(), (0, 255)),
        Modifiers::BYTE_SEL | Modifiers::INDEX_KEY => {
            let (low, high) = range();
            assert_eq!(low, 0);
            row.last_selector = u8::try_from(high).unwrap();
        }
        Modifiers::DPP_CTRL => {
            let named = |word| DppControls::named(word).unwrap_or_else(|| panic!("unknown control `{word}`"));
            row.dpp_controls = argument.split(',').map(named).collect();
        }
        // A hint that the form requires is the one that it has of those that return the old value.
        Modifiers::TH if required => row.hints |= TemporalHints::from_name(argument).unwrap(),
        Modifiers::TH => {
            let named =
                |word| TemporalHints::from_name(word).unwrap_or_else(|| panic!("unknown hint `{word}`"));
            row.hints |= argument.split(',').map(named).collect::<TemporalHints>();
        }
        Modifiers::SCOPE => assert_eq!(argument, SCOPES),
        Modifiers::OMOD => assert_eq!(argument, FACTORS),
        _ => {}
    }
    row.modifiers |= flag;
    if required {
        row.required |= flag;
    }
}

/// Whoever has `scope` has all of these, and likewise for `omod`.
const SCOPES: &str = "SCOPE_CU,SCOPE_DEV,SCOPE_SE,SCOPE_SYS";
const FACTORS: &str = "mul:2,mul:4,div:2";
const BY_HAND: &str = "source kinds set by hand";

fn read_schedule(part: &str) -> Schedule {
    let (part, on) = part.split_once('@').map_or((part, None), |(part, on)| (part, Some(set(on))));
    let (latency, units) = part.split_once(',').unwrap();
    let unit = |word: &str| {
        let (name, count) = word.split_once('=').unwrap();
        let known = UNITS.into_iter().find(|u| *u == name).unwrap_or_else(|| panic!("unknown unit `{name}`"));
        (known, count.parse().unwrap())
    };
    Schedule {
        latency: latency.strip_prefix("lat=").unwrap().parse().unwrap(),
        units: units.split(' ').map(unit).collect(),
        on,
    }
}
