//! Tests the rows of RDNA against measurements with LLVM 22 on gfx1010, gfx1030, gfx1100, gfx1151, gfx1201 and gfx1250 (RDNA 1, 2, 3, 3.5
//! and 4, CDNA 5). The 16-bit forms of the last two were measured a second time with 16-bit registers, which is an option of LLVM's
//! assembler.

use std::collections::{HashMap, HashSet};
use std::io::Read as _;

use gcn_isa::InstructionSet;
use gcn_isa::table::{self, Behaviours, Class, Format, InstDesc, WaveSizes};
use gcn_isa::target::{Family, WaveSize};

use crate::columns;

const SETS: [(&str, InstructionSet); 8] = [
    ("gfx1010", InstructionSet::GFX10_1),
    ("gfx1030", InstructionSet::GFX10_3),
    ("gfx1100", InstructionSet::GFX11),
    ("gfx1151", InstructionSet::GFX11_5),
    ("gfx1201", InstructionSet::GFX12),
    ("gfx1201+real-true16", InstructionSet::GFX12),
    ("gfx1250", InstructionSet::GFX12_5),
    ("gfx1250+real-true16", InstructionSet::GFX12_5),
];

/// The LLVM feature that RDNA 4 and later have in hardware. The rows of plain gfx1201 and gfx1250 come from an assembler that does not name
/// halves.
const TRUE16: &str = "+real-true16";

/// Formats that have another name in RDNA's manuals, with that name.
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

/// The measured rows. In those of gfx1250, facts that the vectors show and the measurement missed were added manually:
/// `src_flat_scratch_base` as a 64-bit source, the scalar sources of packed f32, the sources of `v_cvt_pk_f16_fp8` and `v_cvt_pk_f16_bf8`
/// in the long encoding, M0 of `s_get_barrier_state`, and the width of 64-bit literals. In the rows of every target, tuples of four and more
/// trap temporaries were added, which were not asked for, and the constant that LLVM accepts as the destination of `s_get_barrier_state` was
/// removed.
fn tables() -> [String; 2] {
    [
        &include_bytes!("../data/rdna-instructions.tsv.gz")[..],
        include_bytes!("../data/rdna-instructions-gfx1250.tsv.gz"),
    ]
    .map(|packed| {
        let mut text = String::new();
        flate2::read::GzDecoder::new(packed).read_to_string(&mut text).expect("the data file is gzip");
        text
    })
}

type Key<'a> = (&'a str, Format, &'a str, InstructionSet, WaveSize);

/// Our rows by the key that the measured table uses. Pairs of instructions have a separate table.
fn rows() -> HashMap<Key<'static>, &'static InstDesc> {
    let mut rows = HashMap::new();
    for row in table::rows_of(Family::RDNA).iter().filter(|row| !row.format.is_pair()) {
        for set in row.targets.iter() {
            for wave in [WaveSize::W32, WaveSize::W64].into_iter().filter(|wave| row.waves.has(*wave)) {
                let before = rows.insert((row.printed, row.format, row.form, set, wave), row);
                assert!(before.is_none(), "{} {:?} {} twice on {set}", row.printed, row.format, row.form);
            }
        }
    }
    rows
}

/// The cells of a line by column name.
fn cells<'a>(header: &[&'a str], line: &'a str) -> HashMap<&'a str, &'a str> {
    header.iter().copied().zip(line.split('\t')).collect()
}

fn sorted(cell: &str, separator: &str) -> Vec<String> {
    let mut words: Vec<String> = cell.split(separator).filter(|w| !w.is_empty()).map(str::to_owned).collect();
    words.sort();
    words
}

/// The operands with their kinds in a fixed order, because some kinds were added manually.
fn kinds_in_order(operands: &str) -> Vec<String> {
    let operand = |text: &str| {
        let mut parts: Vec<String> = text.split(':').map(str::to_owned).collect();
        parts[2] = sorted(&parts[2], "|").join("|");
        parts.join(":")
    };
    operands.split(" ; ").filter(|o| !o.is_empty()).map(operand).collect()
}

/// Tests that every measured row is a row of our table with the same facts, and that our table has no other rows.
#[test]
fn the_rows_are_those_that_were_measured() {
    let texts = tables();
    let rows = rows();
    let (mut seen, mut compared) = (HashSet::new(), 0);
    let measured = texts.iter().flat_map(|text| {
        let mut lines = text.lines();
        let header: Vec<&str> = lines.next().unwrap().split('\t').collect();
        lines.map(move |line| (line, cells(&header, line)))
    });
    let measured: Vec<(&str, HashMap<&str, &str>)> = measured.collect();
    let mut true16 = HashSet::new();
    for (_, cells) in &measured {
        let halves = cells["targets"].split(',').filter_map(|name| name.strip_suffix(TRUE16));
        true16.extend(halves.map(|name| (name, cells["printed"], cells["format"])));
    }
    for (line, cells) in &measured {
        let named = RENAMED.iter().find(|named| named.0 == cells["format"]).map(|named| named.1);
        let format = named.or_else(|| Format::named(cells["format"])).expect("a format");
        for (name, set) in SETS.into_iter().filter(|set| cells["targets"].split(',').any(|t| t == set.0)) {
            for wave in [WaveSize::W32, WaveSize::W64] {
                let measured = cells["wave"] == "both" || cells["wave"] == wave.lanes().to_string();
                if !measured {
                    continue;
                }
                let key = (cells["printed"], format, cells["form"], set, wave);
                let row = rows.get(&key).unwrap_or_else(|| panic!("no row for {line}"));
                seen.insert((row.id, set));
                // Halves of registers have the facts of the measurement with 16-bit registers.
                if true16.contains(&(name, cells["printed"], cells["format"])) {
                    continue;
                }
                compare(row, cells, line);
                compared += 1;
            }
        }
    }
    // An instruction that the disassembler prints without a suffix also has a long encoding, which was not measured as a row. gfx1011 has
    // the instructions of gfx1010 and the dot products of gfx1030.
    let measured = SETS.map(|set| set.1);
    let unmeasured = rows.iter().filter(|(key, _)| measured.contains(&key.3));
    let unmeasured = unmeasured.filter(|(key, row)| !seen.contains(&(row.id, key.3)));
    let unmeasured: HashSet<(&str, Format)> = unmeasured.map(|(key, _)| (key.0, key.1)).collect();
    let long = ["v_clrexcp", "v_nop", "v_pipeflush"].map(|name| (name, Format::Vop3a));
    assert_eq!(unmeasured, HashSet::from(long));
    assert!(compared > 20_000, "{compared}");
}

fn compare(row: &InstDesc, cells: &HashMap<&str, &str>, line: &str) {
    assert_eq!(row.mnemonic, cells["mnemonic"], "{line}");
    assert_eq!(format!("{:#x}", row.opcode), cells["opcode"], "{line}");
    assert_eq!(row.bytes.to_string(), cells["bytes"], "{line}");
    // The encoding shows that the second operand is in the data field.
    let has_address = row.operand_index("addr").is_some();
    let operands = match row.format {
        Format::Ds if !has_address && row.operand_index("vdst").is_some() => {
            columns::operands(row).replace("data0:", "addr:")
        }
        _ => columns::operands(row),
    };
    let written = |text: &str| match row.does(Behaviours::DESTINATION_BY_M0) {
        true => text.replace("dst:s:", "dst:d:"),
        false => text.to_owned(),
    };
    // The code of `s_endpgm` may be omitted in the text.
    if row.class != Class::Endpgm {
        // LLVM's description has the named register as a source in some forms, because M0 selects the one that is written.
        assert_eq!(kinds_in_order(&operands), kinds_in_order(&written(cells["operands"])), "{line}");
    }
    assert_eq!(columns::specials(row, " ; "), cells["special_registers"], "{line}");
    let last = row.operands.iter().filter(|o| o.last_vgpr != 255);
    assert_eq!(
        columns::join(last.map(|o| format!("{}={}", o.name, o.last_vgpr)), " "),
        cells["vgpr_max"],
        "{line}"
    );
    // The measured table lacks EXEC for the instructions that move by an index, and lacks the bytes of scalar atomics.
    let mut reads = sorted(&columns::implicit(row.implicit_reads), " ");
    if row.class == Class::Valu && row.mnemonic.contains("rel") && !cells["implicit_reads"].contains("exec") {
        reads.retain(|register| register != "exec");
    }
    assert_eq!(reads, sorted(cells["implicit_reads"], " "), "{line}");
    assert_eq!(
        sorted(&columns::implicit(row.implicit_writes), " "),
        sorted(cells["implicit_writes"], " "),
        "{line}"
    );
    if !matches!(row.class, Class::SmemAtomic | Class::SmemAtomicRet) {
        assert_eq!(columns::mem_bytes(row.mem_bytes), cells["mem_bytes"], "{line}");
    }
    // For scalar transcendental instructions, the reads were measured for some instructions and wave sizes, and apply to all.
    if row.class != Class::TransScalar {
        assert_eq!(columns::source_modifiers(row, " ; "), cells["source_modifiers"], "{line}");
    }
}

/// Tests that masks of lanes are as wide as the wave: between the wave sizes, only the width of operands and the names of VCC and EXEC
/// differ.
#[test]
fn rows_for_one_size_of_waves_have_another_for_the_other() {
    let rows = rows();
    let both = |set: InstructionSet| set.wave_sizes().len() == 2;
    let one_size = rows.iter().filter(|(key, row)| row.waves != WaveSizes::all() && both(key.3));
    let (mut pairs, mut masks) = (0, 0);
    for (&(printed, format, form, set, wave), row) in one_size {
        let other = if wave == WaveSize::W32 { WaveSize::W64 } else { WaveSize::W32 };
        let other = rows[&(printed, format, form, set, other)];
        assert_eq!((row.opcode, row.operands.len()), (other.opcode, other.operands.len()), "{printed}");
        masks += usize::from(
            row.operands.iter().any(|o| o.specials.split(',').any(|s| s == "vcc_lo" || s == "vcc")),
        );
        pairs += 1;
    }
    assert!(pairs > 1000 && masks > 1000, "{pairs} {masks}");
}
