//! A lesson: its kernel, sizes, and the functions that build and run it.

use std::fmt;

use gcn_dsl::prelude::*;
use gcn_dsl::{BuildError, BuildOptions, BuiltKernel, LaunchError, LaunchStats};

use crate::{Comparison, Steady};

/// The targets that every lesson is built for and simulated on.
pub const TARGETS: [Target; 2] = [Target::GFX90A, Target::GFX942];

/// A problem size. Each lesson defines the meaning of the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(pub &'static [u32]);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for extent in self.0 {
            write!(f, "{separator}{extent}")?;
            separator = "x";
        }
        Ok(())
    }
}

/// A kernel with everything needed to build it, run it and check its result.
#[derive(Debug, Clone, Copy)]
pub struct Lesson {
    /// The kernel's name.
    pub name: &'static str,
    /// Compiles the kernel.
    pub build_with: fn(Target, &BuildOptions) -> Result<BuiltKernel, BuildError>,
    /// The sizes to run, smallest first.
    pub sizes: &'static [Size],
    /// Runs the compiled kernel on one of the sizes and compares the result with the reference.
    pub run: fn(&Device, &BuiltKernel, Size) -> Result<Outcome, LaunchError>,
    /// How to measure the steady state of the kernel's loop; `None` if that is of no interest.
    pub steady: Option<Steady>,
}

impl Lesson {
    /// Compiles the kernel with default options.
    ///
    /// # Errors
    /// The same as those of [`Kernel::build`].
    pub fn build(&self, target: Target) -> Result<BuiltKernel, BuildError> {
        (self.build_with)(target, &BuildOptions::default())
    }

    /// Panics unless the results for every size agree with the reference on these targets. For targets that only some
    /// lessons support.
    #[cfg(test)]
    pub(crate) fn agrees_on(&self, targets: &[Target]) {
        for &target in targets {
            let kernel = self.build(target).unwrap();
            for &size in self.sizes {
                let outcome = (self.run)(&Device::simulator(target), &kernel, size).unwrap();
                assert!(outcome.comparison.agrees(), "{size} on {target}: {}", outcome.comparison);
            }
        }
    }
}

/// The result of one run.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What the device reports about the run.
    pub stats: LaunchStats,
    /// The comparison with the reference.
    pub comparison: Comparison,
}
