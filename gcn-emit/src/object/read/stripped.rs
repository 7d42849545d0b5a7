//! Reads objects without section headers as the loader does, by segments and the dynamic table.

use object::LittleEndian;
use object::elf::{self, Dyn64, Sym64};

use super::super::error::fault;
use super::super::file::{File, Names, Symbol, slice};
use super::super::{ObjectError, ReadFault};
use super::views::SectionView;

const E: LittleEndian = LittleEndian;

/// The loaded segments as sections.
pub(super) fn sections<'d>(file: &File<'d>) -> Result<Vec<SectionView<'d>>, ObjectError> {
    let mut all = Vec::new();
    for segment in file.segments.iter().filter(|s| s.p_type.get(E) == elf::PT_LOAD) {
        let (offset, size) = (segment.p_offset.get(E), segment.p_filesz.get(E));
        let flag = |segment_flag, flag| if segment.p_flags.get(E) & segment_flag != 0 { flag } else { 0 };
        let flags = elf::SHF_ALLOC | flag(elf::PF_W, elf::SHF_WRITE) | flag(elf::PF_X, elf::SHF_EXECINSTR);
        all.push(SectionView {
            name: "PT_LOAD",
            kind: elf::SHT_PROGBITS,
            flags: flags.into(),
            address: segment.p_vaddr.get(E),
            offset,
            size: segment.p_memsz.get(E),
            align: segment.p_align.get(E),
            entry_size: 0,
            info: 0,
            bytes: slice(file.data, offset, size, "a segment")?,
        });
    }
    Ok(all)
}

/// The symbols of the dynamic table. Their number is known only from the hash tables.
pub(super) fn symbols<'d>(file: &File<'d>) -> Result<Vec<Symbol<'d>>, ObjectError> {
    let dynamic = file.segments.iter().find(|s| s.p_type.get(E) == elf::PT_DYNAMIC);
    let dynamic = dynamic.ok_or_else(|| fault(0, ReadFault::NoSymbols))?;
    let (start, size) = (dynamic.p_offset.get(E), dynamic.p_filesz.get(E));
    let entries: &[Dyn64<LittleEndian>] =
        slice(file.data, start, size / size_of::<Dyn64<LittleEndian>>() as u64, "the dynamic table")?;
    let used = entries.iter().take_while(|e| e.d_tag.get(E) != u64::from(elf::DT_NULL));
    let value = |tag: u32| used.clone().find(|e| e.d_tag.get(E) == u64::from(tag)).map(|e| e.d_val.get(E));
    let missing = || fault(start, ReadFault::NoSymbols);
    let table = value(elf::DT_SYMTAB).ok_or_else(missing)?;
    let names = value(elf::DT_STRTAB).zip(value(elf::DT_STRSZ)).ok_or_else(missing)?;
    let names = file.loaded(names.0, Some(names.1)).ok_or_else(missing)?;
    let by_hash = || count_by_hash(file.loaded(value(elf::DT_HASH)?, None)?);
    let by_gnu_hash = || count_by_gnu_hash(file.loaded(value(elf::DT_GNU_HASH)?, None)?);
    let count = by_hash().or_else(by_gnu_hash).ok_or_else(missing)?;
    let bytes = file.loaded(table, None).ok_or_else(missing)?;
    let entries: &[Sym64<LittleEndian>] = slice(bytes, 0, count, "the dynamic symbols")?;
    file.read_symbols(table, entries, &Names::new(names, file.data.len()), &[])
}

fn word(bytes: &[u8], index: usize) -> Option<u32> {
    let bytes = bytes.get(index.checked_mul(4)?..)?.first_chunk::<4>()?;
    Some(u32::from_le_bytes(*bytes))
}

/// The number of symbols according to the System V hash table, which has a chain entry for each symbol; `None` if the table is too short.
fn count_by_hash(table: &[u8]) -> Option<u64> {
    word(table, 1).map(u64::from)
}

/// The number of symbols according to the GNU hash table, which ends with the chain of the highest bucket, whose last entry is odd; `None`
/// if the table is damaged.
fn count_by_gnu_hash(table: &[u8]) -> Option<u64> {
    let (buckets, first, filter) = (word(table, 0)?, word(table, 1)?, word(table, 2)?);
    let start = (filter as usize).checked_mul(2)?.checked_add(4)?;
    let end = start.checked_add(buckets as usize)?;
    // The number of buckets is limited by the number of bytes.
    let highest = (start..end.min(table.len() / 4)).filter_map(|i| word(table, i)).max()?;
    if highest < first {
        return Some(first.into());
    }
    let chain = end.checked_add((highest - first) as usize)?;
    let last = (chain..table.len() / 4).find(|i| word(table, *i).is_some_and(|w| w & 1 != 0))?;
    Some(u64::from(highest) + (last - chain) as u64 + 1)
}
