//! Code objects: ELF files that the HSA and HIP runtimes load, written and read without LLVM.

pub mod bundle;
#[cfg(feature = "containers")]
pub mod container;
pub(crate) mod debug;
mod error;
mod file;
mod foreign;
mod hash;
pub(crate) mod layout;
mod link;
mod module;
mod note;
mod read;
mod relocatable;
mod write;
mod write_relocatable;

pub use crate::version::CodeObjectVersion;
pub use error::{LinkFault, LinkPlace, ObjectError, ReadFault};
pub use foreign::{Foreign, foreign};
pub use layout::with_constants;
pub use link::{LinkOptions, Linked, link, link_placed, link_with};
pub use module::{
    Binding, Module, Relocation, RelocationBase, RelocationKind, Section, SectionId, Symbol, SymbolId,
    SymbolKind, SymbolPlace, Visibility,
};
#[cfg(feature = "tools")]
pub(crate) use note::{check_notes, metadata_in_note, metadata_note};
#[cfg(feature = "tools")]
pub(crate) use read::RelocationRow;
pub use read::{CodeObject, KernelCode, SectionView, SymbolView, read_code_object};
pub use write::{Written, write_code_object, write_with_code};
pub use write_relocatable::write_relocatable;

/// `e_ident[EI_OSABI]` of a code object for HSA runtimes.
const ELFOSABI_AMDGPU_HSA: u8 = 64;
