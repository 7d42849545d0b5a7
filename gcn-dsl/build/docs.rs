//! Generates the documentation of a function from its rows in the instruction table.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use gcn_isa::counters::events;
use gcn_isa::table::{Access, Behaviours, ImplicitRegs, InstDesc, Modifiers, OperandKinds};
use gcn_isa::{Inst, Target};

use crate::excluded::EXCLUDED;
use crate::functions::{Form, Function, ParamKind};

/// The doc comment of one form of `f`.
pub fn of(f: &Function, form: Form) -> String {
    let lines = match form {
        Form::Short => full(f),
        Form::With => vec![format!("[`{}`] with modifiers: {}.", f.name, modifiers(&f.rows).join(", "))],
    };
    let mut lines = lines;
    if f.params_of(form).iter().any(|p| matches!(p.kind, ParamKind::Old(_))) {
        lines.push(String::new());
        lines.push(
            "`old` is what the destination holds where it is not written; it is not read where all of it is written."
                .into(),
        );
    }
    lines.iter().fold(String::new(), |mut out, line| {
        let _ = writeln!(out, "///{}{line}", if line.is_empty() { "" } else { " " });
        out
    })
}

fn full(f: &Function) -> Vec<String> {
    let Some(row) = f.rows.first() else { return Vec::new() };
    let mut lines =
        vec![format!("`{}`: class {}{}.", f.mnemonic, row.class.name(), passes(&f.rows)), String::new()];
    lines.push(format!("- Operands: {}.", operands(f)));
    let implicit = implicit(&f.rows);
    if !implicit.is_empty() {
        lines.push(format!("- Implicit registers: {}.", implicit.join(", ")));
    }
    lines.push(format!("- Targets: {}.", targets(&f.rows)));
    lines.push(format!("- Encodings: {}.", encodings(&f.rows)));
    lines.push(format!("- Counters: {}.", counters(&f.rows)));
    let modifiers = modifiers(&f.rows);
    if !modifiers.is_empty() && !f.has_with {
        lines.push(format!("- Modifiers: {}.", modifiers.join(", ")));
    }
    if f.rows.iter().any(|row| row.is_vmem() || row.is_ds())
        && f.rows[0].does(Behaviours::KEEPS_PART)
        && f.params.iter().any(|p| p.tied)
    {
        lines.push(
            "- The other half of the destination keeps its value; where SRAM-ECC is on, as it always is on gfx90a and later, \
             it becomes zero."
                .into(),
        );
    }
    let range = f.rows.iter().find_map(|row| row.offset_range);
    if let (Some((lo, hi)), true) = (range, f.params.iter().any(|p| p.kind == ParamKind::Offset)) {
        lines.push(format!("- `offset`: {lo} to {hi} bytes."));
    }
    lines
}

fn passes(rows: &[&'static InstDesc]) -> String {
    let each: Vec<String> = Target::KNOWN
        .into_iter()
        .filter_map(|t| {
            let row = rows.iter().find(|row| row.targets.contains(t))?;
            row.passes(t).map(|n| format!("{n} on {t}"))
        })
        .collect();
    if each.is_empty() { String::new() } else { format!(", matrix passes: {}", each.join(", ")) }
}

fn operands(f: &Function) -> String {
    let Some(row) = f.rows.first() else { return String::new() };
    let list: Vec<String> = row
        .operands
        .iter()
        .filter(|o| o.kinds != OperandKinds::OFF)
        .map(|o| {
            let access = match o.access {
                Access::Read => "read",
                Access::Write => "written",
                Access::ReadWrite => "read and written",
            };
            match o.dwords {
                0 => format!("`{}` (immediate)", o.name),
                1 => format!("`{}` ({access}, 1 dword)", o.name),
                n => format!("`{}` ({access}, {n} dwords)", o.name),
            }
        })
        .collect();
    if list.is_empty() { "none".into() } else { list.join(", ") }
}

fn implicit(rows: &[&'static InstDesc]) -> Vec<String> {
    let named = [
        (ImplicitRegs::EXEC, "EXEC"),
        (ImplicitRegs::VCC, "VCC"),
        (ImplicitRegs::SCC, "SCC"),
        (ImplicitRegs::M0, "M0"),
        (ImplicitRegs::FLAT_SCRATCH, "FLAT_SCRATCH"),
        (ImplicitRegs::MODE, "MODE"),
    ];
    let union =
        |get: fn(&InstDesc) -> ImplicitRegs| rows.iter().fold(ImplicitRegs::empty(), |s, r| s | get(r));
    let (read, written) = (union(|r| r.implicit_reads), union(|r| r.implicit_writes));
    named
        .into_iter()
        .filter_map(|(reg, name)| {
            let how = match (read.contains(reg), written.contains(reg)) {
                (true, true) => "read and written",
                (true, false) => "read",
                (false, true) => "written",
                (false, false) => return None,
            };
            Some(format!("{name} ({how})"))
        })
        .collect()
}

fn targets(rows: &[&'static InstDesc]) -> String {
    let names: Vec<&str> = Target::KNOWN
        .into_iter()
        .filter(|t| rows.iter().any(|row| row.targets.contains(*t)))
        .map(Target::name)
        .collect();
    names.join(", ")
}

fn encodings(rows: &[&'static InstDesc]) -> String {
    let names = rows.iter().map(|row| {
        let name = row.format.name();
        if row.form.is_empty() { name.to_owned() } else { format!("{name} {}", row.form) }
    });
    names.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
}

fn counters(rows: &[&'static InstDesc]) -> String {
    let mut moved: BTreeSet<&str> = BTreeSet::new();
    for row in rows {
        let Some(target) = row.targets.targets().next() else { continue };
        let set = target.instruction_set();
        // Which counters the instruction increments follows from the class and the modifiers that the form requires.
        let inst = Inst::new(row, []);
        moved.extend(events(target, &inst).iter().map(|event| event.stream.counter(set).name(set)));
    }
    if moved.is_empty() { "none".into() } else { moved.into_iter().collect::<Vec<_>>().join(", ") }
}

/// The names of the modifiers that a caller may set.
fn modifiers(rows: &[&'static InstDesc]) -> Vec<String> {
    let hidden = Modifiers::OFFEN | Modifiers::IDXEN | Modifiers::LDS | Modifiers::OFFSET | Modifiers::NEG;
    let hidden = hidden | Modifiers::OFFSET0 | Modifiers::OFFSET1 | Modifiers::BITOP3;
    let set = rows.iter().fold(Modifiers::empty(), |set, row| set | (row.modifiers - row.required));
    (set - hidden).iter_names().map(|(name, _)| format!("`{}`", name.to_lowercase())).collect()
}

/// A table of the instructions without functions.
pub fn excluded() -> String {
    let mut out = String::from("| instructions | why not | instead |\n|---|---|---|\n");
    for group in EXCLUDED {
        let names: Vec<String> = group.mnemonics().iter().map(|m| format!("`{m}`")).collect();
        let _ = writeln!(out, "| {} | {} | {} |", names.join(" "), group.reason, group.instead);
    }
    out
}
