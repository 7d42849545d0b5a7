//! Files with code, of any kind, for the commands that analyse it.

use gcn_emit::asm::{self, Diagnostic, Folders, Options};
use gcn_emit::code::Unit;
use gcn_emit::target_id::TargetId;

use crate::commands::container::{Choice, Object, Unpacked};
use crate::failure::Failure;
use crate::{commands, file};

/// The code of a file.
pub struct Input {
    /// The name in messages: the file, and for a bundle the entry.
    pub name: String,
    /// The code.
    pub unit: Unit,
    /// The text of an assembly file.
    pub text: Option<String>,
    /// Statements of an assembly file that were left out because of errors.
    pub left_out: Vec<Diagnostic>,
}

/// How to treat assembly with errors.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    /// The file is refused.
    Refuse,
    /// Statements with errors are left out.
    LeaveOut,
}

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
    let bytes = file::read_unpacked(name)?;
    let name = file::shown(name);
    if file::holds_objects(&bytes) {
        return objects(name, &bytes, choice).map_err(Failure::into_unreadable);
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::usage(format!(
            "{name}: neither an ELF file nor a bundle nor assembly: byte {at} is not UTF-8"
        ))
    })?;
    Ok(vec![assembly(name, text, choice.target, broken, folders)?])
}

fn assembly(
    name: &str,
    text: String,
    target: Option<TargetId>,
    broken: Broken,
    folders: &Folders,
) -> Result<Input, Failure> {
    let options = Options { target: target_of(&text, target), keep_instructions: true };
    let read = match broken {
        Broken::Refuse => {
            asm::assemble_with(name, &text, &options, folders).map(|assembly| (assembly, Vec::new()))
        }
        Broken::LeaveOut => asm::assemble_readable_with(name, &text, &options, folders)
            .map(|read| (read.assembly, read.left_out)),
    };
    let (assembly, left_out) = read.map_err(|errors| Failure::unreadable(errors.render(file::colours())))?;
    let unit = Unit::from_assembly(assembly).map_err(|error| Failure::usage(format!("{name}: {error}")))?;
    Ok(Input { name: name.to_owned(), unit, text: Some(text), left_out })
}

/// The assembly with macros, repetitions and included files expanded in place.
pub fn expanded(input: Input, target: Option<TargetId>, folders: &Folders) -> Result<Input, Failure> {
    let Some(text) = &input.text else { return Ok(input) };
    let options = Options { target: target_of(text, target), keep_instructions: false };
    let plain = asm::expand(&input.name, text, &options, folders)
        .map_err(|errors| Failure::unreadable(errors.render(file::colours())))?;
    assembly(&input.name, plain, target, Broken::Refuse, folders)
}

/// The caller's target, unless the file names one: many files with different targets are read with one
/// option.
fn target_of(text: &str, target: Option<TargetId>) -> Option<TargetId> {
    target.filter(|_| !text.lines().any(names_target))
}

/// True for a line with `.amdgcn_target`; the first one may have a byte order mark.
pub fn names_target(line: &str) -> bool {
    line.trim_start_matches('\u{feff}').trim_start().starts_with(".amdgcn_target")
}

fn objects(name: &str, bytes: &[u8], choice: &Choice) -> Result<Vec<Input>, Failure> {
    let unpacked = Unpacked::new();
    // An object names its own target: many files are read with one `--target`.
    let choice = if file::holds_several(bytes) { *choice } else { Choice::default() };
    let input = |object: Object<'_>| {
        let read = commands::code_object(&object.name, object.bytes)?;
        let unit = Unit::of_object(&read);
        let unit = unit.map_err(|error| Failure::input(format!("{}: {error}", object.name)))?;
        Ok(Input { name: object.name, unit, text: None, left_out: Vec::new() })
    };
    choice.select(name, bytes, &unpacked)?.into_iter().map(input).collect()
}
