//! Writes the bytes of debug sections, and defines the numbers that all of them use (DWARF 5).

use object::elf;

use crate::object::{Relocation, RelocationBase, RelocationKind, Section, SectionId};

pub(crate) const VERSION: u16 = 5;
pub(crate) const ADDRESS_BYTES: u8 = 8;
/// `DW_FORM_string`.
pub(crate) const STRING: u8 = 0x08;
/// `DW_FORM_udata`.
pub(crate) const UDATA: u8 = 0x0f;

/// The bytes of a section, and the relocations for the linker.
#[derive(Default)]
pub(crate) struct Bytes {
    pub(crate) bytes: Vec<u8>,
    pub(crate) relocations: Vec<Relocation>,
}

impl Bytes {
    pub(crate) fn string(&mut self, text: &str) {
        // A string ends at its first zero byte.
        self.bytes.extend(text.bytes().take_while(|b| *b != 0));
        self.bytes.push(0);
    }

    pub(crate) fn unsigned(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    pub(crate) fn signed(&mut self, mut value: i64) {
        while !(-0x40..0x40).contains(&value) {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8 & 0x7f);
    }

    /// An address in a section, or an offset in a debug section.
    pub(crate) fn address(&mut self, kind: RelocationKind, bytes: usize, section: SectionId, addend: u64) {
        let offset = self.bytes.len() as u64;
        let base = RelocationBase::Section(section);
        self.relocations.push(Relocation { offset, kind, base, addend: addend as i64 });
        self.bytes.extend(std::iter::repeat_n(0, bytes));
    }

    /// Stores the number of bytes that follow in the four bytes at `at`.
    pub(crate) fn set_length(&mut self, at: usize) {
        let length = (self.bytes.len() - at - 4) as u32;
        self.bytes[at..at + 4].copy_from_slice(&length.to_le_bytes());
    }

    pub(crate) fn into_section(self, name: &str) -> Section {
        Section { relocations: self.relocations, ..Section::new(name, elf::SHT_PROGBITS, 0, self.bytes) }
    }
}
