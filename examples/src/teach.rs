//! The common part of the example programs: build, write, simulate, compare, report.

use std::process::ExitCode;
use std::time::Instant;

use gcn_dsl::prelude::*;
use gcn_dsl::{BuildCause, BuildError, LaunchError};

use crate::{Comparison, Lesson, Outcome, OutputError, Size, TARGETS, output};

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
/// compares with the reference and prints a short report. gfx950 is among the targets if the kernel's steady
/// state is of interest.
pub fn teach(lesson: &Lesson) -> ExitCode {
    for target in TARGETS.into_iter().chain(lesson.steady.map(|_| Target::GFX950)) {
        match on_target(lesson, target) {
            Ok(()) | Err(LessonError::Build(BuildError { cause: BuildCause::Target { .. }, .. })) => {}
            Err(error) => {
                eprintln!("error: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

fn on_target(lesson: &Lesson, target: Target) -> Result<(), LessonError> {
    let kernel = lesson.build(target)?;
    println!("{}", kernel.report());
    for path in output::write(lesson.name, &kernel)? {
        println!("  wrote         {}", path.display());
    }
    if let Some(steady) = &lesson.steady {
        println!("  wrote         {}", output::write_steady(lesson.name, &kernel, steady)?.display());
    }
    // Strict: a read that comes before its wait is an error, so the waits are judged as well as the numbers.
    let device = Device::simulator(target);
    for &size in lesson.sizes {
        let start = Instant::now();
        let outcome = (lesson.run)(&device, &kernel, size)?;
        let seconds = start.elapsed().as_secs_f64();
        let Outcome { stats, comparison } = outcome;
        if !comparison.agrees() {
            return Err(LessonError::Wrong { name: lesson.name, target, size, comparison });
        }
        println!("  simulated     {size}: {comparison}");
        println!(
            "                {} workgroups, {} wave instructions, {seconds:.2} s",
            stats.workgroups, stats.wave_instructions
        );
    }
    Ok(())
}
