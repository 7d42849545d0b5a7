//! Writes the relocatable form of a module (`.o`), for other linkers.

use object::LittleEndian as E;
use object::elf::{self, FileHeader64, Ident, Rela64, SectionHeader64, Sym64};
use object::pod::bytes_of;
use object::{I64, U16, U32, U64};

use super::file::SHN_AMDGPU_LDS;
use super::{
    Binding, ELFOSABI_AMDGPU_HSA, LinkFault, LinkPlace, Module, ObjectError, RelocationBase, SymbolKind,
    SymbolPlace,
};

/// Writes a module as a relocatable object file, as an assembler does: sections in the module's order, each
/// followed by its relocations, then symbols and names.
///
/// # Errors
/// [`ObjectError::Link`] if a reference has no definition in the module, or if there are more sections than ELF section
/// numbers allow without an extension (65,279).
pub fn write_relocatable(module: &Module) -> Result<Vec<u8>, ObjectError> {
    let mut writer = Writer::new(module)?;
    writer.sections()?;
    writer.symbols();
    Ok(writer.finish())
}

/// Section numbers from here on have special meanings (`SHN_LORESERVE`).
const MAX_SECTIONS: usize = 0xff00;

struct Writer<'m> {
    module: &'m Module,
    out: Vec<u8>,
    headers: Vec<SectionHeader64<E>>,
    names: Vec<u8>,
    /// For each section of the module, its number in the file.
    numbers: Vec<u16>,
    /// The numbers in the symbol table of each section's symbol, and of each symbol of the module.
    section_symbols: Vec<u32>,
    symbol_numbers: Vec<u32>,
    /// The symbols of the module in the order of the symbol table: local ones come first.
    order: Vec<usize>,
    locals: u32,
}

impl<'m> Writer<'m> {
    fn new(module: &'m Module) -> Result<Writer<'m>, ObjectError> {
        let mut numbers = Vec::with_capacity(module.sections.len());
        let mut next = 1usize;
        for section in &module.sections {
            numbers.push(next as u16);
            next += 1 + usize::from(!section.relocations.is_empty());
        }
        if next + 2 >= MAX_SECTIONS {
            return Err(ObjectError::Link { place: LinkPlace::default(), fault: LinkFault::TooLarge });
        }
        let sections = module.sections.len() as u32;
        let is_local = |i: &usize| module.symbols[*i].binding == Binding::Local;
        let all = 0..module.symbols.len();
        let mut order: Vec<usize> = all.clone().filter(is_local).collect();
        let locals = 1 + sections + order.len() as u32;
        order.extend(all.filter(|i| !is_local(i)));
        let mut symbol_numbers = vec![0; module.symbols.len()];
        for (number, &index) in (1 + sections..).zip(&order) {
            symbol_numbers[index] = number;
        }
        Ok(Writer {
            module,
            out: vec![0; size_of::<FileHeader64<E>>()],
            headers: vec![header(0, elf::SHT_NULL, 0)],
            names: vec![0],
            numbers,
            section_symbols: (1..=sections).collect(),
            symbol_numbers,
            order,
            locals,
        })
    }

    fn name(&mut self, name: &str) -> u32 {
        if name.is_empty() {
            return 0;
        }
        let offset = self.names.len() as u32;
        self.names.extend_from_slice(name.as_bytes());
        self.names.push(0);
        offset
    }

    fn align(&mut self, align: u64) {
        let align = usize::try_from(align).unwrap_or(1).clamp(1, 4096);
        self.out.resize(self.out.len().next_multiple_of(align), 0);
    }

    fn sections(&mut self) -> Result<(), ObjectError> {
        let symbols = self.symbol_section();
        let module = self.module;
        for (section, number) in module.sections.iter().zip(self.numbers.clone()) {
            self.align(section.align);
            let name = self.name(&section.name);
            let size =
                if section.kind == elf::SHT_NOBITS { section.size } else { section.bytes.len() as u64 };
            self.headers.push(SectionHeader64 {
                sh_flags: U64::new(E, section.flags),
                sh_offset: U64::new(E, self.out.len() as u64),
                sh_size: U64::new(E, size),
                sh_addralign: U64::new(E, section.align),
                sh_entsize: U64::new(E, section.entry_size),
                ..header(name, section.kind, 0)
            });
            self.out.extend_from_slice(&section.bytes);
            if section.relocations.is_empty() {
                continue;
            }
            self.align(8);
            let name = self.name(&format!(".rela{}", section.name));
            let start = self.out.len() as u64;
            for reloc in &section.relocations {
                let symbol = self.base(reloc.base)?;
                let rela: Rela64<E> = Rela64 {
                    r_offset: U64::new(E, reloc.offset),
                    r_info: U64::new(E, u64::from(symbol) << 32 | u64::from(reloc.kind.number())),
                    r_addend: I64::new(E, reloc.addend),
                };
                self.out.extend_from_slice(bytes_of(&rela));
            }
            self.headers.push(SectionHeader64 {
                sh_flags: U64::new(E, elf::SHF_INFO_LINK.into()),
                sh_link: U32::new(E, symbols),
                sh_info: U32::new(E, number.into()),
                sh_addralign: U64::new(E, 8),
                sh_entsize: U64::new(E, size_of::<Rela64<E>>() as u64),
                ..header(name, elf::SHT_RELA, start)
            });
            self.close();
        }
        Ok(())
    }

    /// The number of the symbol table's section.
    fn symbol_section(&self) -> u32 {
        let tables = self.module.sections.iter().filter(|s| !s.relocations.is_empty()).count();
        (1 + self.module.sections.len() + tables) as u32
    }

    /// Sets the size of the last section to the bytes written since its start.
    fn close(&mut self) {
        let end = self.out.len() as u64;
        if let Some(last) = self.headers.last_mut() {
            last.sh_size = U64::new(E, end - last.sh_offset.get(E));
        }
    }

    fn base(&self, base: RelocationBase) -> Result<u32, ObjectError> {
        let (found, what, number) = match base {
            RelocationBase::Section(id) => (self.section_symbols.get(id.0 as usize), "section", id.0),
            RelocationBase::Symbol(id) => (self.symbol_numbers.get(id.0 as usize), "symbol", id.0),
        };
        let fault = LinkFault::Missing { what, number };
        found.copied().ok_or(ObjectError::Link { place: LinkPlace::default(), fault })
    }

    fn symbols(&mut self) {
        self.align(8);
        let name = self.name(".symtab");
        let start = self.out.len() as u64;
        self.out.extend_from_slice(&[0; size_of::<Sym64<E>>()]);
        for &number in &self.numbers {
            let info = elf::STB_LOCAL << 4 | SymbolKind::Section.number();
            self.out.extend_from_slice(bytes_of(&sym(0, info, 0, number, 0, 0)));
        }
        for index in self.order.clone() {
            let symbol = &self.module.symbols[index];
            let section = match symbol.place {
                SymbolPlace::Undefined => elf::SHN_UNDEF,
                SymbolPlace::Absolute => elf::SHN_ABS,
                SymbolPlace::Lds => SHN_AMDGPU_LDS,
                SymbolPlace::Common => elf::SHN_COMMON,
                SymbolPlace::Section(id) => {
                    self.numbers.get(id.0 as usize).copied().unwrap_or(elf::SHN_UNDEF)
                }
            };
            let name = self.name(&symbol.name);
            let info = symbol.binding.number() << 4 | symbol.kind.number();
            let row = sym(name, info, symbol.visibility.number(), section, symbol.value, symbol.size);
            self.out.extend_from_slice(bytes_of(&row));
        }
        let names_section = self.headers.len() as u32 + 1;
        self.headers.push(SectionHeader64 {
            sh_link: U32::new(E, names_section),
            sh_info: U32::new(E, self.locals),
            sh_addralign: U64::new(E, 8),
            sh_entsize: U64::new(E, size_of::<Sym64<E>>() as u64),
            ..header(name, elf::SHT_SYMTAB, start)
        });
        self.close();
    }

    fn finish(mut self) -> Vec<u8> {
        let name = self.name(".strtab");
        let names_section = self.headers.len() as u16;
        self.headers.push(header(name, elf::SHT_STRTAB, self.out.len() as u64));
        self.out.extend_from_slice(&self.names);
        self.close();
        self.align(8);
        let file = FileHeader64 {
            e_ident: Ident {
                magic: elf::ELFMAG,
                class: elf::ELFCLASS64,
                data: elf::ELFDATA2LSB,
                version: elf::EV_CURRENT,
                os_abi: ELFOSABI_AMDGPU_HSA,
                abi_version: self.module.version.abi_version(),
                padding: [0; 7],
            },
            e_type: U16::new(E, elf::ET_REL),
            e_machine: U16::new(E, elf::EM_AMDGPU),
            e_version: U32::new(E, u32::from(elf::EV_CURRENT)),
            e_entry: U64::new(E, 0),
            e_phoff: U64::new(E, 0),
            e_shoff: U64::new(E, self.out.len() as u64),
            e_flags: U32::new(E, self.module.elf_flags()),
            e_ehsize: U16::new(E, 64),
            e_phentsize: U16::new(E, 0),
            e_phnum: U16::new(E, 0),
            e_shentsize: U16::new(E, 64),
            e_shnum: U16::new(E, self.headers.len() as u16),
            e_shstrndx: U16::new(E, names_section),
        };
        self.headers.iter().for_each(|h| self.out.extend_from_slice(bytes_of(h)));
        for (place, byte) in self.out.iter_mut().zip(bytes_of(&file)) {
            *place = *byte;
        }
        self.out
    }
}

/// A header of a section that starts at an offset.
fn header(name: u32, kind: u32, offset: u64) -> SectionHeader64<E> {
    SectionHeader64 {
        sh_name: U32::new(E, name),
        sh_type: U32::new(E, kind),
        sh_flags: U64::new(E, 0),
        sh_addr: U64::new(E, 0),
        sh_offset: U64::new(E, offset),
        sh_size: U64::new(E, 0),
        sh_link: U32::new(E, 0),
        sh_info: U32::new(E, 0),
        sh_addralign: U64::new(E, u64::from(kind != elf::SHT_NULL)),
        sh_entsize: U64::new(E, 0),
    }
}

/// A row of a symbol table.
pub(super) fn sym(name: u32, info: u8, other: u8, section: u16, value: u64, size: u64) -> Sym64<E> {
    Sym64 {
        st_name: U32::new(E, name),
        st_info: info,
        st_other: other,
        st_shndx: U16::new(E, section),
        st_value: U64::new(E, value),
        st_size: U64::new(E, size),
    }
}
