//! Writes the files of a built kernel.

use std::path::{Path, PathBuf};

use gcn_dsl::BuiltKernel;
use gcn_dsl::prelude::*;

use crate::Steady;

/// A file could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write `{}`: {source}; `--out DIR` writes elsewhere", path.display())]
pub struct OutputError {
    path: PathBuf,
    source: std::io::Error,
}

/// The folder `target/gcn` of the workspace that encloses `here`; without a workspace, that of the enclosing package;
/// without a package, that in `here` itself. The folder depends on where the program runs and not on the checkout in
/// which it was compiled, which may no longer exist.
#[must_use]
pub fn folder_for(here: &Path) -> PathBuf {
    let manifests =
        || here.ancestors().filter_map(|f| Some((f, std::fs::read_to_string(f.join("Cargo.toml")).ok()?)));
    let is_workspace = |text: &str| text.lines().any(|line| line.starts_with("[workspace]"));
    let workspace = manifests().find(|(_, text)| is_workspace(text)).or_else(|| manifests().next());
    workspace.map_or(here, |(folder, _)| folder).join("target/gcn")
}

/// Writes the assembly (with the reason for each wait) and the code object to `folder`, and returns both paths, `.s` first.
///
/// # Errors
/// Names the path that could not be written, and the reason.
pub fn write(folder: &Path, name: &str, kernel: &BuiltKernel) -> Result<[PathBuf; 2], OutputError> {
    let stem = format!("{name}.{}", kernel.target());
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| OutputError { path, source }
    };
    std::fs::create_dir_all(folder).map_err(failed(folder))?;
    let assembly = folder.join(format!("{stem}.s"));
    std::fs::write(&assembly, kernel.assembly(Comments::Explain)).map_err(failed(&assembly))?;
    let object = folder.join(format!("{stem}.hsaco"));
    std::fs::write(&object, kernel.code_object()).map_err(failed(&object))?;
    Ok([assembly, object])
}

/// Writes, next to the files of [`write`], the launches with which `gcn sim` measures the kernel's steady state.
///
/// # Errors
/// The same as those of [`write`].
pub fn write_steady(
    folder: &Path,
    name: &str,
    kernel: &BuiltKernel,
    steady: &Steady,
) -> Result<PathBuf, OutputError> {
    let stem = format!("{name}.{}", kernel.target());
    let path = folder.join(format!("{stem}.steady.json"));
    match std::fs::write(&path, steady.json(kernel, &format!("{stem}.hsaco"))) {
        Ok(()) => Ok(path),
        Err(source) => Err(OutputError { path, source }),
    }
}
