//! `gcn disasm`.

use gcn_emit::code::Unit;
use gcn_emit::disasm::{self, Options};
use gcn_report::container::{code_object, no_such_kernel};

use crate::commands::container::{self, Choice};
use crate::failure::Failure;
use crate::{commands, file};

/// Writes a code object as assembly text, which `gcn asm` and `llvm-mc` assemble to the same code.
///
/// Words that do not decode become `.long`, with the reason as a comment.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A code object (.hsaco, .co), relocatable object (.o), bundle, or host library or program of HIP,
    /// gzipped or not; `-` for standard input
    #[arg(value_name = "FILE.hsaco", value_parser = file::name())]
    file: String,
    /// Write this kernel only
    #[arg(long, value_name = "K")]
    kernel: Option<String>,
    /// Write the address and the machine code after each instruction, as a comment
    #[arg(long)]
    bytes: bool,
    #[command(flatten)]
    choice: Choice,
    /// Print the instructions as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  gcn disasm kernel.hsaco                          assembly that assembles to the same code
  gcn disasm kernel.hsaco --kernel saxpy --bytes   one kernel, with addresses and machine code
  gcn disasm kernel.hsaco --json                   each instruction with address, bytes and text
  gcn disasm libgemm.so --list                     the code objects in a library
  gcn disasm libgemm.so --target gfx942            the one for a target";

pub fn run(args: &Args) -> Result<(), Failure> {
    if args.choice.list {
        return container::list(&args.file, &args.choice, args.json);
    }
    let (bytes, name) = (file::read_unpacked(&args.file)?, file::shown(&args.file));
    let chosen = args.choice.select_one(name, &bytes, args.kernel.as_deref())?;
    let (name, object) = (chosen.name.as_str(), code_object(&chosen.name, &chosen.bytes)?);
    let disassembly = disasm::disassemble(&object);
    if let Some(kernel) = args.kernel.as_deref()
        && !disassembly.has_kernel(kernel)
    {
        return Err(no_such_kernel(name, kernel, &object).into());
    }
    if args.json {
        let report = gcn_report::disasm::report(&object, &disassembly, args.kernel.as_deref());
        return file::print(commands::json(&report)?.as_bytes());
    }
    // The disassembly of code that cannot be analysed has no notes.
    let notes = Unit::of_object(&object).map(|unit| unit.register_notes(&disassembly)).unwrap_or_default();
    let options = Options { kernel: args.kernel.as_deref(), bytes: args.bytes, notes: Some(&notes) };
    file::print(disassembly.to_assembly(&options).as_bytes())
}
