//! Creates a [`Unit`] from an object.

use std::collections::HashMap;

use super::build::Builder;
use super::functions::Start;
use super::image::{Links, Target};
use super::{CodeError, CodePlace, KernelFacts, MetadataFacts, Unit, Unreadable, tell_barriers};
use crate::disasm::{CodeSection, Content, disassemble};
use crate::object::{Binding, CodeObject, RelocationKind, RelocationRow, SymbolKind, SymbolPlace};

pub(super) fn unit(object: &CodeObject<'_>) -> Result<Unit, CodeError> {
    let disassembly = disassemble(object);
    let mut starts: HashMap<usize, Vec<Start>> = HashMap::new();
    let offset_of = |section: usize, address: u64| {
        object.sections.get(section).and_then(|s| address.checked_sub(s.address))
    };
    for kernel in object.kernels.iter().filter(|k| !k.code.is_empty()) {
        if let Some(section) = kernel.section
            && let Some(offset) = offset_of(section, kernel.address)
        {
            let target = object.target_id.target;
            let start = Start::kernel(target, offset, kernel.name, &kernel.descriptor);
            starts.entry(section).or_default().push(start);
        }
    }
    for symbol in object.symbols.iter().filter(|s| s.kind == SymbolKind::Function) {
        if let Some(section) = symbol.section
            && let Some(offset) = offset_of(section, symbol.address)
        {
            let start = Start::function(offset, symbol.size, symbol.name);
            starts.entry(section).or_default().push(start);
        }
    }
    let mut sections = Vec::with_capacity(disassembly.sections.len());
    let mut numbers = HashMap::new();
    for code in disassembly.sections.iter().filter(|s| !s.bytes.is_empty()) {
        numbers.insert(code.number, sections.len());
        sections.push(section(object, code, starts.remove(&code.number).unwrap_or_default())?);
    }
    let kernels = object.kernels.iter().map(|kernel| {
        let section = kernel.section.filter(|_| !kernel.code.is_empty());
        let place = section.and_then(|s| Some((*numbers.get(&s)?, offset_of(s, kernel.address)?)));
        KernelFacts {
            name: kernel.name.to_owned(),
            descriptor: kernel.descriptor,
            metadata: kernel.metadata.clone(),
            entry: place.and_then(|(s, offset)| {
                Some((s, sections.get(s).and_then(|c: &super::Code| c.line_at(offset))?))
            }),
        }
    });
    let kernels: Vec<_> = kernels.collect();
    tell_barriers(&mut sections, &kernels, object.target_id.target);
    Ok(Unit {
        target_id: object.target_id,
        sections,
        kernels,
        abi_version: object.abi_version,
        metadata: object.metadata.as_ref().map(MetadataFacts::of),
        files: Vec::new(),
        origins: Vec::new(),
    })
}

fn section(
    object: &CodeObject<'_>,
    code: &CodeSection<'_>,
    starts: Vec<Start>,
) -> Result<super::Code, CodeError> {
    let relocated = relocated_branches(object, code.number);
    let mut builder = Builder::new(code.name, code.address, code.bytes)?;
    for item in code.items() {
        let offset = item.address.wrapping_sub(code.address);
        let end = item.end();
        let why = match item.content {
            Content::Inst(inst) | Content::Unprintable(inst) => {
                let leads_to = match relocated.get(&offset) {
                    Some(to) => *to,
                    None => CodeSection::destination(end, &inst).map(|to| to.wrapping_sub(code.address)),
                };
                let place = CodePlace {
                    offset,
                    length: item.bytes.len() as u8,
                    line: None,
                    origin: None,
                    location: None,
                };
                builder.inst(place, inst, leads_to);
                continue;
            }
            Content::Undecodable(fault) => Unreadable::Undecodable(fault),
            Content::Data => Unreadable::Data,
        };
        builder.unread(offset, item.bytes.len() as u64, why);
    }
    let labels: HashMap<u64, &str> =
        code.labels().map(|(at, name)| (at.wrapping_sub(code.address), name)).collect();
    let links = links(object, code);
    Ok(builder.finish(object.target_id.target, starts, |offset| labels.get(&offset).copied(), &links))
}

/// For an unlinked object: the branches that the linker fills in, each with the offset of its target if that is in the
/// section.
fn relocated_branches(object: &CodeObject<'_>, section: usize) -> HashMap<u64, Option<u64>> {
    let branches = object.relocations_of(section).filter(|r| r.kind == RelocationKind::Rel16.number());
    branches.map(|r| (r.offset, destination(object, section, &r))).collect()
}

fn destination(object: &CodeObject<'_>, section: usize, relocation: &RelocationRow) -> Option<u64> {
    let symbol = relocation.symbol(object)?;
    (symbol.section == Some(section)).then(|| symbol.address.wrapping_add_signed(relocation.addend))
}

/// The values that a linker or loader fills in, in the section itself and in the global offset table.
fn links(object: &CodeObject<'_>, code: &CodeSection<'_>) -> Links {
    let mut links = Links::default();
    let here = |address: u64| Target::Here(address.wrapping_sub(code.address) as i64);
    let symbol = |row: &RelocationRow| match row.symbol(object) {
        // A definition in another file may replace that of a weak symbol.
        Some(s) if object.is_relocatable && s.binding == Binding::Weak => Target::Unknown,
        Some(s) if s.section == Some(code.number) => here(s.address),
        Some(s) if s.section.is_some() || s.place == SymbolPlace::Undefined => Target::Outside(row.symbol),
        _ => Target::Unknown,
    };
    if object.is_relocatable {
        for row in object.relocations_of(code.number) {
            if let Some(kind) = RelocationKind::from_number(row.kind) {
                links.relocation(row.offset, kind, row.symbol, symbol(&row), row.addend);
            }
        }
        return links;
    }
    for row in object.dynamic_relocations() {
        let place = row.offset.wrapping_sub(code.address) as i64;
        let target = match row.kind {
            RelocationKind::RELATIVE64 => here(row.addend as u64),
            kind if kind == RelocationKind::Abs64.number() => match object.dynamic_symbol(row.symbol) {
                Some(symbol) => symbol.address.map_or(Target::Outside(row.symbol), |address| {
                    here(address.wrapping_add_signed(row.addend))
                }),
                None => Target::Unknown,
            },
            _ => Target::Unknown,
        };
        links.pointer(place, target);
    }
    links
}
