//! `gcn asm`.

use std::fmt::Write as _;
use std::path::Path;

use gcn_emit::asm::{self, AsmInst, Assembly, Diagnostic, Diagnostics, Options};
use gcn_emit::object::ObjectError;
use gcn_emit::target_id::TargetId;
use gcn_emit::text::InstText;
use gcn_isa::{Operand, Target};
use serde::Serialize;

use crate::failure::Failure;
use crate::{commands, file};

/// Assembles a file into a code object that `hipModuleLoad` takes.
///
/// The code object is written beside the source, FILE.hsaco for FILE.s; of standard input to standard output. The file's
/// `.amdgcn_target` decides what it is assembled for, or `--target`.
///
/// The text is LLVM's: instructions, labels, directives such as `.amdhsa_kernel`, as clang, Triton and people write them. Every
/// error of the file is reported with its line. Nothing is written unless all of the file is right.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Assembly; `-` for standard input
    #[arg(value_name = "FILE.s")]
    file: String,
    /// The code object; `-` for standard output
    #[arg(short, long, value_name = "FILE.hsaco")]
    output: Option<String>,
    /// The target id, such as gfx942 or gfx90a:sramecc+:xnack-, in place of the file's
    #[arg(long, value_name = "T")]
    target: Option<TargetId>,
    /// Print `canonical text ; encoding: [0x..,0x..]` for each instruction; a code object is written with `-o` only
    #[arg(long)]
    show_encoding: bool,
    /// The instructions, or the errors, as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  gcn asm kernel.s                                   writes kernel.hsaco
  gcn asm kernel.s --target gfx90a:xnack- -o k.co    for gfx90a without XNACK
  gcn asm kernel.s --show-encoding                   v_mov_b32_e32 v0, 0 ; encoding: [0x80,0x02,0x00,0x7e]
  clang -S kernel.cl -o - | gcn asm - > kernel.hsaco";

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
    target_id: String,
    /// Where the code object was written.
    output: Option<String>,
    instructions: Vec<Instruction>,
}

/// What `--json` prints of a file with errors.
#[derive(Serialize)]
struct Errors<'d> {
    errors: &'d [Diagnostic],
    /// How many more there are.
    more: usize,
}

/// An instruction of the file.
#[derive(Serialize)]
struct Instruction {
    /// Line of the source, from 1.
    line: u32,
    section: String,
    /// Byte offset in the section.
    offset: u64,
    text: String,
    /// The machine code in hexadecimal, in the order of memory.
    encoding: String,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let output = output(args)?;
    let text = file::read_text(&args.file)?;
    let name = file::shown(&args.file);
    let options = Options { target: args.target, keep_instructions: args.show_encoding || args.json };
    let assembly = match asm::assemble(name, &text, &options) {
        Ok(assembly) => assembly,
        Err(errors) => return Err(refuse(args, name, &errors)),
    };
    for warning in &assembly.warnings {
        file::complain(&warning.render(file::colours()));
    }
    if let Some(output) = &output {
        let object = assembly.code_object().map_err(|error| link_failure(name, &assembly, &error))?;
        file::write(output, &object)?;
    }
    if args.json {
        return file::print(commands::json(&report(&assembly, &text, output))?.as_bytes());
    }
    if args.show_encoding {
        return file::print(encodings(&assembly, &text).as_bytes());
    }
    Ok(())
}

/// The errors of a file, for people or as JSON.
fn refuse(args: &Args, name: &str, errors: &Diagnostics) -> Failure {
    if !args.json {
        return Failure::shown(errors.render(file::colours()));
    }
    let shown = commands::json(&Errors { errors: &errors.list, more: errors.more });
    match shown.and_then(|text| file::print(text.as_bytes())) {
        Ok(()) => Failure::input(format!("{name}: {} errors", errors.list.len() + errors.more)),
        Err(failure) => failure,
    }
}

/// Why the sections and symbols of a file are no code object, at the line of the value concerned where there is one.
fn link_failure(name: &str, assembly: &Assembly, error: &ObjectError) -> Failure {
    let place = match error {
        ObjectError::Link { place, .. } => place.section.zip(place.offset),
        _ => None,
    };
    match place.and_then(|(section, offset)| assembly.line_of(section, offset)) {
        Some((line, column)) => Failure::shown(format!("{name}:{line}:{column}: error: {error}")),
        None => Failure::input(format!("{name}: {error}")),
    }
}

/// Where the code object goes. With a listing on standard output it is written only where `-o` says.
fn output(args: &Args) -> Result<Option<String>, Failure> {
    let listing = args.show_encoding || args.json;
    match &args.output {
        Some(output) if output == file::STANDARD && listing => {
            Err(Failure::usage("the listing and the code object cannot both go to standard output"))
        }
        Some(output) => Ok(Some(output.clone())),
        None if listing => Ok(None),
        None if args.file == file::STANDARD => Ok(Some(file::STANDARD.to_owned())),
        None => {
            let output = Path::new(&args.file).with_extension("hsaco").to_string_lossy().into_owned();
            if output == args.file {
                let message =
                    format!("the code object would take the place of {output}: say where it goes with `-o`");
                return Err(Failure::usage(message));
            }
            Ok(Some(output))
        }
    }
}

/// The machine code of an instruction, with what the linker does not change.
fn code<'a>(assembly: &'a Assembly, inst: &AsmInst) -> &'a [u8] {
    let section = assembly.module.sections.get(inst.section.0 as usize);
    let start = inst.offset as usize;
    section.and_then(|s| s.bytes.get(start..start + usize::from(inst.length))).unwrap_or_default()
}

/// The canonical text of each instruction. A branch keeps the destination that the source gives it.
struct Texts<'a> {
    target: Target,
    lines: Vec<&'a str>,
}

impl Texts<'_> {
    fn of(&self, inst: &AsmInst) -> String {
        let is_label = |o: &Operand| matches!(o, Operand::Label(_));
        if !inst.inst.operands.iter().any(is_label) {
            return InstText { inst: &inst.inst, target: self.target, program: None }.to_string();
        }
        let line = self.lines.get((inst.line as usize).saturating_sub(1)).copied().unwrap_or_default();
        format!("{} {}", inst.inst.desc.printed, operands(line)).trim_end().to_owned()
    }
}

/// What stands behind the mnemonic in a line, less comments.
fn operands(line: &str) -> &str {
    let end = ["//", "/*", ";"].iter().filter_map(|c| line.find(c)).min().unwrap_or(line.len());
    let mut rest = line[..end].trim();
    while let Some((label, behind)) = rest.split_once(':')
        && !label.contains(char::is_whitespace)
    {
        rest = behind.trim_start();
    }
    rest.split_once(char::is_whitespace).map_or("", |(_, operands)| operands.trim())
}

fn texts<'a>(assembly: &Assembly, source: &'a str) -> Texts<'a> {
    Texts { target: assembly.module.target_id.target, lines: source.lines().collect() }
}

fn encodings(assembly: &Assembly, source: &str) -> String {
    let texts = texts(assembly, source);
    let mut out = String::with_capacity(assembly.instructions.len() * 80);
    for inst in &assembly.instructions {
        let _ = write!(out, "{} ; encoding: [", texts.of(inst));
        for (i, byte) in code(assembly, inst).iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            let _ = write!(out, "{comma}0x{byte:02x}");
        }
        out.push_str("]\n");
    }
    out
}

fn report(assembly: &Assembly, source: &str, output: Option<String>) -> Report {
    let texts = texts(assembly, source);
    let section = |inst: &AsmInst| assembly.module.sections.get(inst.section.0 as usize);
    let instruction = |inst: &AsmInst| Instruction {
        line: inst.line,
        section: section(inst).map_or_else(String::new, |s| s.name.clone()),
        offset: inst.offset,
        text: texts.of(inst),
        encoding: code(assembly, inst).iter().map(|b| format!("{b:02x}")).collect(),
    };
    Report {
        target_id: assembly.module.target_id.to_string(),
        output,
        instructions: assembly.instructions.iter().map(instruction).collect(),
    }
}
