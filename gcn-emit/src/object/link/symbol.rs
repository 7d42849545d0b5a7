//! Symbols in the linked object: their addresses, whether other objects may replace their definitions, and the tables that contain them.

use std::collections::HashMap;

use super::super::{Binding, LinkFault, ObjectError, Symbol, SymbolKind, SymbolPlace, Visibility};
use super::input::{Home, Inputs};
use super::output::{Made, Output};
use super::strings::Strings;
use super::{section_fault, symbol_fault};

/// Where a symbol is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Undefined,
    Number(u64),
    /// A byte of an input section.
    Section {
        section: usize,
        offset: u64,
    },
    Common {
        output: usize,
        part: usize,
    },
    /// The start of an output section.
    Start(usize),
    /// The end of an output section.
    Stop(usize),
    /// An LDS symbol; the number is its alignment.
    Lds(u64),
}

/// A symbol of the linked object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Linked {
    pub(super) place: Place,
    pub(super) visibility: Visibility,
    pub(super) binding: Binding,
    /// True if another code object may define the symbol instead.
    pub(super) is_preemptible: bool,
    /// True if the symbol is in the dynamic symbol table.
    pub(super) is_exported: bool,
    /// The symbol's number in the dynamic symbol table; 0 if it is not there.
    pub(super) dynamic_index: u32,
    /// The symbol's index in the global offset table, if it has an entry.
    pub(super) got: Option<u32>,
    /// True if the symbol's section is not part of the output.
    is_dropped: bool,
}

/// A row of `.symtab`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Row {
    /// A symbol of the module.
    Module(usize),
    /// `_DYNAMIC`.
    Dynamic,
}

/// All symbols.
pub(super) struct Symbols<'m> {
    pub(super) module: &'m [Symbol],
    pub(super) list: Vec<Linked>,
    /// `.symtab` without its null row, with the offsets of names.
    pub(super) rows: Vec<(Row, u32)>,
    /// The number of local rows.
    pub(super) locals: usize,
    pub(super) names: Strings,
}

/// Determines the properties of every symbol.
pub(super) fn resolve<'m>(inputs: &Inputs<'m>) -> Result<Symbols<'m>, ObjectError> {
    let module = inputs.sources.module;
    check_names(&module.symbols)?;
    let outputs: OutputNames<'_> = inputs.outputs.iter().enumerate().map(|(i, o)| (&*o.name, i)).collect();
    let linked = |(index, symbol)| linked(inputs, &outputs, index, symbol);
    let list: Vec<_> = module.symbols.iter().enumerate().map(linked).collect::<Result<_, _>>()?;
    let (rows, locals, names) = rows(inputs, &list);
    Ok(Symbols { module: &module.symbols, list, rows, locals, names })
}

/// The output sections by name.
type OutputNames<'a> = HashMap<&'a str, usize>;

/// Names of symbols that only a linker script defines.
const RESERVED: [&str; 12] = [
    "_DYNAMIC",
    "_GLOBAL_OFFSET_TABLE_",
    "__bss_start",
    "__dso_handle",
    "__ehdr_start",
    "__executable_start",
    "_edata",
    "_end",
    "_etext",
    "edata",
    "end",
    "etext",
];

fn check_names(symbols: &[Symbol]) -> Result<(), ObjectError> {
    let mut known: HashMap<&str, ()> = HashMap::with_capacity(symbols.len());
    for symbol in symbols.iter().filter(|s| s.binding != Binding::Local) {
        let fault = |fault| Err(symbol_fault(&symbol.name, fault));
        if known.insert(&symbol.name, ()).is_some() {
            return fault(LinkFault::DuplicateSymbol);
        }
        if RESERVED.contains(&&*symbol.name) && symbol.place == SymbolPlace::Undefined {
            return fault(LinkFault::ReservedSymbol);
        }
    }
    Ok(())
}

fn linked(
    inputs: &Inputs<'_>,
    outputs: &OutputNames<'_>,
    index: usize,
    symbol: &Symbol,
) -> Result<Linked, ObjectError> {
    let mut place = place(inputs, outputs, index, symbol)?;
    let is_dropped =
        matches!(place, Place::Section { section, .. } if inputs.homes[section] == Home::Dropped);
    if is_dropped {
        place = Place::Undefined;
    }
    let (mut binding, mut visibility) = (symbol.binding, symbol.visibility);
    if matches!(place, Place::Start(_) | Place::Stop(_)) {
        binding = Binding::Global;
        if visibility == Visibility::Default {
            visibility = Visibility::Protected;
        }
    }
    if matches!(visibility, Visibility::Hidden | Visibility::Internal) {
        binding = Binding::Local;
    }
    let is_global = binding != Binding::Local;
    let is_preemptible = is_global && visibility == Visibility::Default;
    let is_exported = is_preemptible || is_global && place != Place::Undefined;
    Ok(Linked {
        place,
        visibility,
        binding,
        is_preemptible,
        is_exported,
        dynamic_index: 0,
        got: None,
        is_dropped,
    })
}

fn place(
    inputs: &Inputs<'_>,
    outputs: &OutputNames<'_>,
    index: usize,
    symbol: &Symbol,
) -> Result<Place, ObjectError> {
    Ok(match symbol.place {
        SymbolPlace::Undefined => bounds(outputs, &symbol.name).unwrap_or(Place::Undefined),
        SymbolPlace::Absolute => Place::Number(symbol.value),
        SymbolPlace::Lds => Place::Lds(symbol.value),
        SymbolPlace::Common => match inputs.commons.get(&index) {
            Some(&(output, part)) => Place::Common { output, part },
            None => Place::Undefined,
        },
        SymbolPlace::Section(id) => {
            let section = id.0 as usize;
            if section >= inputs.sources.module.sections.len() {
                let fault = LinkFault::Missing { what: "section", number: id.0 };
                return Err(symbol_fault(&symbol.name, fault));
            }
            if matches!(inputs.homes[section], Home::Merged { .. }) {
                check_inside(inputs, section, symbol.value)?;
            }
            Place::Section { section, offset: symbol.value }
        }
    })
}

/// Checks that a position is inside its mergeable section: a position outside of it has no counterpart in the merged section.
pub(super) fn check_inside(inputs: &Inputs<'_>, section: usize, at: u64) -> Result<(), ObjectError> {
    let size = inputs.sources.get(section).map_or(0, |s| s.bytes.len() as u64);
    if at < size {
        return Ok(());
    }
    let fault = LinkFault::Outside { what: "a mergeable text or constant", at, size };
    Err(section_fault(inputs.sources.module, section, None, fault))
}

/// The symbol's place if it is `__start_NAME` or `__stop_NAME`, which denote the ends of the section NAME, and NAME is a C identifier;
/// otherwise `None`.
fn bounds(outputs: &OutputNames<'_>, symbol: &str) -> Option<Place> {
    let (name, is_start) = match symbol.strip_prefix("__start_") {
        Some(name) => (name, true),
        None => (symbol.strip_prefix("__stop_")?, false),
    };
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_identifier = name.chars().all(is_word) && !name.starts_with(|c: char| c.is_ascii_digit());
    let output = *outputs.get(name).filter(|_| is_identifier)?;
    Some(if is_start { Place::Start(output) } else { Place::Stop(output) })
}

/// The rows of `.symtab`: the module's local symbols, those that became local, `_DYNAMIC`, and the rest. In `.strtab`, names are in the
/// module's order.
fn rows(inputs: &Inputs<'_>, list: &[Linked]) -> (Vec<(Row, u32)>, usize, Strings) {
    let mut names = Strings::repeating();
    let (mut locals, mut globals) = (Vec::new(), Vec::new());
    let symbols = &inputs.sources.module.symbols;
    let numbered = || symbols.iter().zip(list).enumerate();
    for (index, (symbol, linked)) in numbered().filter(|s| s.1.0.binding == Binding::Local) {
        if keeps_local(inputs, symbol, linked) {
            locals.push((Row::Module(index), names.add(&symbol.name)));
        }
    }
    for (index, (symbol, linked)) in numbered().filter(|s| s.1.0.binding != Binding::Local) {
        let list = if linked.binding == Binding::Local { &mut locals } else { &mut globals };
        list.push((Row::Module(index), names.add(&symbol.name)));
    }
    locals.push((Row::Dynamic, names.add("_DYNAMIC")));
    let count = locals.len();
    locals.extend(globals);
    (locals, count, names)
}

/// True for local symbols of the module that are kept in `.symtab`.
fn keeps_local(inputs: &Inputs<'_>, symbol: &Symbol, linked: &Linked) -> bool {
    if symbol.kind == SymbolKind::Section || linked.is_dropped || linked.place == Place::Undefined {
        return false;
    }
    let is_temporary = symbol.name.starts_with(".L");
    let is_merged = match linked.place {
        Place::Section { section, .. } => {
            let flags = inputs.sources.get(section).map_or(0, |s| s.flags);
            flags & u64::from(object::elf::SHF_MERGE) != 0
        }
        _ => false,
    };
    !(is_temporary && is_merged)
}

impl Symbols<'_> {
    /// The address or number of a symbol after layout; 0 for an undefined symbol.
    pub(super) fn value(&self, inputs: &Inputs<'_>, index: usize) -> u64 {
        let Some(linked) = self.list.get(index) else { return 0 };
        let at = |output: usize, offset: u64| {
            inputs.outputs.get(output).map_or(0, |o| o.address.wrapping_add(offset))
        };
        match linked.place {
            Place::Undefined => 0,
            Place::Number(value) | Place::Lds(value) => value,
            Place::Section { section, offset } => {
                inputs.locate(section, offset).map_or(0, |(output, offset)| at(output, offset))
            }
            Place::Common { output, part } => {
                let offset =
                    inputs.outputs.get(output).and_then(|o| o.parts.get(part)).map_or(0, |p| p.offset);
                at(output, offset)
            }
            Place::Start(output) => at(output, 0),
            Place::Stop(output) => at(output, inputs.outputs.get(output).map_or(0, |o| o.size)),
        }
    }

    /// `st_shndx` of a symbol.
    pub(super) fn section_index(&self, inputs: &Inputs<'_>, index: usize) -> u16 {
        use object::elf::{SHN_ABS, SHN_UNDEF};
        let Some(linked) = self.list.get(index) else { return SHN_UNDEF };
        let output = match linked.place {
            Place::Undefined => return SHN_UNDEF,
            Place::Number(_) | Place::Lds(_) => return SHN_ABS,
            Place::Section { section, .. } => match inputs.homes.get(section) {
                Some(Home::Part { output, .. } | Home::Merged { output, .. }) => *output,
                _ => return SHN_UNDEF,
            },
            Place::Common { output, .. } | Place::Start(output) | Place::Stop(output) => output,
        };
        inputs.outputs.get(output).map_or(SHN_UNDEF, |o| o.index as u16)
    }
}

/// The output section that the linker created as `which`, if it is in the file.
pub(super) fn made<'a, 'm>(outputs: &'a [Output<'m>], which: Made) -> Option<&'a Output<'m>> {
    outputs.iter().find(|o| o.made() == Some(which))
}
