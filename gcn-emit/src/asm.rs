//! The assembler: translates a whole assembly file into sections, symbols and relocations, and these into a code
//! object.
//!
//! The language is that of LLVM's assembler for this target, as compilers and people write it: statements end with
//! their line; comments are `;`, `//` and `/* */`, and `#` at the start of a statement; labels may be numeric (`1:`,
//! `1b`, `1f`).
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
//! One pass parses the statements. Bytes are appended to their section at once. A value that is not known yet becomes a fixup; a range
//! whose size is not known yet becomes a gap (`section.rs`). After that, sections are laid out (`relax.rs`), fixups are filled in or become
//! relocations (`fixup.rs`), and symbols are added to the module. No line causes an allocation; instructions are kept only if
//! [`Options::keep_instructions`] requests it.
//!
//! Macros, repetitions and included files are nested texts (`macros/frame.rs`). Their expansions are stored in an arena, so that symbols
//! and statements can borrow from them as from the file. All texts share one space of offsets (`source.rs`). An offset identifies the line
//! of an error in a macro's body, and the calls that led to it.
//!
//! # Macros
//! `.macro` with defaults, `:req` and `:vararg`, `.endm`, `.exitm`, `.purgem`, `.altmacro`; `.rept`, `.irp`, `.irpc`,
//! `.endr`; `.if` and its relatives, `.elseif`, `.else`, `.endif`; `.include` and `.incbin`, for which
//! [`assemble_with`] takes the [`Files`]. [`expand`] returns the text without them. `docs/gcn.md` describes each.
//!
//! # What is different from `llvm-mc`
//! - A file that includes itself is an error, even if a condition would end it.
//! - A comment in a macro's argument counts as a blank; llvm-mc 22 keeps it in the value (`m 1/*x*/2` gives `1/*x*/2`),
//!   or treats it as a separate value (`m 1 /*x*/ 2`). Blanks before a comment at the end of a `:vararg` are dropped
//!   with it.
//! - `.ifc 'a b', 'a b'` compares the two texts; llvm-mc 22 rejects single quotes around anything but one character, or
//!   skips all branches of the condition.
//! - All expansions and included files together may have at most [`MAX_EXPANSION`] bytes; llvm-mc has no limit. Macros
//!   may be nested at most [`MAX_MACRO_NESTING`] deep, as in llvm-mc.
//! - Unless the caller specifies a target, it comes from `.amdgcn_target`, including feature settings. Newer compilers'
//!   spelling of the triple is accepted ([`TargetId`]).
//! - A literal operand that is a number defined later (`s_mov_b32 s0, n` before `.set n, 4`) has that value; llvm-mc 22
//!   emits a PC-relative relocation against it. A label without `@…` as literal operand is its distance, as in llvm-mc.
//! - `.byte`, `.short` and `.long` with a value that is determined later and does not fit are errors; llvm-mc 22 drops
//!   bits. The same applies to a branch to an address that is not a multiple of 4, to shifts by 64 or more, and to
//!   `alignto` with 0.
//! - A reference to a local symbol by `@gotpcrel…` keeps the symbol; llvm-mc 22 uses section and offset instead, from
//!   which the linker computes a wrong address.
//! - `.file 0` without a directory has an empty one; llvm-mc uses its working directory.
//! - A column of more than 16 bits is rejected; llvm-mc 22 drops bits.
//! - A section's line table ends at the end of the section; that of llvm-mc 22 ends after subsection 0.
//! - A file's own contents of `.debug_line_str` come before those of line tables; llvm-mc 22 computes offsets as if
//!   they did not exist.
//! - `.cfi_personality` and `.cfi_lsda` are rejected, since kernels throw no exceptions, and so is `.cfi_label`.
//! - Metadata is parsed as YAML up to the line with `.end_amdgpu_metadata`; llvm-mc tokenises it like assembly and
//!   fails on quotes and `;`. A key that occurs twice in a map is an error; llvm-mc uses the last.
//! - `.amdhsa_` values that are determined later are checked like all others; llvm-mc drops bits that do not fit.
//! - `.cg_profile`, `.addrsig` and similar directives only guide linkers that reorder sections, and have no effect
//!   here.
//! - Filling (`.fill`, `.space`, `.org`, `.p2align`) with more than [`MAX_FILLING`] bytes in sections with content is
//!   an error.

mod args;
mod assembly;
mod condition;
mod debug;
mod diagnostic;
mod directive;
mod emit;
mod eval;
mod expr;
mod expr_parser;
mod fault;
mod files;
mod finish;
mod fixup;
mod function;
mod instruction;
mod kernel;
mod layout;
mod macros;
mod metadata;
mod operator;
mod place;
mod recall;
mod relax;
mod salvage;
mod section;
mod source;
mod span;
mod statement;
mod symbols;

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use gcn_isa::{Target, WaveSize};
use hashbrown::HashMap;
use smallvec::SmallVec;
use typed_arena::Arena;

pub use args::is_symbol;
pub use assembly::{AsmInst, AsmLabel, Assembly, Options, Origin, SourceFile, SourceLocation};
pub use diagnostic::{Diagnostic, Diagnostics, Note, Severity};
pub use directive::directives;
pub use emit::MAX_FILLING;
pub use files::{Files, Folders, Found, NoFiles};
pub use macros::{MAX_EXPANSION, MAX_MACRO_NESTING};
pub use salvage::{Salvaged, assemble_readable, assemble_readable_with, named_target, named_wave};
pub(crate) use source::without_block_comments;
pub(crate) use statement::instruction_span;

use crate::object::CodeObjectVersion;
use crate::target_id::TargetId;
use condition::Conditions;
use expr::{Expr, Exprs, Sym};
use fault::{Fault, Located};
use fixup::Fixup;
use kernel::Kernel;
use macros::{Frame, Macro};
use place::StreamId;
use section::{Section, Stream};
use source::Sources;
use span::Span;
use symbols::Symbols;

/// Assembles the text of one file, which must not include others. `file` is its name for messages.
///
/// # Errors
/// All errors in the file, up to [`Diagnostics::LIMIT`].
pub fn assemble(file: &str, text: &str, options: &Options) -> Result<Assembly, Diagnostics> {
    assemble_with(file, text, options, &NoFiles)
}

/// Assembles the text of one file, with `files` for its `.include` and `.incbin`.
///
/// ```
/// use gcn_emit::asm::{Folders, Options, assemble_with};
///
/// let source = "\
/// .macro copy n, to=0
///   v_mov_b32 v[\\to+\\n], v[\\n]
/// .endm
/// .irp n, 1, 2
///   copy \\n, to=8
/// .endr
/// ";
/// let options = Options { target: Some("gfx942".parse().unwrap()), keep_instructions: true, ..Options::default() };
/// let assembly = assemble_with("k.s", source, &options, &Folders::default()).unwrap();
/// assert_eq!(assembly.instructions.len(), 2);
/// // Line 4 is that of `.irp`; the instruction stands in line 2.
/// let first = &assembly.instructions[0];
/// assert_eq!((first.line, assembly.origins[first.origin.unwrap() as usize].line), (4, 2));
/// ```
///
/// # Errors
/// The errors of [`assemble`].
pub fn assemble_with(
    file: &str,
    text: &str,
    options: &Options,
    files: &dyn Files,
) -> Result<Assembly, Diagnostics> {
    with_assembler(file, text, options, files, |mut assembler| {
        assembler.statements();
        assembler.finish()
    })
}

/// The text of a file with macros, repetitions, conditions and included files expanded. All other text is unchanged,
/// byte for byte; each macro call is kept as a comment.
///
/// # Errors
/// The errors of [`assemble`].
pub fn expand(file: &str, text: &str, options: &Options, files: &dyn Files) -> Result<String, Diagnostics> {
    with_assembler(file, text, options, files, |mut assembler| {
        assembler.expanded_text = Some(String::with_capacity(text.len()));
        assembler.statements();
        let expanded = assembler.expanded_text.take().unwrap_or_default();
        assembler.finish().map(|_| expanded)
    })
}

/// Creates the assembler of a file and passes it to `work`.
fn with_assembler<T>(
    file: &str,
    text: &str,
    options: &Options,
    files: &dyn Files,
    work: impl FnOnce(Assembler<'_>) -> Result<T, Diagnostics>,
) -> Result<T, Diagnostics> {
    let text = without_byte_order_mark(text);
    let sources = Sources::new(file, text);
    if u32::try_from(text.len()).is_err() {
        let list =
            vec![sources.diagnostic(Severity::Error, Span::default(), Fault::TooLarge.to_string(), None)];
        return Err(Diagnostics { list, more: 0 });
    }
    let (clean, open_comment) = source::without_block_comments(text);
    let arena = Arena::new();
    let mut assembler = Assembler::new(&clean, sources, options, Surroundings { arena: &arena, files });
    files.symbols().iter().for_each(|(name, value)| assembler.define(name, *value));
    if let Some(at) = open_comment {
        assembler.report(Located::new(Span::new(at, at + 2), Fault::OpenComment));
    }
    work(assembler)
}

/// The text without a leading byte order mark.
pub(crate) fn without_byte_order_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The sources of text other than the file itself.
#[derive(Clone, Copy)]
struct Surroundings<'s> {
    /// Texts of expansions and included files, from which statements and symbols borrow.
    arena: &'s Arena<String>,
    files: &'s dyn Files,
}

/// The state of assembling a file. `'s` is the lifetime of the text.
struct Assembler<'s> {
    /// The text being read: the file, or the innermost of `frames`.
    text: &'s str,
    /// The offset of the first byte of `text` among all sources.
    base: usize,
    /// The offset in `text` of the next byte to read.
    at: usize,
    frames: Vec<Frame<'s>>,
    sources: Sources<'s>,
    arena: &'s Arena<String>,
    included: &'s dyn Files,
    macros: HashMap<&'s str, Rc<Macro<'s>>>,
    /// The number of macro calls so far, which `\@` stands for.
    macro_calls: u64,
    /// The number of bytes of expansions so far.
    expanded: u64,
    conditions: Conditions,
    /// The file with macros expanded, if requested.
    expanded_text: Option<String>,
    /// True if the current statement is replaced by its expansion.
    expands: bool,
    /// True if `.altmacro` is in effect.
    alternate: bool,
    origins: Vec<Origin>,
    names: Names<'s>,
    options: Options,
    target: Option<TargetId>,
    /// The wave size of kernels that do not specify it, computed on first use.
    wave: OnceCell<WaveSize>,
    version: CodeObjectVersion,
    symbols: Symbols<'s>,
    exprs: Exprs,
    expr_stacks: expr_parser::Stacks,
    sections: Vec<Section>,
    /// Sections by name, group and `unique` number.
    section_ids: HashMap<(String, Option<String>, Option<i64>), u32>,
    streams: Vec<Stream>,
    /// Streams by section and subsection.
    stream_ids: HashMap<(u32, u32), StreamId>,
    current: StreamId,
    /// The current and the previous stream for every open `.pushsection`.
    stack: Vec<(StreamId, Option<StreamId>)>,
    previous: Option<StreamId>,
    fixups: Vec<Fixup>,
    /// The expressions of the current statement, by the number under which the instruction parser knows them.
    later: SmallVec<[Expr; 4]>,
    /// A cache of instructions that were parsed recently.
    recall: recall::Recall<'s>,
    /// An error in an expression of the current instruction.
    inner_fault: Option<Located>,
    kernels: Vec<Kernel>,
    /// The kernel whose `.amdhsa_` directives are being read.
    open_kernel: Option<Kernel>,
    /// `.amdgcn.next_free_vgpr` and `.amdgcn.next_free_sgpr`.
    next_free: [NextFree; 2],
    instructions: Vec<AsmInst>,
    /// The gaps that precede each kept instruction in its stream.
    kept_gaps: Vec<u32>,
    files: Vec<SourceFile>,
    /// The index into `files` for each file number.
    file_numbers: HashMap<u32, u32>,
    location: Option<SourceLocation>,
    debug: debug::Debug,
    /// True if `.ident` has occurred.
    has_ident: bool,
    /// The number of filling bytes so far.
    filling: u64,
    /// True if the missing target has been reported.
    target_missed: bool,
    /// True if `.end` has occurred.
    ended: bool,
    diagnostics: Diagnostics,
    warnings: Vec<Diagnostic>,
}

/// Names that several origins share.
#[derive(Default)]
struct Names<'s> {
    shared: HashMap<&'s str, Arc<str>>,
}

impl<'s> Names<'s> {
    fn get(&mut self, name: &'s str) -> Arc<str> {
        Arc::clone(self.shared.entry(name).or_insert_with(|| name.into()))
    }
}

/// A symbol whose value is one more than the highest register number named so far.
#[derive(Clone, Copy, Default)]
struct NextFree {
    symbol: Option<Sym>,
    value: i64,
}

impl<'s> Assembler<'s> {
    fn new(
        text: &'s str,
        sources: Sources<'s>,
        options: &Options,
        surroundings: Surroundings<'s>,
    ) -> Assembler<'s> {
        let mut assembler = Assembler {
            text,
            base: 0,
            at: 0,
            frames: Vec::new(),
            sources,
            arena: surroundings.arena,
            included: surroundings.files,
            macros: HashMap::new(),
            macro_calls: 0,
            expanded: 0,
            conditions: Conditions::default(),
            expanded_text: None,
            expands: false,
            alternate: false,
            origins: Vec::new(),
            names: Names::default(),
            options: *options,
            target: options.target,
            wave: OnceCell::new(),
            version: CodeObjectVersion::default(),
            symbols: Symbols::default(),
            exprs: Exprs::default(),
            expr_stacks: expr_parser::Stacks::default(),
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
            debug: debug::Debug::default(),
            has_ident: false,
            filling: 0,
            target_missed: false,
            ended: false,
            diagnostics: Diagnostics::default(),
            warnings: Vec::new(),
        };
        if options.keep_instructions {
            // Most lines have one instruction.
            assembler.instructions.reserve(memchr::memchr_iter(b'\n', text.as_bytes()).count());
        }
        assembler.open_text();
        assembler.define_generation();
        assembler
    }

    /// The target, if it is already known.
    fn target(&self) -> Option<TargetId> {
        self.target
    }

    /// The wave size of kernels that do not specify it.
    fn wave(&self, target: Target) -> WaveSize {
        *self.wave.get_or_init(|| {
            let usual = target.usual_wave();
            let said = || self.options.wave.or_else(|| named_wave(self.sources.main()));
            // If the target supports only one size, the file's directives do not matter.
            let choice = if target.wave_sizes().len() > 1 { said() } else { None };
            choice.unwrap_or(usual)
        })
    }

    /// Records an error.
    fn report(&mut self, error: Located) {
        if matches!(*error.fault, Fault::ReportedBefore) {
            return;
        }
        if self.diagnostics.is_full() {
            self.diagnostics.more += 1;
            return;
        }
        let (message, help) = (error.fault.to_string(), error.fault.help());
        self.diagnostics.list.push(self.sources.diagnostic(Severity::Error, error.span, message, help));
    }

    /// Records a warning.
    fn warn(&mut self, span: Span, message: &str) {
        if self.warnings.len() < Diagnostics::LIMIT {
            self.warnings.push(self.sources.diagnostic(Severity::Warning, span, message.to_owned(), None));
        }
    }
}
