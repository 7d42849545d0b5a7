//! The rows of relocation tables.

use object::elf;

use super::{CodeObject, SymbolView};

/// The size of a row in bytes.
const ROW: usize = 24;
/// The size of a row of a symbol table in bytes.
const SYMBOL: usize = 24;

/// A row of a relocation table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RelocationRow {
    /// The address of the place; in a relocatable object, its offset in the section.
    pub offset: u64,
    /// The number of the kind.
    pub kind: u32,
    /// The number of the symbol in the table that belongs to the relocation table; 0 for none.
    pub symbol: usize,
    pub addend: i64,
}

impl RelocationRow {
    fn read(row: &[u8]) -> Option<RelocationRow> {
        let word = |at: usize| row.get(at..)?.first_chunk::<8>().map(|b| u64::from_le_bytes(*b));
        let (offset, info, addend) = (word(0)?, word(8)?, word(16)?);
        let (symbol, addend) = ((info >> 32) as usize, addend as i64);
        Some(RelocationRow { offset, kind: info as u32, symbol, addend })
    }

    /// The symbol of a row in a relocatable object, which has a single symbol table.
    pub fn symbol<'o, 'd>(&self, object: &'o CodeObject<'d>) -> Option<&'o SymbolView<'d>> {
        // Number 0 is the null symbol, which is not in the list of views.
        object.symbols.get(self.symbol.checked_sub(1)?)
    }
}

/// A symbol of the table that the loader uses.
pub(crate) struct DynamicSymbol<'d> {
    pub name: &'d str,
    /// The address; `None` if another object defines the symbol.
    pub address: Option<u64>,
}

impl<'d> CodeObject<'d> {
    /// The dynamic symbol (`Elf64_Sym`) with this number; `None` if there is no such row.
    pub(crate) fn dynamic_symbol(&self, number: usize) -> Option<DynamicSymbol<'d>> {
        let table = self.sections.iter().find(|s| s.kind == elf::SHT_DYNSYM)?;
        let row = table.bytes.chunks_exact(SYMBOL).nth(number)?;
        let name = u32::from_le_bytes(*row.first_chunk()?);
        let section = u16::from_le_bytes(*row.get(6..)?.first_chunk()?);
        let value = u64::from_le_bytes(*row.get(8..)?.first_chunk()?);
        let names = self.section(".dynstr").map_or(&[][..], |s| s.bytes);
        let name = names.get(name as usize..).and_then(|n| n.split(|byte| *byte == 0).next());
        let name = name.and_then(|name| std::str::from_utf8(name).ok()).unwrap_or_default();
        Some(DynamicSymbol { name, address: (section != elf::SHN_UNDEF).then_some(value) })
    }

    /// The relocations of a section in a relocatable object; none in a linked one.
    pub(crate) fn relocations_of(&self, section: usize) -> impl Iterator<Item = RelocationRow> {
        // Number 0 is the null section, which is not in the list of views.
        self.rows(move |info| self.is_relocatable && info as usize == section + 1)
    }

    /// The relocations that the loader of a linked object applies; none in a relocatable one.
    pub(crate) fn dynamic_relocations(&self) -> impl Iterator<Item = RelocationRow> {
        self.rows(|_| !self.is_relocatable)
    }

    fn rows(&self, is_wanted: impl Fn(u32) -> bool) -> impl Iterator<Item = RelocationRow> {
        let tables = self.sections.iter().filter(move |s| s.kind == elf::SHT_RELA && is_wanted(s.info));
        tables.flat_map(|t| t.bytes.chunks_exact(ROW)).filter_map(RelocationRow::read)
    }
}
