//! Reads and writes files, with `-` for the standard streams. A file is written completely or not at all.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io::{BufWriter, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, TypedValueParser};
use gcn_emit::asm::{self, Folders};
use gcn_emit::object;
use gcn_report::container::{holds_objects, holds_several};

use crate::failure::Failure;

/// The name that stands for standard input or output.
pub const STANDARD: &str = "-";

/// The name of a file for messages.
pub fn shown(file: &str) -> &str {
    if file == STANDARD { "<stdin>" } else { file }
}

/// clap parser for a file name.
pub fn name() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().map(|path: OsString| name_of(&path))
}

/// The name for a path in messages: the path itself, or a URI if the path is not valid UTF-8.
fn name_of(path: &OsStr) -> String {
    if let Some(text) = path.to_str() {
        return text.to_owned();
    }
    let mut name = SCHEME.to_owned();
    for &byte in path.as_encoded_bytes() {
        // Writing to a string does not fail.
        let _ = match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                write!(name, "{}", char::from(byte))
            }
            _ => write!(name, "%{byte:02x}"),
        };
    }
    name
}

/// The path that a name stands for.
pub fn path(name: &str) -> PathBuf {
    name.strip_prefix(SCHEME).and_then(decoded).unwrap_or_else(|| PathBuf::from(name))
}

/// The prefix of the URI of a file.
const SCHEME: &str = "file://";

/// The largest file that is read, in bytes.
const MOST: u64 = 4 << 30;
/// The largest result of unpacking a compressed file, in bytes.
const MOST_UNPACKED: u64 = 1 << 30;

/// Reads a file.
pub fn read(file: &str) -> Result<Vec<u8>, Failure> {
    let failed = |error| Failure::usage(format!("cannot read {}: {error}", shown(file)));
    if file == STANDARD {
        return all(std::io::stdin().lock(), 0, MOST).map_err(failed);
    }
    if let Some(rest) = file.strip_prefix(SCHEME) {
        return part(rest).map_err(failed);
    }
    if file.starts_with("memory://") {
        let problem = "it names the memory of a process; save the code object to a file";
        return Err(failed(std::io::Error::new(ErrorKind::Unsupported, problem)));
    }
    // Opening a folder succeeds; reading it then fails.
    let file = std::fs::File::open(file).map_err(failed)?;
    let size = file.metadata().map_or(0, |m| m.len());
    all(file, size, MOST).map_err(failed)
}

/// Reads the bytes that the URI of a loaded code object names (LLVM's guide for AMDGPU, *Loaded Code Object Path Uniform Resource
/// Identifier*). `uri` comes without `file://`: a path, then optionally `#offset=N&size=N`.
fn part(uri: &str) -> std::io::Result<Vec<u8>> {
    let invalid = |problem: &str| std::io::Error::new(ErrorKind::InvalidInput, problem.to_owned());
    let range = uri.rfind(['#', '?']).filter(|at| uri[at + 1..].starts_with("offset="));
    let path =
        decoded(&uri[..range.unwrap_or(uri.len())]).ok_or_else(|| invalid("`%` stands before two digits"))?;
    let mut file = std::fs::File::open(path)?;
    let Some(range) = range else { return all(file, 0, MOST) };
    let numbers = uri[range + 1..].strip_prefix("offset=").and_then(|rest| rest.split_once("&size="));
    let numbers = numbers.and_then(|(offset, size)| Some((number(offset)?, number(size)?)));
    let (offset, size) = numbers.ok_or_else(|| invalid("its range is not `#offset=N&size=N`"))?;
    file.seek(SeekFrom::Start(offset))?;
    let bytes = all(file.take(size), 0, MOST)?;
    if bytes.len() as u64 == size {
        Ok(bytes)
    } else {
        Err(invalid("the file ends before the range that the URI names"))
    }
}

/// Parses a number: decimal, `0x…`, `0b…`, `0o…`, or octal after a leading `0`. `None` for other texts.
fn number(text: &str) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    let prefixes = [("0x", 16), ("0b", 2), ("0o", 8), ("0", 8)];
    let prefixed = prefixes.iter().find_map(|(prefix, radix)| Some((lower.strip_prefix(prefix)?, *radix)));
    let (digits, radix) = prefixed.filter(|(digits, _)| !digits.is_empty()).unwrap_or((&lower, 10));
    u64::from_str_radix(digits, radix).ok().filter(|_| !digits.starts_with('+'))
}

/// Decodes the path of a URI, in which `%` and two digits stand for a byte; `None` if it is not valid.
fn decoded(text: &str) -> Option<PathBuf> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        rest = behind;
        bytes.push(if *first == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            rest = &rest[2..];
            u8::from_str_radix(digits, 16).ok()?
        } else {
            *first
        });
    }
    from_bytes(bytes)
}

/// On Unix, a path may consist of any bytes.
#[cfg(unix)]
fn from_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;
    Some(OsString::from_vec(bytes).into())
}

#[cfg(not(unix))]
fn from_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

/// Reads all bytes; `size` is an estimate. Fails if there are more than `most`, since a device or a pipe may be endless.
fn all(source: impl std::io::Read, size: u64, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte more than needed, so that `read_to_end` sees the end without growing the vector.
    let room = usize::try_from(size.min(most) + 1).unwrap_or(usize::MAX);
    bytes.try_reserve_exact(room)?;
    source.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let problem = format!("it is larger than {} GiB, the largest size that is read", most >> 30);
        return Err(std::io::Error::new(ErrorKind::FileTooLarge, problem));
    }
    Ok(bytes)
}

/// File name endings of files with code.
const ENDINGS: [&str; 8] = [".s", ".s.gz", ".gcn", ".o", ".co", ".hsaco", ".hipfb", ".ccob"];

/// The files that arguments stand for, and messages about unreadable folders.
#[derive(Default)]
pub struct Expanded {
    /// The files: each named file, and for each folder all files below it that contain code, sorted by name. A file counts as code by its
    /// extension or because it starts like an ELF file.
    pub files: Vec<String>,
    /// Error messages for folders that were skipped.
    pub unreadable: Vec<String>,
}

/// Replaces each folder by the files with code below it.
pub fn expand(arguments: &[String]) -> Expanded {
    let mut found = Expanded::default();
    for argument in arguments {
        let folder = path(argument);
        if argument == STANDARD || !folder.is_dir() {
            found.files.push(argument.clone());
            continue;
        }
        let first = found.files.len();
        let mut folders = vec![folder];
        while let Some(folder) = folders.pop() {
            if let Err(error) = list(&folder, &mut folders, &mut found.files) {
                found.unreadable.push(format!("error: cannot read {}: {error}", folder.display()));
            }
        }
        if let Some(files) = found.files.get_mut(first..) {
            files.sort_unstable();
        }
    }
    found
}

/// Adds a folder's subfolders and its files with code to the two lists.
fn list(folder: &Path, folders: &mut Vec<PathBuf>, files: &mut Vec<String>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        // `file_type` does not follow symbolic links, so links to folders are skipped; they could form cycles.
        if kind.is_dir() {
            folders.push(path);
        } else if path.is_file() && has_code(&path) {
            files.push(name_of(path.as_os_str()));
        }
    }
    Ok(())
}

fn has_code(path: &Path) -> bool {
    let name = name_of(path.as_os_str());
    if ENDINGS.iter().any(|e| name.ends_with(e)) {
        return true;
    }
    let mut magic = [0; ELF_HEADER];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    if read.is_err() || !magic.starts_with(b"\x7fELF") {
        return false;
    }
    // A host ELF file counts only if it contains code for GPUs.
    magic.ends_with(&EM_AMDGPU) || self::read(&name).is_ok_and(|bytes| holds_several(&bytes))
}

/// The number of bytes of an ELF header up to and including `e_machine`, and the value of that field for AMD GPUs.
const ELF_HEADER: usize = 20;
const EM_AMDGPU: [u8; 2] = [0xe0, 0];

/// Reads a file, and unpacks it if it is gzipped.
pub fn read_unpacked(file: &str) -> Result<Vec<u8>, Failure> {
    let bytes = read(file)?;
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(bytes);
    }
    all(flate2::read::MultiGzDecoder::new(bytes.as_slice()), 0, MOST_UNPACKED)
        .map_err(|error| Failure::usage(format!("cannot unpack {}: {error}", shown(file))))
}

/// Options for the assembler: folders with included files, and symbols.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Includes {
    /// A folder in which `.include` and `.incbin` look for files that the working directory does not have;
    /// may be repeated
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Define a symbol of assembly before its first line, as if by `.equiv NAME, VALUE`; may be repeated
    #[arg(short = 'D', long = "defsym", value_name = "NAME=VALUE", value_parser = symbol)]
    symbols: Vec<(String, i64)>,
}

/// `NAME=VALUE`, with a number as [`number`] reads it.
fn symbol(text: &str) -> Result<(String, i64), String> {
    let (name, value) = text.split_once('=').ok_or("it is not NAME=VALUE")?;
    if name.is_empty() {
        return Err("the name of the symbol is missing".to_owned());
    }
    if !asm::is_symbol(name) {
        return Err(format!(
            "`{name}` is not the name of a symbol: it consists of letters, digits and `_ $ . @ ?`, and does not begin with a digit"
        ));
    }
    let (negative, digits) = value.strip_prefix('-').map_or((false, value), |rest| (true, rest));
    let number = number(digits).map(i128::from).map(|number| if negative { -number } else { number });
    let number = number.and_then(|number| i64::try_from(number).ok());
    number
        .map(|number| (name.to_owned(), number))
        .ok_or_else(|| format!("`{value}` is not a number of 64 bits"))
}

impl Includes {
    /// These options as the type that the assembler takes.
    pub fn folders(&self) -> Folders {
        Folders { folders: self.include.clone(), symbols: self.symbols.clone() }
    }
}

/// Reads a text file, and unpacks it if it is gzipped.
pub fn read_text(file: &str) -> Result<String, Failure> {
    String::from_utf8(read_unpacked(file)?).map_err(|error| {
        let bytes = error.as_bytes();
        let foreign = object::foreign(bytes).filter(|_| !holds_several(bytes));
        let remedy = match foreign {
            Some(kind) => format!("this is {}; {}", kind.what, kind.remedy),
            None if holds_objects(bytes) => {
                "it is an object file; `gcn disasm` converts it to assembly".to_owned()
            }
            None => "assembly is text in UTF-8".to_owned(),
        };
        let at = error.utf8_error().valid_up_to();
        Failure::input(format!("{}: byte {at} is not UTF-8: {remedy}", shown(file)))
    })
}

/// Writes a file atomically: a temporary file in the same folder is renamed when it is complete. Devices are written to directly.
pub fn write(file: &str, bytes: &[u8]) -> Result<(), Failure> {
    if file == STANDARD {
        return print(bytes);
    }
    let path = &path(file);
    let written = match path.metadata() {
        Ok(known) if !known.is_file() => std::fs::write(path, bytes),
        // For a symbolic link, replaces the file that it points to, not the link.
        Ok(_) => path.canonicalize().and_then(|path| replace(&path, bytes)),
        Err(_) => replace(path, bytes),
    };
    written.map_err(|error| Failure::usage(format!("cannot write {file}: {error}")))
}

/// Fails if [`write()`] would, before there is anything to write.
pub fn writable(file: &str) -> Result<(), Failure> {
    if file == STANDARD {
        return Ok(());
    }
    let path = path(file);
    let tried = match path.metadata() {
        Ok(known) if known.is_dir() => Err(std::io::ErrorKind::IsADirectory.into()),
        Ok(known) if !known.is_file() => Ok(()),
        _ => temporary(&mut tempfile::Builder::new(), &path).map(drop),
    };
    tried.map_err(|error: std::io::Error| Failure::usage(format!("cannot write {file}: {error}")))
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A new file in the same folder.
fn temporary(
    builder: &mut tempfile::Builder<'_, '_>,
    path: &Path,
) -> std::io::Result<tempfile::NamedTempFile> {
    let folder = folder(path);
    // Its error says that the folder does not exist; the one of tempfile would name a file that the user does not know.
    folder.metadata()?;
    builder.prefix(".gcn-").tempfile_in(folder).map_err(|error| error.kind().into())
}

fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // Gives the file the mode with which other tools create files (before the umask); temporary files are private by default.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut new = temporary(&mut builder, path)?;
    new.write_all(bytes)?;
    // If the file exists, its permissions are kept.
    if let Ok(old) = path.metadata() {
        new.as_file().set_permissions(old.permissions())?;
    }
    new.persist(path).map(|_| ()).map_err(|error| error.error)
}

/// Writes to standard output. If the reader has closed the pipe, that is not an error.
pub fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    printed(out.write_all(bytes).and_then(|()| out.flush()))
}

/// Writes many pieces of text to standard output without concatenating them first.
pub fn print_pieces<'a>(mut pieces: impl Iterator<Item = &'a str>) -> Result<(), Failure> {
    let mut out = BufWriter::with_capacity(PIECES_BUFFER, std::io::stdout().lock());
    printed(pieces.try_for_each(|piece| out.write_all(piece.as_bytes())).and_then(|()| out.flush()))
}

/// Size of the buffer in bytes.
const PIECES_BUFFER: usize = 1 << 16;

fn printed(result: std::io::Result<()>) -> Result<(), Failure> {
    match result {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::closed_output()),
        Err(error) => Err(Failure::usage(format!("cannot write to standard output: {error}"))),
    }
}
