//! The suite `kernels` runs every lesson and every kernel of the library. It compares the results with those of the reference, and the
//! times with those of the timed model.

use gcn_dsl::{BuildCause, BuiltKernel, Device, LaunchError};
use gcn_examples::{Lesson, Outcome, Size, lessons, library};

use crate::report::{KernelResult, SizeResult, Status};

/// The amount of work for each kernel.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// The number of problem sizes, from the smallest on.
    pub sizes: usize,
    /// Runs of each size, of which the fastest counts: the first run also loads the code and raises the GPU's clock.
    pub repeats: u32,
    /// True if the timed model runs as well.
    pub model: bool,
}

impl Effort {
    /// The effort of a short run: only correctness, on the smaller sizes.
    pub const QUICK: Effort = Effort { sizes: 2, repeats: 1, model: false };
    /// The effort of a long run.
    pub const LONG: Effort = Effort { sizes: usize::MAX, repeats: 5, model: true };
}

/// All kernels. A kernel may not be available for every target.
pub fn tasks() -> Vec<&'static Lesson> {
    lessons::ALL.iter().chain(lessons::VARIANTS).chain(library::ALL).collect()
}

/// Builds a kernel for the device, runs it, and compares its results.
pub fn kernel(lesson: &Lesson, device: &Device, effort: Effort) -> KernelResult {
    let mut result = KernelResult {
        kernel: lesson.name.to_owned(),
        status: Status::Equal,
        sizes: Vec::new(),
        message: String::new(),
    };
    let built = match lesson.build(device.target()) {
        Ok(built) => built,
        Err(error) if matches!(error.cause, BuildCause::Target { .. } | BuildCause::Wave { .. }) => {
            result.status = Status::NotRun;
            result.message = format!("not written for {}", device.target());
            return result;
        }
        Err(error) => {
            result.status = Status::Differs;
            result.message = format!("does not compile: {error}");
            return result;
        }
    };
    for &size in lesson.sizes.iter().take(effort.sizes) {
        match judged(lesson, &built, size, device, effort) {
            Ok(judged) => {
                if !judged.agrees {
                    result.status = Status::Differs;
                }
                result.sizes.push(judged);
            }
            Err(error) => {
                result.status = Status::Failed;
                result.message = format!("{size}: {error}");
                break;
            }
        }
    }
    result
}

fn judged(
    lesson: &Lesson,
    built: &BuiltKernel,
    size: Size,
    device: &Device,
    effort: Effort,
) -> Result<SizeResult, LaunchError> {
    let mhz = device.properties()?.clock_mhz;
    let mut took: Option<u64> = None;
    // If any of several runs gives a wrong result, the kernel counts as wrong.
    let mut worst: Option<Outcome> = None;
    for _ in 0..effort.repeats.max(1) {
        let (outcome, ns) = run(lesson, built, size, device, mhz.is_some())?;
        took = [took, ns].into_iter().flatten().min();
        if worst.as_ref().is_none_or(|worst| worst.comparison.agrees() && !outcome.comparison.agrees()) {
            worst = Some(outcome);
        }
    }
    let model_ns = mhz.filter(|_| effort.model).and_then(|mhz| {
        let model = Device::timed_simulator(device.target(), mhz);
        // If the model cannot run the kernel, there is no model time.
        run(lesson, built, size, &model, true).ok()?.1
    });
    // At least one run was made.
    let comparison = worst.map(|outcome| outcome.comparison);
    let of = |get: fn(&gcn_examples::Comparison) -> usize| comparison.as_ref().map_or(0, get);
    Ok(SizeResult {
        size: size.to_string(),
        agrees: comparison.as_ref().is_some_and(gcn_examples::Comparison::agrees),
        elements: of(|c| c.elements),
        different: of(|c| c.different),
        first: comparison.as_ref().and_then(|c| c.first),
        max_error: comparison.as_ref().map(|c| c.max_error).filter(|error| error.is_finite()),
        tolerance: comparison.as_ref().map_or(0.0, |c| c.tolerance),
        gpu_ns: took,
        model_ns,
    })
}

/// Runs the kernel once; the time in nanoseconds is `None` if the device has no clock.
fn run(
    lesson: &Lesson,
    built: &BuiltKernel,
    size: Size,
    device: &Device,
    has_clock: bool,
) -> Result<(Outcome, Option<u64>), LaunchError> {
    let device = if has_clock { device.clone().measured() } else { device.clone() };
    let outcome = (lesson.run)(&device, built, size)?;
    let ns = u64::try_from(device.kernel_time().as_nanos()).ok();
    Ok((outcome, ns.filter(|_| has_clock)))
}
