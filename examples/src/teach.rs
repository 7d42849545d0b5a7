//! The common part of the example programs: builds a kernel, writes its files, simulates it, compares and reports.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use gcn_dsl::prelude::*;
use gcn_dsl::{BuildCause, BuildError, LaunchError};

use crate::{Comparison, Lesson, Outcome, OutputError, Size, TARGETS, output};

/// The environment variable for the device on which lessons run: `simulator`, or `hip:0` for the first GPU that HIP finds.
const DEVICE_VARIABLE: &str = "GCN_DEVICE";

/// The device that `GCN_DEVICE` names; `None` means a simulator of each target.
fn chosen() -> Result<Option<Device>, LessonError> {
    let Ok(name) = std::env::var(DEVICE_VARIABLE) else { return Ok(None) };
    let ordinal = name.strip_prefix("hip").map(|rest| rest.strip_prefix(':').unwrap_or("0").parse());
    match (name.as_str(), ordinal) {
        ("simulator", _) => Ok(None),
        (_, Some(Ok(ordinal))) => Ok(Some(Device::hip(ordinal)?)),
        _ => Err(LessonError::Device { name }),
    }
}

/// The folder for the files, as the program's arguments state it.
fn folder(mut arguments: impl Iterator<Item = OsString>) -> Result<PathBuf, LessonError> {
    match (arguments.next(), arguments.next(), arguments.next()) {
        (None, ..) => Ok(output::folder_for(&std::env::current_dir().unwrap_or_default())),
        (Some(option), Some(folder), None) if option == "--out" => Ok(folder.into()),
        (Some(argument), ..) => Err(LessonError::Arguments { argument: argument.display().to_string() }),
    }
}

/// The reason why an example program failed.
#[derive(Debug, thiserror::Error)]
pub enum LessonError {
    /// The kernel does not compile.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The kernel did not run.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// A file could not be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The value of `GCN_DEVICE` does not name a device.
    #[error("{DEVICE_VARIABLE}={name} names no device; write `simulator` or, for the first GPU, `hip:0`")]
    Device {
        /// The value of `GCN_DEVICE`.
        name: String,
    },
    /// An argument is unknown.
    #[error(
        "a lesson has no argument `{argument}`; `--out DIR` is the only option: the folder for its files"
    )]
    Arguments {
        /// The first unknown argument.
        argument: String,
    },
    /// The kernel ran, but its result differs from the reference.
    #[error("{name} {size} on {target} differs from the reference: {comparison}")]
    Wrong {
        /// The kernel.
        name: &'static str,
        /// The target.
        target: Target,
        /// The problem size.
        size: Size,
        /// The comparison with the reference.
        comparison: Comparison,
    },
}

/// Builds the lesson's kernel for each target that it supports and writes its files to
/// [`folder_for`](crate::folder_for) the working directory or to the folder after `--out`. Then simulates every size,
/// compares with the reference and prints a short report. gfx950 is among the targets if the lesson measures a steady
/// state. With `GCN_DEVICE=hip:0` the lesson runs on that GPU, and is built only for that GPU's target.
pub fn teach(lesson: &Lesson) -> ExitCode {
    teach_with(lesson, std::env::args_os().skip(1))
}

/// Like [`teach`], but with these arguments instead of the program's.
pub fn teach_with(lesson: &Lesson, arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let (device, folder) = match chosen().and_then(|device| Ok((device, folder(arguments)?))) {
        Ok(chosen) => chosen,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let simulated = TARGETS.into_iter().chain(lesson.steady.map(|_| Target::GFX950));
    let targets = device.as_ref().map_or_else(|| simulated.collect(), |device| vec![device.target()]);
    for target in targets {
        match on_target(lesson, target, device.as_ref(), &folder) {
            Ok(()) | Err(LessonError::Build(BuildError { cause: BuildCause::Target { .. }, .. })) => {}
            Err(error) => {
                eprintln!("error: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

fn on_target(
    lesson: &Lesson,
    target: Target,
    device: Option<&Device>,
    folder: &Path,
) -> Result<(), LessonError> {
    let kernel = lesson.build(target)?;
    println!("{}", kernel.report());
    for path in output::write(folder, lesson.name, &kernel)? {
        println!("  wrote         {}", path.display());
    }
    if let Some(steady) = &lesson.steady {
        println!("  wrote         {}", output::write_steady(folder, lesson.name, &kernel, steady)?.display());
    }
    // The simulator is strict: a read before the required wait is an error, so the waits are tested as well as the
    // numbers.
    let device = device.cloned().unwrap_or_else(|| Device::simulator(target));
    let ran = if std::env::var_os(DEVICE_VARIABLE).is_some() { "ran" } else { "simulated" };
    for &size in lesson.sizes {
        let start = Instant::now();
        let outcome = (lesson.run)(&device, &kernel, size)?;
        let seconds = start.elapsed().as_secs_f64();
        let Outcome { stats, comparison } = outcome;
        if !comparison.agrees() {
            return Err(LessonError::Wrong { name: lesson.name, target, size, comparison });
        }
        println!("  {ran:<13} {size}: {comparison}");
        println!(
            "                {} workgroups, {} wave instructions, {seconds:.2} s",
            stats.workgroups, stats.wave_instructions
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lesson_has_one_option() {
        let folder_of = |arguments: &[&str]| folder(arguments.iter().map(OsString::from));
        assert_eq!(folder_of(&["--out", "x"]).unwrap(), Path::new("x"));
        // The working directory of tests is the folder of their package.
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        assert_eq!(folder_of(&[]).unwrap(), workspace.join("target/gcn"));
        for wrong in [&["x"][..], &["--out"], &["--out", "x", "y"], &["--target", "x"]] {
            let error = folder_of(wrong).unwrap_err().to_string();
            assert!(error.contains(&format!("`{}`", wrong[0])) && error.contains("--out DIR"), "{error}");
        }
    }
}
