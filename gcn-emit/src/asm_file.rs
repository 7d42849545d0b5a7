//! Generates whole assembly files: the instructions, and the directives from which LLVM's assembler and linker produce
//! a code object.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;

use gcn_isa::Program;

use crate::descriptor::KernelDescriptor;
use crate::descriptor::directive::{self, Slot};
use crate::encode::{S_NOP, encode_program};
use crate::kernel::KernelSpec;
use crate::metadata::Metadata;
use crate::object::debug::Files;
use crate::object::layout::{END_ALIGN, KERNEL_ALIGN, constants_padding, trailing_nops};
use crate::text::Comments;
use crate::text::print_lines;

/// A whole assembly file for `kernels`, which must have the same target ID: code, a kernel descriptor for each kernel,
/// metadata (code object V5).
///
/// `llvm-mc -triple=amdgcn-amd-amdhsa -mcpu=<target> -filetype=obj` and `ld.lld -shared` translate this file to the same code and
/// descriptors that [`write_code_object`](crate::object::write_code_object) produces. Feature settings of the target ID must be passed to
/// the assembler as well (`-mattr=-xnack`). A label that an earlier kernel of the file has used gets a suffix. Kernels that
/// [`KernelSpec::check`] rejects are printed nevertheless, for inspection.
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

/// A text in quotes, with the escapes that assemblers understand.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Declares the source files of the kernels that have source lines.
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
    // If the instructions of the program cannot be encoded, it is printed nevertheless.
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

/// The program with labels that no earlier kernel has used, because local labels must be unique in the file.
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
    let descriptor = KernelDescriptor::of(kernel, 0).to_bytes();
    for row in directive::of_target(kernel.target()) {
        let value = match row.slot {
            // The values of these directives follow from other directives and from the target ID.
            Slot::UserSgprCount(_) | Slot::ReserveXnackMask => continue,
            Slot::NextFreeVgpr => kernel.total_vgprs(),
            Slot::NextFreeSgpr => kernel.next_free_sgpr(),
            Slot::AccumOffset => kernel.resources.accum_offset(),
            Slot::ReserveVcc => kernel.resources.uses_vcc.into(),
            Slot::ReserveFlatScratch => kernel.resources.uses_flat_scratch.into(),
            _ => row.value_in(&descriptor).unwrap_or(0),
        };
        if row.default != Some(value) {
            let _ = writeln!(out, "\t\t{} {value}", row.name);
        }
    }
    out.push_str("\t.end_amdhsa_kernel\n");
}

/// A symbol in assembly syntax: in quotes if it contains characters that require them.
fn symbol(name: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    if name.chars().all(plain) && !name.starts_with(|c: char| c.is_ascii_digit()) {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(format!("\"{name}\""))
    }
}
