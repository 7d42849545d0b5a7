//! The common part of the example programs: build, write, simulate, compare, report.

use std::process::ExitCode;
use std::time::Instant;

use gcn_dsl::prelude::*;
use gcn_dsl::{BuildCause, BuildError, LaunchError};

use crate::{Comparison, Lesson, Outcome, OutputError, Size, TARGETS, output};

/// Environment variable that names the device on which lessons run: `simulator`, or `hip:0` for the first GPU that HIP
/// finds.
const DEVICE_VARIABLE: &str = "GCN_DEVICE";

/// The device that `GCN_DEVICE` names; `None` for a simulator of each target.
fn chosen() -> Result<Option<Device>, LessonError> {
    let Ok(name) = std::env::var(DEVICE_VARIABLE) else { return Ok(None) };
    let ordinal = name.strip_prefix("hip").map(|rest| rest.strip_prefix(':').unwrap_or("0").parse());
    match (name.as_str(), ordinal) {
        ("simulator", _) => Ok(None),
        (_, Some(Ok(ordinal))) => Ok(Some(Device::hip(ordinal)?)),
        _ => Err(LessonError::Device { name }),
    }
}

/// Why an example stopped.
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
    /// `GCN_DEVICE` names no device.
    #[error("{DEVICE_VARIABLE}={name} names no device; write `simulator` or, for the first GPU, `hip:0`")]
    Device {
        /// What it says.
        name: String,
    },
    /// The kernel ran, but its result is not the reference's.
    #[error("{name} {size} on {target} differs from the reference: {comparison}")]
    Wrong {
        /// The kernel.
        name: &'static str,
        /// The target.
        target: Target,
        /// The problem size.
        size: Size,
        /// How far off it is.
        comparison: Comparison,
    },
}

/// Builds the lesson's kernel for each target that it is written for, writes its files, simulates every size,
/// compares with the reference and prints a short report. gfx950 is among the targets if the kernel's steady state is of
/// interest. With `GCN_DEVICE=hip:0` the lesson runs on that GPU, for its target alone.
pub fn teach(lesson: &Lesson) -> ExitCode {
    let device = match chosen() {
        Ok(device) => device,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let simulated = TARGETS.into_iter().chain(lesson.steady.map(|_| Target::GFX950));
    let targets = device.as_ref().map_or_else(|| simulated.collect(), |device| vec![device.target()]);
    for target in targets {
        match on_target(lesson, target, device.as_ref()) {
            Ok(()) | Err(LessonError::Build(BuildError { cause: BuildCause::Target { .. }, .. })) => {}
            Err(error) => {
                eprintln!("error: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

fn on_target(lesson: &Lesson, target: Target, device: Option<&Device>) -> Result<(), LessonError> {
    let kernel = lesson.build(target)?;
    println!("{}", kernel.report());
    for path in output::write(lesson.name, &kernel)? {
        println!("  wrote         {}", path.display());
    }
    if let Some(steady) = &lesson.steady {
        println!("  wrote         {}", output::write_steady(lesson.name, &kernel, steady)?.display());
    }
    // Strict: a read that comes before its wait is an error, so the waits are judged as well as the numbers.
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
