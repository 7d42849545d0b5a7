//! Tests the assembler with whole files.

mod cases;
pub mod corpus;
mod errors;
mod macros;
mod random;

use gcn_emit::object::{Binding, Module, RelocationBase, SymbolKind, SymbolPlace};

/// Sections that only affect how linkers order sections.
const NOT_COMPARED: [&str; 1] = [".llvm_addrsig"];

/// A description of a module as linkers and loaders see it: a line for each section, relocation and symbol.
pub fn describe(module: &Module) -> Vec<String> {
    let mut lines = vec![format!("{} version {}", module.target_id, module.version.number())];
    let section = |id: gcn_emit::object::SectionId| module.sections[id.0 as usize].name.as_str();
    for s in module.sections.iter().filter(|s| !NOT_COMPARED.contains(&s.name.as_str())) {
        let hash = twox_hash::XxHash3_64::oneshot(&s.bytes);
        lines.push(format!(
            "section {} kind {:#x} flags {:#x} align {} entry {} size {:#x} content {hash:016x}",
            s.name, s.kind, s.flags, s.align, s.entry_size, s.size
        ));
        for r in &s.relocations {
            let base = match r.base {
                RelocationBase::Symbol(id) => module.symbols[id.0 as usize].name.as_str(),
                RelocationBase::Section(id) => section(id),
            };
            lines.push(format!("  {:#x} {} {base} {:+#x}", r.offset, r.kind.name(), r.addend));
        }
    }
    // A linker moves local symbols to the front, and otherwise keeps their order.
    for local in [true, false] {
        let symbols = module.symbols.iter().filter(|s| (s.binding == Binding::Local) == local);
        for s in symbols.filter(|s| s.kind != SymbolKind::File) {
            let place = match s.place {
                SymbolPlace::Section(id) => section(id).to_owned(),
                place => format!("{place:?}"),
            };
            lines.push(format!(
                "symbol {} in {place} at {:#x} size {:#x} {:?} {:?} {:?}",
                s.name, s.value, s.size, s.kind, s.binding, s.visibility
            ));
        }
    }
    lines
}

/// The first line that differs: ours, and LLVM's.
pub fn first_difference<'a>(ours: &'a [String], theirs: &'a [String]) -> Option<(&'a str, &'a str)> {
    let line = |lines: &'a [String], i: usize| lines.get(i).map_or("(end)", String::as_str);
    let at = (0..ours.len().max(theirs.len())).find(|i| ours.get(*i) != theirs.get(*i))?;
    Some((line(ours, at), line(theirs, at)))
}
