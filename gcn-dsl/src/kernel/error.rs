//! Errors of a build.

use std::fmt;

use gcn_emit::encode::EncodeError;
use gcn_emit::kernel::MAX_WORKGROUP;
use gcn_emit::object::ObjectError;
use gcn_isa::Target;

use super::AsmError;
use crate::ir::text::ParseError;
use crate::ir::verify::Fault;
use crate::ir::{ping_pong, pipeline};
use crate::lang::TraceError;
use crate::lower::LowerError;
use crate::regalloc::AllocError;
use crate::sched;

/// The reason why a kernel does not build, with the kernel's name. If a pass failed, its error is the
/// [`std::error::Error::source`].
///
/// `Debug` prints the same text as `Display`, because `unwrap`, and a `main` that returns the error, show it to people.
#[derive(Clone)]
#[non_exhaustive]
pub struct BuildError {
    /// The kernel's name.
    pub kernel: String,
    /// The reason.
    pub cause: BuildCause,
}

impl BuildError {
    /// Returns a function that adds the kernel's name to a cause.
    pub(crate) fn of(kernel: &str) -> impl Fn(BuildCause) -> BuildError + use<> {
        let kernel = kernel.to_owned();
        move |cause| BuildError { kernel: kernel.clone(), cause }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            BuildCause::Target { .. } => {
                write!(f, "kernel `{}` {}", self.kernel, self.cause)
            }
            // The register allocator's errors already contain the kernel's name.
            BuildCause::Registers(error) => error.fmt(f),
            cause => write!(f, "kernel `{}`: {cause}", self.kernel),
        }
    }
}

impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.source()
    }
}

/// Reasons why a kernel does not build.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum BuildCause {
    /// `#[targets(…)]` does not list the target.
    #[error("is not written for {target}: its `#[targets(…)]` lists {listed}")]
    Target {
        /// The requested target.
        target: Target,
        /// The targets that the attribute lists.
        listed: String,
    },
    /// The target does not support the requested wave size.
    #[error(
        "is to have waves of {lanes} lanes, and those of {target} have {has}; limit the kernel with `#[targets(…)]`, or say nothing \
         of the wave size"
    )]
    Wave {
        /// The target.
        target: Target,
        /// The requested wave size in lanes.
        lanes: u32,
        /// The target's usual wave size in lanes.
        has: u32,
    },
    /// The build options request another wave size than the kernel's `#[wave(…)]`.
    #[error(
        "is written for waves of {says} lanes, `#[wave({says})]`, and the build asks for {asked}; build it without \
         `BuildOptions::wave`, or write it with `wave_size()` and remove the attribute"
    )]
    OtherWave {
        /// The wave size of the kernel's attribute in lanes.
        says: u32,
        /// The wave size of the build options in lanes.
        asked: u32,
    },
    /// The workgroup is empty or too large.
    #[error(
        "a workgroup of {x} x {y} x {z} work-items does not exist; every dimension must be at least 1 and their \
         product at most {MAX_WORKGROUP}"
    )]
    Workgroup {
        /// Number of work-items in x.
        x: u32,
        /// Number of work-items in y.
        y: u32,
        /// Number of work-items in z.
        z: u32,
    },
    /// An error that was found while the kernel's body ran on the host, and that Rust's types cannot rule out.
    #[error("{0}")]
    Trace(#[from] TraceError),
    /// The LDS arrays exceed a workgroup's LDS.
    #[error(
        "its LDS arrays take {bytes} bytes, a workgroup has {limit} on {target}; make them smaller or share one array \
         between phases"
    )]
    Lds {
        /// Size of the arrays in bytes.
        bytes: u32,
        /// The maximum in bytes.
        limit: u32,
        /// The target.
        target: Target,
    },
    /// An operation cannot be lowered to instructions of the target.
    #[error("{0}")]
    Lower(#[from] LowerError),
    /// `#[max_registers(…)]` or `#[min_occupancy(…)]` requests something impossible. The text contains the problem and
    /// the remedy.
    #[error("{0}")]
    Limits(String),
    /// Register allocation failed.
    #[error("{0}")]
    Registers(#[from] Box<AllocError>),
    /// An instruction cannot be encoded, for example because the target of a branch is too far away.
    #[error("{0}")]
    Encode(#[from] Box<EncodeError>),
    /// The code object cannot be written.
    #[error("{0}")]
    Object(#[from] Box<ObjectError>),
    /// An error of a `gcn_asm!` kernel.
    #[error("{0}")]
    Assembly(#[from] AsmError),
    /// An `interleave!` that cannot be satisfied.
    #[error("{0}")]
    Interleave(#[from] sched::list::MissingClass),
    /// A `#[pipeline]` on a loop without a load that could run ahead.
    #[error("{0}")]
    Pipeline(#[from] pipeline::NoLoadAhead),
    /// A `#[pipeline(buffers = 2)]` on a loop whose LDS arrays cannot be double-buffered.
    #[error("{0}")]
    Buffers(#[from] pipeline::OneBuffer),
    /// A `#[ping_pong]` loop in which the two groups of waves would not reach the same barriers.
    #[error("{0}")]
    PingPong(#[from] ping_pong::UnpairedBarriers),
    /// A manual schedule in which a wait names a counter that its operation does not use.
    #[error("{0}")]
    Schedule(#[from] sched::manual::WrongCounter),
    /// The text given to [`BuiltKernel::with_ir`](crate::BuiltKernel::with_ir) is not IR.
    #[error("the IR cannot be read: {0}")]
    Ir(#[from] ParseError),
    /// A pass left malformed IR: an internal error of this crate, which is reported instead of building a wrong kernel.
    #[error("{0}")]
    Malformed(#[from] Box<Malformed>),
    /// The hazard checker, which is independent of wait insertion, found a missing wait: an internal error of this
    /// crate, which is reported instead of building a wrong kernel.
    #[error("the checker objects to the inserted waits; please report this: {0}")]
    Hazard(Box<gcn_isa::check::Finding>),
}

impl From<pipeline::Refused> for BuildCause {
    fn from(refused: pipeline::Refused) -> BuildCause {
        match refused {
            pipeline::Refused::Loads(error) => error.into(),
            pipeline::Refused::Buffers(error) => error.into(),
        }
    }
}

/// Malformed IR after a pass: an internal error of this crate.
#[derive(Clone, Debug)]
pub struct Malformed {
    /// The name of the pass; `trace` stands for the functions of the DSL, which generate the IR.
    pub pass: &'static str,
    /// The rule of the IR that is violated.
    pub fault: Fault,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the IR is malformed after the pass `{}`; please report this: {}", self.pass, self.fault)
    }
}

impl std::error::Error for Malformed {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.fault)
    }
}
