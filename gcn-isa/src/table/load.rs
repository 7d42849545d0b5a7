//! Reads the table files into rows. The files are part of the crate, so a fault in them is a bug, found by the first
//! test that touches the table: hence the panics with row and column.

use super::desc::{
    Access, Class, Format, ImplicitRegs, InstDesc, MemBytes, Modifiers, OperandDesc, OperandKinds, SameFile,
};
use super::names::{NameHasher, NameMap};
use crate::target::{Target, TargetSet};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// The table files, in row order.
const FILES: [(&str, &str); 11] = [
    ("sop", include_str!("../../data/instructions/sop.tsv")),
    ("smem", include_str!("../../data/instructions/smem.tsv")),
    ("vop1", include_str!("../../data/instructions/vop1.tsv")),
    ("vop2", include_str!("../../data/instructions/vop2.tsv")),
    ("vopc", include_str!("../../data/instructions/vopc.tsv")),
    ("vop3", include_str!("../../data/instructions/vop3.tsv")),
    ("vop3p", include_str!("../../data/instructions/vop3p.tsv")),
    ("mai", include_str!("../../data/instructions/mai.tsv")),
    ("ds", include_str!("../../data/instructions/ds.tsv")),
    ("flat", include_str!("../../data/instructions/flat.tsv")),
    ("buffer", include_str!("../../data/instructions/buffer.tsv")),
];

pub(super) fn rows() -> Vec<InstDesc> {
    let mut rows = Vec::with_capacity(6000);
    let mut seen = Seen::default();
    for (file, text) in FILES {
        let mut lines = Lines { rest: text };
        lines.next();
        for (number, cells) in lines.enumerate() {
            let id = u16::try_from(rows.len()).expect("fewer than 65536 rows");
            let row = cells.ok_or("wrong number of columns").and_then(|cells| row(id, cells, &mut seen));
            rows.push(row.unwrap_or_else(|what| panic!("{file}.tsv:{}: {what}", number + 2)));
        }
    }
    rows
}

const COLUMNS: usize = 19;

/// The lines of a table, each split into its cells in one pass; `None` for a line with too few or too many.
struct Lines {
    rest: &'static str,
}

impl Iterator for Lines {
    type Item = Option<[&'static str; COLUMNS]>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let mut cells = [""; COLUMNS];
        let mut count = 0;
        let mut start = 0;
        let mut end = self.rest.len();
        for at in memchr::memchr2_iter(b'\t', b'\n', self.rest.as_bytes()) {
            if let Some(cell) = cells.get_mut(count) {
                *cell = &self.rest[start..at];
            }
            count += 1;
            start = at + 1;
            if self.rest.as_bytes()[at] == b'\n' {
                end = start;
                break;
            }
        }
        self.rest = &self.rest[end..];
        Some((count == COLUMNS).then_some(cells))
    }
}

/// Cells that were read before: most of them are in many rows.
#[derive(Default)]
struct Seen {
    operands: HashMap<(&'static str, &'static str), &'static [OperandDesc], BuildHasherDefault<NameHasher>>,
    modifiers: NameMap<ModifierCell>,
    targets: NameMap<TargetSet>,
    classes: NameMap<Class>,
    formats: NameMap<Format>,
    implicit: NameMap<ImplicitRegs>,
    source_mods: NameMap<(u8, u8, u8)>,
}

/// The value of a cell, read once.
fn once<T: Copy>(
    seen: &mut NameMap<T>,
    cell: &'static str,
    read: impl FnOnce(&'static str) -> Result<T, &'static str>,
) -> Result<T, &'static str> {
    if let Some(value) = seen.get(cell) {
        return Ok(*value);
    }
    let value = read(cell)?;
    seen.insert(cell, value);
    Ok(value)
}

fn row(id: u16, cells: [&'static str; COLUMNS], seen: &mut Seen) -> Result<InstDesc, &'static str> {
    let [
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
        implicit_reads,
        implicit_writes,
        modifiers,
        source_modifiers,
        class,
        mem_bytes,
        passes,
        vgpr_align,
        notes,
    ] = cells;
    let operands = match seen.operands.get(&(operands, specials)) {
        Some(list) => list,
        None => {
            let list = operand_list(operands, specials)?;
            seen.operands.insert((operands, specials), list);
            list
        }
    };
    let same_file = same_files(same_file, operands)?;
    let mods = once(&mut seen.modifiers, modifiers, ModifierCell::parse)?;
    let named = |name| Format::NAMES.iter().find(|f| f.0 == name).map(|f| f.1).ok_or("unknown format");
    Ok(InstDesc {
        id,
        mnemonic,
        printed,
        format: once(&mut seen.formats, format, named)?,
        form,
        targets: once(&mut seen.targets, targets, target_set)?,
        opcode: u16::from_str_radix(opcode.trim_start_matches("0x"), 16).map_err(|_| "bad opcode")?,
        bytes: bytes.parse().map_err(|_| "bad size")?,
        operands,
        same_file,
        implicit_reads: once(&mut seen.implicit, implicit_reads, implicit)?,
        implicit_writes: once(&mut seen.implicit, implicit_writes, implicit)?,
        modifiers: mods.accepted,
        required: mods.required,
        offset_range: mods.offset_range,
        op_sel_bits: mods.op_sel_bits,
        source_mods: once(&mut seen.source_mods, source_modifiers, source_mods)?,
        dpp_newbcast_only: mods.newbcast_only,
        dpp_newbcast: mods.newbcast,
        class: once(&mut seen.classes, class, |name| Class::parse(name).ok_or("unknown class"))?,
        mem_bytes: bytes_moved(mem_bytes)?,
        passes,
        vgpr_align: vgpr_align.parse().map_err(|_| "bad alignment")?,
        notes,
    })
}

fn target_set(cell: &str) -> Result<TargetSet, &'static str> {
    cell.split(',').try_fold(TargetSet::EMPTY, |set, name| {
        let target: Target = name.parse().map_err(|_| "unknown target")?;
        Ok(set.union(TargetSet::of(&[target])))
    })
}

fn operand_list(cell: &'static str, specials: &'static str) -> Result<&'static [OperandDesc], &'static str> {
    let mut list = Vec::new();
    for part in cell.split(" ; ").filter(|p| !p.is_empty()) {
        let mut fields = part.split(':');
        let mut field = || fields.next().ok_or("operand without all of name:access:kinds:dwords");
        let (name, access, kinds, dwords) = (field()?, field()?, field()?, field()?);
        let access = match access {
            "d" => Access::Write,
            "s" => Access::Read,
            "b" => Access::ReadWrite,
            _ => return Err("unknown access"),
        };
        let kinds = kinds
            .split('|')
            .try_fold(OperandKinds::empty(), |set, kind| Ok::<_, &'static str>(set | operand_kind(kind)?))?;
        let dwords = dwords.rsplit('|').next().and_then(|d| d.parse().ok()).ok_or("bad operand width")?;
        let specials = specials
            .split(" ; ")
            .find_map(|s| s.split_once('=').filter(|(n, _)| *n == name))
            .map_or("", |(_, list)| list);
        list.push(OperandDesc { name, access, kinds, dwords, specials });
    }
    Ok(list.leak())
}

fn operand_kind(kind: &str) -> Result<OperandKinds, &'static str> {
    Ok(match kind {
        "v" => OperandKinds::VGPR,
        "a" => OperandKinds::AGPR,
        "s" => OperandKinds::SGPR,
        "c" => OperandKinds::INLINE_INT | OperandKinds::INLINE_FLOAT,
        "ci" => OperandKinds::INLINE_INT,
        "cf" => OperandKinds::INLINE_FLOAT,
        "l" => OperandKinds::LITERAL,
        "l16" => OperandKinds::LITERAL16,
        "m" => OperandKinds::SPECIAL,
        "imm" => OperandKinds::IMM,
        "off" => OperandKinds::OFF,
        _ => return Err("unknown operand kind"),
    })
}

fn same_files(cell: &str, operands: &[OperandDesc]) -> Result<&'static [SameFile], &'static str> {
    if cell.is_empty() {
        return Ok(&[]);
    }
    let index = |name: &str| {
        operands.iter().position(|o| o.name == name).map(|i| i as u8).ok_or("same_file names no operand")
    };
    let pairs: Result<Vec<SameFile>, _> = cell
        .split(' ')
        .filter(|p| !p.is_empty())
        .map(|pair| {
            let (a, b) = pair.split_once('=').ok_or("bad same_file")?;
            Ok(SameFile { a: index(a)?, b: index(b)? })
        })
        .collect();
    Ok(pairs?.leak())
}

fn implicit(cell: &str) -> Result<ImplicitRegs, &'static str> {
    cell.split(' ').filter(|n| !n.is_empty()).try_fold(ImplicitRegs::empty(), |set, name| {
        Ok(set
            | match name {
                "exec" => ImplicitRegs::EXEC,
                "vcc" => ImplicitRegs::VCC,
                "scc" => ImplicitRegs::SCC,
                "m0" => ImplicitRegs::M0,
                "flat_scr" => ImplicitRegs::FLAT_SCRATCH,
                "mode" => ImplicitRegs::MODE,
                _ => return Err("unknown implicit register"),
            })
    })
}

#[derive(Clone, Copy)]
struct ModifierCell {
    accepted: Modifiers,
    required: Modifiers,
    offset_range: Option<(i32, i32)>,
    op_sel_bits: u8,
    newbcast: bool,
    newbcast_only: bool,
}

impl ModifierCell {
    fn parse(cell: &str) -> Result<ModifierCell, &'static str> {
        let mut out = ModifierCell {
            accepted: Modifiers::empty(),
            required: Modifiers::empty(),
            offset_range: None,
            op_sel_bits: 0,
            newbcast: false,
            newbcast_only: false,
        };
        for word in cell.split(' ').filter(|w| !w.is_empty()) {
            out.word(word)?;
        }
        Ok(out)
    }

    fn word(&mut self, word: &str) -> Result<(), &'static str> {
        let (word, required) = word.strip_suffix('!').map_or((word, false), |w| (w, true));
        let split = word.find(['[', '(']).unwrap_or(word.len());
        let (name, argument) = word.split_at(split);
        let flag = modifier(name).ok_or("unknown modifier")?;
        self.accepted |= flag;
        if required {
            self.required |= flag;
        }
        match flag {
            Modifiers::OFFSET => {
                let range = argument.trim_matches(['[', ']']).split_once("..").ok_or("bad offset range")?;
                let bound = |s: &str| s.parse::<i32>().map_err(|_| "bad offset bound");
                self.offset_range = Some((bound(range.0)?, bound(range.1)?));
            }
            Modifiers::OP_SEL | Modifiers::OP_SEL_HI => {
                self.op_sel_bits = self.op_sel_bits.max(argument.matches('/').count() as u8 + 1);
            }
            Modifiers::DPP_CTRL => {
                self.newbcast = argument.contains("row_newbcast");
                self.newbcast_only = argument == "(row_newbcast)";
            }
            _ => {}
        }
        Ok(())
    }
}

fn modifier(name: &str) -> Option<Modifiers> {
    Some(match name {
        "clamp" => Modifiers::CLAMP,
        "omod" => Modifiers::OMOD,
        "op_sel" => Modifiers::OP_SEL,
        "op_sel_hi" => Modifiers::OP_SEL_HI,
        "neg_lo" => Modifiers::NEG_LO,
        "neg_hi" => Modifiers::NEG_HI,
        "neg" => Modifiers::NEG,
        "dpp_ctrl" => Modifiers::DPP_CTRL,
        "row_mask" => Modifiers::ROW_MASK,
        "bank_mask" => Modifiers::BANK_MASK,
        "bound_ctrl" => Modifiers::BOUND_CTRL,
        "dst_sel" => Modifiers::DST_SEL,
        "dst_unused" => Modifiers::DST_UNUSED,
        "src0_sel" => Modifiers::SRC0_SEL,
        "src1_sel" => Modifiers::SRC1_SEL,
        "offset" => Modifiers::OFFSET,
        "offset0" => Modifiers::OFFSET0,
        "offset1" => Modifiers::OFFSET1,
        "glc" | "sc0" => Modifiers::GLC,
        "slc" | "nt" => Modifiers::SLC,
        "scc" | "sc1" => Modifiers::SCC,
        "offen" => Modifiers::OFFEN,
        "idxen" => Modifiers::IDXEN,
        "lds" => Modifiers::LDS,
        "gds" => Modifiers::GDS,
        "cbsz" => Modifiers::CBSZ,
        "abid" => Modifiers::ABID,
        "blgp" => Modifiers::BLGP,
        "bitop3" => Modifiers::BITOP3,
        _ => return None,
    })
}

fn source_mods(cell: &str) -> Result<(u8, u8, u8), &'static str> {
    let mut out = (0, 0, 0);
    for part in cell.split(" ; ").filter(|p| !p.is_empty()) {
        let (name, mods) = part.split_once('=').ok_or("bad source modifier")?;
        let source: u8 = name.strip_prefix("src").and_then(|n| n.parse().ok()).ok_or("bad source name")?;
        for modifier in mods.split('+') {
            match modifier {
                "neg" => out.0 |= 1 << source,
                "abs" => out.1 |= 1 << source,
                "sext" => out.2 |= 1 << source,
                _ => return Err("unknown source modifier"),
            }
        }
    }
    Ok(out)
}

fn bytes_moved(cell: &str) -> Result<MemBytes, &'static str> {
    if cell.is_empty() {
        return Ok(MemBytes::None);
    }
    let (kind, digits) = match cell.strip_prefix("fmt:") {
        Some(digits) => (MemBytes::FormatComponents as fn(u8) -> MemBytes, digits),
        None => (MemBytes::Bytes as fn(u8) -> MemBytes, cell),
    };
    digits.parse().map(kind).map_err(|_| "bad memory bytes")
}
