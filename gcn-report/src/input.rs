//! Reads files with code, of any kind.

use gcn_emit::asm::{self, Diagnostic, Diagnostics, Folders, Options};
use gcn_emit::code::Unit;
use gcn_emit::lines::SourceLines;
use gcn_emit::object;
use gcn_emit::target_id::TargetId;

use crate::Error;
use crate::container::{self, Choice};

/// The code of a file.
pub struct Input {
    /// The name for messages: the file and, in a bundle, the entry.
    pub name: String,
    /// The code.
    pub unit: Unit,
    /// The text of an assembly file; `None` if the code was read from a code object.
    pub text: Option<String>,
    /// The statements of an assembly file that were skipped because of errors.
    pub left_out: Vec<Diagnostic>,
}

/// How to treat assembly with errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Broken {
    /// Refuse the file.
    Refuse,
    /// Skip statements with errors.
    LeaveOut,
}

/// Reads assembly, or every code object that `choice` selects in a file: an object, relocatable or not, a bundle, or a host library or
/// program. The target of `choice` applies to assembly that does not specify one, and must agree with what assembly or a single object
/// specifies; `.include` in assembly searches `folders`.
///
/// If the bytes are of another kind, the assembly contains errors, an object cannot be read, or nothing is selected.
pub fn read(
    name: &str,
    bytes: Vec<u8>,
    choice: &Choice,
    broken: Broken,
    folders: &Folders,
) -> Result<Vec<Input>, Error> {
    let mut all = Vec::new();
    each(name, bytes, choice, broken, folders, |input| {
        all.push(input);
        Ok::<_, Error>(())
    })?;
    Ok(all)
}

/// As [`read`], one code object at a time: of a library with much code, only one bundle is in memory.
///
/// # Errors
/// The errors of [`read`], and those of `visit`.
pub fn each<E: From<Error>>(
    name: &str,
    bytes: Vec<u8>,
    choice: &Choice,
    broken: Broken,
    folders: &Folders,
    mut visit: impl FnMut(Input) -> Result<(), E>,
) -> Result<(), E> {
    if container::holds_objects(&bytes) {
        return choice.each(name, &bytes, |object| {
            let read = container::code_object(&object.name, &object.bytes)?;
            let unit = Unit::of_object(&read)
                .map_err(|e| Error::Object { name: object.name.clone(), problem: e.to_string() })?;
            visit(Input { name: object.name.clone(), unit, text: None, left_out: Vec::new() })
        });
    }
    let text = text(name, bytes)?;
    visit(assembly(name, text, choice, broken, folders)?)
}

/// The text of a file that contains no objects.
fn text(name: &str, bytes: Vec<u8>) -> Result<String, Error> {
    String::from_utf8(bytes).map_err(|error| {
        let problem = match object::foreign(error.as_bytes()) {
            Some(kind) => format!("this is {}; {}", kind.what, kind.remedy),
            None => {
                let at = error.utf8_error().valid_up_to();
                format!("neither an ELF file nor a bundle nor assembly: byte {at} is not UTF-8")
            }
        };
        Error::NotCode { name: name.to_owned(), problem }
    })
}

fn assembly(
    name: &str,
    text: String,
    choice: &Choice,
    broken: Broken,
    folders: &Folders,
) -> Result<Input, Error> {
    let options = options(choice, true);
    let read = match broken {
        Broken::Refuse => {
            asm::assemble_with(name, &text, &options, folders).map(|assembly| (assembly, Vec::new()))
        }
        Broken::LeaveOut => {
            asm::assemble_readable_with(name, &text, &options, folders).and_then(|read| {
                // Without the line that names the target, the file would be read for another target.
                let named = text.lines().position(names_target);
                let names_it = |fault: &&Diagnostic| {
                    fault.file == name && named.is_some_and(|line| line + 1 == fault.line as usize)
                };
                match read.left_out.iter().find(names_it) {
                    Some(fault) => Err(Diagnostics { list: vec![fault.clone()], more: 0 }),
                    None => Ok((read.assembly, read.left_out)),
                }
            })
        }
    };
    let (assembly, left_out) = read.map_err(Error::Assembly)?;
    let unit = Unit::from_assembly(assembly)
        .map_err(|error| Error::NotCode { name: name.to_owned(), problem: error.to_string() })?;
    Ok(Input { name: name.to_owned(), unit, text: Some(text), left_out })
}

/// The assembly, with macros, repetitions and included files expanded in place.
///
/// # Errors
/// The errors of [`read`].
pub fn expanded(input: Input, choice: &Choice, folders: &Folders) -> Result<Input, Error> {
    let Some(text) = &input.text else { return Ok(input) };
    let options = options(choice, false);
    let plain = asm::expand(&input.name, text, &options, folders).map_err(Error::Assembly)?;
    assembly(&input.name, plain, choice, Broken::Refuse, folders)
}

/// The assembler's options for a text.
fn options(choice: &Choice, keep_instructions: bool) -> Options {
    Options { target: choice.target, wave: choice.wave, keep_instructions }
}

/// The caller's target, unless the text specifies one: an editor has one setting for files with different targets. `None` if the text
/// specifies one, or if the caller does not.
pub fn target_of(text: &str, target: Option<TargetId>) -> Option<TargetId> {
    target.filter(|_| !text.lines().any(names_target))
}

/// True for a line with `.amdgcn_target`; the first line may start with a byte order mark.
fn names_target(line: &str) -> bool {
    line.trim_start_matches('\u{feff}').trim_start().starts_with(".amdgcn_target")
}

/// A code object that can be loaded and run.
pub struct Loadable {
    /// An ELF file.
    pub bytes: Vec<u8>,
    /// The lines of the assembly file from which it was assembled; `None` if the file was a code object already.
    pub lines: Option<SourceLines>,
}

/// Reads a file with code as a single code object: assembles it, or extracts from a container the one that `choice` selects; if there are
/// several, the one that contains `kernel`.
///
/// # Errors
/// The errors of [`read`], and an error if several code objects match.
pub fn one(
    name: &str,
    bytes: Vec<u8>,
    choice: &Choice,
    kernel: Option<&str>,
    folders: &Folders,
) -> Result<Loadable, Error> {
    if container::holds_objects(&bytes) {
        let chosen = choice.select_one(name, &bytes, kernel)?;
        return Ok(Loadable { bytes: chosen.bytes.into_owned(), lines: None });
    }
    let text = text(name, bytes)?;
    let options = options(choice, true);
    let assembly = asm::assemble_with(name, &text, &options, folders).map_err(Error::Assembly)?;
    let linked = assembly.code_object_with_lines(name);
    let (bytes, lines) =
        linked.map_err(|error| Error::Object { name: name.to_owned(), problem: error.to_string() })?;
    Ok(Loadable { bytes, lines: Some(lines) })
}
