//! Files, and `-` for the standard streams. A file is written whole or not at all.

use std::io::{BufWriter, ErrorKind, IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};

use gcn_emit::asm::Folders;

use crate::failure::Failure;

/// The name of standard input or output.
pub const STANDARD: &str = "-";

/// What to call a file in messages.
pub fn shown(file: &str) -> &str {
    if file == STANDARD { "<stdin>" } else { file }
}

/// The bytes of a file.
pub fn read(file: &str) -> Result<Vec<u8>, Failure> {
    let bytes = if file == STANDARD {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(file)
    };
    bytes.map_err(|error| Failure::usage(format!("cannot read {}: {error}", shown(file))))
}

/// Names that files with code end in.
const ENDINGS: [&str; 7] = [".s", ".s.gz", ".o", ".co", ".hsaco", ".hipfb", ".ccob"];

/// The files that arguments name: files as they are, and of directories, with all below them, those with code by their ending
/// or because they begin like an ELF file, in the order of their names.
pub fn expand(arguments: &[String]) -> Result<Vec<String>, Failure> {
    let mut files = Vec::new();
    for argument in arguments {
        if argument == STANDARD || !Path::new(argument).is_dir() {
            files.push(argument.clone());
            continue;
        }
        let first = files.len();
        let mut folders = vec![Path::new(argument).to_path_buf()];
        while let Some(folder) = folders.pop() {
            let failed = |e: std::io::Error| Failure::usage(format!("cannot read {}: {e}", folder.display()));
            for entry in std::fs::read_dir(&folder).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
                // Links to folders could lead in circles.
                if kind.is_dir() {
                    folders.push(path);
                } else if path.is_file() && has_code(&path) {
                    files.push(path.to_string_lossy().into_owned());
                }
            }
        }
        if let Some(found) = files.get_mut(first..) {
            found.sort_unstable();
        }
    }
    Ok(files)
}

fn has_code(path: &Path) -> bool {
    let name = path.to_string_lossy();
    if ENDINGS.iter().any(|e| name.ends_with(e)) {
        return true;
    }
    let mut magic = [0; 4];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && magic == *b"\x7fELF"
}

/// Most bytes that a compressed file may unpack to.
const MOST_UNPACKED: u64 = 1 << 30;

/// The bytes of a file, unpacked if it is gzipped.
pub fn read_unpacked(file: &str) -> Result<Vec<u8>, Failure> {
    let bytes = read(file)?;
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(bytes);
    }
    let mut unpacked = Vec::new();
    let mut reader = flate2::read::GzDecoder::new(bytes.as_slice()).take(MOST_UNPACKED + 1);
    match reader.read_to_end(&mut unpacked) {
        Ok(_) if unpacked.len() as u64 <= MOST_UNPACKED => Ok(unpacked),
        Ok(_) => Err(Failure::usage(format!("{}: unpacked it has more than 1 GiB", shown(file)))),
        Err(error) => Err(Failure::usage(format!("cannot unpack {}: {error}", shown(file)))),
    }
}

/// Where the files are that assembly includes.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Includes {
    /// A folder where `.include` and `.incbin` look for files that the working directory does not have; may be repeated
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
}

impl Includes {
    /// For the assembler.
    pub fn folders(&self) -> Folders {
        Folders { folders: self.include.clone() }
    }
}

/// The text of a file, unpacked if it is gzipped.
pub fn read_text(file: &str) -> Result<String, Failure> {
    String::from_utf8(read_unpacked(file)?).map_err(|error| {
        let bytes = error.as_bytes();
        let remedy = if bytes.starts_with(b"\x7fELF") {
            "it is an ELF file; use `gcn disasm` or `gcn inspect`"
        } else {
            "assembly is text in UTF-8"
        };
        let at = error.utf8_error().valid_up_to();
        Failure::input(format!("{}: byte {at} is no UTF-8: {remedy}", shown(file)))
    })
}

/// Writes a file: to a temporary one beside it that takes its name when it is complete. Devices are written directly.
pub fn write(file: &str, bytes: &[u8]) -> Result<(), Failure> {
    if file == STANDARD {
        return print(bytes);
    }
    let path = Path::new(file);
    let written = match path.metadata() {
        Ok(known) if !known.is_file() => std::fs::write(path, bytes),
        // What a symbolic link points at is replaced, not the link.
        Ok(_) => path.canonicalize().and_then(|path| replace(&path, bytes)),
        Err(_) => replace(path, bytes),
    };
    written.map_err(|error| Failure::usage(format!("cannot write {file}: {error}")))
}

fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // What any other tool would create, less the user's mask; temporary files are private otherwise.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut new = builder.prefix(".gcn-").tempfile_in(folder)?;
    new.write_all(bytes)?;
    new.persist(path).map(|_| ()).map_err(|error| error.error)
}

/// Writes to standard output. That the reader stops early is no failure.
pub fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    printed(out.write_all(bytes).and_then(|()| out.flush()))
}

/// Writes many pieces of text to standard output, without putting them together first.
pub fn print_pieces<'a>(mut pieces: impl Iterator<Item = &'a str>) -> Result<(), Failure> {
    let mut out = BufWriter::with_capacity(PIECES_BUFFER, std::io::stdout().lock());
    printed(pieces.try_for_each(|piece| out.write_all(piece.as_bytes())).and_then(|()| out.flush()))
}

/// Bytes that are collected before they are written.
const PIECES_BUFFER: usize = 1 << 16;

fn printed(result: std::io::Result<()>) -> Result<(), Failure> {
    match result {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::reader_gone()),
        Err(error) => Err(Failure::usage(format!("cannot write to standard output: {error}"))),
    }
}

/// Writes a line to standard error. If that is closed, nobody is left to tell.
pub fn complain(message: &str) {
    let _ = writeln!(std::io::stderr(), "{}", message.trim_end());
}

/// Whether standard error is to be coloured: a terminal that knows how, whose user does not object (no-color.org).
pub fn colours() -> bool {
    std::io::stderr().is_terminal() && wanted()
}

/// Whether standard output is to be coloured.
pub fn colours_of_output() -> bool {
    std::io::stdout().is_terminal() && wanted()
}

fn wanted() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|t| t != "dumb")
}
