//! The code of an object.

use std::collections::HashMap;

use super::build::Builder;
use super::functions::Start;
use super::{CodeError, KernelFacts, Place, Unit, Unreadable};
use crate::disasm::{CodeSection, Content, disassemble};
use crate::object::{CodeObject, RelocationKind, SymbolKind, SymbolView};

pub(super) fn unit(object: &CodeObject<'_>) -> Result<Unit, CodeError> {
    let disassembly = disassemble(object);
    let mut starts: HashMap<usize, Vec<Start>> = HashMap::new();
    let offset_of = |section: usize, address: u64| {
        object.sections.get(section).and_then(|s| address.checked_sub(s.address))
    };
    for kernel in &object.kernels {
        if let Some(section) = kernel.section
            && let Some(offset) = offset_of(section, kernel.address)
        {
            let start = Start::kernel(offset, kernel.name, &kernel.descriptor);
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
        let place = kernel.section.and_then(|s| Some((*numbers.get(&s)?, offset_of(s, kernel.address)?)));
        KernelFacts {
            name: kernel.name.to_owned(),
            descriptor: kernel.descriptor,
            metadata: kernel.metadata.clone(),
            entry: place.and_then(|(s, offset)| {
                Some((s, sections.get(s).and_then(|c: &super::Code| c.line_at(offset))?))
            }),
        }
    });
    let kernels = kernels.collect();
    Ok(Unit { target_id: object.target_id, sections, kernels, files: Vec::new(), origins: Vec::new() })
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
        let why = match item.content {
            Content::Inst(inst) | Content::Unprintable(inst) => {
                let leads_to = match relocated.get(&offset) {
                    Some(to) => *to,
                    None => {
                        CodeSection::destination(item.address, &inst).map(|to| to.wrapping_sub(code.address))
                    }
                };
                let place = Place {
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
    Ok(builder.finish(object.target_id.target, starts, |offset| labels.get(&offset).copied()))
}

/// Bytes of a row of a relocation table.
const RELA_BYTES: usize = 24;

/// In an object that is not linked: branches that the linker fills in, and the offset that each leads to, if that is in the
/// section.
fn relocated_branches(object: &CodeObject<'_>, section: usize) -> HashMap<u64, Option<u64>> {
    let mut found = HashMap::new();
    if !object.is_relocatable {
        return found;
    }
    // The null section is not among the views.
    let tables = object
        .sections
        .iter()
        .filter(|s| s.kind == ::object::elf::SHT_RELA && s.info as usize == section + 1);
    for row in tables.flat_map(|t| t.bytes.chunks_exact(RELA_BYTES)) {
        let word = |at: usize| row.get(at..)?.first_chunk::<8>().map(|b| u64::from_le_bytes(*b));
        let (Some(offset), Some(info), Some(addend)) = (word(0), word(8), word(16)) else { continue };
        if info as u32 == RelocationKind::Rel16.number() {
            found.insert(offset, destination(object, section, (info >> 32) as usize, addend as i64));
        }
    }
    found
}

fn destination(object: &CodeObject<'_>, section: usize, symbol: usize, addend: i64) -> Option<u64> {
    // The null symbol is not among the views.
    let symbol: &SymbolView<'_> = object.symbols.get(symbol.checked_sub(1)?)?;
    (symbol.section == Some(section)).then(|| symbol.address.wrapping_add_signed(addend))
}
