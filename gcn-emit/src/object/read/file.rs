//! The parts of an ELF file that a code object needs, each checked against the end of the file.

use object::elf::{self, FileHeader64, ProgramHeader64, SectionHeader64, Sym64};
use object::pod::Pod;
use object::{LittleEndian, ReadRef};

use super::super::{ELFOSABI_AMDGPU_HSA, ObjectError, ReadFault};
use crate::target_id::{Feature, TargetId};

const E: LittleEndian = LittleEndian;

/// How clang's bundles of code objects begin, uncompressed and compressed.
const BUNDLES: [&[u8]; 2] = [b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB"];

/// Code object V3, the oldest with these descriptors.
const ABI_VERSION_V3: u8 = 1;
/// The newest that this crate knows: V6.
const ABI_VERSION_V6: u8 = 4;

/// A code object's ELF file.
pub(super) struct File<'d> {
    data: &'d [u8],
    pub(super) target_id: TargetId,
    pub(super) abi_version: u8,
    segments: &'d [ProgramHeader64<LittleEndian>],
    sections: &'d [SectionHeader64<LittleEndian>],
    section_table: u64,
}

/// A symbol.
pub(super) struct Symbol<'d> {
    pub(super) name: &'d str,
    /// `STT_`.
    pub(super) kind: u8,
    pub(super) is_defined: bool,
    pub(super) address: u64,
    pub(super) size: u64,
    /// Where its table entry is in the file.
    pub(super) entry_offset: u64,
}

impl<'d> File<'d> {
    pub(super) fn parse(data: &'d [u8]) -> Result<File<'d>, ObjectError> {
        if BUNDLES.iter().any(|magic| data.starts_with(magic)) {
            return Err(fault(0, ReadFault::Bundle));
        }
        let header: &FileHeader64<LittleEndian> = one(data, 0, "the ELF header")?;
        check_header(header)?;
        let abi_version = header.e_ident.abi_version;
        let target_id = target_id(abi_version, header.e_flags.get(E))?;
        let segments =
            slice(data, header.e_phoff.get(E), header.e_phnum.get(E).into(), "the program headers")?;
        let section_table = header.e_shoff.get(E);
        let sections = slice(data, section_table, header.e_shnum.get(E).into(), "the section headers")?;
        Ok(File { data, target_id, abi_version, segments, sections, section_table })
    }

    /// The bytes that a loaded segment has at an address: `size` of them, or all to the end of the segment.
    pub(super) fn loaded(&self, address: u64, size: Option<u64>) -> Option<&'d [u8]> {
        self.segments.iter().filter(|s| s.p_type.get(E) == elf::PT_LOAD).find_map(|segment| {
            let skipped = address.checked_sub(segment.p_vaddr.get(E))?;
            let left = segment.p_filesz.get(E).checked_sub(skipped).filter(|left| *left > 0)?;
            let size = size.unwrap_or(left);
            let offset = segment.p_offset.get(E).checked_add(skipped)?;
            (size <= left).then(|| self.data.read_bytes_at(offset, size).ok()).flatten()
        })
    }

    /// Note segments with their file offsets; note sections where there is no segment.
    pub(super) fn notes(&self) -> Result<Vec<(u64, &'d [u8])>, ObjectError> {
        let segments = self.segments.iter().filter(|s| s.p_type.get(E) == elf::PT_NOTE);
        let mut places: Vec<_> = segments.map(|s| (s.p_offset.get(E), s.p_filesz.get(E))).collect();
        if places.is_empty() {
            let sections = self.sections.iter().filter(|s| s.sh_type.get(E) == elf::SHT_NOTE);
            places = sections.map(|s| (s.sh_offset.get(E), s.sh_size.get(E))).collect();
        }
        places.into_iter().map(|(at, size)| Ok((at, slice(self.data, at, size, "a note")?))).collect()
    }

    /// The dynamic symbols; where there are none, all symbols.
    pub(super) fn symbols(&self) -> Result<Vec<Symbol<'d>>, ObjectError> {
        let of_type = |kind| self.sections.iter().find(|s| s.sh_type.get(E) == kind);
        let table = of_type(elf::SHT_DYNSYM).or_else(|| of_type(elf::SHT_SYMTAB));
        let table = table.ok_or_else(|| fault(self.section_table, ReadFault::NoSymbols))?;
        let strings = self.section(table.sh_link.get(E), "the symbol table")?;
        let strings: &[u8] =
            slice(self.data, strings.sh_offset.get(E), strings.sh_size.get(E), "the string table")?;
        let entry = size_of::<Sym64<LittleEndian>>() as u64;
        let start = table.sh_offset.get(E);
        let entries: &[Sym64<LittleEndian>] =
            slice(self.data, start, table.sh_size.get(E) / entry, "the symbol table")?;
        let symbol = |(index, sym): (usize, &Sym64<LittleEndian>)| {
            let entry_offset = start + index as u64 * entry;
            let name = c_string(strings, sym.st_name.get(E)).ok_or_else(|| {
                fault(entry_offset, ReadFault::Name { what: "symbol", index: index as u64 })
            })?;
            Ok(Symbol {
                name,
                kind: sym.st_info & 0xf,
                is_defined: sym.st_shndx.get(E) != elf::SHN_UNDEF,
                address: sym.st_value.get(E),
                size: sym.st_size.get(E),
                entry_offset,
            })
        };
        entries.iter().enumerate().map(symbol).collect()
    }

    fn section(
        &self,
        index: u32,
        what: &'static str,
    ) -> Result<&'d SectionHeader64<LittleEndian>, ObjectError> {
        let found = self.sections.get(index as usize);
        found.ok_or_else(|| fault(self.section_table, ReadFault::NoSection { what, section: index }))
    }
}

fn check_header(header: &FileHeader64<LittleEndian>) -> Result<(), ObjectError> {
    let ident = &header.e_ident;
    let magic = u32::from_be_bytes(ident.magic);
    // Offset, field, value, whether it is right, what is right.
    let fields = [
        (0, "the magic number", magic.into(), ident.magic == elf::ELFMAG, "0x7f454c46 (ELF)"),
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
            (ABI_VERSION_V3..=ABI_VERSION_V6).contains(&ident.abi_version),
            "1 to 4 (code object V3 to V6); compile with -mcode-object-version=5",
        ),
    ];
    if let Some((offset, field, found, _, expected)) = fields.into_iter().find(|f| !f.3) {
        return Err(fault(offset, ReadFault::Header { field, found, expected }));
    }
    match header.e_type.get(E) {
        elf::ET_DYN => Ok(()),
        elf::ET_REL => Err(fault(16, ReadFault::Relocatable)),
        other => {
            let expected = "3 (ET_DYN)";
            Err(fault(16, ReadFault::Header { field: "e_type", found: other.into(), expected }))
        }
    }
}

/// Byte offset of `e_flags`.
const FLAGS_OFFSET: u64 = 48;

fn target_id(abi_version: u8, flags: u32) -> Result<TargetId, ObjectError> {
    let unknown = || fault(FLAGS_OFFSET, ReadFault::UnknownMach { mach: flags & 0xff });
    let id = TargetId::from_elf_flags(flags).ok_or_else(unknown)?;
    if abi_version > ABI_VERSION_V3 {
        return Ok(id);
    }
    // V3 has one bit for each feature: on, or off.
    let feature = |bit: u32| if flags & bit != 0 { Feature::On } else { Feature::Off };
    let sramecc = if id.target.supports_sramecc() { feature(0x200) } else { Feature::Any };
    Ok(TargetId { xnack: feature(0x100), sramecc, ..id })
}

/// Longest symbol name.
const MAX_NAME: usize = 0xffff;

fn fault(offset: u64, fault: ReadFault) -> ObjectError {
    ObjectError::Read { offset, fault }
}

fn slice<'d, T: Pod>(
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

fn c_string(strings: &[u8], at: u32) -> Option<&str> {
    let rest = strings.get(at as usize..)?;
    // The limit keeps a file whose many names share one endless string from taking forever.
    let end = rest.iter().take(MAX_NAME).position(|b| *b == 0)?;
    std::str::from_utf8(&rest[..end]).ok()
}
