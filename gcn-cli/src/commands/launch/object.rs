//! Reads a file as one code object: assembles it, or takes it out of a bundle, if necessary.

use gcn_emit::asm::{self, Folders, Options};
use gcn_emit::lines::SourceLines;

use crate::commands::code::names_target;
use crate::commands::container::{Choice, Unpacked};
use crate::failure::Failure;
use crate::file;

/// A code object.
pub struct Object {
    pub bytes: Vec<u8>,
    /// The lines of the assembly file from which it was made.
    pub lines: Option<SourceLines>,
}

impl From<Vec<u8>> for Object {
    fn from(bytes: Vec<u8>) -> Object {
        Object { bytes, lines: None }
    }
}

/// Reads a file with code as one code object: the one that `choice` selects, or if there are several, the one
/// with `kernel`.
pub fn read(path: &str, choice: &Choice, kernel: Option<&str>, folders: &Folders) -> Result<Object, Failure> {
    let bytes = file::read_unpacked(path)?;
    let name = file::shown(path);
    if file::holds_objects(&bytes) {
        let unpacked = Unpacked::new();
        return Ok(choice.select_one(name, &bytes, &unpacked, kernel)?.bytes.to_vec().into());
    }
    let target = choice.target;
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::input(format!(
            "{name}: neither an ELF file nor a bundle nor assembly, which is text in UTF-8"
        ))
    })?;
    let says = text.lines().any(names_target);
    let options = Options { target: target.filter(|_| !says), keep_instructions: true };
    let assembly = asm::assemble_with(name, &text, &options, folders);
    let assembly = assembly.map_err(|errors| Failure::shown(errors.render(file::colours())))?;
    let (bytes, lines) =
        assembly.code_object_with_lines(name).map_err(|error| Failure::input(format!("{name}: {error}")))?;
    // A target in the file has precedence over --target, which must not contradict it.
    choice.select_one(name, &bytes, &Unpacked::new(), None)?;
    Ok(Object { bytes, lines: Some(lines) })
}
