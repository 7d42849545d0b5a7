//! `gcn asm`.

use std::fmt::Write as _;
use std::path::Path;

use gcn_emit::asm::{self, AsmInst, Assembly, Diagnostic, Diagnostics, Folders, Options};
use gcn_emit::object::ObjectError;
use gcn_emit::target_id::TargetId;
use gcn_emit::text::InstText;
use gcn_isa::{Operand, Target};
use serde::Serialize;

use crate::failure::{self, Failure};
use crate::{colour, commands, file};

/// Assembles a file into a code object for `hipModuleLoad`.
///
/// By default the code object is written next to the source, as FILE.hsaco for FILE.s, or to standard output if the source is standard
/// input. The target comes from the file's `.amdgcn_target`, or from `--target`.
///
/// The syntax is LLVM's: instructions, labels, and directives such as `.amdhsa_kernel`, as clang, Triton and people write them. Every error
/// in the file is reported with its line. Nothing is written for a file with errors.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Assembly; `-` for standard input
    #[arg(value_name = "FILE.s", value_parser = file::name())]
    file: String,
    /// The code object; `-` for standard output
    #[arg(short, long, value_name = "FILE.hsaco", value_parser = file::name())]
    output: Option<String>,
    /// The target id, such as gfx942 or gfx90a:sramecc+:xnack-; must agree with the target that the file names, if any
    #[arg(long, value_name = "T")]
    target: Option<TargetId>,
    #[command(flatten)]
    wave: commands::Wave,
    #[command(flatten)]
    includes: file::Includes,
    /// Print `canonical text ; encoding: [0x..,0x..]` for each instruction; the code object is then written only if `-o` is given
    #[arg(long)]
    show_encoding: bool,
    /// Print the instructions, or the errors, as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  gcn asm kernel.s                                   write kernel.hsaco
  gcn asm kernel.s --target gfx90a:xnack- -o k.co    for gfx90a without XNACK
  gcn asm kernel.s --show-encoding                   each instruction with its encoding
  clang -S kernel.cl -o - | gcn asm - > kernel.hsaco";

/// The output of `--json`.
#[derive(Serialize)]
struct Report {
    target_id: String,
    /// The path to which the code object was written.
    output: Option<String>,
    instructions: Vec<Instruction>,
}

/// The output of `--json` for a file with errors.
#[derive(Serialize)]
struct Errors<'d> {
    errors: &'d [Diagnostic],
    /// The number of errors beyond the listed ones.
    more: usize,
}

/// An instruction in the file.
#[derive(Serialize)]
struct Instruction {
    /// Line of the source, from 1; for text from a macro, the line of the call.
    line: u32,
    /// File, line and macro from which the text comes, if `line` is that of a macro call.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<String>,
    section: String,
    /// Byte offset in the section.
    offset: u64,
    text: String,
    /// The machine code in hexadecimal, in memory order.
    encoding: String,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let text = file::read_text(&args.file)?;
    let output = output(args)?;
    let name = file::shown(&args.file);
    let options = Options {
        target: args.target,
        wave: args.wave.wave,
        keep_instructions: args.show_encoding || args.json,
    };
    let folders = args.includes.folders();
    let assembly = match asm::assemble_with(name, &text, &options, &folders) {
        Ok(assembly) => assembly,
        Err(errors) => return Err(refuse(args, name, &errors)),
    };
    for warning in &assembly.warnings {
        failure::complain(&warning.render(colour::of_errors()));
    }
    if let Some(output) = &output {
        let object = assembly.code_object().map_err(|error| link_failure(name, &assembly, &error))?;
        file::write(output, &object)?;
    }
    if args.json {
        let texts = texts(name, &assembly, &text, &options, &folders);
        return file::print(commands::json(&report(&assembly, &texts, output))?.as_bytes());
    }
    if args.show_encoding {
        let texts = texts(name, &assembly, &text, &options, &folders);
        return file::print(encodings(&assembly, &texts).as_bytes());
    }
    Ok(())
}

/// The failure for a file with errors, as text or as JSON.
fn refuse(args: &Args, name: &str, errors: &Diagnostics) -> Failure {
    if !args.json {
        return Failure::shown(errors.render(colour::of_errors()));
    }
    let shown = commands::json(&Errors { errors: &errors.list, more: errors.more });
    match shown.and_then(|text| file::print(text.as_bytes())) {
        Ok(()) => Failure::input(format!("{name}: {} errors", errors.list.len() + errors.more)),
        Err(failure) => failure,
    }
}

/// The error for sections and symbols that cannot be linked; it names the line of the value that causes it, if there is one.
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

/// The path to which the code object is written; `None` if a listing goes to standard output and `-o` is not given.
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
                let message = format!("the code object would replace {output}: name another file with `-o`");
                return Err(Failure::usage(message));
            }
            Ok(Some(output))
        }
    }
}

/// The machine code of an instruction, before linking.
fn code<'a>(assembly: &'a Assembly, inst: &AsmInst) -> &'a [u8] {
    let section = assembly.module.sections.get(inst.section.0 as usize);
    let start = inst.offset as usize;
    section.and_then(|s| s.bytes.get(start..start + usize::from(inst.length))).unwrap_or_default()
}

/// Produces the canonical text of each instruction. In branches, the destination is written as in the source.
struct Texts {
    target: Target,
    /// The lines of the source. Each statement is on a separate line.
    lines: Vec<String>,
    /// For each instruction, the number of its line.
    numbers: Vec<u32>,
}

impl Texts {
    /// The text of instruction number `number` of the file.
    fn of(&self, number: usize, inst: &AsmInst) -> String {
        let is_label = |o: &Operand| matches!(o, Operand::Label(_));
        if !inst.inst.operands.iter().any(is_label) {
            return InstText { inst: &inst.inst, target: self.target, program: None }.to_string();
        }
        let line = self.numbers.get(number).and_then(|n| self.lines.get((*n as usize).checked_sub(1)?));
        let operands = operands(line.map_or("", String::as_str));
        format!("{} {operands}", inst.inst.desc.printed).trim_end().to_owned()
    }
}

/// The operands in a line: the text after labels and mnemonic, without comments.
fn operands(line: &str) -> &str {
    let end = ["//", "/*", ";"].iter().filter_map(|c| line.find(c)).min().unwrap_or(line.len());
    let mut rest = line[..end].trim();
    while let Some((label, after)) = rest.split_once(':')
        && !label.contains(char::is_whitespace)
    {
        rest = after.trim_start();
    }
    rest.split_once(char::is_whitespace).map_or("", |(_, operands)| operands.trim())
}

/// Prepares the texts of a file's instructions; if the file has macros, from the expanded text.
fn texts(name: &str, assembly: &Assembly, source: &str, options: &Options, folders: &Folders) -> Texts {
    let numbers = |assembly: &Assembly| assembly.instructions.iter().map(|inst| inst.line).collect();
    let target = assembly.module.target_id.target;
    let of =
        |source: &str, numbers| Texts { target, lines: source.lines().map(str::to_owned).collect(), numbers };
    if assembly.origins.is_empty() {
        return of(source, numbers(assembly));
    }
    let plain = asm::expand(name, source, options, folders).unwrap_or_default();
    let expanded = asm::assemble_with(name, &plain, options, folders);
    of(&plain, expanded.map(|expanded| numbers(&expanded)).unwrap_or_default())
}

fn encodings(assembly: &Assembly, texts: &Texts) -> String {
    let mut out = String::with_capacity(assembly.instructions.len() * 80);
    for (number, inst) in assembly.instructions.iter().enumerate() {
        let _ = write!(out, "{} ; encoding: [", texts.of(number, inst));
        for (i, byte) in code(assembly, inst).iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            let _ = write!(out, "{comma}0x{byte:02x}");
        }
        out.push_str("]\n");
    }
    out
}

fn report(assembly: &Assembly, texts: &Texts, output: Option<String>) -> Report {
    let section = |inst: &AsmInst| assembly.module.sections.get(inst.section.0 as usize);
    let instruction = |(number, inst): (usize, &AsmInst)| Instruction {
        line: inst.line,
        origin: inst.origin.and_then(|index| assembly.origins.get(index as usize)).map(ToString::to_string),
        section: section(inst).map_or_else(String::new, |s| s.name.clone()),
        offset: inst.offset,
        text: texts.of(number, inst),
        encoding: code(assembly, inst).iter().map(|b| format!("{b:02x}")).collect(),
    };
    Report {
        target_id: assembly.module.target_id.to_string(),
        output,
        instructions: assembly.instructions.iter().enumerate().map(instruction).collect(),
    }
}
