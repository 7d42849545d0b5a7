//! Disassembles a code object instruction by instruction.

use gcn_emit::disasm::{self, Content, Disassembly};
use gcn_emit::object::CodeObject;
use gcn_emit::text::InstText;
use gcn_isa::Target;
use serde::Serialize;

/// A disassembled code object, for JSON.
#[derive(Serialize)]
pub struct DisasmReport<'a> {
    /// The target with its feature settings.
    pub target_id: String,
    /// The sections with code.
    pub sections: Vec<Section<'a>>,
}

/// A section with code.
#[derive(Serialize)]
pub struct Section<'a> {
    /// The section's name.
    pub name: &'a str,
    /// The contents, in order.
    pub items: Vec<Item>,
}

/// An instruction, or other bytes.
#[derive(Serialize)]
pub struct Item {
    /// The address in the object.
    pub address: u64,
    /// The machine code in hexadecimal, in memory order.
    pub bytes: String,
    /// The canonical assembly text, if the bytes are an instruction.
    pub text: Option<String>,
    /// The reason why the bytes are not an instruction, or why the text does not assemble to them.
    pub note: Option<String>,
}

/// The instructions of a code object or, with `only`, of one kernel.
pub fn report<'a>(
    object: &CodeObject<'_>,
    disassembly: &'a Disassembly<'_, '_>,
    only: Option<&str>,
) -> DisasmReport<'a> {
    let range = only.and_then(|k| object.kernel(k)).map(|k| {
        let end = k.address + k.code.len() as u64;
        (k.section, k.address..end)
    });
    DisasmReport { target_id: object.target_id.to_string(), sections: sections(disassembly, range.as_ref()) }
}

/// The section of a kernel and its addresses.
type Range = (Option<usize>, std::ops::Range<u64>);

fn sections<'a>(disassembly: &'a Disassembly<'_, '_>, range: Option<&Range>) -> Vec<Section<'a>> {
    let wanted = |number: usize| range.is_none_or(|r| r.0.is_none_or(|s| s == number));
    let target = disassembly.target;
    let of_section = |section: &'a disasm::CodeSection<'_>| {
        let items = match range {
            Some((_, range)) => {
                let offset = |address: u64| address.saturating_sub(section.address);
                section.items_between(offset(range.start), offset(range.end))
            }
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
