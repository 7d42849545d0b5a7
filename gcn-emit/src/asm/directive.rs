//! Directives: one table of their names, each with the function that parses its arguments.

mod amdgpu;
pub(super) mod data;
mod debug;
mod include;
mod macros;
mod section;
mod symbol;

use super::Assembler;
use super::args::Args;
use super::condition;
use super::fault::{Fault, Located, Result};
use super::span::Span;
use crate::text::nearest;

/// Parses the arguments of a directive and executes it.
type Handler = for<'s> fn(&mut Assembler<'s>, &mut Args<'s>, &'static str) -> Result<()>;

/// A directive.
struct Directive {
    name: &'static str,
    /// `None` if the directive is known but not supported.
    read: Option<Handler>,
}

macro_rules! directives {
    (@ unsupported) => { None };
    (@ $($part:ident)::+) => { Some($($part)::+) };
    ($($name:literal => $($part:ident)::+,)*) => {
        /// Every known directive.
        static DIRECTIVES: &[Directive] =
            &[$(Directive { name: $name, read: directives!(@ $($part)::+) }),*];
    };
}

// Sorted by name, which a test checks.
directives! {
    ".2byte" => data::integers,
    ".4byte" => data::integers,
    ".8byte" => data::integers,
    ".abort" => unsupported,
    ".addrsig" => symbol::no_arguments,
    ".addrsig_sym" => symbol::names_only,
    ".align" => data::align,
    ".altmacro" => macros::alternate,
    ".amd_amdgpu_hsa_metadata" => unsupported,
    ".amd_amdgpu_isa" => unsupported,
    ".amd_amdgpu_pal_metadata" => unsupported,
    ".amd_kernel_code_t" => unsupported,
    ".amdgcn_target" => amdgpu::target,
    ".amdgpu_hsa_kernel" => unsupported,
    ".amdgpu_hsa_module_global" => unsupported,
    ".amdgpu_hsa_program_global" => unsupported,
    ".amdgpu_lds" => amdgpu::lds,
    ".amdgpu_pal_metadata" => unsupported,
    ".amdgpu_runtime_metadata" => unsupported,
    ".amdhsa_code_object_version" => amdgpu::version,
    ".amdhsa_kernel" => amdgpu::kernel,
    ".ascii" => data::ascii,
    ".asciz" => data::ascii,
    ".balign" => data::align,
    ".balignl" => data::align,
    ".balignw" => data::align,
    ".bss" => section::named,
    ".bundle_align_mode" => unsupported,
    ".byte" => data::integers,
    ".cfi_adjust_cfa_offset" => debug::cfi,
    ".cfi_def_cfa" => debug::cfi,
    ".cfi_def_cfa_offset" => debug::cfi,
    ".cfi_def_cfa_register" => debug::cfi,
    ".cfi_endproc" => debug::cfi_end,
    ".cfi_escape" => debug::cfi,
    ".cfi_label" => unsupported,
    ".cfi_llvm_def_aspace_cfa" => debug::cfi,
    ".cfi_lsda" => unsupported,
    ".cfi_offset" => debug::cfi,
    ".cfi_personality" => unsupported,
    ".cfi_register" => debug::cfi,
    ".cfi_rel_offset" => debug::cfi,
    ".cfi_remember_state" => debug::cfi,
    ".cfi_restore" => debug::cfi,
    ".cfi_restore_state" => debug::cfi,
    ".cfi_return_column" => debug::cfi_kind,
    ".cfi_same_value" => debug::cfi,
    ".cfi_sections" => debug::cfi_sections,
    ".cfi_signal_frame" => debug::cfi_kind,
    ".cfi_startproc" => debug::cfi_start,
    ".cfi_undefined" => debug::cfi,
    ".cfi_val_offset" => debug::cfi,
    ".cfi_window_save" => debug::cfi,
    ".cg_profile" => symbol::ignored,
    ".comm" => symbol::common,
    ".common" => symbol::common,
    ".data" => section::named,
    ".data.rel" => section::named,
    ".data.rel.ro" => section::named,
    ".dc" => data::integers,
    ".dc.a" => data::integers,
    ".dc.b" => data::integers,
    ".dc.d" => data::floats,
    ".dc.l" => data::integers,
    ".dc.s" => data::floats,
    ".dc.w" => data::integers,
    ".dcb" => data::blocks,
    ".dcb.b" => data::blocks,
    ".dcb.l" => data::blocks,
    ".dcb.w" => data::blocks,
    ".double" => data::floats,
    ".ds" => data::spaces,
    ".ds.b" => data::spaces,
    ".ds.d" => data::spaces,
    ".ds.l" => data::spaces,
    ".ds.p" => data::spaces,
    ".ds.s" => data::spaces,
    ".ds.w" => data::spaces,
    ".ds.x" => data::spaces,
    ".eh_frame" => section::named,
    ".else" => condition::read,
    ".elseif" => condition::read,
    ".end" => symbol::end,
    ".end_amd_amdgpu_hsa_metadata" => unsupported,
    ".end_amd_kernel_code_t" => unsupported,
    ".endif" => condition::read,
    ".endm" => macros::leave,
    ".endmacro" => macros::leave,
    ".endr" => macros::leave,
    ".equ" => symbol::set,
    ".equiv" => symbol::set,
    ".err" => symbol::error,
    ".error" => symbol::error,
    ".exitm" => macros::leave,
    ".file" => debug::file,
    ".fill" => data::fill,
    ".float" => data::floats,
    ".global" => symbol::attribute,
    ".globl" => symbol::attribute,
    ".hidden" => symbol::attribute,
    ".hsa_code_object_isa" => unsupported,
    ".hsa_code_object_version" => unsupported,
    ".ident" => debug::ident,
    ".if" => condition::read,
    ".ifb" => condition::read,
    ".ifc" => condition::read,
    ".ifdef" => condition::read,
    ".ifeq" => condition::read,
    ".ifeqs" => condition::read,
    ".ifge" => condition::read,
    ".ifgt" => condition::read,
    ".ifle" => condition::read,
    ".iflt" => condition::read,
    ".ifnb" => condition::read,
    ".ifnc" => condition::read,
    ".ifndef" => condition::read,
    ".ifne" => condition::read,
    ".ifnes" => condition::read,
    ".ifnotdef" => condition::read,
    ".incbin" => include::binary,
    ".include" => include::include,
    ".int" => data::integers,
    ".internal" => symbol::attribute,
    ".irp" => macros::each_value,
    ".irpc" => macros::each_character,
    ".lcomm" => symbol::common,
    ".line" => symbol::ignored,
    ".loc" => debug::loc,
    ".local" => symbol::attribute,
    ".long" => data::integers,
    ".lto_discard" => symbol::ignored,
    ".lto_set_conditional" => unsupported,
    ".macro" => macros::define,
    ".macros_off" => unsupported,
    ".macros_on" => unsupported,
    ".noaltmacro" => macros::alternate,
    ".octa" => data::octas,
    ".org" => data::org,
    ".p2align" => data::align,
    ".p2alignl" => data::align,
    ".p2alignw" => data::align,
    ".popsection" => section::pop,
    ".previous" => section::previous,
    ".print" => symbol::ignored,
    ".protected" => symbol::attribute,
    ".pseudoprobe" => unsupported,
    ".purgem" => macros::purge,
    ".pushsection" => section::push,
    ".quad" => data::integers,
    ".reloc" => unsupported,
    ".rep" => macros::repeat,
    ".rept" => macros::repeat,
    ".rodata" => section::named,
    ".section" => section::section,
    ".set" => symbol::set,
    ".short" => data::integers,
    ".single" => data::floats,
    ".size" => symbol::size,
    ".skip" => data::space,
    ".sleb128" => data::lebs,
    ".space" => data::space,
    ".string" => data::ascii,
    ".subsection" => section::subsection,
    ".symver" => unsupported,
    ".tbss" => section::named,
    ".tdata" => section::named,
    ".text" => section::named,
    ".type" => symbol::kind,
    ".uleb128" => data::lebs,
    ".value" => data::integers,
    ".version" => unsupported,
    ".warning" => symbol::warning,
    ".weak" => symbol::attribute,
    ".weak_reference" => symbol::attribute,
    ".weakref" => unsupported,
    ".zero" => data::space,
}

/// Known but unsupported directives: the beginning of the name, the reason, and the alternative.
const UNSUPPORTED: [(&str, &str, &str); 16] = [
    (".amd_amdgpu_hsa_metadata", OLD_METADATA, METADATA),
    (".amd_amdgpu_isa", "code objects V2 and those of PAL name their processor so", "write `.amdgcn_target`"),
    (".amd_amdgpu_pal_metadata", PAL, METADATA),
    (".amd_kernel_code_t", OLD, KERNEL),
    (".amdgpu_hsa_", OLD, KERNEL),
    (".amdgpu_pal_metadata", PAL, METADATA),
    (".amdgpu_runtime_metadata", OLD_METADATA, METADATA),
    (".end_amd_", OLD, KERNEL),
    (".hsa_code_object", OLD, "write `.amdgcn_target` and `.amdhsa_code_object_version` (4, 5 or 6)"),
    (
        ".reloc",
        "relocations come from expressions alone",
        "write `symbol@rel32@lo` and the like as an operand or value",
    ),
    (".cfi_label", "call frames are laid out after all symbols", "leave it out"),
    (".cfi_lsda", NO_EXCEPTIONS, "leave it out"),
    (".cfi_personality", NO_EXCEPTIONS, "leave it out"),
    (".symver", "code objects have no symbol versions", "leave it out"),
    (".weakref", "there are no weak aliases", "declare the symbol itself `.weak`"),
    (".abort", "it would end the assembly without a code object", "leave it out"),
];

const NO_EXCEPTIONS: &str = "kernels throw no exceptions";
const OLD: &str = "it belongs to code object V2";
const OLD_METADATA: &str = "it is the metadata of code object V2";
const PAL: &str = "it is the metadata of AMD's PAL (graphics)";
const KERNEL: &str =
    "describe the kernel with `.amdhsa_kernel` and `.amdgpu_metadata` (code object V4, V5, V6)";
const METADATA: &str = "write `.amdgpu_metadata` (code object V4, V5, V6)";

fn unsupported<'s>(_: &mut Assembler<'s>, args: &mut Args<'s>, name: &'static str) -> Result<()> {
    let row = UNSUPPORTED.iter().find(|(known, ..)| name.starts_with(known));
    let (_, why, remedy) = row.copied().unwrap_or(("", "it has no meaning in a code object", "leave it out"));
    let start = args.statement();
    let span = Span { at: start.at, len: name.len() as u32 };
    Err(Located::new(span, Fault::Unsupported { name: name.to_owned(), why, remedy }))
}

/// The supported directives, with those inside `.amdhsa_kernel` last.
///
/// ```
/// let all: Vec<_> = gcn_emit::asm::directives().collect();
/// assert!(all.contains(&".amdgcn_target") && all.contains(&".amdhsa_next_free_vgpr"));
/// assert!(!all.contains(&".amd_kernel_code_t"));
/// ```
pub fn directives() -> impl Iterator<Item = &'static str> {
    let taken = DIRECTIVES.iter().filter(|directive| directive.read.is_some()).map(|d| d.name);
    taken.chain(super::kernel::directives())
}

impl<'s> Assembler<'s> {
    /// Executes a directive.
    pub(super) fn directive(&mut self, name: &'s str, text: &'s str, at: usize, span: Span) -> Result<()> {
        let Some(directive) = find(name) else { return Err(self.unknown(name, span)) };
        let mut args = Args::new(text, at);
        args.rewind(span.len as usize);
        directive.read.unwrap_or(unsupported)(self, &mut args, directive.name)
    }

    fn unknown(&mut self, name: &str, span: Span) -> Located {
        if self.diagnostics.is_full() {
            // Further errors are only counted, so the nearest name is not computed for them.
            return Located::new(span, Fault::UnknownDirective { name: String::new(), nearest: None });
        }
        let near = nearest(name, DIRECTIVES.iter().map(|d| d.name));
        let of_kernel = name.starts_with(".amdhsa_") || name == ".end_amdhsa_kernel";
        let fault = if of_kernel && near.is_none() {
            Fault::OutsideKernel(name.to_owned())
        } else {
            Fault::UnknownDirective { name: name.to_owned(), nearest: near }
        };
        Located::new(span, fault)
    }
}

/// The directive with a name; upper case counts as lower case. `None` if there is no such directive.
fn find(name: &str) -> Option<&'static Directive> {
    let by_name = |name: &str| {
        let at = DIRECTIVES.binary_search_by(|d| d.name.cmp(name)).ok()?;
        DIRECTIVES.get(at)
    };
    by_name(name).or_else(|| by_name(&name.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        for pair in DIRECTIVES.windows(2) {
            assert!(pair[0].name < pair[1].name, "{} {}", pair[0].name, pair[1].name);
        }
    }

    #[test]
    fn slips_lead_to_the_name() {
        assert_eq!(nearest(".globel", DIRECTIVES.iter().map(|d| d.name)), Some(".global"));
        assert_eq!(nearest(".nothing_like_it", DIRECTIVES.iter().map(|d| d.name)), None);
    }
}
