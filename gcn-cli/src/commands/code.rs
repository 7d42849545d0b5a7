//! Files with code, of any kind, for the commands that analyse it.

use gcn_emit::asm::Folders;
use gcn_report::input;
pub use gcn_report::input::{Broken, Input};

use crate::commands::container::Choice;
use crate::failure::Failure;
use crate::file;

/// Reads assembly, or every code object of a file that `choice` selects: an object, relocatable or not, a
/// bundle, a host library or program, any of them gzipped or not. The target of `choice` applies to assembly
/// that does not name one.
pub fn read(name: &str, choice: &Choice, broken: Broken) -> Result<Vec<Input>, Failure> {
    read_with(name, choice, broken, &Folders::default())
}

/// As [`read`], with the folders in which `.include` of assembly looks for files.
pub fn read_with(
    name: &str,
    choice: &Choice,
    broken: Broken,
    folders: &Folders,
) -> Result<Vec<Input>, Failure> {
    let read = input::read(file::shown(name), file::read_unpacked(name)?, &(*choice).into(), broken, folders);
    read.map_err(|error| Failure::from(error).into_unreadable())
}
