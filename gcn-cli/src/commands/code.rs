//! Reads files with code, of any kind, for the commands that analyse it.

use gcn_emit::asm::Folders;
use gcn_report::input;
pub use gcn_report::input::{Broken, Input};

use crate::commands::container::Choice;
use crate::failure::Failure;
use crate::file;

/// Reads assembly, or every code object that `choice` selects from a file: an object, relocatable or not, a bundle, a host library or
/// program, any of them gzipped or not. The target of `choice` also applies to assembly that specifies none.
pub fn read(name: &str, choice: &Choice, broken: Broken) -> Result<Vec<Input>, Failure> {
    read_with(name, choice, broken, &Folders::default())
}

/// Like [`read`], with the folders in which `.include` looks for files.
pub fn read_with(
    name: &str,
    choice: &Choice,
    broken: Broken,
    folders: &Folders,
) -> Result<Vec<Input>, Failure> {
    let mut all = Vec::new();
    each(name, choice, broken, folders, |input| all.push(input))?;
    Ok(all)
}

/// Like [`read_with`], but calls a function for one code object at a time.
pub fn each(
    name: &str,
    choice: &Choice,
    broken: Broken,
    folders: &Folders,
    mut visit: impl FnMut(Input),
) -> Result<(), Failure> {
    let (bytes, choice) = (file::read_unpacked(name)?, (*choice).into());
    let read = input::each(file::shown(name), bytes, &choice, broken, folders, |input| {
        visit(input);
        Ok::<_, gcn_report::Error>(())
    });
    read.map_err(|error| Failure::from(error).into_unreadable())
}
