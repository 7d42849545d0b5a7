//! Errors in statements.

use gcn_isa::Target;
use thiserror::Error;

use super::span::Span;
use crate::target_id::TargetIdError;
use crate::text::ParseFault;

/// A fault and its position.
#[derive(Debug)]
pub(super) struct Located {
    pub span: Span,
    pub fault: Box<Fault>,
}

impl Located {
    pub fn new(span: Span, fault: Fault) -> Located {
        Located { span, fault: Box::new(fault) }
    }
}

/// The result of any function that parses a statement.
pub(super) type Result<T> = std::result::Result<T, Located>;

/// An error.
#[derive(Debug, Error)]
pub(super) enum Fault {
    #[error("expected {0}")]
    Expected(&'static str),
    #[error("{0}")]
    Instruction(ParseFault),
    #[error("unknown directive `{name}`")]
    UnknownDirective { name: String, nearest: Option<&'static str> },
    #[error("`{name}` is not supported: {why}")]
    Unsupported { name: String, why: &'static str, remedy: &'static str },
    #[error("the target is not known yet")]
    NoTarget,
    #[error("the file is for `{file}`, but `{wanted}` is asked for")]
    OtherTarget { file: String, wanted: String },
    #[error("waves of {0} lanes are asked for, but those of {1} have {2}")]
    Wave(u32, Target, u32),
    #[error("{0}")]
    Target(TargetIdError),
    #[error("code object version {0} is not supported")]
    Version(i64),
    #[error("the comment is not closed")]
    OpenComment,
    #[error("the file is larger than 4 GiB")]
    TooLarge,

    #[error("the string is not closed")]
    OpenString,
    #[error("unknown escape sequence in the string")]
    Escape,
    #[error("the number does not fit in {0} bits")]
    NumberRange(u32),
    #[error("malformed number")]
    Number,

    #[error("`{0}` is already defined")]
    Redefined(String),
    #[error("`{name}` is already {old}; it cannot become {new}")]
    Binding { name: String, old: &'static str, new: &'static str },
    #[error("`{0}` is not defined")]
    Undefined(String),
    #[error("there is no label `{0}` in this direction")]
    NoDirectional(String),
    #[error("`{0}` depends on itself")]
    Cycle(String),

    /// A symbol has no value. The error was reported at the symbol's first use.
    #[error("the value of a symbol is not known")]
    ReportedBefore,
    #[error("an absolute expression is wanted: one that is a number here")]
    NotAbsolute,
    #[error("an absolute expression or a label is wanted")]
    BranchTarget,
    #[error("the value is neither a number nor an address plus a number")]
    NotRelocatable,
    #[error("a difference of addresses in different sections is not known before linking")]
    AcrossSections,
    #[error("division by zero")]
    DivisionByZero,
    #[error("the shift amount {0} is not from 0 to 63")]
    Shift(i64),
    #[error("`{name}` takes {want}")]
    Arguments { name: &'static str, want: &'static str },
    #[error("unknown relocation `@{0}`")]
    Specifier(String),
    #[error("no relocation writes {0} bytes of an address")]
    RelocationSize(u64),
    #[error("{what} has to be from {low} to {high}, not {value}")]
    Range { what: &'static str, value: i64, low: i64, high: i64 },
    #[error(
        "the branch target is {0} bytes away; a branch reaches from -131,072 to 131,068 bytes from the next instruction: \
         branch to an `s_branch` within that reach, which leads to the target"
    )]
    BranchRange(i64),
    #[error("the branch target is {0} bytes away, which is not a multiple of 4")]
    BranchAlign(i64),
    #[error("{what} has to be a power of two, not {value}")]
    PowerOfTwo { what: &'static str, value: i64 },
    #[error("`.org` cannot go back from offset {from} to {to}")]
    OrgBack { from: u64, to: i64 },
    #[error("the sizes in this section depend on each other and do not settle")]
    Unsettled,
    #[error("section `{0}` occupies no bytes in the file and takes zeros only")]
    NotZero(String),
    #[error("the file grows by more than {0} bytes of filling")]
    Filling(u64),

    #[error("section `{name}` has {what} {old} already")]
    SectionChanged { name: String, what: &'static str, old: String },
    #[error("unknown section flag `{0}`")]
    SectionFlag(char),
    #[error("unknown section flag `#{0}`")]
    SectionFlagWord(String),
    #[error("unknown section type `{0}`")]
    SectionType(String),
    #[error("`{0}` without a section to go back to")]
    SectionStack(&'static str),

    #[error("file number {0} has no `.file` directive")]
    UnknownFile(i64),
    #[error("file number {0} is already given")]
    FileNumber(i64),
    #[error("file number {0} is missing: the files of a line table are numbered from 1 without gaps")]
    FileGap(u32),
    #[error("`{0}` is in another section than its `.cfi_startproc`")]
    ProcedureSection(String),
    #[error("`{0}` has to stand between `.cfi_startproc` and `.cfi_endproc`")]
    OutsideProcedure(String),
    #[error("the procedure has no `.cfi_endproc`")]
    OpenProcedure,
    #[error("{0}")]
    User(String),

    #[error("this body has no `{0}`")]
    OpenBody(&'static str),
    #[error("`{0}` outside of a macro or repetition")]
    OutsideBody(&'static str),
    #[error("macro `{0}` is already defined")]
    MacroDefined(String),
    #[error("there is no macro `{0}`")]
    NoMacro(String),
    #[error("`{0}` is not a qualifier of a parameter")]
    Qualifier(String),
    #[error("macro `{called}` has no parameter `{name}`")]
    NoParameter { called: String, name: String },
    #[error("parameter `{0}` is given twice")]
    ParameterTwice(String),
    #[error("parameter `{0}` takes the rest of the call, so that none can follow it")]
    AfterVararg(String),
    #[error("parameter `{name}` of macro `{called}` needs a value")]
    NoArgument { called: String, name: String },
    #[error("macro `{0}` takes {1} values at most")]
    TooManyArguments(String, usize),
    #[error("values by position and by name cannot be mixed in one call")]
    MixedArguments,
    #[error("`=` cannot stand in a value")]
    StrayEqual,
    #[error("a parenthesis of the value is not closed")]
    Unbalanced,
    #[error("macros are nested more than {0} deep")]
    Nesting(usize),
    #[error("macros, repetitions and included files come to more than {0} bytes")]
    Expansion(u64),
    #[error("the condition has no `.endif`")]
    OpenCondition,
    #[error("`{name}` without {before}")]
    NoCondition { name: &'static str, before: &'static str },
    #[error("cannot read `{name}`: {problem}")]
    Include { name: String, problem: String },
    #[error("`{0}` is not UTF-8 text")]
    IncludeText(String),
    #[error("`{name}` includes itself: {chain}")]
    IncludeCycle { name: String, chain: String },

    #[error("`.amdhsa_kernel` has no `.end_amdhsa_kernel`")]
    OpenKernel,
    #[error("`{0}` stands outside `.amdhsa_kernel`")]
    OutsideKernel(String),
    #[error("`{0}` is given twice for this kernel")]
    Repeated(&'static str),
    #[error("`{0}` is missing")]
    Missing(&'static str),
    #[error("`{name}` does not exist on {target}: {why}")]
    KernelTarget { name: &'static str, target: Target, why: &'static str },
    #[error("`{name}` is {value}, but the target id says {want}")]
    KernelXnack { name: &'static str, value: i64, want: i64 },
    #[error("{what} {have}, but only {limit} {unit}")]
    KernelLimit { what: &'static str, have: i64, limit: i64, unit: &'static str },

    #[error("`.amdgpu_metadata` has no `.end_amdgpu_metadata`")]
    OpenMetadata,
    #[error("section `{section}` has a note that cannot be read, at byte {at}: {problem}")]
    Note { section: String, at: usize, problem: String },
    #[error("metadata: {0}")]
    Yaml(String),
    #[error("metadata: `{path}` {problem}")]
    MetadataRule { path: String, problem: &'static str },
}

impl Fault {
    /// The remedy, if the message does not include it.
    pub fn help(&self) -> Option<String> {
        let text = match self {
            Fault::UnknownDirective { nearest: Some(nearest), .. } => {
                return Some(format!("did you mean `{nearest}`?"));
            }
            Fault::UnknownDirective { .. } => {
                "the directives are those of LLVM's assembler: llvm.org/docs/AMDGPUUsage.html#assembler-directives, and its macros"
            }
            Fault::Unsupported { remedy, .. } => remedy,
            Fault::NoTarget => {
                "begin the file with `.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"`, or give the target to the assembler (`gcn asm --target`)"
            }
            Fault::OtherTarget { .. } => "leave the target out to take the file's own",
            Fault::Wave(..) => "leave the size of waves out",
            Fault::Version(_) => "write 4, 5 or 6",
            Fault::OpenComment => "close it with `*/`",
            Fault::OpenString => "close it with `\"` in the same line",
            Fault::Escape => "escapes are \\b \\f \\n \\r \\t \\\\ \\\" \\x41 and \\101",
            Fault::Redefined(_) => {
                "rename one of them; only `.set`, `.equ` and `=` may define a symbol again"
            }
            Fault::Undefined(name) if name.starts_with(".L") => {
                "labels that start with `.L` are local to the file"
            }
            Fault::NoDirectional(_) => "`1b` is the nearest `1:` before, `1f` the nearest after",
            Fault::NotAbsolute => "define its symbols before, with `.set`",
            Fault::NotRelocatable => {
                "write a symbol plus or minus a number, or a difference of two labels in one section"
            }
            Fault::RelocationSize(_) => "addresses take `.long` or `.quad`",
            Fault::BranchRange(_) => "jump by `s_getpc_b64`, `s_add_u32`, `s_addc_u32` and `s_setpc_b64`",
            Fault::NotZero(_) => "put it into a `@progbits` section",
            Fault::Filling(_) => "put zeroed memory into a `@nobits` section such as `.bss`",
            Fault::SectionFlag(_) => "flags are a, e, x, w, o, M, S, G, T, R and ?",
            Fault::SectionFlagWord(_) => "such flags are #alloc, #execinstr, #write and #tls",
            Fault::SectionType(_) => {
                "types are @progbits, @nobits, @note, @init_array, @fini_array and @preinit_array"
            }
            Fault::MacroDefined(_) => "remove the old one first, with `.purgem`",
            Fault::Qualifier(_) => "qualifiers are `req` and `vararg`",
            Fault::TooManyArguments(..) | Fault::StrayEqual => {
                "put what belongs together into parentheses or quotes: commas and blanks separate values"
            }
            Fault::Nesting(_) => "end the recursion by a condition, or repeat with `.rept`",
            Fault::Expansion(_) => "end the recursion by a condition, or repeat less often",
            Fault::KernelXnack { .. } => "leave it out: the target id decides",
            Fault::Missing(_) => "every kernel has to say it",
            _ => return None,
        };
        Some(text.to_owned())
    }
}
