//! Code objects: ELF files that the HSA and HIP runtimes load, written and read without LLVM.

mod error;
mod hash;
pub(crate) mod layout;
mod note;
mod read;
mod write;

pub use error::{ObjectError, ReadFault};
pub use read::{CodeObject, KernelCode, read_code_object};
pub use write::write_code_object;

/// `e_ident[EI_ABIVERSION]` of code object V5 (guide, *ELF Header*).
pub const ABI_VERSION_V5: u8 = 3;
/// `e_ident[EI_OSABI]` of a code object for HSA runtimes.
const ELFOSABI_AMDGPU_HSA: u8 = 64;
