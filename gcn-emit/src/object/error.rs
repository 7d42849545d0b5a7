//! What can be wrong with a code object, or with kernels that shall become one.

use crate::encode::EncodeError;
use crate::kernel::SpecError;
use crate::metadata::MetadataError;
use crate::target_id::TargetId;

/// Why a code object cannot be written or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// There is nothing to write.
    #[error("a code object holds at least one kernel, none is given")]
    NoKernels,
    /// A kernel breaks a rule of its own.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// Kernels are for different targets or require different feature settings.
    #[error(
        "kernel `{kernel}` is for {have}, the kernels before it for {want}; write one code object for each"
    )]
    MixedTargets {
        /// The kernel.
        kernel: String,
        /// Its target id.
        have: TargetId,
        /// That of the first kernel.
        want: TargetId,
    },
    /// Two kernels define one symbol.
    #[error(
        "kernel `{kernel}` defines the symbol `{symbol}`, which a kernel before it defines too; rename one of them"
    )]
    DuplicateSymbol {
        /// The kernel.
        kernel: String,
        /// The symbol.
        symbol: String,
    },
    /// A kernel's instructions cannot be encoded.
    #[error("kernel `{kernel}`: {error}")]
    Encode {
        /// The kernel.
        kernel: String,
        /// Which instruction, and why.
        error: Box<EncodeError>,
    },
    /// The ELF writer refused.
    #[error("the ELF file cannot be written: {0}")]
    Elf(String),
    /// Bytes that are no code object.
    #[error("code object, byte {offset:#x}: {fault}")]
    Read {
        /// Where in the file.
        offset: u64,
        /// What is wrong there.
        fault: ReadFault,
    },
}

/// What is wrong with the bytes of a code object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadFault {
    /// Something lies outside the file.
    #[error(
        "{what} takes {bytes} bytes, which run past the end of the file at {end:#x}; is the file complete?"
    )]
    Truncated {
        /// What lies there.
        what: &'static str,
        /// Its size.
        bytes: u64,
        /// Size of the file.
        end: u64,
    },
    /// A bundle of code objects for several targets.
    #[error(
        "this is a clang offload bundle; take a code object out of it with `clang-offload-bundler --unbundle --type=o`"
    )]
    Bundle,
    /// A field of the ELF header has a value that no code object has.
    #[error("{field} is {found:#x}, a code object has {expected}")]
    Header {
        /// The field of the ELF header.
        field: &'static str,
        /// Its value.
        found: u64,
        /// What is possible.
        expected: &'static str,
    },
    /// The object was not linked.
    #[error("this object is relocatable; link it with `ld.lld -shared`")]
    Relocatable,
    /// The processor is none of ours.
    #[error(
        "EF_AMDGPU_MACH {mach:#x} is no supported target; supported are gfx900, gfx906, gfx908, gfx90a, gfx942 and gfx950"
    )]
    UnknownMach {
        /// The processor's number.
        mach: u32,
    },
    /// There is no table of symbols.
    #[error("there is no symbol table (.dynsym or .symtab); link without stripping section headers")]
    NoSymbols,
    /// A name is not in its string table, or is no UTF-8.
    #[error("the name of {what} {index} does not lie in its string table or is not UTF-8")]
    Name {
        /// `symbol`.
        what: &'static str,
        /// Which.
        index: u64,
    },
    /// A section refers to one that does not exist.
    #[error("{what} refers to section {section}, which does not exist")]
    NoSection {
        /// What refers.
        what: &'static str,
        /// The section's number.
        section: u32,
    },
    /// An address is in no segment that the file fills.
    #[error(
        "{what} of kernel `{kernel}` is at address {address:#x} with {bytes} bytes, which no loaded segment holds"
    )]
    Unmapped {
        /// What lies there.
        what: &'static str,
        /// The kernel.
        kernel: String,
        /// The address.
        address: u64,
        /// Its size.
        bytes: u64,
    },
    /// A note is malformed.
    #[error("{0}")]
    Note(&'static str),
    /// The metadata is malformed.
    #[error(transparent)]
    Metadata(#[from] MetadataError),
}
