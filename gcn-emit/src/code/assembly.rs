//! Creates a [`Unit`] from an assembled file.

use std::collections::HashMap;
use std::sync::Arc;

use super::build::Builder;
use super::functions::Start;
use super::image::{Links, Target};
use super::{Code, CodeError, CodePlace, KernelFacts, MetadataFacts, Unit, Unreadable, tell_barriers};
use crate::asm::{AsmInst, Assembly};
use gcn_isa::target::Subtarget;

use crate::decode::decode_at;
use crate::descriptor::{DESCRIPTOR_BYTES, KernelDescriptor};
use crate::disasm::CodeSection;
use crate::metadata::{KernelMetadata, Metadata};
use crate::object::{
    Binding, Module, RelocationBase, RelocationKind, Section, SectionId, SymbolKind, SymbolPlace,
    metadata_in_note,
};

/// The unit of `assembly`, with these instructions.
pub(super) fn unit(assembly: &Assembly, mut instructions: Vec<AsmInst>) -> Result<Unit, CodeError> {
    if !assembly.keeps_instructions {
        return Err(CodeError::NotKept);
    }
    let module = &assembly.module;
    let target = module.target_id.target;
    // The order of instructions may differ from that in the section: a file may leave a section and return to it, and subsections are in
    // the order of the file.
    let key = |inst: &AsmInst| (inst.section.0, inst.offset);
    if !instructions.is_sorted_by_key(key) {
        instructions.sort_by_key(key);
    }
    let mut instructions = instructions.into_iter().peekable();
    let descriptors = descriptors(module);
    let mut starts = starts(module, &descriptors);
    let mut labels: HashMap<(SectionId, u64), &str> = HashMap::new();
    for label in assembly.labels.iter().rev() {
        labels.insert((label.section, label.offset), &label.name);
    }
    let mut sections = Vec::new();
    let mut numbers = HashMap::new();
    for (number, section) in module.sections.iter().enumerate() {
        if !section.is_code() || section.bytes.is_empty() {
            continue;
        }
        let id = SectionId(number as u32);
        let mut reader = Reader {
            builder: Builder::new(&section.name, 0, &section.bytes)?,
            section,
            on: Subtarget { target, wave: assembly.wave },
        };
        let relocated = relocated_branches(module, id, section);
        while instructions.next_if(|i| i.section < id).is_some() {}
        let own = std::iter::from_fn(|| instructions.next_if(|i| i.section == id));
        reader.instructions(own, &relocated);
        let starts = starts.remove(&id).unwrap_or_default();
        numbers.insert(id, sections.len());
        let label = |offset| labels.get(&(id, offset)).copied();
        sections.push(reader.builder.finish(target, starts, label, &links(module, id, section)));
    }
    let notes = module.sections.iter().filter(|s| s.kind == ::object::elf::SHT_NOTE);
    let metadata: Vec<Metadata> = notes.filter_map(|note| metadata_in_note(&note.bytes)).collect();
    let facts = metadata.first().map(MetadataFacts::of);
    let kernels = kernels(metadata, descriptors, &sections, &numbers);
    tell_barriers(&mut sections, &kernels, target);
    Ok(Unit {
        target_id: module.target_id,
        sections,
        kernels,
        abi_version: module.version.abi_version(),
        metadata: facts,
        files: assembly.files.clone(),
        origins: assembly.origins.clone(),
    })
}

struct Reader<'a> {
    builder: Builder<'a>,
    section: &'a Section,
    on: Subtarget,
}

impl Reader<'_> {
    fn instructions(
        &mut self,
        instructions: impl Iterator<Item = AsmInst>,
        relocated: &HashMap<u64, Option<u64>>,
    ) {
        let mut at = 0;
        for inst in instructions {
            self.between(at, inst.offset);
            at = inst.offset + u64::from(inst.length);
            let leads_to = match relocated.get(&inst.offset) {
                Some(to) => *to,
                None => self.destination(&inst),
            };
            let field = self.branch_field(&inst);
            let mut own = inst.inst;
            // The label's number has no meaning here. A branch out of the section keeps the value of its field.
            if let Some(field) = field
                && let Some(at) = own.desc.branch_operand()
                && let Some(operand) = Arc::make_mut(&mut own).operands.get_mut(at)
            {
                *operand = gcn_isa::Operand::Imm(field.into());
            }
            let place = CodePlace {
                offset: inst.offset,
                length: inst.length,
                line: Some(inst.line),
                origin: inst.origin,
                location: inst.location,
            };
            self.builder.inst(place, own, leads_to);
        }
        self.between(at, self.section.bytes.len() as u64);
    }

    /// The distance field of a branch, which is the low half of its word; `None` for other instructions.
    fn branch_field(&self, inst: &AsmInst) -> Option<i16> {
        inst.inst.desc.branch_operand()?;
        let at = usize::try_from(inst.offset).ok()?;
        self.section.bytes.get(at..)?.first_chunk::<2>().map(|b| i16::from_le_bytes(*b))
    }

    fn destination(&self, inst: &AsmInst) -> Option<u64> {
        let distance = self.branch_field(inst)?;
        Some(inst.offset.wrapping_add_signed(4 + 4 * i64::from(distance)))
    }

    /// Handles bytes that are not instruction statements. They are treated as instructions if they are reachable and all of them can be
    /// decoded.
    fn between(&mut self, from: u64, to: u64) {
        let (Ok(first), Ok(last)) = (usize::try_from(from), usize::try_from(to)) else { return };
        let Some(bytes) = self.section.bytes.get(first..last).filter(|b| !b.is_empty()) else { return };
        if self.builder.falls_through() || from == 0 {
            let mut at = 0;
            let mut read = Vec::new();
            while let Some(rest) = bytes.get(at..).filter(|r| !r.is_empty()) {
                let Ok((inst, length)) = decode_at(rest, self.on) else { break };
                read.push((from + at as u64, length as u8, inst));
                at += length;
            }
            if at >= bytes.len() && from.is_multiple_of(4) {
                for (offset, length, inst) in read {
                    let leads_to = CodeSection::destination(offset + u64::from(length), &inst);
                    let place = CodePlace { offset, length, line: None, origin: None, location: None };
                    self.builder.inst(place, inst, leads_to);
                }
                return;
            }
        }
        self.builder.unread(from, to - from, Unreadable::Data);
    }
}

/// The branches that the linker fills in, each with the offset of its target if that is in the section.
fn relocated_branches(module: &Module, id: SectionId, section: &Section) -> HashMap<u64, Option<u64>> {
    let branches = section.relocations.iter().filter(|r| r.kind == RelocationKind::Rel16);
    let destination = |base: RelocationBase, addend: i64| match base {
        RelocationBase::Section(to) => (to == id).then_some(addend as u64),
        RelocationBase::Symbol(symbol) => {
            let symbol = module.symbols.get(symbol.0 as usize)?;
            (symbol.place == SymbolPlace::Section(id)).then(|| symbol.value.wrapping_add_signed(addend))
        }
    };
    branches.map(|r| (r.offset, destination(r.base, r.addend))).collect()
}

/// The places in the section that a linker fills in.
fn links(module: &Module, id: SectionId, section: &Section) -> Links {
    let mut links = Links::default();
    for relocation in &section.relocations {
        let (number, target) = match relocation.base {
            RelocationBase::Section(to) if to == id => {
                (module.symbols.len() + to.0 as usize, Target::Here(0))
            }
            RelocationBase::Section(to) => {
                let number = module.symbols.len() + to.0 as usize;
                (number, Target::Outside(number))
            }
            RelocationBase::Symbol(symbol) => {
                let number = symbol.0 as usize;
                let target = module.symbols.get(number).map_or(Target::Unknown, |s| match s.place {
                    // Another file may have a definition of the symbol that takes precedence over a weak one.
                    _ if s.binding == Binding::Weak => Target::Unknown,
                    SymbolPlace::Section(to) if to == id => Target::Here(s.value as i64),
                    SymbolPlace::Section(_) | SymbolPlace::Undefined => Target::Outside(number),
                    _ => Target::Unknown,
                });
                (number, target)
            }
        };
        links.relocation(relocation.offset, relocation.kind, number, target, relocation.addend);
    }
    links
}

/// A descriptor in a module.
struct Described {
    name: String,
    descriptor: KernelDescriptor,
    /// The section and offset of the kernel's first instruction.
    entry: Option<(SectionId, u64)>,
}

/// The kernels whose descriptors are in the module.
fn descriptors(module: &Module) -> Vec<Described> {
    let mut places: HashMap<&str, (SectionId, u64)> = HashMap::new();
    for symbol in &module.symbols {
        if let SymbolPlace::Section(section) = symbol.place {
            places.insert(&symbol.name, (section, symbol.value));
        }
    }
    // As in an object, a kernel of size 0 at the start of another function contains none of that function's code.
    let mut largest: HashMap<(SectionId, u64), u64> = HashMap::new();
    let mut sizes: HashMap<&str, u64> = HashMap::new();
    for symbol in module.symbols.iter().filter(|s| s.kind == SymbolKind::Function) {
        if let SymbolPlace::Section(section) = symbol.place {
            let size = largest.entry((section, symbol.value)).or_default();
            *size = symbol.size.max(*size);
            sizes.insert(&symbol.name, symbol.size);
        }
    }
    let is_empty =
        |name: &str, entry| sizes.get(name) == Some(&0) && largest.get(&entry).is_some_and(|size| *size > 0);
    let described = module.symbols.iter().filter(|s| s.kind == SymbolKind::Object).filter_map(|symbol| {
        let name = symbol.name.strip_suffix(".kd")?;
        let SymbolPlace::Section(section) = symbol.place else { return None };
        let at = usize::try_from(symbol.value).ok()?;
        let bytes =
            module.sections.get(section.0 as usize)?.bytes.get(at..)?.first_chunk::<DESCRIPTOR_BYTES>()?;
        let descriptor = KernelDescriptor::from_bytes(bytes);
        let entry = places.get(name).filter(|entry| !is_empty(name, **entry)).copied();
        Some(Described { name: name.to_owned(), descriptor, entry })
    });
    described.collect()
}

/// The functions of each section: kernels, given by their descriptors, and symbols of type `STT_FUNC`.
fn starts(module: &Module, descriptors: &[Described]) -> HashMap<SectionId, Vec<Start>> {
    let mut starts: HashMap<SectionId, Vec<Start>> = HashMap::new();
    for kernel in descriptors {
        if let Some((section, offset)) = kernel.entry {
            let start = Start::kernel(module.target_id.target, offset, &kernel.name, &kernel.descriptor);
            starts.entry(section).or_default().push(start);
        }
    }
    for symbol in module.symbols.iter().filter(|s| s.kind == SymbolKind::Function) {
        if let SymbolPlace::Section(section) = symbol.place {
            let start = Start::function(symbol.value, symbol.size, &symbol.name);
            starts.entry(section).or_default().push(start);
        }
    }
    starts
}

fn kernels(
    metadata: Vec<Metadata>,
    descriptors: Vec<Described>,
    sections: &[Code],
    numbers: &HashMap<SectionId, usize>,
) -> Vec<KernelFacts> {
    let named = metadata.into_iter().flat_map(|m| m.kernels).map(|kernel| (kernel.symbol.clone(), kernel));
    let mut metadata: HashMap<String, KernelMetadata> = named.collect();
    let facts = descriptors.into_iter().map(|described| {
        let entry = described.entry.and_then(|(section, offset)| {
            let number = *numbers.get(&section)?;
            Some((number, sections.get(number)?.line_at(offset)?))
        });
        KernelFacts {
            metadata: metadata.remove(&format!("{}.kd", described.name)),
            name: described.name,
            descriptor: described.descriptor,
            entry,
        }
    });
    facts.collect()
}
