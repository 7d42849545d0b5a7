//! Reads kernels, sections and symbols from a code object, whatever produced it.

mod kernels;
#[cfg(feature = "tools")]
mod relocations;
mod stripped;
mod views;

use object::elf;

use super::file::{File, Symbol};
use super::{ObjectError, ReadFault, note};
use crate::descriptor::{DESCRIPTOR_BYTES, KernelDescriptor};
use crate::metadata::{KernelMetadata, Metadata};
use crate::target_id::TargetId;

#[cfg(feature = "tools")]
pub(crate) use relocations::RelocationRow;
pub use views::{SectionView, SymbolView};

/// A parsed code object.
#[derive(Clone, Debug)]
pub struct CodeObject<'d> {
    /// The processor and its feature settings.
    pub target_id: TargetId,
    /// `EI_ABIVERSION`: 1 is code object V3, 2 V4, 3 V5, 4 V6.
    pub abi_version: u8,
    /// True for an object that is not linked yet (`.o`): addresses are offsets in sections, and relocations
    /// are not applied.
    pub is_relocatable: bool,
    /// The kernels, in the order of the symbol table that the loader uses.
    pub kernels: Vec<KernelCode<'d>>,
    /// The metadata note, if there is one.
    pub metadata: Option<Metadata>,
    /// The sections, in the order of their headers. If headers were stripped, these are the loaded segments.
    pub sections: Vec<SectionView<'d>>,
    /// The symbols: those of `.symtab`; if there is none, those of `.dynsym`; if there is none either, those of the dynamic table.
    pub symbols: Vec<SymbolView<'d>>,
}

/// A kernel of a code object.
#[derive(Clone, Debug)]
pub struct KernelCode<'d> {
    /// The name: the descriptor's symbol without `.kd`.
    pub name: &'d str,
    /// The kernel descriptor.
    pub descriptor: KernelDescriptor,
    /// The descriptor's bytes, including reserved ones.
    pub descriptor_bytes: &'d [u8; DESCRIPTOR_BYTES],
    /// The address of the first instruction in the object or, for a relocatable object, in its section.
    pub address: u64,
    /// The machine code, which has the size of the entry symbol. If that has no size, the code extends to the next function or to the end
    /// of the segment, including padding. Empty for a kernel whose function has 0 bytes and at whose address another function begins.
    pub code: &'d [u8],
    /// The index in [`CodeObject::sections`] of the section with the code; `None` if no section contains it.
    pub section: Option<usize>,
    /// The kernel's metadata, if there is any.
    pub metadata: Option<KernelMetadata>,
}

impl<'d> CodeObject<'d> {
    /// The kernel with this name; `None` if there is none.
    pub fn kernel(&self, name: &str) -> Option<&KernelCode<'d>> {
        self.kernels.iter().find(|k| k.name == name)
    }

    /// Returns the object if it is linked; a relocatable one cannot be loaded.
    ///
    /// # Errors
    /// [`ReadFault::Relocatable`].
    pub fn linked(self) -> Result<CodeObject<'d>, ObjectError> {
        // The error is at the field `e_type`, at offset 16.
        if self.is_relocatable {
            Err(ObjectError::Read { offset: 16, fault: ReadFault::Relocatable })
        } else {
            Ok(self)
        }
    }

    /// The section with this name; `None` if there is none.
    pub fn section(&self, name: &str) -> Option<&SectionView<'d>> {
        self.sections.iter().find(|s| s.name == name)
    }

    /// The section with the code: `.text`; if there is none, the first executable section.
    pub fn text(&self) -> Option<&SectionView<'d>> {
        self.section(".text").or_else(|| self.sections.iter().find(|s| s.is_code()))
    }
}

/// Reads a code object (V3 to V6), linked or not. The file's contents are not trusted: nothing is executed, no
/// allocation depends on a size that the file merely claims, and any bytes give a code object or an error.
///
/// # Errors
/// [`ObjectError::Read`] with the offset, the problem and the remedy.
pub fn read_code_object(bytes: &[u8]) -> Result<CodeObject<'_>, ObjectError> {
    let file = File::parse(bytes)?;
    let metadata = metadata(&file)?;
    let sections =
        if file.sections.is_empty() { stripped::sections(&file)? } else { views::sections(&file)? };
    let tables = tables(&file)?;
    let kernels = kernels::kernels(&file, &sections, &tables.loader, metadata.as_ref())?;
    let all = tables.all.as_ref().unwrap_or(&tables.loader);
    let symbols = views::symbols(all, &sections);
    Ok(CodeObject {
        target_id: file.target_id,
        abi_version: file.abi_version,
        is_relocatable: file.is_relocatable,
        kernels,
        metadata,
        sections,
        symbols,
    })
}

/// The symbol tables of a file.
struct Tables<'d> {
    /// The table that the loader uses.
    loader: Vec<Symbol<'d>>,
    /// The table with all symbols; `None` if it is the loader's table.
    all: Option<Vec<Symbol<'d>>>,
}

fn tables<'d>(file: &File<'d>) -> Result<Tables<'d>, ObjectError> {
    let table = |kind| file.section_of_type(kind).map(|index| file.symbols(index)).transpose();
    let (dynamic, all) = (table(elf::SHT_DYNSYM)?, table(elf::SHT_SYMTAB)?);
    Ok(match (dynamic, all) {
        (Some(loader), all) => Tables { loader, all },
        (None, Some(loader)) => Tables { loader, all: None },
        (None, None) => Tables { loader: stripped::symbols(file)?, all: None },
    })
}

fn metadata(file: &File<'_>) -> Result<Option<Metadata>, ObjectError> {
    for (offset, section) in file.notes()? {
        let fault = |at: usize, fault| ObjectError::Read { offset: offset.saturating_add(at as u64), fault };
        let found = note::find_metadata(section).map_err(|e| fault(e.at, ReadFault::Note(e.what)))?;
        if let Some(bytes) = found {
            return Metadata::from_msgpack(bytes).map(Some).map_err(|e| fault(0, e.into()));
        }
    }
    Ok(None)
}
