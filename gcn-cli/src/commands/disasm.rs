//! `gcn disasm`.

use gcn_emit::disasm::{self, Content, Disassembly, Options};
use gcn_emit::text::InstText;
use gcn_isa::Target;
use serde::Serialize;

use crate::commands::container::{self, Choice, Unpacked};
use crate::failure::Failure;
use crate::{commands, file};

/// Writes a code object as assembly text from which `gcn asm` and `llvm-mc` make the same code.
///
/// Words that are not instructions become `.long`, followed by the reason.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A code object (.hsaco, .co), relocatable object (.o), bundle, or host library or program of HIP,
    /// gzipped or not; `-` for standard input
    #[arg(value_name = "FILE.hsaco")]
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

/// A code object as JSON.
#[derive(Serialize)]
struct Report<'a> {
    target_id: String,
    sections: Vec<Section<'a>>,
}

#[derive(Serialize)]
struct Section<'a> {
    name: &'a str,
    items: Vec<Item>,
}

/// An instruction, or other bytes in its place.
#[derive(Serialize)]
struct Item {
    address: u64,
    /// The machine code in hexadecimal, in memory order.
    bytes: String,
    /// Canonical text, if the bytes are an instruction.
    text: Option<String>,
    /// The reason why the bytes are not an instruction, or why the text does not assemble to them.
    note: Option<String>,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    if args.choice.list {
        return container::list(&args.file, &args.choice, args.json);
    }
    let (bytes, unpacked) = (file::read_unpacked(&args.file)?, Unpacked::new());
    let name = file::shown(&args.file);
    let chosen = args.choice.select_one(name, &bytes, &unpacked, args.kernel.as_deref())?;
    let (name, object) = (chosen.name.as_str(), commands::code_object(&chosen.name, chosen.bytes)?);
    let disassembly = disasm::disassemble(&object);
    if let Some(kernel) = args.kernel.as_deref()
        && !disassembly.has_kernel(kernel)
    {
        return Err(commands::no_such_kernel(name, kernel, &object));
    }
    if args.json {
        let range = args.kernel.as_deref().and_then(|k| object.kernel(k)).map(|k| {
            let end = k.address + k.code.len() as u64;
            (k.section, k.address..end)
        });
        let report = Report {
            target_id: object.target_id.to_string(),
            sections: sections(&disassembly, range.as_ref()),
        };
        return file::print(commands::json(&report)?.as_bytes());
    }
    let options = Options { kernel: args.kernel.as_deref(), bytes: args.bytes };
    file::print(disassembly.to_assembly(&options).as_bytes())
}

/// The section of a kernel and its addresses.
type Range = (Option<usize>, std::ops::Range<u64>);

fn sections<'a>(disassembly: &'a Disassembly<'_, '_>, range: Option<&Range>) -> Vec<Section<'a>> {
    let wanted = |number: usize| range.is_none_or(|r| r.0.is_none_or(|s| s == number));
    let target = disassembly.target;
    let of_section = |section: &'a disasm::CodeSection<'_>| {
        let items = match range {
            Some((_, range)) => section.items_between(range.start, range.end),
            None => section.items(),
        };
        Section { name: section.name, items: items.map(|i| item(&i, target)).collect() }
    };
    disassembly.sections.iter().filter(|s| wanted(s.number)).map(of_section).collect()
}

fn item(item: &disasm::Item<'_>, target: Target) -> Item {
    let text = |inst| Some(InstText { inst, target, program: None }.to_string());
    let (text, note) = match &item.content {
        Content::Inst(inst) => (text(inst), None),
        Content::Unprintable(_) | Content::Undecodable(_) if item.is_padding() => {
            (None, Some(disasm::ZEROS.to_owned()))
        }
        Content::Unprintable(inst) => (text(inst), Some("this text assembles to other bytes".to_owned())),
        Content::Undecodable(fault) => (None, Some(fault.to_string())),
        Content::Data => (None, Some("data".to_owned())),
    };
    let bytes = item.bytes.iter().map(|b| format!("{b:02x}")).collect();
    Item { address: item.address, bytes, text, note }
}
