//! The assembler's options and its result.

use std::sync::Arc;

use gcn_isa::{Inst, WaveSize};

use super::diagnostic::Diagnostic;
use crate::object::{Module, ObjectError, SectionId};
use crate::target_id::TargetId;

/// Options of the assembler.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// The target. Without it the file's `.amdgcn_target` decides; with it that line has to agree.
    pub target: Option<TargetId>,
    /// Lanes of a wave, for kernels without `.amdhsa_wavefront_size32`. Without it, the file's directives decide if they agree, or
    /// else the target.
    pub wave: Option<WaveSize>,
    /// Keep [`Assembly::instructions`]. This takes about 50 bytes for each instruction, and 200 for each
    /// distinct one.
    pub keep_instructions: bool,
}

/// An assembled file.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// Sections, symbols and relocations.
    pub module: Module,
    /// The lanes of a wave, for kernels that do not specify them and for code outside kernels.
    pub wave: WaveSize,
    /// The instructions in the order of the file, if [`Options::keep_instructions`] is set.
    pub instructions: Vec<AsmInst>,
    /// The labels in the order of their first mention, if [`Options::keep_instructions`] is set. Numeric labels are not
    /// included.
    pub labels: Vec<AsmLabel>,
    /// The origins of instructions from macros, repetitions and included files, see [`AsmInst::origin`].
    pub origins: Vec<Origin>,
    /// The files that `.file` names, which [`AsmInst::location`] refers to.
    pub files: Vec<SourceFile>,
    /// Suspicious code that is not an error.
    pub warnings: Vec<Diagnostic>,
    pub(super) places: Vec<RelocationPlace>,
    /// True if [`Options::keep_instructions`] is set.
    pub(crate) keeps_instructions: bool,
}

/// An instruction of a file.
#[derive(Clone, Debug)]
pub struct AsmInst {
    /// Its section.
    pub section: SectionId,
    /// Byte offset in the section.
    pub offset: u64,
    /// Bytes of its machine code.
    pub length: u8,
    /// The instruction. The number in a [`Label`](gcn_isa::Operand::Label) operand is meaningless; a literal that is
    /// filled in later is 0. Equal statements share theirs.
    pub inst: Arc<Inst>,
    /// Line in the assembly file, from 1; for instructions from a macro, the line of the call, and for those from an
    /// included file, that of `.include`.
    pub line: u32,
    /// Its origin, if `line` is that of a call: index into [`Assembly::origins`].
    pub origin: Option<u32>,
    /// The source line that the last `.loc` gave it.
    pub location: Option<SourceLocation>,
}

/// The origin of an instruction that is not written in the file itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    /// The macro or directive (`.rept`) that wrote it, or the included file.
    pub name: Arc<str>,
    /// The file that contains it.
    pub file: Arc<str>,
    /// Its line there, from 1: in the body of the macro or repetition, or in the included file.
    pub line: u32,
    /// The origin of the call, if the call is not in the file itself either.
    pub outer: Option<u32>,
}

impl std::fmt::Display for Origin {
    /// ``k.s:7, in `copy` ``
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        // An included file's name is said already.
        if self.name == self.file { Ok(()) } else { write!(f, ", in `{}`", self.name) }
    }
}

/// A label of a file, local ones (`.L…`) included.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AsmLabel {
    /// Its section.
    pub section: SectionId,
    /// Byte offset in the section.
    pub offset: u64,
    /// Its name.
    pub name: String,
}

/// A line of the source that a compiler translated, by `.loc`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourceLocation {
    /// Number of the file, see [`SourceFile::number`].
    pub file: u32,
    /// Line, from 1; 0 for none.
    pub line: u32,
    /// Column, from 1; 0 for the whole line.
    pub column: u32,
}

/// A file that `.file` names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceFile {
    /// The number that `.loc` uses.
    pub number: u32,
    /// Directory; may be empty.
    pub directory: String,
    /// Name.
    pub name: String,
}

/// Where a relocation was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RelocationPlace {
    pub section: SectionId,
    pub offset: u64,
    pub line: u32,
    pub column: u32,
}

impl Assembly {
    /// The code object, as `ld.lld -shared` would link it from the module.
    ///
    /// # Errors
    /// [`ObjectError`] if a symbol is not defined or an address does not fit; [`Assembly::line_of`] finds the line.
    pub fn code_object(&self) -> Result<Vec<u8>, ObjectError> {
        crate::object::link(&self.module)
    }

    /// Line and column, both from 1, of the operand or value that a relocation at this offset fills in.
    pub fn line_of(&self, section: SectionId, offset: u64) -> Option<(u32, u32)> {
        let at = self.places.binary_search_by_key(&(section, offset), |p| (p.section, p.offset)).ok()?;
        self.places.get(at).map(|p| (p.line, p.column))
    }
}
