//! A kernel and its launch parameters on the command line, for the commands that run kernels.

mod object;

use std::path::{Path, PathBuf};

use gcn_sim::SimError;
use gcn_sim::launch::{Error, Out, Output, Prepared, Program, Spec};
use serde_json::Value;

use crate::commands::container::Choice;
use crate::failure::Failure;
use crate::file;
pub use object::Object;

/// Options for a kernel, its arguments and its grid.
#[derive(clap::Args)]
pub struct Launch {
    /// A code object (.hsaco, .co), relocatable object (.o), bundle, host library or program of HIP, or
    /// assembly (.s), gzipped or not; `-` for standard input
    #[arg(value_name = "FILE.hsaco", value_parser = file::name())]
    pub file: String,
    /// The kernel, if the file has several
    #[arg(long, value_name = "K")]
    kernel: Option<String>,
    /// Workgroups in x, y and z; omitted ones are 1
    #[arg(long, value_name = "X,Y,Z", value_parser = dimensions)]
    grid: Option<[u32; 3]>,
    /// Work-items in x, y and z instead of --grid; if not a multiple of the workgroup, the last workgroup is
    /// partial
    #[arg(long, value_name = "X,Y,Z", value_parser = dimensions, conflicts_with = "grid")]
    global: Option<[u32; 3]>,
    /// Work-items of a workgroup
    #[arg(long, value_name = "X,Y,Z", value_parser = dimensions)]
    workgroup: Option<[u32; 3]>,
    /// The spec: arguments and launch parameters
    #[arg(long, value_name = "SPEC.json", value_parser = file::name())]
    args: Option<String>,
    /// Which spec to use from a file with two of them, which `gcn tune` reads and the matrix lessons write (*.steady.json)
    #[arg(long, requires = "args")]
    case: Option<Case>,
    /// LDS bytes per workgroup in addition to those in the descriptor
    #[arg(long, value_name = "BYTES")]
    dynamic_lds: Option<u32>,
    /// Scratch bytes per work-item, instead of those in the descriptor
    #[arg(long, value_name = "BYTES")]
    scratch: Option<u32>,
    #[command(flatten)]
    pub choice: Choice,
    #[command(flatten)]
    includes: file::Includes,
}

/// The two launches of a kernel that differ in the trip count of a loop; the difference of their times is the loop's steady state.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Case {
    /// The launch with fewer trips
    Short,
    /// The launch with more trips
    Long,
}

impl Case {
    /// The name of the JSON member that has the spec of this case.
    fn key(self) -> &'static str {
        match self {
            Case::Short => "short",
            Case::Long => "long",
        }
    }

    /// The spec of this case. `kernel` is taken from the top level of the file.
    fn of(self, file: &mut Value) -> Result<String, String> {
        let kernel = file.get("kernel").cloned();
        let Some(spec) = file.get_mut(self.key()) else {
            return Err(format!(
                "there is no case `{}`; without --case the whole file is the spec",
                self.key()
            ));
        };
        if let (Some(spec), Some(kernel)) = (spec.as_object_mut(), kernel) {
            spec.entry("kernel").or_insert(kernel);
        }
        Ok(spec.to_string())
    }
}

/// A spec, and the folder to which its file names are relative.
pub type Placed = (Option<Spec>, PathBuf);

/// Parses `X`, `X,Y` or `X,Y,Z`, each at least 1; omitted sizes are 1.
fn dimensions(text: &str) -> Result<[u32; 3], String> {
    let mut sizes = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > sizes.len() {
        return Err("at most three numbers, as in 64,1,1".to_owned());
    }
    for (size, part) in sizes.iter_mut().zip(parts) {
        *size =
            part.trim().parse().map_err(|_| format!("`{part}` is not a number; write for example 64,1,1"))?;
    }
    if sizes.contains(&0) {
        return Err("every size must be at least 1".to_owned());
    }
    Ok(sizes)
}

impl Launch {
    /// The name of the file for messages.
    pub fn name(&self) -> &str {
        file::shown(&self.file)
    }

    /// The spec of `--args`, if given.
    pub fn spec(&self) -> Result<Placed, Failure> {
        let Some(path) = &self.args else { return Ok((None, PathBuf::new())) };
        if path == file::STANDARD && self.file == file::STANDARD {
            return Err(Failure::usage("code object and spec cannot both be standard input"));
        }
        let bytes = file::read(path)?;
        let text = String::from_utf8(bytes);
        let text =
            text.map_err(|_| Failure::input(format!("{}: the spec is not UTF-8", file::shown(path))))?;
        let text =
            self.of_case(text).map_err(|why| Failure::input(format!("{}: {why}", file::shown(path))))?;
        let spec = Spec::from_json(&text).map_err(|error| failure(file::shown(path), &error))?;
        let folder =
            if path == file::STANDARD { None } else { file::path(path).parent().map(Path::to_path_buf) };
        Ok((Some(spec), folder.unwrap_or_default()))
    }

    /// The text of the spec that `--case` selects. Text that is not JSON is returned unchanged, since the reader of specs reports where the
    /// error is.
    fn of_case(&self, text: String) -> Result<String, String> {
        let Ok(mut file) = serde_json::from_str::<Value>(&text) else { return Ok(text) };
        match self.case {
            Some(case) => case.of(&mut file),
            None if file.get(Case::Long.key()).is_some() => {
                Err("the file has two specs; choose one with --case long or --case short".to_owned())
            }
            None => Ok(text),
        }
    }

    /// The code object, whichever kernels it has.
    pub fn object(&self) -> Result<Object, Failure> {
        object::read(&self.file, &self.choice, self.kernel.as_deref(), &self.includes.folders())
    }

    /// The code object and the kernel; the command line's `--kernel` takes precedence over the spec's.
    pub fn load(&self, spec: Option<&Spec>) -> Result<(Object, Program), Failure> {
        let kernel = self.kernel.as_deref().or(spec.and_then(|s| s.kernel.as_deref()));
        let mut object = object::read(&self.file, &self.choice, kernel, &self.includes.folders())?;
        let program = object.program(kernel).map_err(|error| failure(self.name(), &error))?;
        Ok((object, program))
    }

    /// The kernel with its arguments; grid and workgroup sizes on the command line override those of the spec.
    pub fn prepare(&self, program: &Program, spec: &Spec, folder: &Path) -> Result<Prepared, Failure> {
        let mut spec = spec.clone();
        spec.workgroup = self.workgroup.or(spec.workgroup);
        spec.dynamic_lds = self.dynamic_lds.unwrap_or(spec.dynamic_lds);
        spec.scratch = self.scratch.or(spec.scratch);
        if self.grid.is_some() || self.global.is_some() {
            (spec.grid, spec.global) = (self.grid, self.global);
        }
        let place = self.args.as_deref().unwrap_or(self.name());
        program.prepare(&spec, folder).map_err(|error| failure(place, &error))
    }
}

/// Writes the output files of the spec.
pub fn write_back(outputs: &[Output], folder: &Path) -> Result<(), Failure> {
    for output in outputs {
        if let Some(Out::File(path)) = &output.out {
            file::write(&folder.join(path).to_string_lossy(), &output.file(path))?;
        }
    }
    Ok(())
}

/// Errors of reading or writing files give exit code 2, as errors of the command line do; all other errors are errors of the input (exit
/// code 1).
pub fn failure(place: &str, error: &Error) -> Failure {
    let limit =
        matches!(error, Error::Sim { error, .. } if matches!(**error, SimError::InstructionLimit { .. }));
    let message = format!("{place}: {error}{}", if limit { " with --limit" } else { "" });
    if matches!(error, Error::File { .. }) { Failure::usage(message) } else { Failure::input(message) }
}
