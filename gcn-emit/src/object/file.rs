//! The parts of an ELF file that a code object needs, each checked against the file's size.

use std::cell::Cell;

use object::elf::{self, FileHeader64, ProgramHeader64, Rela64, SectionHeader64, Sym64};
use object::pod::Pod;
use object::{LittleEndian, ReadRef};

use super::error::fault;
use super::foreign::{Foreign, foreign};
use super::{ELFOSABI_AMDGPU_HSA, ObjectError, ReadFault, SectionId, SymbolPlace, bundle};
use crate::target_id::{Feature, TargetId};

const E: LittleEndian = LittleEndian;

/// Code object V3, the oldest version with these descriptors.
const ABI_VERSION_V3: u8 = 1;
/// The newest version that this crate knows: V6.
const ABI_VERSION_V6: u8 = 4;
/// `SHN_AMDGPU_LDS` (guide, *Symbols*).
pub(super) const SHN_AMDGPU_LDS: u16 = 0xff00;

/// A code object's ELF file.
pub(super) struct File<'d> {
    pub(super) data: &'d [u8],
    pub(super) target_id: TargetId,
    pub(super) abi_version: u8,
    /// `ET_REL`: not linked.
    pub(super) is_relocatable: bool,
    pub(super) segments: &'d [ProgramHeader64<LittleEndian>],
    pub(super) sections: &'d [SectionHeader64<LittleEndian>],
    section_table: u64,
    names: Names<'d>,
    /// The loaded segments, sorted by address.
    loads: Vec<Load>,
}

/// A loaded segment that has bytes in the file.
struct Load {
    address: u64,
    size: u64,
    offset: u64,
}

fn loads(segments: &[ProgramHeader64<LittleEndian>]) -> Vec<Load> {
    let loaded = segments.iter().filter(|s| s.p_type.get(E) == elf::PT_LOAD && s.p_filesz.get(E) > 0);
    let load = |s: &ProgramHeader64<LittleEndian>| Load {
        address: s.p_vaddr.get(E),
        size: s.p_filesz.get(E),
        offset: s.p_offset.get(E),
    };
    let mut all: Vec<_> = loaded.map(load).collect();
    all.sort_by_key(|l| l.address);
    all
}

/// A symbol.
#[derive(Clone, Copy, Debug)]
pub(super) struct Symbol<'d> {
    pub(super) name: &'d str,
    /// `st_info`: binding in the upper bits, type in the lower ones.
    pub(super) info: u8,
    /// `st_other`: visibility in the lowest two bits.
    pub(super) other: u8,
    pub(super) place: SymbolPlace,
    /// `st_value`.
    pub(super) value: u64,
    pub(super) size: u64,
    /// The offset of its table entry in the file.
    pub(super) entry_offset: u64,
}

impl Symbol<'_> {
    /// `STT_`.
    pub(super) fn kind(&self) -> u8 {
        self.info & 0xf
    }

    pub(super) fn is_defined(&self) -> bool {
        self.place != SymbolPlace::Undefined
    }
}

impl<'d> File<'d> {
    pub(super) fn parse(data: &'d [u8]) -> Result<File<'d>, ObjectError> {
        if bundle::is_bundle(data) {
            return Err(fault(0, ReadFault::Bundle));
        }
        if let Some(Foreign { what, remedy, offset }) = foreign(data) {
            return Err(fault(offset, ReadFault::Foreign { what, remedy }));
        }
        // First, so that a short file of another kind is not taken for a part of a code object.
        if let Some(magic) = data.first_chunk::<4>().filter(|magic| **magic != elf::ELFMAG) {
            let found = u32::from_be_bytes(*magic).into();
            let expected = "0x7f454c46 (ELF)";
            return Err(fault(0, ReadFault::Header { field: "the magic number", found, expected }));
        }
        let header: &FileHeader64<LittleEndian> = one(data, 0, "the ELF header")?;
        check_header(header)?;
        let abi_version = header.e_ident.abi_version;
        let target_id = target_id(abi_version, header.e_flags.get(E))?;
        let segments =
            slice(data, header.e_phoff.get(E), header.e_phnum.get(E).into(), "the table of program headers")?;
        let section_table = header.e_shoff.get(E);
        let (count, names) = section_counts(data, header)?;
        let sections = slice(data, section_table, count, "the table of section headers")?;
        let is_relocatable = header.e_type.get(E) == elf::ET_REL;
        let mut file = File {
            data,
            target_id,
            abi_version,
            is_relocatable,
            segments,
            sections,
            section_table,
            names: Names::new(&[], data.len()),
            loads: loads(segments),
        };
        if !sections.is_empty() && names != 0 {
            file.names = file.string_table(names, "the file header")?;
        }
        Ok(file)
    }

    /// The name of a section.
    pub(super) fn section_name(&self, index: usize) -> Result<&'d str, ObjectError> {
        let header = self.sections.get(index).map_or(0, |s| s.sh_name.get(E));
        if self.names.bytes.is_empty() {
            return Ok("");
        }
        self.names.get(header).map_err(|f| f.at(self.header_offset(index), "section", index))
    }

    /// The bytes of a section in the file; empty for `SHT_NOBITS`.
    pub(super) fn section_bytes(&self, index: usize) -> Result<&'d [u8], ObjectError> {
        match self.sections.get(index) {
            Some(s) if s.sh_type.get(E) != elf::SHT_NOBITS => {
                slice(self.data, s.sh_offset.get(E), s.sh_size.get(E), "a section")
            }
            _ => Ok(&[]),
        }
    }

    /// The offset of a section's header in the file.
    pub(super) fn header_offset(&self, index: usize) -> u64 {
        self.section_table.saturating_add(index as u64 * size_of::<SectionHeader64<LittleEndian>>() as u64)
    }

    /// The number of the first section of this type; `None` if there is none.
    pub(super) fn section_of_type(&self, kind: u32) -> Option<usize> {
        self.sections.iter().position(|s| s.sh_type.get(E) == kind)
    }

    /// The bytes of a loaded segment at an address: `size` of them, or all up to the end of the segment. `None` if the segments do not
    /// contain them.
    pub(super) fn loaded(&self, address: u64, size: Option<u64>) -> Option<&'d [u8]> {
        // Segments do not overlap, so only the last one that begins at or before the address can contain it.
        let next = self.loads.partition_point(|s| s.address <= address);
        let segment = self.loads.get(next.checked_sub(1)?)?;
        let skipped = address - segment.address;
        let left = segment.size.checked_sub(skipped).filter(|left| *left > 0)?;
        let size = size.unwrap_or(left);
        let offset = segment.offset.checked_add(skipped)?;
        (size <= left).then(|| self.data.read_bytes_at(offset, size).ok()).flatten()
    }

    /// The note segments with their file offsets, or the note sections if there are no such segments.
    pub(super) fn notes(&self) -> Result<Vec<(u64, &'d [u8])>, ObjectError> {
        let segments = self.segments.iter().filter(|s| s.p_type.get(E) == elf::PT_NOTE);
        let mut places: Vec<_> = segments.map(|s| (s.p_offset.get(E), s.p_filesz.get(E))).collect();
        if places.is_empty() {
            let sections = self.sections.iter().filter(|s| s.sh_type.get(E) == elf::SHT_NOTE);
            places = sections.map(|s| (s.sh_offset.get(E), s.sh_size.get(E))).collect();
        }
        places.into_iter().map(|(at, size)| Ok((at, slice(self.data, at, size, "a note")?))).collect()
    }

    /// The symbols of a symbol table section, beginning with the null symbol.
    pub(super) fn symbols(&self, table: usize) -> Result<Vec<Symbol<'d>>, ObjectError> {
        let Some(header) = self.sections.get(table) else { return Ok(Vec::new()) };
        let names = self.string_table(header.sh_link.get(E), "the symbol table")?;
        let entry = size_of::<Sym64<LittleEndian>>() as u64;
        let start = header.sh_offset.get(E);
        let entries = slice(self.data, start, header.sh_size.get(E) / entry, "the symbol table")?;
        let extended = self.extended_indices(table)?;
        self.read_symbols(start, entries, &names, extended)
    }

    /// The symbols of a table that starts at a file offset.
    pub(super) fn read_symbols(
        &self,
        start: u64,
        entries: &'d [Sym64<LittleEndian>],
        names: &Names<'d>,
        extended: &[object::U32<LittleEndian>],
    ) -> Result<Vec<Symbol<'d>>, ObjectError> {
        let entry = size_of::<Sym64<LittleEndian>>() as u64;
        let symbol = |(index, sym): (usize, &Sym64<LittleEndian>)| {
            let entry_offset = start.saturating_add(index as u64 * entry);
            let name = names.get(sym.st_name.get(E)).map_err(|f| f.at(entry_offset, "symbol", index))?;
            let place = match sym.st_shndx.get(E) {
                elf::SHN_UNDEF => SymbolPlace::Undefined,
                SHN_AMDGPU_LDS => SymbolPlace::Lds,
                elf::SHN_COMMON => SymbolPlace::Common,
                elf::SHN_XINDEX => {
                    let number = extended.get(index).map_or(0, |n| n.get(E));
                    SymbolPlace::Section(SectionId(number))
                }
                number if number < elf::SHN_LORESERVE => SymbolPlace::Section(SectionId(number.into())),
                _ => SymbolPlace::Absolute,
            };
            let (value, size) = (sym.st_value.get(E), sym.st_size.get(E));
            Ok(Symbol { name, info: sym.st_info, other: sym.st_other, place, value, size, entry_offset })
        };
        entries.iter().enumerate().map(symbol).collect()
    }

    /// The section numbers of symbols that do not fit in `st_shndx`.
    fn extended_indices(&self, table: usize) -> Result<&'d [object::U32<LittleEndian>], ObjectError> {
        let of_table = |s: &&SectionHeader64<LittleEndian>| {
            s.sh_type.get(E) == elf::SHT_SYMTAB_SHNDX && s.sh_link.get(E) as usize == table
        };
        match self.sections.iter().find(of_table) {
            Some(s) => {
                slice(self.data, s.sh_offset.get(E), s.sh_size.get(E) / 4, "the section numbers of symbols")
            }
            None => Ok(&[]),
        }
    }

    /// The relocations in a relocation section.
    pub(super) fn relocations(&self, table: usize) -> Result<&'d [Rela64<LittleEndian>], ObjectError> {
        let Some(header) = self.sections.get(table) else { return Ok(&[]) };
        let count = header.sh_size.get(E) / size_of::<Rela64<LittleEndian>>() as u64;
        slice(self.data, header.sh_offset.get(E), count, "the relocations")
    }

    fn string_table(&self, index: u32, what: &'static str) -> Result<Names<'d>, ObjectError> {
        let found = self.sections.get(index as usize);
        let section =
            found.ok_or_else(|| fault(self.section_table, ReadFault::NoSection { what, section: index }))?;
        let bytes = slice(self.data, section.sh_offset.get(E), section.sh_size.get(E), "the string table")?;
        Ok(Names::new(bytes, self.data.len()))
    }
}

/// The number of sections, and the number of the section that contains their names.
fn section_counts(data: &[u8], header: &FileHeader64<LittleEndian>) -> Result<(u64, u32), ObjectError> {
    let (count, names) = (header.e_shnum.get(E), header.e_shstrndx.get(E));
    let table = header.e_shoff.get(E);
    if table == 0 || count != 0 && names != elf::SHN_XINDEX {
        return Ok((count.into(), names.into()));
    }
    // Numbers that do not fit into the ELF header are in the header of the first section.
    let first: &SectionHeader64<LittleEndian> = one(data, table, "the first section header")?;
    let count = if count == 0 { first.sh_size.get(E) } else { count.into() };
    Ok((count, if names == elf::SHN_XINDEX { first.sh_link.get(E) } else { names.into() }))
}

fn check_header(header: &FileHeader64<LittleEndian>) -> Result<(), ObjectError> {
    let ident = &header.e_ident;
    let kind = header.e_type.get(E);
    // Offset, field, value, whether it is correct, and the correct value.
    let fields = [
        (4, "EI_CLASS", u64::from(ident.class), ident.class == elf::ELFCLASS64, "2 (64 bits)"),
        (5, "EI_DATA", ident.data.into(), ident.data == elf::ELFDATA2LSB, "1 (little endian)"),
        (
            18,
            "e_machine",
            header.e_machine.get(E).into(),
            header.e_machine.get(E) == elf::EM_AMDGPU,
            "0xe0 (AMDGPU)",
        ),
        (7, "EI_OSABI", ident.os_abi.into(), ident.os_abi == ELFOSABI_AMDGPU_HSA, "0x40 (HSA)"),
        (
            8,
            "EI_ABIVERSION",
            ident.abi_version.into(),
            (0..=ABI_VERSION_V6).contains(&ident.abi_version),
            "1 to 4 (code object V3 to V6); compile with -mcode-object-version=5",
        ),
        (16, "e_type", kind.into(), [elf::ET_DYN, elf::ET_REL].contains(&kind), "3 (ET_DYN) or 1 (ET_REL)"),
    ];
    if let Some((offset, field, found, _, expected)) = fields.into_iter().find(|f| !f.3) {
        return Err(fault(offset, ReadFault::Header { field, found, expected }));
    }
    if ident.abi_version < ABI_VERSION_V3 { Err(fault(8, ReadFault::CodeObjectV2)) } else { Ok(()) }
}

/// The byte offset of `e_flags`.
const FLAGS_OFFSET: u64 = 48;

fn target_id(abi_version: u8, flags: u32) -> Result<TargetId, ObjectError> {
    let unknown = || fault(FLAGS_OFFSET, ReadFault::UnknownMach { mach: flags & 0xff });
    let id = TargetId::from_elf_flags(flags).ok_or_else(unknown)?;
    if abi_version > ABI_VERSION_V3 {
        return Ok(id);
    }
    // V3 has one bit for each feature: on or off.
    let feature = |bit: u32| if flags & bit != 0 { Feature::On } else { Feature::Off };
    let sramecc = if id.target.supports_sramecc() { feature(0x200) } else { Feature::Any };
    Ok(TargetId { xnack: feature(0x100), sramecc, ..id })
}

pub(super) fn slice<'d, T: Pod>(
    data: &'d [u8],
    at: u64,
    count: u64,
    what: &'static str,
) -> Result<&'d [T], ObjectError> {
    if count == 0 {
        return Ok(&[]);
    }
    let found = usize::try_from(count).ok().and_then(|count| data.read_slice_at(at, count).ok());
    found.ok_or_else(|| {
        let bytes = count.saturating_mul(size_of::<T>() as u64);
        fault(at, ReadFault::Truncated { what, bytes, end: data.len() as u64 })
    })
}

fn one<'d, T: Pod>(data: &'d [u8], at: u64, what: &'static str) -> Result<&'d T, ObjectError> {
    let truncated = ReadFault::Truncated { what, bytes: size_of::<T>() as u64, end: data.len() as u64 };
    data.read_at(at).map_err(|()| fault(at, truncated))
}

/// A string table.
pub(super) struct Names<'d> {
    bytes: &'d [u8],
    /// The number of bytes of names that may still be read. The limit prevents many names that share one long text from taking much time.
    budget: Cell<u64>,
}

/// Why a name cannot be read.
#[derive(Clone, Copy)]
pub(super) enum NoName {
    Malformed,
    Overlapping,
}

impl NoName {
    pub(super) fn at(self, offset: u64, what: &'static str, index: usize) -> ObjectError {
        let index = index as u64;
        fault(
            offset,
            match self {
                NoName::Malformed => ReadFault::Name { what, index },
                NoName::Overlapping => ReadFault::NamesOverlap { what, index },
            },
        )
    }
}

/// The maximum number of bytes of names for each byte of the file. No linker makes names share text to this degree.
const NAME_BYTES: u64 = 32;

impl<'d> Names<'d> {
    pub(super) fn new(bytes: &'d [u8], file_size: usize) -> Names<'d> {
        Names { bytes, budget: Cell::new(file_size as u64 * NAME_BYTES + 0x1_0000) }
    }

    pub(super) fn get(&self, at: u32) -> Result<&'d str, NoName> {
        let rest = self.bytes.get(at as usize..).ok_or(NoName::Malformed)?;
        let limit = usize::try_from(self.budget.get()).unwrap_or(usize::MAX);
        let end = match rest.iter().take(limit).position(|b| *b == 0) {
            Some(end) => end,
            None if rest.len() > limit => return Err(NoName::Overlapping),
            None => return Err(NoName::Malformed),
        };
        self.budget.set(self.budget.get() - end as u64);
        rest.get(..end).and_then(|name| std::str::from_utf8(name).ok()).ok_or(NoName::Malformed)
    }
}
