//! The assembler's options and its result.

use std::sync::Arc;

use gcn_isa::{Inst, WaveSize};

use super::diagnostic::Diagnostic;
use crate::object::{Module, ObjectError, SectionId};
use crate::target_id::TargetId;

/// Options of the assembler.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// The target. If it is `None`, the file's `.amdgcn_target` determines the target; otherwise that directive, if
    /// there is one, must agree.
    pub target: Option<TargetId>,
    /// The wave size of kernels without `.amdhsa_wavefront_size32`. If it is `None`, the file's directives determine the
    /// size if they agree, otherwise the target does.
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
    /// The wave size of kernels that do not specify it, and of code outside kernels.
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
    /// The section that contains the instruction.
    pub section: SectionId,
    /// The instruction's byte offset in the section.
    pub offset: u64,
    /// The size of its machine code in bytes.
    pub length: u8,
    /// The instruction. The number in a [`Label`](gcn_isa::Operand::Label) operand has no meaning; a literal that is filled in later is 0.
    /// Equal statements share one value.
    pub inst: Arc<Inst>,
    /// The line in the assembly file, from 1. For an instruction from a macro, the line of the call; for one from an
    /// included file, the line of `.include`.
    pub line: u32,
    /// If `line` is that of a macro call or `.include`: the index of the instruction's origin in [`Assembly::origins`].
    pub origin: Option<u32>,
    /// The source line that the last `.loc` has assigned.
    pub location: Option<SourceLocation>,
}

/// The origin of an instruction that is not in the file itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    /// The macro or directive (`.rept`) that generated the instruction, or the included file.
    pub name: Arc<str>,
    /// The file that contains the instruction's text.
    pub file: Arc<str>,
    /// The line in that file, from 1: in the body of the macro or repetition, or in the included file.
    pub line: u32,
    /// The origin of the call (an index into [`Assembly::origins`]), if the call is not in the file itself.
    pub outer: Option<u32>,
}

impl std::fmt::Display for Origin {
    /// Writes ``k.s:7, in `copy` ``.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        // The name of an included file has already been written.
        if self.name == self.file { Ok(()) } else { write!(f, ", in `{}`", self.name) }
    }
}

/// A label of a file; local ones (`.L…`) are included.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AsmLabel {
    /// The section that contains it.
    pub section: SectionId,
    /// The byte offset in the section.
    pub offset: u64,
    /// The label's name.
    pub name: String,
}

/// A line of the source from which a compiler generated the code, given by `.loc`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourceLocation {
    /// The number of the file, see [`SourceFile::number`].
    pub file: u32,
    /// The line, from 1; 0 for none.
    pub line: u32,
    /// The column, from 1; 0 for the whole line.
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

/// The source position that caused a relocation.
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
    /// [`ObjectError`] if a symbol is not defined or an address does not fit; [`Assembly::line_of`] gives the line.
    pub fn code_object(&self) -> Result<Vec<u8>, ObjectError> {
        crate::object::link(&self.module)
    }

    /// The line and column, both from 1, of the operand or value for which there is a relocation at this offset; `None` if there is no
    /// relocation.
    pub fn line_of(&self, section: SectionId, offset: u64) -> Option<(u32, u32)> {
        let at = self.places.binary_search_by_key(&(section, offset), |p| (p.section, p.offset)).ok()?;
        self.places.get(at).map(|p| (p.line, p.column))
    }
}
