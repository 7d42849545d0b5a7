//! How exact a run's results are: the fidelity of each executed opcode.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gcn_isa::Inst;
use gcn_sim::{Fidelity, Grade, Machine, fidelity};
use serde_json::{Value, json};

/// An executed instruction: byte offset, execution count, instruction.
type Executed<'e> = (u32, u64, &'e Inst);

/// The executed opcodes with their execution counts.
fn opcodes<'e>(machine: &Machine, executed: impl Iterator<Item = Executed<'e>>) -> Vec<(Fidelity, u64)> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for (_, count, inst) in executed {
        *counts.entry(inst.desc.mnemonic).or_default() += count;
    }
    let known = fidelity(counts.keys().copied(), machine.target(), machine.matrix());
    known.into_iter().map(|f| (f, counts.get(f.mnemonic).copied().unwrap_or(0))).collect()
}

/// The opcodes as a table.
pub fn text<'e>(machine: &Machine, executed: impl Iterator<Item = Executed<'e>>) -> String {
    let rows = opcodes(machine, executed);
    let of = |grade: Grade| rows.iter().filter(|(f, _)| f.grade == grade).count();
    let mut out = format!(
        "fidelity: {} opcodes, {} exact, {} with an assumption, {} approximate\n",
        rows.len(),
        of(Grade::Exact),
        of(Grade::Assumed),
        of(Grade::Approximate)
    );
    for (f, count) in &rows {
        let _ = write!(out, "  {count:>12} {:<28} {:<12} {}", f.mnemonic, f.grade.name(), f.witness);
        let _ = if f.note.is_empty() { writeln!(out) } else { writeln!(out, "; {}", f.note) };
    }
    out
}

/// The opcodes as JSON.
pub fn json<'e>(machine: &Machine, executed: impl Iterator<Item = Executed<'e>>) -> Value {
    let row = |(f, count): (Fidelity, u64)| json!({ "opcode": f.mnemonic, "count": count, "grade": f.grade.name(), "witness": f.witness, "note": f.note });
    opcodes(machine, executed).into_iter().map(row).collect()
}
