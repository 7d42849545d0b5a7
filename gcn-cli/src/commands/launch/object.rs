//! Reads a file as one code object: assembles it or extracts it from a bundle if necessary.

use gcn_emit::asm::Folders;
use gcn_report::input;
pub use gcn_report::input::Loadable as Object;

use crate::commands::container::Choice;
use crate::failure::Failure;
use crate::file;

/// Reads a file with code as one code object: the one that `choice` selects, or if there are several, the one
/// with `kernel`.
pub fn read(path: &str, choice: &Choice, kernel: Option<&str>, folders: &Folders) -> Result<Object, Failure> {
    Ok(input::one(file::shown(path), file::read_unpacked(path)?, &(*choice).into(), kernel, folders)?)
}
