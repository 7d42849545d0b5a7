//! A row of RDNA as a line of the measured table.

use gcn_isa::mods::{Modifiers, TemporalHints};
use gcn_isa::table::{DstHalf, Format, InstDesc};
use gcn_isa::target::TargetSet;

use super::{BY_HAND, FACTORS, Measured, NAMES, RENAMED, SCOPES, Schedule, WAVES};
use crate::columns::{self, join};

pub(super) fn write(measured: &Measured) -> String {
    let row = &measured.row;
    let cells = [
        row.mnemonic.to_owned(),
        row.printed.to_owned(),
        RENAMED.iter().find(|f| f.1 == row.format).map_or(row.format.name(), |f| f.0).to_owned(),
        row.form.to_owned(),
        names(row.targets),
        format!("{:#x}", row.opcode),
        row.bytes.to_string(),
        write_operands(measured),
        String::new(),
        columns::specials(row, " ; "),
        implicit_reads(row),
        columns::implicit(row.implicit_writes),
        write_modifiers(row),
        columns::source_modifiers(row, " ; "),
        row.class.name().to_owned(),
        columns::mem_bytes(row.mem_bytes),
        String::new(),
        row.vgpr_align.to_string(),
        join(measured.schedules.iter().map(write_schedule), ";"),
        notes(measured),
        columns::word(&WAVES, &row.waves).to_owned(),
        join(
            row.operands.iter().filter(|o| o.last_vgpr != 255).map(|o| format!("{}={}", o.name, o.last_vgpr)),
            " ",
        ),
        measured.example.clone(),
    ];
    cells.join("\t")
}

pub(super) fn names(set: TargetSet) -> String {
    join(NAMES.iter().filter(|named| set.has(named.1)).map(|named| named.0), ",")
}

/// Kinds that a person has set stand in another order.
fn write_operands(measured: &Measured) -> String {
    let text = columns::operands(&measured.row);
    if measured.kinds_by_hand { text.replace("l|m", "m|l") } else { text }
}

/// The order is that of LLVM's description, which has M0 first in some formats.
fn implicit_reads(row: &InstDesc) -> String {
    let text = columns::implicit(row.implicit_reads);
    let m0_first = row.format.is_vop()
        || matches!(row.format, Format::Global | Format::Scratch | Format::LdsDir | Format::VdsDir);
    if m0_first { text.replace("exec m0", "m0 exec") } else { text }
}

/// The order of the words, those that a form requires before all others.
const ORDER: [Modifiers; 34] = [
    Modifiers::IDXEN,
    Modifiers::OFFEN,
    Modifiers::LDS,
    Modifiers::OFFSET,
    Modifiers::OFFSET0,
    Modifiers::OFFSET1,
    Modifiers::IMM_OFFSET,
    Modifiers::GDS,
    Modifiers::WAIT_VDST,
    Modifiers::WAIT_VA_VDST,
    Modifiers::WAIT_VM_VSRC,
    Modifiers::GLC,
    Modifiers::TH,
    Modifiers::SCOPE,
    Modifiers::SLC,
    Modifiers::DLC,
    Modifiers::CLAMP,
    Modifiers::OMOD,
    Modifiers::DST_SEL,
    Modifiers::DST_UNUSED,
    Modifiers::SRC0_SEL,
    Modifiers::SRC1_SEL,
    Modifiers::OP_SEL,
    Modifiers::OP_SEL_HI,
    Modifiers::NEG_LO,
    Modifiers::NEG_HI,
    Modifiers::BYTE_SEL,
    Modifiers::INDEX_KEY,
    Modifiers::DPP8,
    Modifiers::DPP_CTRL,
    Modifiers::ROW_MASK,
    Modifiers::BANK_MASK,
    Modifiers::BOUND_CTRL,
    Modifiers::FI,
];

fn write_modifiers(row: &InstDesc) -> String {
    let present = ORDER.into_iter().filter(|flag| row.modifiers.contains(*flag));
    let (required, others): (Vec<_>, Vec<_>) = present.partition(|flag| row.required.contains(*flag));
    assert_eq!(required.len() + others.len(), row.modifiers.iter().count(), "{}", row.printed);
    let mut words: Vec<String> = required.iter().map(|flag| format!("{}!", required_word(*flag))).collect();
    // A form that requires a hint takes another in its place.
    let alternative = row.required.contains(Modifiers::TH).then_some(Modifiers::TH);
    let others = ORDER.into_iter().filter(|flag| others.contains(flag) || Some(*flag) == alternative);
    words.extend(others.map(|flag| modifier(row, flag)));
    if matches!(row.format, Format::Mtbuf | Format::VBufferTyped) {
        words.push("format".to_owned());
    }
    words.join(" ")
}

fn required_word(flag: Modifiers) -> String {
    match flag {
        Modifiers::TH => "th:TH_ATOMIC_RETURN".to_owned(),
        _ => name(flag),
    }
}

fn name(flag: Modifiers) -> String {
    flag.iter_names().next().unwrap().0.to_ascii_lowercase()
}

fn modifier(row: &InstDesc, flag: Modifiers) -> String {
    let name = name(flag);
    let bits = &mut { row.bits };
    if let Some(bits) = bits.named(&name, false) {
        return columns::listed(&name, *bits);
    }
    let range = |(low, high): (i32, i32)| format!("{name}[{low}..{high}]");
    match flag {
        Modifiers::OFFSET | Modifiers::IMM_OFFSET => range(row.offset_range.unwrap()),
        Modifiers::OFFSET0 | Modifiers::OFFSET1 => range((0, 255)),
        Modifiers::BYTE_SEL | Modifiers::INDEX_KEY => range((0, row.last_selector.into())),
        Modifiers::DPP_CTRL => {
            format!("{name}({})", join(row.dpp_controls.iter_names().map(|n| n.0.to_ascii_lowercase()), ","))
        }
        Modifiers::TH => {
            let optional = row.hints - TemporalHints::TH_ATOMIC_RETURN;
            format!("{name}({})", join(optional.iter_names().map(|n| n.0), ","))
        }
        Modifiers::SCOPE => format!("{name}({SCOPES})"),
        Modifiers::OMOD => format!("{name}({FACTORS})"),
        _ => name,
    }
}

fn write_schedule(schedule: &Schedule) -> String {
    let units = join(schedule.units.iter().map(|(name, count)| format!("{name}={count}")), " ");
    let on = schedule.on.map_or(String::new(), |on| format!("@{}", names(on)));
    format!("lat={},{units}{on}", schedule.latency)
}

/// The notes say in words what the row's facts are.
fn notes(measured: &Measured) -> String {
    let row = &measured.row;
    let has = |flag| row.modifiers.contains(flag);
    let facts = [
        (
            row.format.is_dpp(),
            "vdst keeps its old value in lanes that are masked off or read out of range without bound_ctrl",
        ),
        (row.half == Some(DstHalf::Kept), "writes one half of vdst; the other half is kept"),
        (has(Modifiers::DST_UNUSED), "vdst is also read when dst_unused:UNUSED_PRESERVE"),
        (
            matches!(row.format, Format::Mubuf | Format::Mtbuf) && has(Modifiers::OFFSET),
            "llvm-mc accepts and truncates 4096,65535",
        ),
        (measured.kinds_by_hand, BY_HAND),
    ];
    join(facts.iter().filter(|f| f.0).map(|f| f.1), "; ")
}
