//! Sections and symbols as a reader sees them.

use object::LittleEndian;
use object::elf;

use super::super::file::{File, Symbol};
use super::super::{Binding, ObjectError, SectionId, SymbolKind, SymbolPlace, Visibility};

const E: LittleEndian = LittleEndian;

/// A section of a code object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SectionView<'d> {
    /// Its name; `PT_LOAD` for a segment that takes the place of a section.
    pub name: &'d str,
    /// `sh_type`.
    pub kind: u32,
    /// `sh_flags`.
    pub flags: u64,
    /// Where it is loaded, counted from the object's begin; 0 for what is not loaded and in relocatable
    /// objects.
    pub address: u64,
    /// Where it is in the file.
    pub offset: u64,
    /// Bytes in memory.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Size of an entry, where the section is a table; otherwise 0.
    pub entry_size: u64,
    /// `sh_info`: of a table of relocations, the number of the section that they are for (the null section
    /// counts).
    pub info: u32,
    /// Its bytes in the file; none of `SHT_NOBITS`.
    pub bytes: &'d [u8],
}

impl<'d> SectionView<'d> {
    /// True if its bytes are instructions (`SHF_EXECINSTR`).
    pub fn is_code(&self) -> bool {
        self.flags & u64::from(elf::SHF_EXECINSTR) != 0
    }

    /// True if it is in memory when the object is loaded (`SHF_ALLOC`).
    pub fn is_loaded(&self) -> bool {
        self.flags & u64::from(elf::SHF_ALLOC) != 0
    }

    /// The bytes at an address; `None` if they are not all here.
    pub fn bytes_at(&self, address: u64, size: u64) -> Option<&'d [u8]> {
        let start = usize::try_from(address.checked_sub(self.address)?).ok()?;
        self.bytes.get(start..start.checked_add(usize::try_from(size).ok()?)?)
    }
}

/// A symbol of a code object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SymbolView<'d> {
    /// Its name.
    pub name: &'d str,
    /// Its address in the object; in a relocatable object its offset in its section; the number of an
    /// absolute symbol.
    pub address: u64,
    /// Size in bytes; 0 if unknown.
    pub size: u64,
    /// The kind of thing that it names; an unknown type counts as [`SymbolKind::None`].
    pub kind: SymbolKind,
    /// Who may refer to it; a binding that this crate does not know counts as [`Binding::Global`].
    pub binding: Binding,
    /// Who may see it.
    pub visibility: Visibility,
    /// Number in [`CodeObject::sections`](super::CodeObject::sections) of its section; `None` if it is in
    /// none.
    pub section: Option<usize>,
    /// Where it is; the number of a section is that of `section`.
    pub place: SymbolPlace,
}

/// The sections after the null section.
pub(super) fn sections<'d>(file: &File<'d>) -> Result<Vec<SectionView<'d>>, ObjectError> {
    let view = |(index, header): (usize, &elf::SectionHeader64<LittleEndian>)| {
        Ok(SectionView {
            name: file.section_name(index)?,
            kind: header.sh_type.get(E),
            flags: header.sh_flags.get(E),
            address: header.sh_addr.get(E),
            offset: header.sh_offset.get(E),
            size: header.sh_size.get(E),
            align: header.sh_addralign.get(E),
            entry_size: header.sh_entsize.get(E),
            info: header.sh_info.get(E),
            bytes: file.section_bytes(index)?,
        })
    };
    file.sections.iter().enumerate().skip(1).map(view).collect()
}

/// The symbols after the null symbol.
pub(super) fn symbols<'d>(symbols: &[Symbol<'d>], sections: &[SectionView<'d>]) -> Vec<SymbolView<'d>> {
    let view = |symbol: &Symbol<'d>| {
        let section = match symbol.place {
            SymbolPlace::Section(id) => section_number(id).filter(|n| *n < sections.len()),
            _ => None,
        };
        let place = match (symbol.place, section) {
            (SymbolPlace::Section(_), Some(number)) => SymbolPlace::Section(SectionId(number as u32)),
            (place, _) => place,
        };
        SymbolView {
            name: symbol.name,
            address: symbol.value,
            size: symbol.size,
            kind: SymbolKind::from_number(symbol.kind()).unwrap_or_default(),
            binding: Binding::from_number(symbol.info >> 4).unwrap_or(Binding::Global),
            visibility: Visibility::from_number(symbol.other & 3).unwrap_or_default(),
            section,
            place,
        }
    };
    symbols.iter().skip(1).map(view).collect()
}

/// Number in the list of views of a section of the file: the null section is not in the list.
pub(super) fn section_number(id: SectionId) -> Option<usize> {
    (id.0 as usize).checked_sub(1)
}
