//! The assembler: a whole assembly file to sections, symbols and relocations, and from there to a code object.
//!
//! The language is that of LLVM's assembler for this target, as compilers and people write it: statements end with their
//! line; `;`, `//` and `/* */` are comments, and `#` at the start of a statement; labels may be numeric (`1:`, `1b`, `1f`).
//!
//! ```
//! use gcn_emit::asm::{Options, assemble};
//!
//! let source = r#"
//!     .amdgcn_target "amdgcn-amd-amdhsa--gfx942"
//!     .text
//!     .globl k
//!     .p2align 8
//! k:  s_endpgm
//!     .section .rodata,"a"
//!     .p2align 6
//!     .amdhsa_kernel k
//!         .amdhsa_next_free_vgpr 1
//!         .amdhsa_next_free_sgpr 1
//!         .amdhsa_accum_offset 4
//!     .end_amdhsa_kernel
//! "#;
//! let assembly = assemble("k.s", source, &Options::default()).unwrap();
//! assert_eq!(assembly.module.sections[0].bytes, [0x00, 0x00, 0x81, 0xbf]);
//! let code_object = assembly.code_object().unwrap();
//! assert_eq!(&code_object[..4], b"\x7fELF");
//!
//! let errors = assemble("k.s", "\ts_endpgn\n", &Options { target: Some("gfx90a".parse().unwrap()), ..Options::default() });
//! let text = errors.unwrap_err().to_string();
//! assert!(text.starts_with("k.s:1:2: error: gfx90a has no instruction `s_endpgn`"), "{text}");
//! ```
//!
//! # How it works
//! One pass reads the statements; bytes go to their section at once, and what is not known yet becomes a fixup or a gap of
//! unknown size (`section.rs`). Then everything is laid out (`layout.rs`), fixups are filled in or become relocations
//! (`fixup.rs`), and symbols become the module's. Nothing is allocated for a line; instructions are not kept unless
//! [`Options::keep_instructions`] asks for it.
//!
//! # What is different from `llvm-mc`
//! - There are no macros, repetitions, conditions and included files: `.macro`, `.rept`, `.if`, `.include` and their
//!   relatives are errors that say so. Let `llvm-mc` or a preprocessor expand them.
//! - The target comes from `.amdgcn_target` unless the caller names one, feature settings included. Newer compilers' spelling
//!   of the triple is understood ([`TargetId`]).
//! - A literal operand that is a number defined later (`s_mov_b32 s0, n` before `.set n, 4`) holds that number; llvm-mc 22
//!   makes a PC-relative relocation against it. A label without `@…` as literal operand is its distance, as in llvm-mc.
//! - `.byte`, `.short` and `.long` of a value that is known late and does not fit are errors; llvm-mc 22 drops bits.
//!   So are a branch to an address that is no multiple of 4, shifts by 64 and more, and `alignto` to 0.
//! - A reference to a local symbol by `@gotpcrel…` keeps the symbol; llvm-mc 22 takes section and offset instead, of which
//!   the linker makes a wrong address.
//! - `.loc` and `.cfi_` directives are read and checked, but make no `.debug_line`, `.debug_frame` and `.eh_frame`: nothing in
//!   a kernel's run needs them. [`AsmInst::location`] has the source line. Debug sections that the file writes out itself
//!   (`.debug_info` …) are kept as they are.
//! - Metadata is YAML as it stands, up to the line with `.end_amdgpu_metadata`; llvm-mc reads it through its own tokens and
//!   stumbles over quotes and `;`.
//! - `.amdhsa_` values that are known late are checked like all others; llvm-mc drops bits that do not fit.
//! - `.cg_profile`, `.addrsig` and the like only guide linkers that reorder sections, and have no effect.
//! - Filling (`.fill`, `.space`, `.org`, `.p2align`) of more than [`MAX_FILLING`] bytes in sections with content is an error.

mod args;
mod diagnostic;
mod directive;
mod emit;
mod eval;
mod expr;
mod fault;
mod finish;
mod fixup;
mod function;
mod instruction;
mod kernel;
mod layout;
mod metadata;
mod recall;
mod salvage;
mod section;
mod source;
mod span;
mod statement;
mod symbols;

use std::sync::Arc;

use gcn_isa::Inst;
use hashbrown::HashMap;
use smallvec::SmallVec;

pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use emit::MAX_FILLING;
pub use salvage::{Salvaged, assemble_readable, named_target};
pub(crate) use source::without_block_comments;
pub(crate) use statement::instruction_span;

use crate::object::{CodeObjectVersion, Module, ObjectError, SectionId};
use crate::target_id::TargetId;
use expr::{Expr, Exprs};
use fault::{Fault, Located};
use fixup::Fixup;
use kernel::Kernel;
use section::{Section, Stream, StreamId};
use source::Lines;
use span::Span;
use symbols::{Sym, Symbols};

/// What the assembler is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// The target. Without it the file's `.amdgcn_target` decides; with it that line has to agree.
    pub target: Option<TargetId>,
    /// Keep [`Assembly::instructions`], which takes about 50 bytes for each and 200 for each that is not alike another.
    pub keep_instructions: bool,
}

/// An assembled file.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// Sections, symbols and relocations.
    pub module: Module,
    /// The instructions in the order of the file, if [`Options::keep_instructions`] asked for them.
    pub instructions: Vec<AsmInst>,
    /// The labels in the order of their first mention, if [`Options::keep_instructions`] asked for them. Numeric labels are not
    /// among them.
    pub labels: Vec<AsmLabel>,
    /// The files that `.file` names, which [`AsmInst::location`] refers to.
    pub files: Vec<SourceFile>,
    /// What is suspicious, but no error.
    pub warnings: Vec<Diagnostic>,
    places: Vec<RelocationPlace>,
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
    /// The instruction. A [`Label`](gcn_isa::Operand::Label) operand holds no number that means anything; a literal that is
    /// filled in later is 0. Statements that are the same share theirs.
    pub inst: Arc<Inst>,
    /// Line in the assembly file, from 1.
    pub line: u32,
    /// The source line that the last `.loc` gave it.
    pub location: Option<SourceLocation>,
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
struct RelocationPlace {
    section: SectionId,
    offset: u64,
    line: u32,
    column: u32,
}

impl Assembly {
    /// The code object: what `ld.lld -shared` makes of the module.
    ///
    /// # Errors
    /// [`ObjectError`] if a symbol is not defined or an address does not fit; [`Assembly::line_of`] says where.
    pub fn code_object(&self) -> Result<Vec<u8>, ObjectError> {
        crate::object::link(&self.module)
    }

    /// Line and column, both from 1, of the operand or value that a relocation at this offset fills in.
    pub fn line_of(&self, section: SectionId, offset: u64) -> Option<(u32, u32)> {
        let at = self.places.binary_search_by_key(&(section, offset), |p| (p.section, p.offset)).ok()?;
        self.places.get(at).map(|p| (p.line, p.column))
    }
}

/// Assembles the text of one file. `file` is its name, for messages.
///
/// # Errors
/// Everything that is wrong with the file, up to [`Diagnostics::LIMIT`].
pub fn assemble(file: &str, text: &str, options: &Options) -> Result<Assembly, Diagnostics> {
    let lines = Lines::new(file, text);
    if u32::try_from(text.len()).is_err() {
        let list =
            vec![lines.diagnostic(Severity::Error, Span::default(), Fault::TooLarge.to_string(), None)];
        return Err(Diagnostics { list, more: 0 });
    }
    let (clean, open_comment) = source::without_block_comments(text);
    let mut assembler = Assembler::new(&clean, lines, options);
    if let Some(at) = open_comment {
        assembler.report(Located::new(Span::new(at, at + 2), Fault::OpenComment));
    }
    assembler.statements();
    assembler.finish()
}

/// A file while it is read. `'s` is the text's.
struct Assembler<'s> {
    text: &'s str,
    lines: Lines<'s>,
    options: Options,
    target: Option<TargetId>,
    version: CodeObjectVersion,
    symbols: Symbols<'s>,
    exprs: Exprs,
    sections: Vec<Section>,
    /// Sections by name, group and `unique` number.
    section_ids: HashMap<(String, Option<String>, Option<i64>), u32>,
    streams: Vec<Stream>,
    /// Streams by section and subsection.
    stream_ids: HashMap<(u32, u32), StreamId>,
    current: StreamId,
    /// Current and previous stream of every `.pushsection` that is open.
    stack: Vec<(StreamId, Option<StreamId>)>,
    previous: Option<StreamId>,
    fixups: Vec<Fixup>,
    /// Expressions of the statement that is read, by the number that the instruction parser knows them by.
    later: SmallVec<[Expr; 4]>,
    /// Instructions that were read already.
    recall: recall::Recall<'s>,
    /// What is wrong with an expression of the instruction that is read.
    inner_fault: Option<Located>,
    kernels: Vec<Kernel>,
    /// A kernel whose `.amdhsa_` directives are being read.
    open_kernel: Option<Kernel>,
    /// `.amdgcn.next_free_vgpr` and `.amdgcn.next_free_sgpr`.
    next_free: [NextFree; 2],
    instructions: Vec<AsmInst>,
    /// Gaps before each of them in its stream.
    kept_gaps: Vec<u32>,
    files: Vec<SourceFile>,
    /// Index into `files` by number.
    file_numbers: HashMap<u32, u32>,
    location: Option<SourceLocation>,
    /// `.cfi_startproc` that is open.
    procedure: Option<Span>,
    /// `.ident` was there.
    has_ident: bool,
    /// Bytes of filling so far.
    filling: u64,
    /// The missing target was reported.
    target_missed: bool,
    /// `.end` was there.
    ended: bool,
    diagnostics: Diagnostics,
    warnings: Vec<Diagnostic>,
}

/// A symbol that follows the highest register that was written down.
#[derive(Clone, Copy, Default)]
struct NextFree {
    symbol: Option<Sym>,
    value: i64,
}

impl<'s> Assembler<'s> {
    fn new(text: &'s str, lines: Lines<'s>, options: &Options) -> Assembler<'s> {
        let mut assembler = Assembler {
            text,
            lines,
            options: *options,
            target: options.target,
            version: CodeObjectVersion::default(),
            symbols: Symbols::default(),
            exprs: Exprs::default(),
            sections: Vec::new(),
            section_ids: HashMap::new(),
            streams: Vec::new(),
            stream_ids: HashMap::new(),
            current: StreamId(0),
            stack: Vec::new(),
            previous: None,
            fixups: Vec::new(),
            later: SmallVec::new(),
            recall: recall::Recall::default(),
            inner_fault: None,
            kernels: Vec::new(),
            open_kernel: None,
            next_free: [NextFree::default(); 2],
            instructions: Vec::new(),
            kept_gaps: Vec::new(),
            files: Vec::new(),
            file_numbers: HashMap::new(),
            location: None,
            procedure: None,
            has_ident: false,
            filling: 0,
            target_missed: false,
            ended: false,
            diagnostics: Diagnostics::default(),
            warnings: Vec::new(),
        };
        if options.keep_instructions {
            // Most lines have one.
            assembler.instructions.reserve(memchr::memchr_iter(b'\n', text.as_bytes()).count());
        }
        assembler.open_text();
        assembler.define_generation();
        assembler
    }

    /// The target, if it is known already.
    fn target(&self) -> Option<TargetId> {
        self.target
    }

    /// Keeps an error.
    fn report(&mut self, error: Located) {
        if matches!(*error.fault, Fault::ReportedBefore) {
            return;
        }
        if self.diagnostics.list.len() >= Diagnostics::LIMIT {
            self.diagnostics.more += 1;
            return;
        }
        let (message, help) = (error.fault.to_string(), error.fault.help());
        self.diagnostics.list.push(self.lines.diagnostic(Severity::Error, error.span, message, help));
    }

    /// Keeps a warning.
    fn warn(&mut self, span: Span, message: &str) {
        if self.warnings.len() < Diagnostics::LIMIT {
            self.warnings.push(self.lines.diagnostic(Severity::Warning, span, message.to_owned(), None));
        }
    }
}
