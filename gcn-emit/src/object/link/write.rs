//! Writes the bytes of the file.

use object::LittleEndian as E;
use object::elf::{self, FileHeader64, Ident, ProgramHeader64, Rela64, SectionHeader64, Sym64};
use object::pod::bytes_of;
use object::{I64, U16, U32, U64};

use super::super::write_relocatable::sym;
use super::super::{ELFOSABI_AMDGPU_HSA, LinkFault, ObjectError, Relocation, RelocationBase, RelocationKind};
use super::dynamic::Tables;
use super::input::Inputs;
use super::layout::{Plan, Segment, Start, dynamic_entries};
use super::output::{Content, Made, Output};
use super::reloc::{self, Action, At, Class, Loaded, Needs};
use super::symbol::{Place, Row, Symbols, made};
use super::too_large;

/// All data that determine the file.
struct Image<'p, 'm> {
    inputs: &'p Inputs<'m>,
    plan: &'p Plan<'m>,
    symbols: &'p Symbols<'m>,
    needs: &'p Needs,
    tables: &'p Tables,
    /// The address of the global offset table.
    got: u64,
}

/// Writes the file.
pub(super) fn file<'m>(
    plan: &Plan<'m>,
    symbols: &Symbols<'m>,
    needs: &Needs,
    tables: &Tables,
) -> Result<Vec<u8>, ObjectError> {
    let size = usize::try_from(plan.file_size).map_err(|_| too_large())?;
    let got = made(&plan.inputs.outputs, Made::Got).map_or(0, |o| o.address);
    let image = Image { inputs: &plan.inputs, plan, symbols, needs, tables, got };
    let mut out = Vec::with_capacity(size);
    out.extend_from_slice(bytes_of(&image.file_header()));
    for segment in &plan.segments {
        out.extend_from_slice(bytes_of(&image.program_header(segment)));
    }
    // Sections are in the file in the order of their numbers.
    for output in plan.inputs.outputs.iter().filter(|o| o.index > 0 && o.has_bytes()) {
        pad(&mut out, output.offset)?;
        image.section(&mut out, output)?;
        pad(&mut out, output.offset + output.size)?;
    }
    pad(&mut out, plan.section_headers)?;
    out.extend_from_slice(&[0; size_of::<SectionHeader64<E>>()]);
    for (output, name) in plan.inputs.outputs.iter().zip(&plan.name_offsets).filter(|o| o.0.index > 0) {
        out.extend_from_slice(bytes_of(&image.section_header(output, *name)));
    }
    Ok(out)
}

/// Appends zeros up to an offset.
fn pad(out: &mut Vec<u8>, offset: u64) -> Result<(), ObjectError> {
    let offset = usize::try_from(offset).map_err(|_| too_large())?;
    if offset > out.len() {
        out.resize(offset, 0);
    }
    Ok(())
}

impl Image<'_, '_> {
    fn file_header(&self) -> FileHeader64<E> {
        let module = self.inputs.sources.module;
        let sections = self.inputs.outputs.iter().filter(|o| o.index > 0).count() as u16 + 1;
        let names = made(&self.inputs.outputs, Made::ShStrTab).map_or(0, |o| o.index as u16);
        FileHeader64 {
            e_ident: Ident {
                magic: elf::ELFMAG,
                class: elf::ELFCLASS64,
                data: elf::ELFDATA2LSB,
                version: elf::EV_CURRENT,
                os_abi: ELFOSABI_AMDGPU_HSA,
                abi_version: module.version.abi_version(),
                padding: [0; 7],
            },
            e_type: U16::new(E, elf::ET_DYN),
            e_machine: U16::new(E, elf::EM_AMDGPU),
            e_version: U32::new(E, u32::from(elf::EV_CURRENT)),
            e_entry: U64::new(E, 0),
            e_phoff: U64::new(E, 64),
            e_shoff: U64::new(E, self.plan.section_headers),
            e_flags: U32::new(E, module.elf_flags()),
            e_ehsize: U16::new(E, 64),
            e_phentsize: U16::new(E, 56),
            e_phnum: U16::new(E, self.plan.segments.len() as u16),
            e_shentsize: U16::new(E, 64),
            e_shnum: U16::new(E, sections),
            e_shstrndx: U16::new(E, names),
        }
    }

    fn program_header(&self, segment: &Segment) -> ProgramHeader64<E> {
        let outputs = &self.inputs.outputs;
        let headers = self.plan.program_headers;
        let (offset, address) = match segment.start {
            Start::Nothing | Start::FileHeader => (0, 0),
            Start::ProgramHeaders => (64, 64),
            Start::Output(i) => outputs.get(i).map_or((0, 0), |o| (o.offset, o.address)),
        };
        let (file_size, memory_size) = match (segment.start, segment.last.and_then(|i| outputs.get(i))) {
            (Start::Nothing, _) => (0, 0),
            (_, Some(last)) => {
                let bytes = if last.has_bytes() { last.size } else { 0 };
                (last.offset + bytes - offset, last.address + last.size - address)
            }
            (Start::FileHeader, None) => (64 + headers, 64 + headers),
            (_, None) => (headers, headers),
        };
        ProgramHeader64 {
            p_type: U32::new(E, segment.kind),
            p_flags: U32::new(E, segment.flags),
            p_offset: U64::new(E, offset),
            p_vaddr: U64::new(E, address),
            p_paddr: U64::new(E, address),
            p_filesz: U64::new(E, file_size),
            p_memsz: U64::new(E, memory_size),
            p_align: U64::new(E, if segment.kind == elf::PT_GNU_RELRO { 1 } else { segment.align }),
        }
    }

    fn section_header(&self, output: &Output<'_>, name: u32) -> SectionHeader64<E> {
        let index = |which| made(&self.inputs.outputs, which).map_or(0, |o| o.index);
        let (link, info) = match output.made() {
            Some(Made::DynSym) => (index(Made::DynStr), 1),
            Some(Made::GnuHash | Made::Hash | Made::RelaDyn) => (index(Made::DynSym), 0),
            Some(Made::Dynamic) => (index(Made::DynStr), 0),
            Some(Made::SymTab) => (index(Made::StrTab), self.symbols.locals as u32 + 1),
            _ => (0, 0),
        };
        SectionHeader64 {
            sh_name: U32::new(E, name),
            sh_type: U32::new(E, output.kind),
            sh_flags: U64::new(E, output.flags),
            sh_addr: U64::new(E, output.address),
            sh_offset: U64::new(E, output.offset),
            sh_size: U64::new(E, output.size),
            sh_link: U32::new(E, link),
            sh_info: U32::new(E, info),
            sh_addralign: U64::new(E, output.align),
            sh_entsize: U64::new(E, output.entry_size),
        }
    }

    /// Appends the bytes of an output section. `.init_array` is sorted by priority, so parts are visited by offset.
    fn section(&self, out: &mut Vec<u8>, output: &Output<'_>) -> Result<(), ObjectError> {
        let mut parts: Vec<_> = output.parts.iter().collect();
        parts.sort_by_key(|p| p.offset);
        for part in parts {
            pad(out, output.offset + part.offset)?;
            match part.content {
                Content::Input(index) => self.input(out, index, output.address + part.offset)?,
                Content::Merged(index) => {
                    let start = output.offset + part.offset;
                    for (offset, bytes) in self.inputs.merged.get(index).map_or(&[][..], |m| &m.kept) {
                        pad(out, start + offset)?;
                        out.extend_from_slice(bytes);
                    }
                }
                Content::Zeros => {}
                Content::Made(made) => self.made(out, made),
            }
        }
        Ok(())
    }

    fn input(&self, out: &mut Vec<u8>, index: usize, address: u64) -> Result<(), ObjectError> {
        let Some(section) = self.inputs.sources.get(index) else { return Ok(()) };
        let start = out.len();
        out.extend_from_slice(&section.bytes);
        for reloc in &section.relocations {
            let failed = |f| reloc::fault(self.inputs, index, reloc, f);
            let action = reloc::action(section, reloc, self.inputs, self.symbols).map_err(failed)?;
            if action == Action::Write {
                let nowhere = self.is_undefined(reloc.base).then(|| nowhere(&section.name)).flatten();
                let value = nowhere.unwrap_or_else(|| self.value(reloc, address.wrapping_add(reloc.offset)));
                // The scan has verified that the place is inside the section.
                let at = start + reloc.offset as usize;
                patch(&mut out[at..], reloc.kind, value).map_err(failed)?;
            }
        }
        Ok(())
    }

    fn is_undefined(&self, base: RelocationBase) -> bool {
        let RelocationBase::Symbol(id) = base else { return false };
        self.symbols.list.get(id.0 as usize).is_some_and(|s| s.place == Place::Undefined)
    }

    /// The value that the linker writes for a relocation at address `place`.
    fn value(&self, reloc: &Relocation, place: u64) -> u64 {
        match reloc::class(reloc.kind) {
            Class::Address => self.target(reloc.base, reloc.addend),
            Class::Distance => self.target(reloc.base, reloc.addend).wrapping_sub(place),
            Class::Got => {
                let entry = match reloc.base {
                    RelocationBase::Symbol(id) => self.symbols.list.get(id.0 as usize).and_then(|s| s.got),
                    RelocationBase::Section(_) => None,
                };
                self.got_address(entry.unwrap_or(0)).wrapping_add_signed(reloc.addend).wrapping_sub(place)
            }
        }
    }

    /// S + A.
    fn target(&self, base: RelocationBase, addend: i64) -> u64 {
        match base {
            RelocationBase::Symbol(id) => {
                self.symbols.value(self.inputs, id.0 as usize).wrapping_add_signed(addend)
            }
            // The addend selects a byte, and each piece of a merged section has moved separately.
            RelocationBase::Section(id) => {
                let address = |(output, offset): (usize, u64)| {
                    self.inputs.outputs.get(output).map_or(0, |o| o.address).wrapping_add(offset)
                };
                match self.inputs.locate(id.0 as usize, 0) {
                    Some(_) if self.inputs.is_merged(id.0 as usize) => {
                        self.inputs.locate(id.0 as usize, addend as u64).map_or(0, address)
                    }
                    start => start.map_or(0, address).wrapping_add_signed(addend),
                }
            }
        }
    }

    fn got_address(&self, entry: u32) -> u64 {
        self.got.wrapping_add(u64::from(entry) * 8)
    }

    fn made(&self, out: &mut Vec<u8>, which: Made) {
        let name = |index: usize| {
            self.symbols.module.get(index).map_or_else(Vec::new, |s| s.name.clone().into_bytes())
        };
        match which {
            Made::DynSym => {
                out.extend_from_slice(&[0; size_of::<Sym64<E>>()]);
                for (index, name) in &self.tables.symbols {
                    out.extend_from_slice(bytes_of(&self.symbol(*index, *name)));
                }
            }
            Made::GnuHash => out.extend(self.tables.gnu_hash(name)),
            Made::Hash => out.extend(self.tables.hash(name)),
            Made::DynStr => out.extend_from_slice(&self.tables.names.bytes),
            Made::RelaDyn => self.relocations(out),
            Made::Dynamic => {
                for (tag, value) in dynamic_entries(self.inputs, self.symbols, self.needs) {
                    out.extend_from_slice(&u64::from(tag).to_le_bytes());
                    out.extend_from_slice(&value.to_le_bytes());
                }
            }
            Made::Got => self.got(out),
            Made::RelroPadding => {}
            Made::SymTab => self.symbol_table(out),
            Made::ShStrTab => out.extend_from_slice(&self.plan.section_names.bytes),
            Made::StrTab => out.extend_from_slice(&self.symbols.names.bytes),
        }
    }

    /// Writes the global offset table. The linker writes only numbers; the loader fills in addresses.
    fn got(&self, out: &mut Vec<u8>) {
        for &symbol in &self.needs.got {
            let linked = self.symbols.list.get(symbol);
            let is_known = linked.is_some_and(|l| !l.is_preemptible && matches!(l.place, Place::Number(_)));
            let value = if is_known { self.symbols.value(self.inputs, symbol) } else { 0 };
            out.extend_from_slice(&value.to_le_bytes());
        }
    }

    /// Writes `.rela.dyn`: relative relocations by address, then the others by symbol and address.
    fn relocations(&self, out: &mut Vec<u8>) {
        let row = |loaded: &Loaded| {
            let address = match loaded.at {
                At::Got(entry) => self.got_address(entry),
                At::Section(section, offset) => {
                    let found = self.inputs.locate(section, offset);
                    found.map_or(0, |(o, offset)| self.inputs.outputs[o].address.wrapping_add(offset))
                }
            };
            match loaded.base {
                RelocationBase::Symbol(id) if loaded.looks_up => {
                    let number = self.symbols.list.get(id.0 as usize).map_or(0, |s| s.dynamic_index);
                    (true, number, address, loaded.addend)
                }
                base => (false, 0, address, self.target(base, loaded.addend) as i64),
            }
        };
        let mut rows: Vec<_> = self.needs.loaded.iter().map(row).collect();
        rows.sort_by_key(|(looks_up, symbol, address, _)| (*looks_up, *symbol, *address));
        for (looks_up, symbol, address, addend) in rows {
            let kind = if looks_up { RelocationKind::Abs64.number() } else { RelocationKind::RELATIVE64 };
            let rela: Rela64<E> = Rela64 {
                r_offset: U64::new(E, address),
                r_info: U64::new(E, u64::from(symbol) << 32 | u64::from(kind)),
                r_addend: I64::new(E, addend),
            };
            out.extend_from_slice(bytes_of(&rela));
        }
    }

    fn symbol_table(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[0; size_of::<Sym64<E>>()]);
        for (row, name) in &self.symbols.rows {
            let symbol = match row {
                Row::Module(index) => self.symbol(*index, *name),
                Row::Dynamic => {
                    let table = made(&self.inputs.outputs, Made::Dynamic);
                    let (index, address) = table.map_or((0, 0), |o| (o.index as u16, o.address));
                    sym(*name, elf::STB_LOCAL << 4 | elf::STT_NOTYPE, elf::STV_HIDDEN, index, address, 0)
                }
            };
            out.extend_from_slice(bytes_of(&symbol));
        }
    }

    fn symbol(&self, index: usize, name: u32) -> Sym64<E> {
        let (Some(symbol), Some(linked)) = (self.symbols.module.get(index), self.symbols.list.get(index))
        else {
            return sym(name, 0, 0, 0, 0, 0);
        };
        let info = linked.binding.number() << 4 | symbol.kind.number();
        let size = if linked.place == Place::Undefined { 0 } else { symbol.size };
        let section = self.symbols.section_index(self.inputs, index);
        sym(name, info, linked.visibility.number(), section, self.symbols.value(self.inputs, index), size)
    }
}

/// The value that debug information contains in place of an address that is not in the output. It is 0, except in sections in which a pair
/// of zeros ends a list (1) or 0 is a valid value (all bits set). `None` for sections without debug information.
fn nowhere(section: &str) -> Option<u64> {
    match section {
        ".debug_loc" | ".debug_ranges" => Some(1),
        ".debug_names" => Some(u64::MAX),
        name => name.starts_with(".debug_").then_some(0),
    }
}

/// Writes a value to the bits that `kind` covers.
fn patch(bytes: &mut [u8], kind: RelocationKind, value: u64) -> Result<(), LinkFault> {
    use RelocationKind as K;
    let mut put = |value: &[u8]| {
        if let Some(place) = bytes.get_mut(..value.len()) {
            place.copy_from_slice(value);
        }
    };
    match kind {
        K::Abs64 | K::Rel64 => put(&value.to_le_bytes()),
        K::Abs32Lo | K::Rel32Lo | K::GotPcRel32Lo => put(&(value as u32).to_le_bytes()),
        K::Abs32Hi | K::Rel32Hi | K::GotPcRel32Hi => put(&((value >> 32) as u32).to_le_bytes()),
        K::Abs32 | K::Rel32 | K::GotPcRel => {
            let fits = u32::try_from(value).is_ok() || i32::try_from(value as i64).is_ok();
            let remedy = "use a 64-bit place, or the kinds with `@lo` and `@hi`";
            if !fits {
                let value = i128::from(value as i64);
                return Err(LinkFault::Overflow { kind: kind.name(), value, bits: 32, remedy });
            }
            put(&(value as u32).to_le_bytes());
        }
        K::Rel16 => {
            let distance = value as i64;
            if distance % 4 != 0 {
                return Err(LinkFault::Misaligned { value: distance });
            }
            let words = distance / 4 - 1;
            let remedy = "bring the code closer together, or jump with `s_setpc_b64`";
            let fault = LinkFault::Overflow { kind: kind.name(), value: i128::from(words), bits: 16, remedy };
            put(&i16::try_from(words).map_err(|_| fault)?.to_le_bytes());
        }
    }
    Ok(())
}
