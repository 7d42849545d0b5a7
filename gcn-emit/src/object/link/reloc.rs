//! Relocations: decides for each whether the linker writes the value or the loader must write it.

use object::elf;

use super::super::{
    Binding, LinkFault, LinkPlace, ObjectError, Relocation, RelocationBase, RelocationKind, Section,
    SectionId,
};
use super::input::{Home, Inputs};
use super::symbol::{Place, Symbols, check_inside};

/// How a relocation is resolved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Action {
    /// The linker writes the final value.
    Write,
    /// The loader adds the address at which the object is loaded (`R_AMDGPU_RELATIVE64`).
    Relative,
    /// The loader looks up the symbol (`R_AMDGPU_ABS64`).
    LookUp,
}

/// A place that the loader fills in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loaded {
    /// A section of the module and an offset in it, or an entry of the global offset table.
    pub(super) at: At,
    pub(super) base: RelocationBase,
    pub(super) addend: i64,
    /// True for [`Action::LookUp`], false for [`Action::Relative`].
    pub(super) looks_up: bool,
}

/// The position at which the loader writes.
#[derive(Clone, Copy, Debug)]
pub(super) enum At {
    Section(usize, u64),
    Got(u32),
}

/// The tables and entries that all relocations together require.
#[derive(Default)]
pub(super) struct Needs {
    pub(super) loaded: Vec<Loaded>,
    /// The symbols that need an entry in the global offset table, in order.
    pub(super) got: Vec<usize>,
}

/// The base of a value.
#[derive(Clone, Copy)]
struct Base {
    is_preemptible: bool,
    /// True if the value does not depend on the load address: a number, or an undefined weak symbol.
    is_number: bool,
    is_undefined: bool,
}

/// The kinds of relocations, by the formula that computes their value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// S + A.
    Address,
    /// S + A - P.
    Distance,
    /// G + GOT + A - P.
    Got,
}

pub(super) fn class(kind: RelocationKind) -> Class {
    use RelocationKind as K;
    match kind {
        K::Abs32Lo | K::Abs32Hi | K::Abs64 | K::Abs32 => Class::Address,
        K::Rel32 | K::Rel64 | K::Rel32Lo | K::Rel32Hi | K::Rel16 => Class::Distance,
        K::GotPcRel | K::GotPcRel32Lo | K::GotPcRel32Hi => Class::Got,
    }
}

/// The error of a relocation.
pub(super) fn fault(
    inputs: &Inputs<'_>,
    section: usize,
    reloc: &Relocation,
    fault: LinkFault,
) -> ObjectError {
    let module = inputs.sources.module;
    let symbol = match reloc.base {
        RelocationBase::Symbol(id) => module.symbols.get(id.0 as usize).map(|s| s.name.clone()),
        RelocationBase::Section(id) => module.sections.get(id.0 as usize).map(|s| s.name.clone()),
    };
    let section_name = module.sections.get(section).map_or_else(String::new, |s| s.name.clone());
    let section = u32::try_from(section).ok().map(SectionId);
    let symbol = symbol.unwrap_or_default();
    ObjectError::Link {
        place: LinkPlace { section, section_name, offset: Some(reloc.offset), symbol },
        fault,
    }
}

/// Examines every relocation of every section that is in the output.
pub(super) fn scan(inputs: &Inputs<'_>, symbols: &mut Symbols<'_>) -> Result<Needs, ObjectError> {
    let mut needs = Needs::default();
    let mut wants_got = vec![false; symbols.list.len()];
    for (index, section) in inputs.sources.module.sections.iter().enumerate() {
        if inputs.homes[index] == Home::Dropped {
            continue;
        }
        for reloc in &section.relocations {
            let failed = |f| fault(inputs, index, reloc, f);
            check_place(section, reloc).map_err(failed)?;
            check_base(inputs, reloc)?;
            let action = action(section, reloc, inputs, symbols).map_err(failed)?;
            if let (Class::Got, RelocationBase::Symbol(id)) = (class(reloc.kind), reloc.base) {
                wants_got[id.0 as usize] = true;
            }
            if action != Action::Write {
                let looks_up = action == Action::LookUp;
                let at = At::Section(index, reloc.offset);
                needs.loaded.push(Loaded { at, base: reloc.base, addend: reloc.addend, looks_up });
            }
        }
    }
    add_got(&mut needs, &wants_got, symbols);
    Ok(needs)
}

/// Adds the entries of the global offset table: first those of global symbols, then those of local ones.
fn add_got(needs: &mut Needs, wants_got: &[bool], symbols: &mut Symbols<'_>) {
    let is_local = |i: &usize| symbols.module[*i].binding == Binding::Local;
    let wanted = || (0..wants_got.len()).filter(|i| wants_got[*i]);
    needs.got = wanted().filter(|i| !is_local(i)).chain(wanted().filter(is_local)).collect();
    for (entry, &symbol) in (0..).zip(&needs.got) {
        let linked = &mut symbols.list[symbol];
        linked.got = Some(entry);
        let is_number = is_number(linked.place);
        if linked.is_preemptible || !is_number {
            let base = RelocationBase::Symbol(super::super::SymbolId(symbol as u32));
            let looks_up = linked.is_preemptible;
            needs.loaded.push(Loaded { at: At::Got(entry), base, addend: 0, looks_up });
        }
    }
}

fn is_number(place: Place) -> bool {
    matches!(place, Place::Number(_) | Place::Undefined)
}

fn check_place(section: &Section, reloc: &Relocation) -> Result<(), LinkFault> {
    let end = reloc.offset.checked_add(reloc.kind.width());
    if end.is_some_and(|end| end <= section.bytes.len() as u64) {
        return Ok(());
    }
    Err(LinkFault::Outside { what: "a relocation", at: reloc.offset, size: section.bytes.len() as u64 })
}

/// Checks that a base in a merged section is at one of the bytes of that section.
fn check_base(inputs: &Inputs<'_>, reloc: &Relocation) -> Result<(), ObjectError> {
    if let RelocationBase::Section(id) = reloc.base
        && let Some(Home::Merged { .. }) = inputs.homes.get(id.0 as usize)
    {
        return check_inside(inputs, id.0 as usize, reloc.addend as u64);
    }
    Ok(())
}

fn base(reloc: &Relocation, inputs: &Inputs<'_>, symbols: &Symbols<'_>) -> Result<Base, LinkFault> {
    match reloc.base {
        RelocationBase::Section(id) if id.0 as usize >= inputs.sources.module.sections.len() => {
            Err(LinkFault::Missing { what: "section", number: id.0 })
        }
        RelocationBase::Section(id) => match inputs.homes.get(id.0 as usize) {
            Some(Home::Dropped) => Err(LinkFault::Unsupported {
                what: "the section that it refers to is not part of a code object",
                remedy: "refer to another one",
            }),
            Some(_) => Ok(Base { is_preemptible: false, is_number: false, is_undefined: false }),
            None => Err(LinkFault::Missing { what: "section", number: id.0 }),
        },
        RelocationBase::Symbol(id) => {
            let index = id.0 as usize;
            let missing = LinkFault::Missing { what: "symbol", number: id.0 };
            let (Some(linked), Some(symbol)) = (symbols.list.get(index), symbols.module.get(index)) else {
                return Err(missing);
            };
            let is_undefined = linked.place == Place::Undefined;
            if is_undefined && !linked.is_preemptible && symbol.binding != Binding::Weak {
                return Err(LinkFault::UndefinedHidden);
            }
            if matches!(linked.place, Place::Lds(_)) {
                return Err(LinkFault::LdsAddress);
            }
            let is_number = is_number(linked.place);
            Ok(Base { is_preemptible: linked.is_preemptible, is_number, is_undefined })
        }
    }
}

/// How a relocation is resolved.
pub(super) fn action(
    section: &Section,
    reloc: &Relocation,
    inputs: &Inputs<'_>,
    symbols: &Symbols<'_>,
) -> Result<Action, LinkFault> {
    let base = base(reloc, inputs, symbols)?;
    let has = |flag: u32| section.flags & u64::from(flag) != 0;
    let kind = reloc.kind.name();
    match class(reloc.kind) {
        Class::Got if !has(elf::SHF_ALLOC) || matches!(reloc.base, RelocationBase::Section(_)) => {
            Err(LinkFault::Unsupported {
                what: "only loaded code refers to the global offset table, and only for a symbol",
                remedy: "name a symbol, or use `@rel32@lo` and `@rel32@hi`",
            })
        }
        _ if !has(elf::SHF_ALLOC) => Ok(Action::Write),
        Class::Got => Ok(Action::Write),
        Class::Distance if base.is_preemptible && base.is_undefined => Err(LinkFault::Undefined { kind }),
        Class::Distance if base.is_preemptible => Err(LinkFault::Preemptible { kind }),
        Class::Distance if base.is_number && !base.is_undefined => Err(LinkFault::DistanceToNumber { kind }),
        Class::Distance => Ok(Action::Write),
        Class::Address if base.is_number && !base.is_preemptible => Ok(Action::Write),
        Class::Address if reloc.kind == RelocationKind::Abs64 && has(elf::SHF_WRITE) => {
            Ok(if base.is_preemptible { Action::LookUp } else { Action::Relative })
        }
        Class::Address => Err(LinkFault::NotLoadable { kind }),
    }
}
