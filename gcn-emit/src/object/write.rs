//! Writes a code object from kernels.

use std::collections::HashSet;

use object::elf;

use super::debug::{self, Lines};
use super::layout::{self, KERNEL_ALIGN};
use super::{
    Binding, CodeObjectVersion, Module, ObjectError, Relocation, RelocationBase, RelocationKind, Section,
    SectionId, Symbol, SymbolId, SymbolKind, SymbolPlace, Visibility, link, note,
};
use crate::descriptor::{CODE_ENTRY_OFFSET, DESCRIPTOR_ALIGN, DESCRIPTOR_BYTES};
use crate::encode::Encoded;
use crate::kernel::KernelSpec;
use crate::metadata::Metadata;

/// Writes a code object (V5) that contains `kernels`, for `hipModuleLoad` and the HSA loader.
///
/// ```
/// use gcn_emit::kernel::{KernelSpec, WorkgroupSize};
/// use gcn_emit::object::{read_code_object, write_code_object};
/// use gcn_emit::text::parse_program;
/// use gcn_isa::Target;
///
/// let program = parse_program("v_mov_b32 v3, 0\ns_endpgm", Target::GFX942, "nothing")?;
/// let kernel = KernelSpec::new(program, WorkgroupSize::AtMost(256));
/// let bytes = write_code_object(&[kernel])?;
/// let object = read_code_object(&bytes)?;
/// assert_eq!(object.kernels[0].name, "nothing");
/// assert_eq!(object.kernels[0].code, [0x80, 0x02, 0x06, 0x7e, 0x00, 0x00, 0x81, 0xbf]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// An [`ObjectError`] if a kernel violates a rule ([`KernelSpec::check`]), cannot be encoded, or is incompatible with the others.
pub fn write_code_object(kernels: &[KernelSpec]) -> Result<Vec<u8>, ObjectError> {
    Ok(write_with_code(kernels)?.object)
}

/// A code object, and the code in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The file.
    pub object: Vec<u8>,
    /// The code of each kernel with the offset of each line from the kernel's start, in the order of the
    /// kernels.
    pub code: Vec<Encoded>,
}

/// As [`write_code_object`]; also returns the code of each kernel, for callers that would otherwise encode the programs again.
///
/// # Errors
/// The errors of [`write_code_object`].
pub fn write_with_code(kernels: &[KernelSpec]) -> Result<Written, ObjectError> {
    // The version depends on the target, because generic targets were introduced with V6.
    let generic = kernels.first().is_some_and(|kernel| kernel.target().generic().is_some());
    let version = if generic { CodeObjectVersion::V6 } else { CodeObjectVersion::V5 };
    let (module, code) = module(kernels, version)?;
    Ok(Written { object: link(&module)?, code })
}

impl Module {
    /// The module that an assembler would produce for `kernels`: `.text` with the code, `.rodata` with the descriptors, `.note` with the
    /// metadata, and debug information for kernels with [`KernelSpec::source_lines`]. [`link`] turns the module into a code object of the
    /// requested version.
    ///
    /// # Errors
    /// The errors of [`write_code_object`].
    pub fn of_kernels(kernels: &[KernelSpec], version: CodeObjectVersion) -> Result<Module, ObjectError> {
        module(kernels, version).map(|(module, _)| module)
    }
}

/// As [`Module::of_kernels`]; also returns the code of each kernel.
fn module(kernels: &[KernelSpec], version: CodeObjectVersion) -> Result<(Module, Vec<Encoded>), ObjectError> {
    check(kernels)?;
    let target_id = kernels.first().ok_or(ObjectError::NoKernels)?.target_id();
    let code = layout::code(kernels)?;
    let mut files = debug::Files::default();
    let with_lines = kernels.iter().zip(&code.kernels).zip(&code.encoded).filter(|k| k.0.0.source_lines);
    let lines: Vec<Lines<'_>> = with_lines
        .map(|((kernel, span), code)| Lines::new(kernel, *span, &code.offsets, &mut files))
        .collect();
    let mut module = Module::new(target_id, version);
    module.sections = vec![
        Section { align: KERNEL_ALIGN, ..Section::code(".text", code.bytes) },
        descriptors(kernels),
        metadata(kernels, version),
    ];
    let next = module.sections.len() as u32;
    module.sections.extend(debug::sections(&lines, &files, TEXT, next));
    let kernel = |(spec, span): (&KernelSpec, &layout::Span)| Symbol {
        name: spec.name().to_owned(),
        place: SymbolPlace::Section(TEXT),
        value: span.offset,
        size: span.size,
        kind: SymbolKind::Function,
        binding: Binding::Global,
        visibility: Visibility::Protected,
    };
    let descriptor = |(index, spec): (usize, &KernelSpec)| Symbol {
        name: spec.descriptor_symbol(),
        place: SymbolPlace::Section(RODATA),
        value: (index * DESCRIPTOR_BYTES) as u64,
        size: DESCRIPTOR_BYTES as u64,
        kind: SymbolKind::Object,
        binding: Binding::Global,
        visibility: Visibility::Protected,
    };
    module.symbols = kernels.iter().zip(&code.kernels).map(kernel).collect();
    module.symbols.extend(kernels.iter().enumerate().map(descriptor));
    Ok((module, code.encoded))
}

/// The numbers of the sections with code and descriptors.
const TEXT: SectionId = SectionId(0);
const RODATA: SectionId = SectionId(1);

/// The section of the descriptors, with a relocation for the distance of each to its code. The symbols of the kernels must come first in
/// the module.
fn descriptors(kernels: &[KernelSpec]) -> Section {
    let relocation = |index: usize| Relocation {
        offset: (index * DESCRIPTOR_BYTES) as u64 + CODE_ENTRY_OFFSET,
        kind: RelocationKind::Rel64,
        base: RelocationBase::Symbol(SymbolId(index as u32)),
        // The relocation is at a field of the descriptor, while the distance is relative to the start of the descriptor.
        addend: CODE_ENTRY_OFFSET as i64,
    };
    let bytes = layout::descriptors(kernels);
    let relocations = (0..kernels.len()).map(relocation).collect();
    let section = Section::new(".rodata", elf::SHT_PROGBITS, elf::SHF_ALLOC.into(), bytes);
    Section { align: DESCRIPTOR_ALIGN, relocations, ..section }
}

fn metadata(kernels: &[KernelSpec], version: CodeObjectVersion) -> Section {
    let bytes = note::metadata_note(&Metadata::of_version(kernels, version).to_msgpack());
    let section = Section::new(".note", elf::SHT_NOTE, elf::SHF_ALLOC.into(), bytes);
    Section { align: note::ALIGN as u64, ..section }
}

fn check(kernels: &[KernelSpec]) -> Result<(), ObjectError> {
    let want = kernels.first().ok_or(ObjectError::NoKernels)?.target_id();
    let mut symbols = HashSet::new();
    for kernel in kernels {
        kernel.check()?;
        let name = || kernel.name().to_owned();
        if kernel.target_id() != want {
            return Err(ObjectError::MixedTargets { kernel: name(), have: kernel.target_id(), want });
        }
        for symbol in [name(), kernel.descriptor_symbol()] {
            if let Some(symbol) = symbols.replace(symbol) {
                return Err(ObjectError::DuplicateSymbol { kernel: name(), symbol });
            }
        }
    }
    Ok(())
}
