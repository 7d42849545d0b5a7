//! Disassembles whole objects, and assembles the text again: code and descriptors must be the same.

mod corpus;
pub mod rdna;
mod references;
mod shapes;

use std::path::Path;

use gcn_emit::asm;
use gcn_emit::disasm::{Content, Options, disassemble};
use gcn_emit::object::{CodeObject, read_code_object};

/// The code of an object: all executable sections.
fn code(object: &CodeObject<'_>) -> Vec<(String, Vec<u8>)> {
    let sections = object.sections.iter().filter(|s| s.is_code());
    sections.map(|s| (s.name.to_owned(), s.bytes.to_vec())).collect()
}

/// Descriptors by kernel, without the distance to the entry, which depends on the sizes of the linker's tables.
fn descriptors(object: &CodeObject<'_>) -> Vec<(String, [u8; 64])> {
    let mut list: Vec<_> = object
        .kernels
        .iter()
        .map(|kernel| {
            let mut bytes = *kernel.descriptor_bytes;
            bytes[16..24].fill(0);
            (kernel.name.to_owned(), bytes)
        })
        .collect();
    list.sort();
    list
}

/// The disassembly, assembled and linked by this crate.
fn assemble_again(text: &str) -> Vec<u8> {
    let options = asm::Options { target: None, keep_instructions: false, ..asm::Options::default() };
    let assembly = asm::assemble("again.s", text, &options).unwrap_or_else(|e| panic!("{e}"));
    assembly.code_object().unwrap_or_else(|e| panic!("{e}"))
}

/// The counts from comparing one object.
#[derive(Default, Clone, Copy, PartialEq, Eq, Debug)]
struct Count {
    instructions: usize,
    unprintable: usize,
    undecodable: usize,
    data: usize,
}

fn count(object: &CodeObject<'_>) -> Count {
    let mut count = Count::default();
    for section in &disassemble(object).sections {
        for item in section.items() {
            match item.content {
                Content::Inst(_) => count.instructions += 1,
                Content::Unprintable(_) => count.unprintable += 1,
                Content::Undecodable(_) => count.undecodable += 1,
                Content::Data => count.data += 1,
            }
        }
    }
    count
}

/// Disassembles and assembles an object, and checks that code and descriptors are the same. Returns the text.
fn round_trip(name: &str, bytes: &[u8], options: &Options<'_>) -> String {
    let object = read_code_object(bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
    let text = disassemble(&object).to_assembly(options);
    let again = assemble_again(&text);
    let again = read_code_object(&again).unwrap_or_else(|e| panic!("{name}: {e}"));
    let (before, after) = (code(&object), code(&again));
    for ((section, before), (_, after)) in before.iter().zip(&after) {
        let differs = before.chunks(4).zip(after.chunks(4)).position(|(a, b)| a != b);
        assert_eq!(differs.map(|at| 4 * at), None, "{name}: other code in {section} from this byte on");
    }
    assert!(before == after, "{name}: other code");
    assert!(descriptors(&object) == descriptors(&again), "{name}: other descriptors");
    text
}

/// Every file with this extension below a directory, sorted.
fn files(dir: &Path, extension: &str) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display())) {
            let path = entry.expect("a directory that can be read").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
