//! Kernels: a descriptor symbol `NAME.kd`, the descriptor, and the code to which it refers.

use std::collections::HashMap;

use object::LittleEndian;
use object::elf;

use super::super::file::{File, Symbol};
use super::super::{ObjectError, ReadFault, RelocationKind, SectionId, SymbolPlace};
use super::KernelCode;
use super::views::{SectionView, section_number};
use crate::descriptor::{CODE_ENTRY_OFFSET, DESCRIPTOR_BYTES, KernelDescriptor};
use crate::metadata::{KernelMetadata, Metadata};

const E: LittleEndian = LittleEndian;

/// A position in a linked object (section 0), or in a section of an unlinked one.
type Address = (u32, u64);

/// All kernels, in the order of their descriptors' symbols.
pub(super) fn kernels<'d>(
    file: &File<'d>,
    sections: &[SectionView<'d>],
    symbols: &[Symbol<'d>],
    metadata: Option<&Metadata>,
) -> Result<Vec<KernelCode<'d>>, ObjectError> {
    let loaded = sections.iter().enumerate().filter(|(_, s)| s.is_loaded() && s.size > 0);
    let mut by_address: Vec<_> = loaded.map(|(index, s)| (s.address, index)).collect();
    by_address.sort_unstable();
    let functions = functions(file, symbols);
    let finder = Finder { file, sections, symbols, functions, entries: entries(file, symbols)?, by_address };
    // Each entry of the metadata is assigned to only one kernel: otherwise a file with many symbols of the same name could multiply it.
    let mut by_symbol: HashMap<&str, &KernelMetadata> = HashMap::new();
    for kernel in metadata.iter().flat_map(|m| &m.kernels) {
        by_symbol.insert(&kernel.symbol, kernel);
    }
    let mut kernels = Vec::new();
    for symbol in symbols {
        if let Some(name) = symbol.name.strip_suffix(".kd")
            && symbol.kind() == elf::STT_OBJECT
            && symbol.is_defined()
        {
            let metadata = by_symbol.remove(symbol.name).cloned();
            kernels.push(KernelCode { metadata, ..finder.kernel(symbol, name)? });
        }
    }
    Ok(kernels)
}

/// The position of a symbol. The section matters only in unlinked objects.
fn address(file: &File<'_>, symbol: &Symbol<'_>) -> Address {
    match symbol.place {
        SymbolPlace::Section(SectionId(section)) if file.is_relocatable => (section, symbol.value),
        _ => (0, symbol.value),
    }
}

/// The function symbols sorted by address: address and size.
fn functions(file: &File<'_>, symbols: &[Symbol<'_>]) -> Vec<(Address, u64)> {
    let is_function = |s: &&Symbol<'_>| s.kind() == elf::STT_FUNC && s.is_defined();
    let mut all: Vec<_> = symbols.iter().filter(is_function).map(|s| (address(file, s), s.size)).collect();
    all.sort_unstable();
    all
}

/// In an unlinked object, the relocations of the descriptors' `KERNEL_CODE_ENTRY_BYTE_OFFSET`: for each place with a 64-bit distance, the
/// position to which the distance leads.
fn entries(file: &File<'_>, symbols: &[Symbol<'_>]) -> Result<HashMap<Address, Address>, ObjectError> {
    let mut all = HashMap::new();
    if !file.is_relocatable {
        return Ok(all);
    }
    for (index, header) in file.sections.iter().enumerate().filter(|s| s.1.sh_type.get(E) == elf::SHT_RELA) {
        let section = header.sh_info.get(E);
        for row in file.relocations(index)? {
            let info = row.r_info.get(E);
            let target = symbols.get((info >> 32) as usize);
            let is_distance = info as u32 == RelocationKind::Rel64.number();
            if let Some(symbol) = target.filter(|s| is_distance && s.is_defined()) {
                let (code, value) = address(file, symbol);
                // Offset and addend of the relocation are relative to the field, while the distance is relative to the start of the
                // descriptor.
                let entry = value.wrapping_add_signed(row.r_addend.get(E)).wrapping_sub(CODE_ENTRY_OFFSET);
                all.insert((section, row.r_offset.get(E)), (code, entry));
            }
        }
    }
    Ok(all)
}

struct Finder<'a, 'd> {
    file: &'a File<'d>,
    sections: &'a [SectionView<'d>],
    symbols: &'a [Symbol<'d>],
    functions: Vec<(Address, u64)>,
    entries: HashMap<Address, Address>,
    /// The address and number of each loaded section that is not empty, sorted by address.
    by_address: Vec<(u64, usize)>,
}

impl<'d> Finder<'_, 'd> {
    fn kernel(&self, symbol: &Symbol<'d>, name: &'d str) -> Result<KernelCode<'d>, ObjectError> {
        let unmapped = |what, address, bytes| ObjectError::Read {
            offset: symbol.entry_offset,
            fault: ReadFault::Unmapped { what, kernel: name.to_owned(), address, bytes },
        };
        let size = DESCRIPTOR_BYTES as u64;
        let (section, at) = address(self.file, symbol);
        let descriptor_bytes = self
            .bytes((section, at), Some(size))
            .and_then(|bytes| bytes.first_chunk::<DESCRIPTOR_BYTES>())
            .ok_or_else(|| unmapped("the descriptor", at, size))?;
        let descriptor = KernelDescriptor::from_bytes(descriptor_bytes);
        let entry = if self.file.is_relocatable {
            let entry = self.entries.get(&(section, at.wrapping_add(CODE_ENTRY_OFFSET)));
            *entry.ok_or_else(|| unmapped("the code", at, 0))?
        } else {
            (0, at.wrapping_add_signed(descriptor.kernel_code_entry_byte_offset))
        };
        let ends = self.ends_at(entry);
        let size = if ends.is_some() || self.is_empty(name, entry) { Some(0) } else { self.size_at(entry) };
        let code = match size {
            Some(0) => &[],
            _ => self.bytes(entry, size).ok_or_else(|| unmapped("the code", entry.1, size.unwrap_or(0)))?,
        };
        let section = ends.or_else(|| self.section_of(entry));
        Ok(KernelCode { name, descriptor, descriptor_bytes, address: entry.1, code, section, metadata: None })
    }

    /// True if the kernel's function has no bytes and another one begins at its address. Compilers leave such kernels if they know that
    /// control never reaches them. A size of 0 alone is not sufficient, because it also occurs in assembly without `.size`.
    fn is_empty(&self, name: &str, address: Address) -> bool {
        let is_own = |s: &&Symbol<'_>| {
            s.name == name
                && s.kind() == elf::STT_FUNC
                && s.is_defined()
                && self::address(self.file, s) == address
        };
        let empty = || self.symbols.iter().find(is_own).is_some_and(|s| s.size == 0);
        self.largest_at(address).is_some_and(|size| size > 0) && empty()
    }

    /// The section with code that ends at an address, if no other section begins there, so that there is no code at the address.
    fn ends_at(&self, (section, at): Address) -> Option<usize> {
        if self.file.is_relocatable {
            let number = section_number(SectionId(section))?;
            return (self.sections.get(number)?.bytes.len() as u64 == at).then_some(number);
        }
        let code = || self.sections.iter().enumerate().filter(|(_, s)| s.is_code() && s.is_loaded());
        let holds = |s: &SectionView<'_>| s.address <= at && at - s.address < s.size;
        let ends = code().find(|(_, s)| s.address.checked_add(s.size) == Some(at))?;
        code().all(|(_, s)| !holds(s)).then_some(ends.0)
    }

    /// The size of the largest function at an address; `None` if there is none.
    fn largest_at(&self, address: Address) -> Option<u64> {
        let next = self.functions.partition_point(|f| f.0 <= address);
        // Functions at the same address are sorted by size, so the largest is the last.
        self.functions.get(..next)?.last().filter(|f| f.0 == address).map(|f| f.1)
    }

    /// The size of the function at an address: that of its symbol, otherwise the distance to the next
    /// function.
    fn size_at(&self, address: Address) -> Option<u64> {
        let next = self.functions.partition_point(|f| f.0 <= address);
        let sized = self.largest_at(address).filter(|size| *size > 0);
        let following = self.functions.get(next).filter(|f| f.0.0 == address.0);
        sized.or_else(|| following.map(|f| f.0.1 - address.1))
    }

    /// The bytes at an address: `size` of them, or all up to the end of the segment or section. `None` if the object does not contain them.
    fn bytes(&self, (section, at): Address, size: Option<u64>) -> Option<&'d [u8]> {
        if !self.file.is_relocatable {
            return self.file.loaded(at, size);
        }
        let view = self.sections.get(section_number(SectionId(section))?)?;
        let left = (view.bytes.len() as u64).checked_sub(at).filter(|left| *left > 0)?;
        let start = usize::try_from(at).ok()?;
        view.bytes.get(start..start.checked_add(usize::try_from(size.unwrap_or(left)).ok()?)?)
    }

    fn section_of(&self, (section, at): Address) -> Option<usize> {
        if self.file.is_relocatable {
            return section_number(SectionId(section));
        }
        let next = self.by_address.partition_point(|s| s.0 <= at);
        let (address, index) = *self.by_address.get(next.checked_sub(1)?)?;
        self.sections.get(index).is_some_and(|s| at - address < s.size).then_some(index)
    }
}
