//! Converts a table row to a form of the page.

use super::page::{CounterFacts, Form, ImmediateField, MemoryFacts, ModifierFacts, OperandFacts, Pipe};
use super::{constants, probe, targets_shown};
use crate::counters::{self, Event, WaitCnt};
use crate::immediate::Immediate;
use crate::inst::Inst;
use crate::mods::Modifiers;
use crate::table::{
    Access, Class, DstHalf, Format, ImplicitRegs, InstDesc, MemBytes, OperandBits, OperandDesc, OperandKinds,
    WaveSizes,
};
use crate::target::{Target, WaveSize};

/// The facts of a row, on `target` or on all of the row's targets.
pub(super) fn form(row: &'static InstDesc, target: Option<Target>) -> Form {
    let targets = targets_shown(row, target);
    let literal = OperandKinds::LITERAL | OperandKinds::LITERAL16;
    Form {
        printed: row.printed,
        format: row.format.name(),
        form: row.form,
        targets: targets.iter().map(|t| t.name()).collect(),
        waves: if row.waves == WaveSizes::of_family(row.family()) {
            Vec::new()
        } else {
            row.waves.sizes().map(WaveSize::lanes).collect()
        },
        opcode: row.opcode,
        bytes: row.bytes,
        takes_literal: row.bytes == 4 && row.operands.iter().any(|o| o.kinds.intersects(literal)),
        operands: row.operands.iter().map(|o| operand(row, o)).collect(),
        same_file: row
            .same_file
            .iter()
            .map(|pair| [pair.a, pair.b].map(|i| row.operands.get(usize::from(i)).map_or("", |o| o.name)))
            .collect(),
        implicit_reads: implicit(row.implicit_reads),
        implicit_writes: implicit(row.implicit_writes),
        modifiers: modifiers(row, targets.first().copied()),
        constant_rules: constants::rules(row),
        class: row.class.name(),
        pipe: pipe(row),
        counters: targets.first().map_or_else(Vec::new, |target| counters(row, *target)),
        address: crate::semantics::address(row),
        immediate: targets.first().map_or_else(Vec::new, |target| immediate(row, *target)),
        memory: memory(row),
        notes: notes(row),
    }
}

/// Facts that the operands do not show: the effect of the form on a part of its destination, or the assembler's interpretation of the form.
fn notes(row: &InstDesc) -> &'static str {
    match row.half {
        _ if row.has_halves() => {
            "halves of registers are written v0.l and v0.h; the other half of the destination is kept"
        }
        Some(DstHalf::Kept) => "the last bit of op_sel selects the destination half; the other half is kept",
        Some(DstHalf::Filled) => {
            "the last bit of op_sel stands for the destination half, but the result fills the register"
        }
        None if row.format.is_dpp() => {
            "vdst keeps its old value in lanes disabled by row_mask/bank_mask or reading out of range without bound_ctrl"
        }
        None if row.modifiers.contains(Modifiers::DST_UNUSED) => {
            "vdst is also read when dst_unused:UNUSED_PRESERVE"
        }
        None if matches!(row.format, Format::Mubuf | Format::Mtbuf) && row.offset_range.is_some() => {
            "llvm-mc accepts and truncates an offset that is out of range"
        }
        None => "",
    }
}

fn operand(row: &InstDesc, operand: &OperandDesc) -> OperandFacts {
    const KINDS: [(OperandKinds, &str); 11] = [
        (OperandKinds::VGPR, "VGPR"),
        (OperandKinds::HALF_VGPR, "half a VGPR"),
        (OperandKinds::AGPR, "AGPR"),
        (OperandKinds::SGPR, "SGPR"),
        (OperandKinds::SPECIAL, "special register"),
        (OperandKinds::INLINE_INT, "inline integer"),
        (OperandKinds::INLINE_FLOAT, "inline float"),
        (OperandKinds::LITERAL, "literal"),
        (OperandKinds::LITERAL16, "16-bit literal"),
        (OperandKinds::IMM, "immediate"),
        (OperandKinds::OFF, "off"),
    ];
    let kinds = operand.kinds;
    let vector = kinds.intersects(OperandKinds::VGPR | OperandKinds::AGPR);
    OperandFacts {
        name: operand.name,
        access: match operand.access {
            Access::Read => "read",
            Access::Write => "written",
            Access::ReadWrite => "read and written",
        },
        kinds: KINDS.iter().filter(|k| kinds.contains(k.0)).map(|k| k.1).collect(),
        dwords: dwords(row, operand),
        vector_alignment: if vector && operand.dwords > 1 { row.vgpr_align } else { 1 },
        scalar_alignment: match operand.dwords {
            _ if !kinds.contains(OperandKinds::SGPR) => 1,
            0 | 1 => 1,
            2 => 2,
            _ => 4,
        },
        special_registers: operand.specials.split(',').filter(|s| !s.is_empty()).collect(),
        source_modifiers: source_modifiers(row, operand.name),
    }
}

fn dwords(row: &InstDesc, operand: &OperandDesc) -> Vec<u8> {
    let chosen = row.width_by_format && matches!(operand.name, "src0" | "src1");
    match operand.dwords {
        0 => Vec::new(),
        // Elements of 8, 6 and 4 bits.
        n if chosen => vec![n, n / 4 * 3, n / 2],
        n => vec![n],
    }
}

fn source_modifiers(row: &InstDesc, name: &str) -> Vec<&'static str> {
    let source = match name {
        "src0" => 0,
        "src1" => 1,
        "src2" => 2,
        _ => return Vec::new(),
    };
    let OperandBits { neg, abs, sext, .. } = row.bits;
    let all = [(neg, "neg"), (abs, "abs"), (sext, "sext")];
    all.into_iter().filter(|(bits, _)| bits >> source & 1 == 1).map(|(_, name)| name).collect()
}

fn implicit(registers: ImplicitRegs) -> Vec<&'static str> {
    let names = [
        (ImplicitRegs::EXEC, "exec"),
        (ImplicitRegs::VCC, "vcc"),
        (ImplicitRegs::SCC, "scc"),
        (ImplicitRegs::M0, "m0"),
        (ImplicitRegs::FLAT_SCRATCH, "flat_scratch"),
        (ImplicitRegs::MODE, "mode"),
    ];
    names.into_iter().filter(|(flag, _)| registers.contains(*flag)).map(|(_, name)| name).collect()
}

fn modifiers(row: &InstDesc, target: Option<Target>) -> Vec<ModifierFacts> {
    row.modifiers
        .iter()
        // If the operands are named as halves of registers (`v5.h`), the text has no `op_sel`, except in VOP3, where `op_sel` also has bits
        // for operands that have no halves.
        .filter(|flag| *flag != Modifiers::OP_SEL || !row.has_halves() || row.is_vop3())
        .map(|flag| ModifierFacts {
            syntax: syntax(row, target, flag),
            required: row.required.contains(flag),
        })
        .collect()
}

/// The syntax of a modifier, with `<…>` for values.
fn syntax(row: &InstDesc, target: Option<Target>, flag: Modifiers) -> String {
    let bits = if flag == Modifiers::NEG { 3 } else { row.op_sel_bits().max(1).into() };
    let words = row.words(target).filter(|w| w.flag() == flag);
    let words = words.filter(|w| flag != Modifiers::DPP_CTRL || row.takes_control_of(w));
    let texts: Vec<String> = words.map(|w| w.syntax(bits, row.offset_range.unwrap_or((0, 0)))).collect();
    texts.join("|")
}

fn pipe(row: &InstDesc) -> Pipe {
    match row.class {
        Class::Trans => Pipe::Transcendental,
        _ if row.is_matrix() || row.class == Class::MfmaLdScale => Pipe::Matrix,
        _ if row.is_valu() => Pipe::VectorAlu,
        _ if row.is_smem() => Pipe::ScalarMemory,
        _ if row.is_ds() => Pipe::Lds,
        _ if row.format == Format::Flat => Pipe::Flat,
        _ if row.is_vmem() => Pipe::VectorMemory,
        _ if row.format == Format::Sopp || row.class == Class::Branch => Pipe::Control,
        _ => Pipe::ScalarAlu,
    }
}

fn counters(row: &'static InstDesc, target: Target) -> Vec<CounterFacts> {
    let plain = probe::plain(row);
    let facts = |inst: &Inst, with| -> Vec<CounterFacts> {
        counters::events(target, inst).iter().map(|event| counter(target, event, with)).collect()
    };
    let mut list = facts(&plain, None);
    if row.modifiers.contains(Modifiers::GDS) && !plain.mods.gds {
        list.extend(facts(&plain.with(|m| m.gds = true), Some("gds")));
    }
    list
}

fn immediate(row: &InstDesc, target: Target) -> Vec<ImmediateField> {
    let set = target.instruction_set();
    let notation = row.entry.immediate;
    // Where every counter has a wait instruction of its own, the fields of `s_waitcnt` stand for none.
    let waits_for_none = notation == Immediate::Counters && WaitCnt::of_immediate(set, 0) == WaitCnt::NONE;
    let fields = notation.fields(set).iter().filter(|_| !waits_for_none);
    let piece = |&(first, bits): &(u8, u8)| match bits {
        1 => format!("[{first}]"),
        _ => format!("[{}:{first}]", first + bits - 1),
    };
    fields
        .map(|f| ImmediateField { name: f.name, bits: f.pieces.iter().rev().map(piece).collect() })
        .collect()
}

fn counter(target: Target, event: &Event, with: Option<&'static str>) -> CounterFacts {
    let set = target.instruction_set();
    CounterFacts {
        counter: event.stream.counter(set).name(set),
        count: event.count,
        in_order: event.stream.in_order(),
        with,
    }
}

fn memory(row: &InstDesc) -> Option<MemoryFacts> {
    let per = if row.is_smem() { "wave" } else { "lane" };
    match row.mem_bytes {
        MemBytes::None => None,
        MemBytes::Bytes(amount) => Some(MemoryFacts { amount, unit: "bytes", per }),
        MemBytes::FormatComponents(amount) => Some(MemoryFacts { amount, unit: "components", per }),
    }
}
