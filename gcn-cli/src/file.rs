//! Files, and `-` for the standard streams. A file is written whole or not at all.

use std::io::{ErrorKind, IsTerminal as _, Read as _, Write as _};
use std::path::Path;

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

/// The text of a file.
pub fn read_text(file: &str) -> Result<String, Failure> {
    String::from_utf8(read(file)?).map_err(|error| {
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
    match out.write_all(bytes).and_then(|()| out.flush()) {
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
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    std::io::stderr().is_terminal()
        && !set("NO_COLOR")
        && std::env::var_os("TERM").is_none_or(|t| t != "dumb")
}
