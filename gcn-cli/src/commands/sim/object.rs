//! The code object of a file: assembled, or taken out of a bundle, if need be.

use gcn_emit::asm::{self, Folders, Options};
use gcn_emit::lines::SourceLines;
use gcn_emit::object::bundle;
use gcn_emit::target_id::TargetId;

use crate::commands::code::names_target;
use crate::failure::Failure;
use crate::file;

/// A code object.
pub struct Object {
    pub bytes: Vec<u8>,
    /// The lines of the assembly file that it was made of.
    pub lines: Option<SourceLines>,
}

impl From<Vec<u8>> for Object {
    fn from(bytes: Vec<u8>) -> Object {
        Object { bytes, lines: None }
    }
}

/// Reads a file with code as one code object.
pub fn read(path: &str, target: Option<TargetId>, folders: &Folders) -> Result<Object, Failure> {
    let bytes = file::read_unpacked(path)?;
    let name = file::shown(path);
    if bundle::is_bundle(&bytes) {
        return of_bundle(name, &bytes, target).map(Object::from);
    }
    if bytes.starts_with(b"\x7fELF") {
        return Ok(bytes.into());
    }
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
    Ok(Object { bytes, lines: Some(lines) })
}

/// The entry for the target, or the only one.
fn of_bundle(name: &str, bytes: &[u8], target: Option<TargetId>) -> Result<Vec<u8>, Failure> {
    let failed = |error: gcn_emit::object::ObjectError| Failure::input(format!("{name}: {error}"));
    if let Some(target) = target {
        return bundle::extract(bytes, target).map(|entry| entry.bytes.to_vec()).map_err(failed);
    }
    let entries = bundle::entries(bytes).map_err(failed)?;
    let known: Vec<_> = entries.iter().filter(|e| e.target_id.is_some() && !e.bytes.is_empty()).collect();
    match known.as_slice() {
        [] => Err(Failure::input(format!("{name}: the bundle has no code object for a supported target"))),
        [only] => Ok(only.bytes.to_vec()),
        several => {
            let targets: Vec<_> =
                several.iter().filter_map(|e| e.target_id).map(|id| id.to_string()).collect();
            Err(Failure::usage(format!(
                "{name}: the bundle has several code objects; choose one with --target: {}",
                targets.join(", ")
            )))
        }
    }
}
