//! The environment of an assembly file: the files that `.include` and `.incbin` name, and external symbols.

use std::io::{Error, ErrorKind, Read as _, Result};
use std::path::{Path, PathBuf};

/// Reads the files that `.include` and `.incbin` name, and defines external symbols.
pub trait Files {
    /// Reads the file called `name`, if it has at most `limit` bytes.
    ///
    /// # Errors
    /// The reason why the file cannot be read.
    fn read(&self, name: &str, limit: u64) -> Result<Found>;

    /// Symbols that are defined before the first line, as if by `.equiv`, with their values.
    fn symbols(&self) -> &[(String, i64)] {
        &[]
    }
}

/// A file that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// The name in messages. All names of the same file have the same path, so that a file that includes itself is
    /// detected.
    pub path: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// No files: `.include` and `.incbin` are errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &str, _: u64) -> Result<Found> {
        Err(Error::new(ErrorKind::Unsupported, "no files are read here"))
    }
}

/// Files in the file system. A name is first resolved relative to the working directory, and then in each folder, as
/// with `-I` of llvm-mc. The folder of the including file is not searched.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Folders {
    /// The folders, in the order in which they are searched.
    pub folders: Vec<PathBuf>,
    /// Symbols that are defined before the first line, as with `-defsym` of llvm-mc, with their values.
    pub symbols: Vec<(String, i64)>,
}

impl Files for Folders {
    fn read(&self, name: &str, limit: u64) -> Result<Found> {
        let candidates =
            std::iter::once(PathBuf::from(name)).chain(self.folders.iter().map(|f| f.join(name)));
        let mut missing =
            Error::new(ErrorKind::NotFound, "it is not in the working directory nor in a folder of -I");
        for path in candidates {
            match read(&path, limit) {
                Ok(bytes) => return Ok(Found { path: shown(&path), bytes }),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => missing = error,
            }
        }
        Err(missing)
    }

    fn symbols(&self) -> &[(String, i64)] {
        &self.symbols
    }
}

/// The canonical path, which is the same for all names of a file.
fn shown(path: &Path) -> String {
    let plain = path.components().all(|c| matches!(c, std::path::Component::Normal(_)));
    let real = if plain { None } else { path.canonicalize().ok() };
    let working = std::env::current_dir().ok();
    let short = real.as_deref().map(|real| {
        working
            .and_then(|w| real.strip_prefix(w).ok().map(Path::to_path_buf))
            .unwrap_or_else(|| real.to_path_buf())
    });
    short.as_deref().unwrap_or(path).to_string_lossy().into_owned()
}

fn read(path: &Path, limit: u64) -> Result<Vec<u8>> {
    let file = std::fs::File::open(path)?;
    let known = file.metadata()?;
    if !known.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(Error::new(ErrorKind::FileTooLarge, format!("it has more than {limit} bytes")));
    }
    Ok(bytes)
}
