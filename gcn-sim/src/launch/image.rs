//! Loads a code object: places its sections at their addresses and applies relocations.
//!
//! Linked code objects are position independent: `.rela.dyn` lists everything that depends on the load address (LLVM AMDGPU guide,
//! "Relocation Records"). The loader chooses the load address, at which the object's address 0 is placed.

use gcn_emit::object::{CodeObject, RelocationKind, SectionView};

use super::Error;

/// The maximum size of an image in bytes.
const MOST: u64 = 1 << 30;
/// ELF section types.
const SHT_RELA: u32 = 4;
const SHT_DYNSYM: u32 = 11;
/// The sizes in bytes of an entry of a relocation table and of a symbol table.
const RELA_BYTES: usize = 24;
const SYMBOL_BYTES: usize = 24;

/// A loaded object.
#[derive(Clone, Debug)]
pub(crate) struct Image {
    /// The load address.
    pub base: u64,
    /// The contents, from the object's address 0 on.
    pub bytes: Vec<u8>,
    /// The address ranges of sections with instructions.
    pub code: Vec<std::ops::Range<u32>>,
}

fn fault(problem: impl Into<String>, remedy: impl Into<String>) -> Error {
    Error::Image { problem: problem.into(), remedy: remedy.into() }
}

impl Image {
    /// Places the loaded sections of a linked object. `base` receives the size of the image and returns the load address.
    pub(crate) fn of(object: &CodeObject<'_>, base: impl FnOnce(usize) -> u64) -> Result<Image, Error> {
        let loaded = || object.sections.iter().filter(|s| s.is_loaded());
        let end = loaded().map(|s| s.address.saturating_add(s.size)).max().unwrap_or(0);
        if end > MOST {
            let problem = format!("its addresses reach {end:#x}");
            return Err(fault(problem, "the simulator loads images of up to 1 GiB"));
        }
        let base = base(end as usize);
        let mut image = Image { base, bytes: vec![0; end as usize], code: Vec::new() };
        for section in loaded() {
            let start = section.address as usize;
            // Sections without contents in the file remain zero.
            if let Some(place) = image.bytes.get_mut(start..start + section.bytes.len()) {
                place.copy_from_slice(section.bytes);
            }
            if section.is_code() {
                image.code.push(section.address as u32..(section.address + section.size) as u32);
            }
        }
        let symbols = object.sections.iter().find(|s| s.kind == SHT_DYNSYM).map_or(&[][..], |s| s.bytes);
        for table in loaded().filter(|s| s.kind == SHT_RELA) {
            image.relocate(table, symbols)?;
        }
        Ok(image)
    }

    fn relocate(&mut self, table: &SectionView<'_>, symbols: &[u8]) -> Result<(), Error> {
        for row in table.bytes.as_chunks::<RELA_BYTES>().0 {
            let word = |at: usize| row.get(at..at + 8).map_or(0, eight);
            let (place, info, addend) = (word(0), word(8), word(16));
            let value = match info as u32 {
                RelocationKind::RELATIVE64 => self.base.wrapping_add(addend),
                kind if kind == RelocationKind::Abs64.number() => {
                    address_of(symbols, info >> 32)?.wrapping_add(self.base).wrapping_add(addend)
                }
                kind => {
                    let name = RelocationKind::from_number(kind).map_or("", RelocationKind::name);
                    let problem = format!("relocation {kind} {name} at address {place:#x}");
                    return Err(fault(problem, "link the object with `ld.lld -shared`"));
                }
            };
            let start = usize::try_from(place).unwrap_or(usize::MAX);
            let bytes = start.checked_add(8).and_then(|end| self.bytes.get_mut(start..end));
            let outside =
                || fault(format!("a relocation at address {place:#x}, which is not loaded"), "link it again");
            bytes.ok_or_else(outside)?.copy_from_slice(&value.to_le_bytes());
        }
        Ok(())
    }
}

/// Eight bytes as a little-endian number.
fn eight(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// The address in the object of the dynamic symbol with this number.
fn address_of(symbols: &[u8], number: u64) -> Result<u64, Error> {
    let start = usize::try_from(number).ok().and_then(|n| n.checked_mul(SYMBOL_BYTES));
    let symbol = start.and_then(|start| symbols.get(start..start + SYMBOL_BYTES));
    let missing = || fault(format!("symbol {number} of a relocation is not in its table"), "link it again");
    let symbol = symbol.ok_or_else(missing)?;
    let section = symbol.get(6..8).map_or(0, eight);
    if section == 0 {
        let problem = format!("it refers to dynamic symbol {number}, which it does not define");
        return Err(fault(problem, "link it with the object that does"));
    }
    Ok(symbol.get(8..16).map_or(0, eight))
}
