//! Errors in code objects, and in kernels from which one is to be written.

use std::fmt;

use super::module::SectionId;
use crate::encode::EncodeError;
use crate::kernel::SpecError;
use crate::metadata::MetadataError;
use crate::target_id::TargetId;

/// The reason why a code object cannot be written or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// There is no kernel to write.
    #[error("a code object holds at least one kernel, none is given")]
    NoKernels,
    /// A kernel breaks a rule that concerns only itself.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// Kernels are for different targets or require different feature settings.
    #[error(
        "kernel `{kernel}` is for {have}, the kernels before it for {want}; write one code object for each"
    )]
    MixedTargets {
        /// The kernel.
        kernel: String,
        /// The kernel's target ID.
        have: TargetId,
        /// The target ID of the first kernel.
        want: TargetId,
    },
    /// Two kernels define the same symbol.
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
        /// The instruction, and the reason.
        #[source]
        error: Box<EncodeError>,
    },
    /// Sections, symbols and relocations cannot be linked to a code object.
    #[error("{place}: {fault}")]
    Link {
        /// The position: section, offset and symbol.
        place: LinkPlace,
        /// The problem there.
        #[source]
        fault: LinkFault,
    },
    /// Bytes are not a code object.
    #[error("code object, byte {offset:#x}: {fault}")]
    Read {
        /// The offset in the file.
        offset: u64,
        /// The problem there.
        #[source]
        fault: ReadFault,
    },
}

/// A position in the input of the linker.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinkPlace {
    /// The section; `None` if the error concerns only a symbol.
    pub section: Option<SectionId>,
    /// The name of the section.
    pub section_name: String,
    /// The byte offset in the section.
    pub offset: Option<u64>,
    /// The name of the symbol; empty if the error concerns only a section.
    pub symbol: String,
}

impl fmt::Display for LinkPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.section.is_some() {
            write!(f, "section `{}`", self.section_name)?;
        }
        if let Some(offset) = self.offset {
            write!(f, " at {offset:#x}")?;
        }
        match (self.symbol.is_empty(), self.section.is_some()) {
            (true, true) => Ok(()),
            (true, false) => f.write_str("the object"),
            (false, true) => write!(f, ", symbol `{}`", self.symbol),
            (false, false) => write!(f, "symbol `{}`", self.symbol),
        }
    }
}

/// An error in the bytes at an offset of a file.
pub(super) fn fault(offset: u64, fault: ReadFault) -> ObjectError {
    ObjectError::Read { offset, fault }
}

/// An error in the bytes of a code object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadFault {
    /// Something extends beyond the file.
    #[error(
        "{what} takes {bytes} bytes, which run past the end of the file at {end:#x}; is the file complete?"
    )]
    Truncated {
        /// The part of the file that does so.
        what: &'static str,
        /// The size in bytes.
        bytes: u64,
        /// The size of the file.
        end: u64,
    },
    /// The file is a bundle of code objects for several targets.
    #[error(
        "this is a clang offload bundle of several code objects; take one out with `object::bundle::extract`, or with \
         `clang-offload-bundler --unbundle --type=o`"
    )]
    Bundle,
    /// The bundle is compressed.
    #[error("this clang offload bundle is compressed; read it with `object::container::bundles`")]
    CompressedBundle,
    /// The version of a compressed bundle is unknown to this crate.
    #[error("the compressed bundle has version {version}; versions 1 to 3 are known")]
    CompressedVersion {
        /// Its version.
        version: u64,
    },
    /// A bundle is compressed by an unknown method.
    #[error("the bundle is compressed by method {method}; known are 0 (zlib) and 1 (Zstandard)")]
    CompressedMethod {
        /// The number of the method.
        method: u64,
    },
    /// A compressed bundle whose unpacked size would exceed a limit: that on memory or, together with the bundles before it, that on time.
    #[error(
        "the compressed bundle says that it has {size} bytes unpacked, {most} are possible; `clang-offload-bundler \
         --unbundle` takes code objects out of it"
    )]
    TooLargeUnpacked {
        /// The unpacked size in bytes.
        size: u64,
        /// The largest permitted size in bytes.
        most: u64,
    },
    /// Compressed data cannot be unpacked.
    #[error("the compressed bundle cannot be unpacked: {problem}; is the file damaged?")]
    Unpack {
        /// The problem.
        problem: String,
    },
    /// Entries of a bundle overlap.
    #[error("entries of the bundle overlap: together they are larger than the file; is it damaged?")]
    EntriesOverlap,
    /// The bytes are not a bundle.
    #[error(
        "this is not a clang offload bundle, which begins with `__CLANG_OFFLOAD_BUNDLE__`; read it as a code object"
    )]
    NotABundle,
    /// A bundle does not contain the target.
    #[error("the bundle has no code object for {wanted}; it has {there}")]
    NotInBundle {
        /// The target.
        wanted: TargetId,
        /// The names of the entries.
        there: String,
    },
    /// The file is code object V2, which is not supported.
    #[error(
        "EI_ABIVERSION is 0: code object V2, whose kernel descriptors and metadata are others; compile with \
         -mcode-object-version=5"
    )]
    CodeObjectV2,
    /// The file is code object V3 and can only be read.
    #[error("EI_ABIVERSION is 1: code object V3, which is read only; compile with -mcode-object-version=5")]
    CodeObjectV3,
    /// The object is linked, but an unlinked one is required.
    #[error("this object is linked already; read it with `read_code_object`")]
    NotRelocatable,
    /// The relocations have no addends.
    #[error("the relocations have no addends (SHT_REL), which objects for AMD GPUs always have")]
    ImplicitAddends,
    /// A relocation has an unknown kind.
    #[error("relocation type {number} does not exist in object files for AMD GPUs")]
    RelocationKind {
        /// Its number.
        number: u32,
    },
    /// A relocation has no symbol.
    #[error("a relocation refers to symbol {symbol}, which does not exist or has no place")]
    RelocationSymbol {
        /// The symbol's number.
        symbol: u32,
    },
    /// A symbol has a type or binding that no code object has.
    #[error("symbol {index} has {field} {number}, which no code object has")]
    SymbolField {
        /// The symbol's number.
        index: u64,
        /// `type` or `binding`.
        field: &'static str,
        /// The value.
        number: u32,
    },
    /// Sections overlap.
    #[error("section {index} overlaps others: together they are larger than the file; is it damaged?")]
    SectionsOverlap {
        /// The section at which the total size exceeded that of the file.
        index: usize,
    },
    /// Names overlap.
    #[error("the name of {what} {index} overlaps the names of many others; is the file damaged?")]
    NamesOverlap {
        /// `symbol` or `section`.
        what: &'static str,
        /// The index.
        index: u64,
    },
    /// The file is of another kind, or for another machine or system.
    #[error("this is {what}; {remedy}")]
    Foreign {
        /// The kind of file.
        what: &'static str,
        /// The suggested fix.
        remedy: &'static str,
    },
    /// A field of the ELF header has a value that no code object has.
    #[error("{field} is {found:#x}, a code object has {expected}")]
    Header {
        /// The field of the ELF header.
        field: &'static str,
        /// Its value.
        found: u64,
        /// The permitted values.
        expected: &'static str,
    },
    /// The object is not linked, but a linked one is required.
    #[error("this object is relocatable; link it with `object::link` or `ld.lld -shared`")]
    Relocatable,
    /// The processor is not supported.
    #[error(
        "EF_AMDGPU_MACH {mach:#x}{} is not a supported target; supported are {names}",
        crate::target_id::processor(*.mach),
        names = gcn_isa::Target::names()
    )]
    UnknownMach {
        /// The processor's number.
        mach: u32,
    },
    /// There is no symbol table.
    #[error(
        "there is no symbol table: no .dynsym, no .symtab, and no DT_SYMTAB in a dynamic table; link again without stripping"
    )]
    NoSymbols,
    /// A name is not in its string table, or is not UTF-8.
    #[error("the name of {what} {index} does not lie in its string table or is not UTF-8")]
    Name {
        /// `symbol`.
        what: &'static str,
        /// The index.
        index: u64,
    },
    /// A section refers to another one that does not exist.
    #[error("{what} refers to section {section}, which does not exist")]
    NoSection {
        /// The source of the reference.
        what: &'static str,
        /// The section's number.
        section: u32,
    },
    /// An address is not in a segment with bytes in the file.
    #[error(
        "{what} of kernel `{kernel}` is at address {address:#x} with {bytes} bytes, which no loaded segment holds"
    )]
    Unmapped {
        /// What is at the address.
        what: &'static str,
        /// The kernel.
        kernel: String,
        /// The address.
        address: u64,
        /// The size in bytes.
        bytes: u64,
    },
    /// A note is malformed.
    #[error("{0}")]
    Note(&'static str),
    /// The metadata is malformed.
    #[error(transparent)]
    Metadata(#[from] MetadataError),
}

/// The reason why sections, symbols and relocations cannot be linked to a code object. Each message ends with the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkFault {
    /// The value does not fit where it must be written.
    #[error("{kind} gives {value}, which does not fit {bits} bits; {remedy}")]
    Overflow {
        /// `R_AMDGPU_…`.
        kind: &'static str,
        /// The value.
        value: i128,
        /// The number of bits available.
        bits: u32,
        /// The suggested replacement.
        remedy: &'static str,
    },
    /// The distance of a branch is not a multiple of an instruction word.
    #[error("the branch distance of {value} bytes is not a multiple of 4; branch to an instruction")]
    Misaligned {
        /// The distance.
        value: i64,
    },
    /// The value is known only when the object is loaded, and the loader cannot write it there.
    #[error(
        "{kind} needs an address that is known only when the object is loaded, and the loader writes 64-bit addresses into \
         writable sections only; use `@rel32@lo` and `@rel32@hi`, or `.quad` in `.data` or `.data.rel.ro`"
    )]
    NotLoadable {
        /// `R_AMDGPU_…`.
        kind: &'static str,
    },
    /// Another object may define the symbol, so the distance to it is not known.
    #[error(
        "{kind} needs the distance to a symbol that another code object may replace; make the symbol `.hidden` or \
         `.protected`, or use `@gotpcrel32@lo` and `@gotpcrel32@hi`"
    )]
    Preemptible {
        /// `R_AMDGPU_…`.
        kind: &'static str,
    },
    /// Nothing defines the symbol, and the loader cannot write the distance to one in another object.
    #[error(
        "the symbol is not defined, and {kind} needs the distance to it; define it or correct its name, or use \
         `@gotpcrel32@lo` and `@gotpcrel32@hi` if another code object defines it"
    )]
    Undefined {
        /// `R_AMDGPU_…`.
        kind: &'static str,
    },
    /// The target is a number, so there is no distance to it.
    #[error(
        "{kind} needs an address, the symbol is a number; use it without `@rel32`, or define it in a section"
    )]
    DistanceToNumber {
        /// `R_AMDGPU_…`.
        kind: &'static str,
    },
    /// Nothing determines the address of an LDS symbol.
    #[error(
        "an `.amdgpu_lds` symbol has no address in a code object; give it one with `.set`, and its bytes to \
         `.amdhsa_group_segment_fixed_size`"
    )]
    LdsAddress,
    /// A symbol that only this object could define is not defined in it.
    #[error("the symbol is not defined, and its visibility keeps other objects from defining it; define it")]
    UndefinedHidden,
    /// Two symbols have the same name.
    #[error("the symbol is defined twice; rename one, or make one `.weak`")]
    DuplicateSymbol,
    /// A symbol is one that a linker script would define.
    #[error("the symbol is one that linker scripts define; this linker does not, define it")]
    ReservedSymbol,
    /// A section, symbol or relocation refers to something that does not exist.
    #[error("{what} {number} does not exist in the module")]
    Missing {
        /// `section` or `symbol`.
        what: &'static str,
        /// Its number.
        number: u32,
    },
    /// Something extends beyond its section.
    #[error("{what} at byte {at:#x} is not inside the section's {size:#x} bytes")]
    Outside {
        /// The part that does so.
        what: &'static str,
        /// Its offset.
        at: u64,
        /// The size of the section.
        size: u64,
    },
    /// A section of this kind cannot be linked.
    #[error("{what}; {remedy}")]
    Unsupported {
        /// The problem.
        what: &'static str,
        /// The suggested fix.
        remedy: &'static str,
    },
    /// An alignment is not a power of two.
    #[error("the alignment {align} is not a power of two")]
    Align {
        /// The alignment.
        align: u64,
    },
    /// The whole object does not fit in an address space or a file.
    #[error("the object is larger than the format allows; make sections smaller")]
    TooLarge,
    /// A string in a section of strings is not terminated.
    #[error("the last text of a mergeable section has no closing zero; use `.asciz`")]
    Unterminated,
}
