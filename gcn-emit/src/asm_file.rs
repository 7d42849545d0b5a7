//! The assembly file around the instructions: the directives from which LLVM's assembler and linker make a
//! code object.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;

use gcn_isa::Program;

use crate::encode::encode_program;
use crate::kernel::{EXCEPTIONS, FloatMode, KernelSpec, USER_SGPRS, WorkItemIds};
use crate::metadata::Metadata;
use crate::object::debug::Files;
use crate::object::layout::{END_ALIGN, KERNEL_ALIGN, S_NOP, constants_padding, trailing_nops};
use crate::text::Comments;
use crate::text::print_lines;

/// A whole assembly file for `kernels`, which are for one target id: code, a kernel descriptor each, metadata
/// (code object V5).
///
/// `llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=<target> -filetype=obj` and `ld.lld -shared` make the same code
/// and descriptors of it as [`write_code_object`](crate::object::write_code_object); feature settings of the
/// target id have to be given to the assembler as well (`-mattr=-xnack`). Labels that an earlier kernel of
/// the file has used get a suffix. Kernels that [`KernelSpec::check`] refuses are printed all the same, for a
/// person to look at.
pub fn assembly_file(kernels: &[KernelSpec], comments: Comments) -> String {
    let Some(first) = kernels.first() else { return String::new() };
    let mut out = String::new();
    let _ = writeln!(out, "\t.amdgcn_target \"{}\"", first.target_id().triple());
    out.push_str("\t.amdhsa_code_object_version 5\n\n\t.text\n");
    let mut labels = HashSet::new();
    let mut files = source_files(&mut out, kernels);
    for (index, kernel) in kernels.iter().enumerate() {
        write_function(&mut out, kernel, index, &mut labels, &mut files, comments);
    }
    write_code_end(&mut out, first);
    out.push_str("\n\t.section .rodata,\"a\",@progbits\n\t.p2align 6, 0x0\n");
    for kernel in kernels {
        write_descriptor(&mut out, kernel);
    }
    out.push_str("\n\t.amdgpu_metadata\n");
    out.push_str(&Metadata::of(kernels).to_yaml());
    out.push_str("\t.end_amdgpu_metadata\n");
    out
}

/// A text in quotes, as assemblers read it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Names the source files of the kernels with source lines.
fn source_files(out: &mut String, kernels: &[KernelSpec]) -> Files {
    let mut files = Files::default();
    let with_lines = kernels.iter().filter(|k| k.source_lines);
    for position in with_lines.flat_map(|k| k.program.positions()).flatten() {
        files.number(position.file);
    }
    for (index, name) in files.names.iter().enumerate() {
        let _ = writeln!(out, "\t.file {} {}", index + 1, quoted(name));
    }
    files
}

fn write_function(
    out: &mut String,
    kernel: &KernelSpec,
    index: usize,
    labels: &mut HashSet<String>,
    files: &mut Files,
    comments: Comments,
) {
    let name = symbol(kernel.name());
    let program = with_own_labels(&kernel.program, index, labels);
    let _ = writeln!(out, "\t.protected {name}\n\t.globl {name}");
    let _ = writeln!(out, "\t.p2align {}\n\t.type {name},@function\n{name}:", KERNEL_ALIGN.ilog2());
    let positions = if kernel.source_lines { program.positions() } else { Vec::new() };
    let mut last = None;
    out.push_str(&print_lines(&program, comments, |out, line| {
        let position = positions.get(line).copied().flatten();
        if let Some(here) = position.filter(|_| position != last) {
            let _ = writeln!(out, "\t.loc {} {} {}", files.number(here.file), here.line, here.column);
        }
        last = position;
    }));
    let _ = writeln!(out, ".Lfunc_end{index}:\n\t.size {name}, .Lfunc_end{index}-{name}");
    write_constants(out, kernel);
}

/// The data after the code.
fn write_constants(out: &mut String, kernel: &KernelSpec) {
    if kernel.constants.is_empty() {
        return;
    }
    // What cannot be encoded is printed all the same.
    let code = encode_program(&kernel.program).map_or(0, |code| code.bytes.len());
    let _ = writeln!(out, "\t.fill {}, 4, {S_NOP:#x}", constants_padding(code));
    let mut bytes = kernel.constants.clone();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    for line in bytes.chunks(32) {
        let dwords =
            line.chunks_exact(4).map(|d| format!("{:#x}", u32::from_le_bytes([d[0], d[1], d[2], d[3]])));
        let _ = writeln!(out, "\t.long {}", dwords.collect::<Vec<_>>().join(", "));
    }
}

/// The program with labels that no kernel before it has: local labels are those of the whole file.
fn with_own_labels<'p>(program: &'p Program, index: usize, taken: &mut HashSet<String>) -> Cow<'p, Program> {
    let mut program = Cow::Borrowed(program);
    for label in 0..program.labels.len() {
        let mut name = program.labels[label].name.clone();
        while !taken.insert(name.clone()) {
            let _ = write!(name, "_{index}");
        }
        if name != program.labels[label].name {
            program.to_mut().labels[label].name = name;
        }
    }
    program
}

/// The padding after the last instruction of the file, see [`trailing_nops`].
fn write_code_end(out: &mut String, kernel: &KernelSpec) {
    let nops = trailing_nops(kernel.target());
    if nops > 0 {
        let _ = writeln!(out, "\t.p2alignl {}, {S_NOP:#x}\n\t.fill {nops}, 4, {S_NOP:#x}", END_ALIGN.ilog2());
    }
}

fn write_descriptor(out: &mut String, kernel: &KernelSpec) {
    let _ = writeln!(out, "\t.amdhsa_kernel {}", symbol(kernel.name()));
    for directive in directives(kernel) {
        if directive.default != Some(directive.value) {
            let _ = writeln!(out, "\t\t.amdhsa_{} {}", directive.name, directive.value);
        }
    }
    out.push_str("\t.end_amdhsa_kernel\n");
}

/// A nested directive of `.amdhsa_kernel`.
struct Directive {
    name: Cow<'static, str>,
    value: u32,
    /// The assembler's default for the directive; `None` if it is required.
    default: Option<u32>,
}

impl Directive {
    fn new(name: impl Into<Cow<'static, str>>, value: impl Into<u32>, default: Option<u32>) -> Directive {
        Directive { name: name.into(), value: value.into(), default }
    }
}

/// Every directive that the kernel's target knows (guide, *AMDHSA Kernel Assembler Directives*), in the
/// guide's order. Not among them: the number of user SGPRs and the `XNACK_MASK` reservation, which follow
/// from the others and from the target id.
fn directives(kernel: &KernelSpec) -> Vec<Directive> {
    let target = kernel.target();
    let zero = Some(0);
    let mut all = vec![
        Directive::new("group_segment_fixed_size", kernel.lds_bytes, zero),
        Directive::new("private_segment_fixed_size", kernel.scratch_bytes, zero),
        Directive::new("kernarg_size", kernel.kernarg_bytes, zero),
    ];
    for (flag, _, name) in USER_SGPRS {
        all.push(Directive::new(format!("user_sgpr_{name}"), kernel.user_sgprs.contains(flag), zero));
    }
    all.push(Directive::new("uses_dynamic_stack", kernel.uses_dynamic_stack, zero));
    let scratch = if target.has_architected_flat_scratch() {
        "enable_private_segment"
    } else {
        "system_sgpr_private_segment_wavefront_offset"
    };
    all.push(Directive::new(scratch, kernel.uses_scratch(), zero));
    for (dimension, enabled) in ["x", "y", "z"].into_iter().zip(kernel.workgroup_ids) {
        let default = u32::from(dimension == "x");
        all.push(Directive::new(format!("system_sgpr_workgroup_id_{dimension}"), enabled, Some(default)));
    }
    all.push(Directive::new("system_sgpr_workgroup_info", kernel.workgroup_info, zero));
    let ids = Some(WorkItemIds::X as u32);
    all.push(Directive::new("system_vgpr_workitem_id", kernel.work_item_ids as u32, ids));
    register_directives(&mut all, kernel);
    float_directives(&mut all, kernel);
    if target.has_unified_agprs() {
        all.push(Directive::new("tg_split", kernel.tg_split, zero));
    }
    for (flag, name) in EXCEPTIONS {
        all.push(Directive::new(format!("exception_{name}"), kernel.exceptions.contains(flag), zero));
    }
    all
}

fn register_directives(all: &mut Vec<Directive>, kernel: &KernelSpec) {
    all.push(Directive::new("next_free_vgpr", kernel.total_vgprs(), None));
    all.push(Directive::new("next_free_sgpr", kernel.next_free_sgpr(), None));
    if let Some(offset) = kernel.accum_offset() {
        all.push(Directive::new("accum_offset", offset, None));
    }
    all.push(Directive::new("reserve_vcc", kernel.resources.uses_vcc, Some(1)));
    // Where flat scratch is architected its SGPRs are always reserved, and the directive does not exist.
    if !kernel.target().has_architected_flat_scratch() {
        all.push(Directive::new("reserve_flat_scratch", kernel.resources.uses_flat_scratch, Some(1)));
    }
}

fn float_directives(all: &mut Vec<Directive>, kernel: &KernelSpec) {
    let fields = |mode: FloatMode| {
        [
            ("float_round_mode_32", mode.round_32 as u32),
            ("float_round_mode_16_64", mode.round_16_64 as u32),
            ("float_denorm_mode_32", mode.denorm_32 as u32),
            ("float_denorm_mode_16_64", mode.denorm_16_64 as u32),
            ("dx10_clamp", mode.dx10_clamp.into()),
            ("ieee_mode", mode.ieee_mode.into()),
            ("fp16_overflow", mode.fp16_overflow.into()),
        ]
    };
    for ((name, value), (_, default)) in
        fields(kernel.float_mode).into_iter().zip(fields(FloatMode::default()))
    {
        all.push(Directive::new(name, value, Some(default)));
    }
}

/// A symbol as the assembler reads it: in quotes if it has characters that need them.
fn symbol(name: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    if name.chars().all(plain) && !name.starts_with(|c: char| c.is_ascii_digit()) {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(format!("\"{name}\""))
    }
}
