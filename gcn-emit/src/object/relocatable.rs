//! Reads a module from a relocatable object file (`.o`) of an assembler or compiler.

use object::LittleEndian;
use object::elf::{self, Rela64};

use super::error::fault;
use super::file::{File, Symbol as Raw};
use super::{
    Binding, CodeObjectVersion, Module, ObjectError, ReadFault, Relocation, RelocationBase, RelocationKind,
    Section, SectionId, Symbol, SymbolId, SymbolKind, SymbolPlace, Visibility,
};

const E: LittleEndian = LittleEndian;

impl Module {
    /// Reads a relocatable object file (`llvm-mc -filetype=obj`, `clang -c`). Together with [`link`](super::link), this is a linker for one
    /// file. Tables that only describe the file (symbols, strings, relocations, groups) are interpreted but are not part of the module.
    ///
    /// # Errors
    /// [`ObjectError::Read`] with the offset, the problem and the remedy.
    pub fn from_relocatable(bytes: &[u8]) -> Result<Module, ObjectError> {
        let file = File::parse(bytes)?;
        if !file.is_relocatable {
            return Err(fault(16, ReadFault::NotRelocatable));
        }
        let version = CodeObjectVersion::from_abi_version(file.abi_version);
        let version = version.ok_or_else(|| fault(8, ReadFault::CodeObjectV3))?;
        let mut reader = Reader {
            places: vec![None; file.sections.len()],
            module: Module::new(file.target_id, version),
            symbols: Vec::new(),
            file,
        };
        reader.sections()?;
        reader.read_symbols()?;
        reader.relocations()?;
        Ok(reader.module)
    }
}

struct Reader<'d> {
    file: File<'d>,
    module: Module,
    /// For each section of the file, its number in the module.
    places: Vec<Option<SectionId>>,
    /// For each symbol of the file, the corresponding symbol or section of the module.
    symbols: Vec<Option<RelocationBase>>,
}

/// The types of sections that describe the file.
const TABLES: [u32; 7] = [
    elf::SHT_NULL,
    elf::SHT_SYMTAB,
    elf::SHT_STRTAB,
    elf::SHT_RELA,
    elf::SHT_REL,
    elf::SHT_GROUP,
    elf::SHT_SYMTAB_SHNDX,
];

impl Reader<'_> {
    fn sections(&mut self) -> Result<(), ObjectError> {
        // The total size of all sections must not exceed that of the file, so that sections cannot share bytes many times.
        let mut total = 0u64;
        for (index, header) in self.file.sections.iter().enumerate() {
            let kind = header.sh_type.get(E);
            if TABLES.contains(&kind) {
                continue;
            }
            let bytes = self.file.section_bytes(index)?;
            total += bytes.len() as u64;
            if total > self.file.data.len() as u64 {
                return Err(fault(self.file.header_offset(index), ReadFault::SectionsOverlap { index }));
            }
            let id = SectionId(self.module.sections.len() as u32);
            self.module.sections.push(Section {
                name: self.file.section_name(index)?.to_owned(),
                kind,
                flags: header.sh_flags.get(E) & !u64::from(elf::SHF_GROUP | elf::SHF_INFO_LINK),
                align: header.sh_addralign.get(E).max(1),
                entry_size: header.sh_entsize.get(E),
                bytes: bytes.to_vec(),
                size: header.sh_size.get(E),
                relocations: Vec::new(),
            });
            self.places[index] = Some(id);
        }
        Ok(())
    }

    fn read_symbols(&mut self) -> Result<(), ObjectError> {
        let Some(table) = self.file.section_of_type(elf::SHT_SYMTAB) else { return Ok(()) };
        for (index, raw) in self.file.symbols(table)?.iter().enumerate() {
            let symbol = if index == 0 { None } else { self.symbol(raw, index)? };
            let base = match symbol {
                Some(Known::Section(id)) => Some(RelocationBase::Section(id)),
                Some(Known::Symbol(symbol)) => {
                    let id = SymbolId(self.module.symbols.len() as u32);
                    self.module.symbols.push(symbol);
                    Some(RelocationBase::Symbol(id))
                }
                None => None,
            };
            self.symbols.push(base);
        }
        Ok(())
    }

    fn symbol(&self, raw: &Raw<'_>, index: usize) -> Result<Option<Known>, ObjectError> {
        let place = match raw.place {
            SymbolPlace::Section(id) => match self.places.get(id.0 as usize) {
                Some(Some(id)) => SymbolPlace::Section(*id),
                // A symbol in a table that is not part of the module: it may name a group of sections.
                Some(None) => return Ok(None),
                None => {
                    let section = id.0;
                    return Err(fault(raw.entry_offset, ReadFault::NoSection { what: "a symbol", section }));
                }
            },
            place => place,
        };
        let unknown = |field, number: u8| {
            fault(
                raw.entry_offset,
                ReadFault::SymbolField { index: index as u64, field, number: number.into() },
            )
        };
        let kind = SymbolKind::from_number(raw.kind()).ok_or_else(|| unknown("type", raw.kind()))?;
        if let (SymbolKind::Section, SymbolPlace::Section(id)) = (kind, place) {
            return Ok(Some(Known::Section(id)));
        }
        let binding = raw.info >> 4;
        Ok(Some(Known::Symbol(Symbol {
            name: raw.name.to_owned(),
            place,
            value: raw.value,
            size: raw.size,
            kind,
            binding: Binding::from_number(binding).ok_or_else(|| unknown("binding", binding))?,
            visibility: Visibility::from_number(raw.other & 3).unwrap_or_default(),
        })))
    }

    fn relocations(&mut self) -> Result<(), ObjectError> {
        for (index, header) in self.file.sections.iter().enumerate() {
            let kind = header.sh_type.get(E);
            let at = self.file.header_offset(index);
            if kind == elf::SHT_REL {
                return Err(fault(at, ReadFault::ImplicitAddends));
            }
            if kind != elf::SHT_RELA {
                continue;
            }
            let target = header.sh_info.get(E);
            let Some(place) = self.places.get(target as usize) else {
                return Err(fault(
                    at,
                    ReadFault::NoSection { what: "a relocation section", section: target },
                ));
            };
            // Relocations of a section that is not part of the module have no effect.
            let Some(SectionId(section)) = *place else { continue };
            let start = header.sh_offset.get(E);
            let rows = self.file.relocations(index)?;
            let mut list = Vec::with_capacity(rows.len());
            for (number, row) in rows.iter().enumerate() {
                let at = start.saturating_add(number as u64 * size_of::<Rela64<LittleEndian>>() as u64);
                list.push(self.relocation(row).map_err(|f| fault(at, f))?);
            }
            if let Some(section) = self.module.sections.get_mut(section as usize) {
                section.relocations.append(&mut list);
                section.relocations.sort_by_key(|r| r.offset);
            }
        }
        Ok(())
    }

    fn relocation(&self, row: &Rela64<LittleEndian>) -> Result<Relocation, ReadFault> {
        let info = row.r_info.get(E);
        let (symbol, number) = ((info >> 32) as u32, info as u32);
        let kind = RelocationKind::from_number(number).ok_or(ReadFault::RelocationKind { number })?;
        let base = self.symbols.get(symbol as usize).copied().flatten();
        let base = base.ok_or(ReadFault::RelocationSymbol { symbol })?;
        Ok(Relocation { offset: row.r_offset.get(E), kind, base, addend: row.r_addend.get(E) })
    }
}

/// The kinds of symbols in the file.
enum Known {
    Section(SectionId),
    Symbol(Symbol),
}
