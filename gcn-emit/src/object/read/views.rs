//! Sections and symbols in the form in which they are returned to callers.

use object::LittleEndian;
use object::elf;

use super::super::file::{File, Symbol};
use super::super::{Binding, ObjectError, SectionId, SymbolKind, SymbolPlace, Visibility};

const E: LittleEndian = LittleEndian;

/// A section of a code object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SectionView<'d> {
    /// The name; `PT_LOAD` for a segment that replaces a section.
    pub name: &'d str,
    /// `sh_type`.
    pub kind: u32,
    /// `sh_flags`.
    pub flags: u64,
    /// The address relative to the object's start; 0 for sections that are not loaded, and in relocatable objects.
    pub address: u64,
    /// The offset in the file.
    pub offset: u64,
    /// The number of bytes in memory.
    pub size: u64,
    /// The alignment in bytes.
    pub align: u64,
    /// The size of an entry, if the section is a table; otherwise 0.
    pub entry_size: u64,
    /// `sh_info`: for a relocation table, the number of the section to which it applies (counting the null section).
    pub info: u32,
    /// The section's bytes in the file; empty for `SHT_NOBITS`.
    pub bytes: &'d [u8],
}

impl<'d> SectionView<'d> {
    /// True if its bytes are instructions (`SHF_EXECINSTR`).
    pub fn is_code(&self) -> bool {
        self.flags & u64::from(elf::SHF_EXECINSTR) != 0
    }

    /// True if the section is in memory when the object is loaded (`SHF_ALLOC`).
    pub fn is_loaded(&self) -> bool {
        self.flags & u64::from(elf::SHF_ALLOC) != 0
    }

    /// The bytes at an address; `None` if they are not all in this section.
    pub fn bytes_at(&self, address: u64, size: u64) -> Option<&'d [u8]> {
        let start = usize::try_from(address.checked_sub(self.address)?).ok()?;
        self.bytes.get(start..start.checked_add(usize::try_from(size).ok()?)?)
    }
}

/// A symbol of a code object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SymbolView<'d> {
    /// The symbol's name.
    pub name: &'d str,
    /// The address in the object; in a relocatable object, the offset in its section; for an absolute symbol, its
    /// number.
    pub address: u64,
    /// The size in bytes; 0 if unknown.
    pub size: u64,
    /// The kind of thing that the symbol names; an unknown type is treated as [`SymbolKind::None`].
    pub kind: SymbolKind,
    /// Which files may refer to the symbol; an unknown binding is treated as [`Binding::Global`].
    pub binding: Binding,
    /// Where the symbol is visible.
    pub visibility: Visibility,
    /// The index in [`CodeObject::sections`](super::CodeObject::sections) of the symbol's section; `None` if it is not in a section.
    pub section: Option<usize>,
    /// The symbol's location; a section number in it is that of `section`.
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

/// The index of a section of the file in the list of views, which does not contain the null section; `None` for the null section.
pub(super) fn section_number(id: SectionId) -> Option<usize> {
    (id.0 as usize).checked_sub(1)
}
